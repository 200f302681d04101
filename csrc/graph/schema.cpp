#include "schema.h"

#include <cstddef>
#include <limits>
#include <numeric>

#include "huge_pages.h"
#include "node_set.h"
#include "sizes.h"

namespace hyperhop::graph {
namespace {

void append_side(const Adjacency& side, std::int32_t entity, std::int32_t shift,
                 std::vector<std::int32_t>& symbols) {
  const Row row = side.row(entity);
  std::int32_t last = -1;
  for (std::int64_t e = row.begin; e < row.end; e = side.end_of_relation(e, row.end)) {
    const std::int32_t relation = side.relation(e);
    if (relation <= last) throw DamagedStore("the graph is damaged: a row's relations fall");
    last = relation;
    symbols.push_back(relation + shift);
  }
}

// Distinct sets of symbols, and how many entities have each.
//
// A set is one record: its count, its size and its symbols, so that reading it misses the caches
// once. Which sets were met lately is kept in a table of fixed size; one that was forgotten is
// stored once more, which changes no sum.
class SymbolSets {
 public:
  SymbolSets(std::int64_t num_entities, std::int64_t num_triples) {
    int bits = 1;
    while (bits < kMostTableBits && (std::int64_t{1} << bits) < num_entities) ++bits;
    shift_ = 64 - bits;
    reserve_huge(recent_, std::size_t{1} << bits);
    recent_.resize(std::size_t{1} << bits);
    // Enough for two symbols an edge and a header an entity; unused pages are never touched.
    reserve_huge(records_, as_size(2 * num_triples + kUnit * num_entities));
  }

  static std::uint64_t hash(const std::int32_t* begin, const std::int32_t* end) {
    auto hash = static_cast<std::uint64_t>(end - begin);
    for (const std::int32_t* symbol = begin; symbol != end; ++symbol) {
      hash = (hash ^ static_cast<std::uint32_t>(*symbol)) * 0x9E3779B97F4A7C15u;
      hash ^= hash >> 29;
    }
    return hash * 0x9E3779B97F4A7C15u;
  }

  void prefetch_recent(std::uint64_t hash) const { __builtin_prefetch(&recent_[hash >> shift_]); }
  void prefetch_record(std::uint64_t hash) const {
    const std::int32_t id = recent_[hash >> shift_].id;
    if (id >= 0) prefetch(id);
  }

  // False where there is no room for more.
  bool add(const std::int32_t* begin, const std::int32_t* end, std::uint64_t hash) {
    Recent& recent = recent_[hash >> shift_];
    const auto tag = static_cast<std::uint32_t>(hash);
    if (recent.id >= 0 && recent.tag == tag &&
        std::equal(begin, end, this->begin(recent.id), this->end(recent.id))) {
      ++records_[as_size(recent.id * kUnit)];
      return true;
    }
    const std::int64_t id = static_cast<std::int64_t>(records_.size()) / kUnit;
    if (id > std::numeric_limits<std::int32_t>::max()) return false;
    recent = {tag, static_cast<std::int32_t>(id)};
    records_.push_back(1);
    records_.push_back(static_cast<std::int32_t>(end - begin));
    records_.insert(records_.end(), begin, end);
    records_.resize((records_.size() + kUnit - 1) / kUnit * kUnit);
    return true;
  }

  const std::int32_t* begin(std::int64_t id) const { return record(id) + 2; }
  const std::int32_t* end(std::int64_t id) const { return begin(id) + record(id)[1]; }
  std::int32_t count(std::int64_t id) const { return record(id)[0]; }
  void prefetch(std::int64_t id) const { __builtin_prefetch(record(id)); }

  // Calls function(id) for every set.
  template <typename Function>
  void each(Function&& function) const {
    const std::int64_t last = static_cast<std::int64_t>(records_.size()) / kUnit;
    for (std::int64_t id = 0; id < last; id += (record(id)[1] + 1 + kUnit) / kUnit) {
      function(static_cast<std::int32_t>(id));
    }
  }

  void forget_recent() { recent_ = {}; }

 private:
  const std::int32_t* record(std::int64_t id) const { return records_.data() + id * kUnit; }

  static constexpr int kMostTableBits = 22;
  static constexpr std::int64_t kUnit = 4;  // records begin at multiples of it, so an id is int32
  struct Recent {
    std::uint32_t tag = 0;
    std::int32_t id = -1;
  };

  int shift_;
  std::vector<Recent> recent_;
  std::vector<std::int32_t> records_;
};

// Collects the sets of all entities, some at a time, so that their cache misses overlap. False
// where there is no room.
bool collect(const GraphView& graph, SymbolSets& sets, std::vector<std::int64_t>& alone) {
  constexpr std::int32_t kTogether = 32;
  std::vector<std::int32_t> symbols;
  std::size_t ends[kTogether + 1] = {0};
  std::uint64_t hashes[kTogether];
  std::vector<std::int32_t> leaving;
  for (std::int64_t begin = 0; begin < graph.num_entities; begin += kTogether) {
    const std::int64_t end = std::min<std::int64_t>(begin + kTogether, graph.num_entities);
    symbols.clear();
    int kept = 0;
    for (std::int64_t entity = begin; entity < end; ++entity) {
      leaving_symbols(graph, static_cast<std::int32_t>(entity), leaving);
      if (leaving.size() == 1) ++alone[as_size(leaving[0])];
      if (leaving.size() < 2) continue;
      symbols.insert(symbols.end(), leaving.begin(), leaving.end());
      hashes[kept] = SymbolSets::hash(leaving.data(), leaving.data() + leaving.size());
      sets.prefetch_recent(hashes[kept]);
      ends[++kept] = symbols.size();
    }
    for (int i = 0; i < kept; ++i) sets.prefetch_record(hashes[i]);
    for (int i = 0; i < kept; ++i) {
      if (!sets.add(symbols.data() + ends[i], symbols.data() + ends[i + 1], hashes[i])) {
        return false;
      }
    }
  }
  return true;
}

// The sets that hold each symbol: those of symbol s are ids[offsets[s], offsets[s + 1]).
struct SetsOfSymbol {
  std::vector<std::int64_t> offsets;
  std::vector<std::int32_t> ids;

  SetsOfSymbol(const SymbolSets& sets, std::int64_t num_symbols)
      : offsets(as_size(num_symbols + 2), 0) {
    sets.each([&](std::int32_t id) {
      for (const std::int32_t* symbol = sets.begin(id); symbol != sets.end(id); ++symbol) {
        ++offsets[as_size(*symbol) + 2];
      }
    });
    std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
    reserve_huge(ids, as_size(offsets.back()));
    ids.resize(as_size(offsets.back()));
    sets.each([&](std::int32_t id) {
      for (const std::int32_t* symbol = sets.begin(id); symbol != sets.end(id); ++symbol) {
        ids[as_size(offsets[as_size(*symbol) + 1]++)] = id;
      }
    });
  }
};

}  // namespace

void leaving_symbols(const GraphView& graph, std::int32_t entity,
                     std::vector<std::int32_t>& symbols) {
  symbols.clear();
  append_side(graph.out, entity, 0, symbols);
  append_side(graph.in, entity, graph.num_relations, symbols);
}

std::optional<RelationSchema> build_schema(const GraphView& graph, std::int64_t max_pairs) {
  const std::int64_t num_symbols = 2 * std::int64_t{graph.num_relations};
  SymbolSets sets(graph.num_entities, graph.num_triples);
  std::vector<std::int64_t> alone(as_size(num_symbols),
                                  0);  // entities that this symbol leaves only
  if (!collect(graph, sets, alone)) return std::nullopt;
  sets.forget_recent();

  const SetsOfSymbol holders(sets, num_symbols);
  RelationSchema schema;
  std::vector<std::int64_t> row(as_size(num_symbols), 0);
  NodeSet present(num_symbols);
  std::vector<std::int32_t> followers;
  const auto add = [&](std::int32_t symbol, std::int64_t count) {
    std::int64_t& sum = row[as_size(symbol)];
    if (sum == 0) {
      present.insert(symbol);
      followers.push_back(symbol);
    }
    sum += count;
  };
  for (std::int64_t first = 0; first < num_symbols; ++first) {
    const std::int64_t back =
        first < graph.num_relations ? first + graph.num_relations : first - graph.num_relations;
    const std::int64_t end = holders.offsets[as_size(back) + 1];
    for (std::int64_t i = holders.offsets[as_size(back)]; i < end; ++i) {
      constexpr std::int64_t kAhead = 12;
      if (i + kAhead < end) sets.prefetch(holders.ids[as_size(i + kAhead)]);
      const std::int32_t id = holders.ids[as_size(i)];
      const std::int64_t count = sets.count(id);
      const std::int32_t* last = sets.end(id);
      for (const std::int32_t* symbol = sets.begin(id); symbol != last; ++symbol) {
        add(*symbol, count);
      }
    }
    if (alone[as_size(back)] > 0) add(static_cast<std::int32_t>(back), alone[as_size(back)]);
    if (static_cast<std::int64_t>(schema.symbols.size() + followers.size()) > max_pairs) {
      return std::nullopt;
    }
    present.sort_and_clear(followers);
    for (const std::int32_t symbol : followers) {
      schema.symbols.push_back(symbol);
      schema.counts.push_back(row[as_size(symbol)]);
      row[as_size(symbol)] = 0;
    }
    followers.clear();
    schema.offsets.push_back(static_cast<std::int64_t>(schema.symbols.size()));
  }
  return schema;
}

}  // namespace hyperhop::graph
