#include "triple_index.h"

#include <stdexcept>
#include <string>
#include <utility>

namespace hyperhop::graph {
namespace {

void check_entity(const char* name, std::int64_t entity, std::int64_t num_entities) {
  if (entity >= 0 && entity < num_entities) return;
  throw std::invalid_argument("TripleIndex: " + std::string(name) + " must lie in 0.." +
                              std::to_string(num_entities - 1) + ", got " + std::to_string(entity));
}

// Counts of rows to offsets: counts[r + 1] is the size of row r.
void add_up(std::vector<std::int64_t>& counts) {
  for (std::size_t i = 1; i < counts.size(); ++i) counts[i] += counts[i - 1];
}

}  // namespace

TripleIndex::TripleIndex(const std::int64_t* head, const std::int64_t* tail,
                         std::int64_t num_triples, std::int64_t num_entities,
                         const std::int64_t* order, const std::int64_t* links,
                         std::int64_t num_links)
    : ranks_(as_size(num_triples)),
      triples_(as_size(num_triples), -1),
      heads_(as_size(num_triples)),
      tails_(as_size(num_triples)) {
  count_order(order);
  for (std::int64_t t = 0; t < num_triples; ++t) {
    check_entity("head", head[t], num_entities);
    check_entity("tail", tail[t], num_entities);
    heads_[as_size(rank(t))] = static_cast<std::int32_t>(head[t]);
    tails_[as_size(rank(t))] = static_cast<std::int32_t>(tail[t]);
  }
  connect(num_entities);
  link(num_entities, links, num_links);
}

void TripleIndex::count_order(const std::int64_t* order) {
  for (std::int64_t t = 0; t < num_triples(); ++t) {
    const std::int64_t rank = order ? order[t] : t;
    if (rank < 0 || rank >= num_triples() || triples_[as_size(rank)] >= 0) {
      throw std::invalid_argument("TripleIndex: order must hold each of 0.." +
                                  std::to_string(num_triples() - 1) + " once, got " +
                                  std::to_string(rank) + " at triple " + std::to_string(t));
    }
    triples_[as_size(rank)] = static_cast<std::int32_t>(t);
    ranks_[as_size(t)] = static_cast<std::int32_t>(rank);
  }
}

void TripleIndex::connect(std::int64_t num_entities) {
  offsets_.assign(as_size(num_entities) + 1, 0);
  for (std::size_t r = 0; r < heads_.size(); ++r) {
    ++offsets_[as_size(heads_[r]) + 1];
    if (heads_[r] != tails_[r]) ++offsets_[as_size(tails_[r]) + 1];
  }
  add_up(offsets_);
  adjacent_.resize(as_size(offsets_.back()));
  std::vector<std::int64_t> next(offsets_.begin(), offsets_.end() - 1);
  for (std::size_t r = 0; r < heads_.size(); ++r) {
    const auto put = [&](std::int32_t entity, std::int32_t other) {
      adjacent_[as_size(next[as_size(entity)]++)] = {static_cast<std::int32_t>(r), other};
    };
    put(heads_[r], tails_[r]);
    if (heads_[r] != tails_[r]) put(tails_[r], heads_[r]);
  }
}

void TripleIndex::link(std::int64_t num_entities, const std::int64_t* links,
                       std::int64_t num_links) {
  std::vector<std::pair<std::int32_t, std::int32_t>> pairs;
  pairs.reserve(as_size(2 * num_links));
  for (std::int64_t i = 0; i < num_links; ++i) {
    const std::int64_t a = links[2 * i], b = links[2 * i + 1];
    check_entity("links", a, num_entities);
    check_entity("links", b, num_entities);
    if (a == b) continue;
    pairs.emplace_back(static_cast<std::int32_t>(a), static_cast<std::int32_t>(b));
    pairs.emplace_back(static_cast<std::int32_t>(b), static_cast<std::int32_t>(a));
  }
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  link_offsets_.assign(as_size(num_entities) + 1, 0);
  for (const auto& [from, to] : pairs) {
    ++link_offsets_[as_size(from) + 1];
    linked_.push_back(to);
  }
  add_up(link_offsets_);
}

std::vector<std::int32_t> TripleIndex::entities_of(HyperNodeRow row) const {
  std::vector<std::int32_t> entities;
  for (const std::int32_t rank : row) {
    for (const std::int32_t entity : {head(rank), tail(rank)}) {
      entities.push_back(entity);
      const Range<std::int32_t> more = linked(entity);
      entities.insert(entities.end(), more.begin(), more.end());
    }
  }
  std::sort(entities.begin(), entities.end());
  entities.erase(std::unique(entities.begin(), entities.end()), entities.end());
  return entities;
}

}  // namespace hyperhop::graph
