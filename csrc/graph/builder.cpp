#include "builder.h"

#include <stdexcept>
#include <utility>

#include "utf8.h"

namespace hyperhop::graph {
namespace {

constexpr std::size_t kExcerptBytes = 200;

bool is_blank(std::string_view line) {
  return line.find_first_not_of(' ') == std::string_view::npos;
}

}  // namespace

bool TripleBuilder::feed(std::string_view chunk, char delimiter, bool last) {
  const bool good = split(chunk, delimiter, last);
  flush();
  return good;
}

bool TripleBuilder::split(std::string_view chunk, char delimiter, bool last) {
  std::size_t begin = 0;
  std::size_t newline;
  while ((newline = chunk.find('\n', begin)) != std::string_view::npos) {
    const std::string_view rest = chunk.substr(begin, newline - begin);
    begin = newline + 1;
    bool good;
    if (unfinished_line_.empty()) {
      good = add_line(rest, delimiter);
    } else {
      unfinished_line_.append(rest);
      good = add_line(unfinished_line_, delimiter);
      flush();
      unfinished_line_.clear();
    }
    if (!good) return false;
  }
  unfinished_line_.append(chunk.substr(begin));
  if (!last || unfinished_line_.empty()) return true;
  const bool good = add_line(unfinished_line_, delimiter);
  flush();
  unfinished_line_.clear();
  return good;
}

bool TripleBuilder::add_line(std::string_view line, char delimiter) {
  ++line_number_;
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  if (is_blank(line)) return true;
  if (skip_header_) {
    skip_header_ = false;
    return true;
  }
  const std::size_t invalid = find_invalid_utf8(line);
  if (invalid < line.size()) {
    return reject(line_number_, "invalid UTF-8 at byte " + std::to_string(invalid + 1), line);
  }
  fields_.clear();
  std::size_t begin = 0;
  for (std::size_t end; (end = line.find(delimiter, begin)) != std::string_view::npos;) {
    fields_.push_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
  fields_.push_back(line.substr(begin));
  std::string found = fault(fields_);
  if (!found.empty()) return reject(line_number_, std::move(found), line);
  add(fields_);
  return true;
}

std::string TripleBuilder::fault(const std::vector<std::string_view>& fields) {
  if (fields.size() == 1) return "1 field";
  if (fields.size() != 3) return std::to_string(fields.size()) + " fields";
  for (std::size_t i = 0; i < 3; ++i) {
    if (fields[i].empty()) return "field " + std::to_string(i + 1) + " empty";
  }
  return "";
}

void TripleBuilder::add(const std::vector<std::string_view>& fields) {
  waiting_entities_.push_back(fields[0]);
  waiting_entities_.push_back(fields[2]);
  waiting_relations_.push_back(fields[1]);
  if (waiting_entities_.size() == NameTable::kBatch) flush();
}

void TripleBuilder::flush() {
  std::int32_t entities[NameTable::kBatch];
  std::int32_t relations[NameTable::kBatch];
  const std::size_t count = waiting_relations_.size();
  try {
    entities_.intern(waiting_entities_.data(), 2 * count, entities);
    relations_.intern(waiting_relations_.data(), count, relations);
  } catch (...) {
    waiting_entities_.clear();
    waiting_relations_.clear();
    throw;
  }
  make_room(triples_, count);
  for (std::size_t i = 0; i < count; ++i) {
    triples_.push_back({entities[2 * i], relations[i], entities[2 * i + 1]});
  }
  num_read_ += static_cast<std::int64_t>(count);
  waiting_entities_.clear();
  waiting_relations_.clear();
}

std::vector<std::int32_t> TripleBuilder::intern(NameTable& table, const NameView& names) {
  std::vector<std::int32_t> ids(static_cast<std::size_t>(names.count));
  std::string_view batch[NameTable::kBatch];
  for (std::size_t done = 0; done < ids.size();) {
    std::size_t count = 0;
    for (; count < NameTable::kBatch && done + count < ids.size(); ++count) {
      batch[count] = names.name(static_cast<std::int64_t>(done + count));
    }
    table.intern(batch, count, ids.data() + done);
    done += count;
  }
  return ids;
}

void TripleBuilder::add_ids(const std::int32_t* heads, const std::int32_t* relations,
                            const std::int32_t* tails, std::int64_t count) {
  const auto check = [count](const std::int32_t* ids, std::int64_t bound, const char* what) {
    for (std::int64_t i = 0; i < count; ++i) {
      if (ids[i] < 0 || ids[i] >= bound) {
        throw std::out_of_range(std::string("add_ids: ") + what + " " + std::to_string(i) + " is " +
                                std::to_string(ids[i]) + ", expected an id below " +
                                std::to_string(bound));
      }
    }
  };
  check(heads, entities_.count(), "head");
  check(relations, relations_.count(), "relation");
  check(tails, entities_.count(), "tail");
  for (std::int64_t i = 0; i < count; ++i) triples_.push_back({heads[i], relations[i], tails[i]});
  num_read_ += count;
}

bool TripleBuilder::reject(std::int64_t number, std::string found, std::string_view excerpt) {
  ++num_bad_;
  if (bad_lines_.size() < kBadLinesKept) {
    bad_lines_.push_back({number, std::move(found), std::string(excerpt.substr(0, kExcerptBytes))});
  }
  return skip_bad_;
}

BuiltGraph TripleBuilder::build() {
  BuiltGraph built;
  std::vector<std::int32_t> entity_places;
  std::vector<std::int32_t> relation_places;
  built.entities = entities_.take_sorted(entity_places);
  built.relations = relations_.take_sorted(relation_places);
  for (Triple& triple : triples_) {
    triple.head = entity_places[static_cast<std::size_t>(triple.head)];
    triple.relation = relation_places[static_cast<std::size_t>(triple.relation)];
    triple.tail = entity_places[static_cast<std::size_t>(triple.tail)];
  }
  built.orders = build_orders(std::move(triples_), built.entities.count(), built.relations.count());
  return built;
}

}  // namespace hyperhop::graph
