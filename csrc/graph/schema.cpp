#include "schema.h"

#include <cstddef>
#include <numeric>

#include "node_set.h"

namespace hyperhop::graph {
namespace {

std::size_t as_size(std::int64_t value) {
  return static_cast<std::size_t>(value);
}

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

// Sets of symbols and how many entities have each. Which sets were met lately is kept in a table
// of fixed size; one that was forgotten is stored once more, which changes no sum.
class SymbolSets {
 public:
  SymbolSets(std::int64_t num_entities, std::int64_t num_triples) {
    int bits = 0;
    while (bits < kMostTableBits && (std::int64_t{1} << bits) < num_entities) ++bits;
    shift_ = 64 - std::max(bits, 1);
    recent_.resize(std::size_t{1} << std::max(bits, 1));
    symbols_.reserve(as_size(2 * num_triples));  // an upper bound; unused pages are never touched
  }

  void add(const std::vector<std::int32_t>& set) {
    std::uint64_t hash = set.size();
    for (const std::int32_t symbol : set) {
      hash = (hash ^ static_cast<std::uint32_t>(symbol)) * 0x9E3779B97F4A7C15u;
      hash ^= hash >> 29;
    }
    hash *= 0x9E3779B97F4A7C15u;
    Recent& recent = recent_[hash >> shift_];
    const auto tag = static_cast<std::uint32_t>(hash);
    if (recent.set >= 0 && recent.tag == tag &&
        std::equal(set.begin(), set.end(), begin(recent.set), end(recent.set))) {
      ++counts_[as_size(recent.set)];
      return;
    }
    recent = {tag, static_cast<std::int32_t>(counts_.size())};
    symbols_.insert(symbols_.end(), set.begin(), set.end());
    offsets_.push_back(static_cast<std::int64_t>(symbols_.size()));
    counts_.push_back(1);
  }

  const std::int32_t* begin(std::int32_t set) const {
    return symbols_.data() + offsets_[as_size(set)];
  }
  const std::int32_t* end(std::int32_t set) const { return begin(set + 1); }
  std::int64_t count(std::int32_t set) const { return counts_[as_size(set)]; }
  std::int32_t size() const { return static_cast<std::int32_t>(counts_.size()); }
  const std::vector<std::int32_t>& symbols() const { return symbols_; }

  void forget_recent() { recent_ = {}; }

 private:
  static constexpr int kMostTableBits = 22;
  struct Recent {
    std::uint32_t tag = 0;
    std::int32_t set = -1;
  };

  int shift_;
  std::vector<Recent> recent_;
  std::vector<std::int32_t> symbols_;
  std::vector<std::int64_t> offsets_{0};
  std::vector<std::int32_t> counts_;
};

// The sets that hold each symbol: those of symbol s are sets[offsets[s], offsets[s + 1]).
struct SetsOfSymbol {
  std::vector<std::int64_t> offsets;
  std::vector<std::int32_t> sets;

  SetsOfSymbol(const SymbolSets& all, std::int64_t num_symbols)
      : offsets(as_size(num_symbols + 2), 0), sets(all.symbols().size()) {
    for (const std::int32_t symbol : all.symbols()) ++offsets[as_size(symbol) + 2];
    std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
    for (std::int32_t set = 0; set < all.size(); ++set) {
      for (const std::int32_t* symbol = all.begin(set); symbol != all.end(set); ++symbol) {
        sets[as_size(offsets[as_size(*symbol) + 1]++)] = set;
      }
    }
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
  std::vector<std::int32_t> leaving;
  for (std::int32_t entity = 0; entity < graph.num_entities; ++entity) {
    leaving_symbols(graph, entity, leaving);
    if (leaving.size() == 1) {
      ++alone[as_size(leaving[0])];
    } else if (!leaving.empty()) {
      sets.add(leaving);
    }
  }
  sets.forget_recent();

  const SetsOfSymbol holders(sets, num_symbols);
  RelationSchema schema;
  std::vector<std::int64_t> row(as_size(num_symbols), 0);
  NodeSet present(num_symbols);
  std::vector<std::int32_t> followers;
  const auto add = [&](std::int32_t symbol, std::int64_t count) {
    row[as_size(symbol)] += count;
    if (present.insert(symbol)) followers.push_back(symbol);
  };
  for (std::int64_t first = 0; first < num_symbols; ++first) {
    const std::int64_t back =
        first < graph.num_relations ? first + graph.num_relations : first - graph.num_relations;
    for (std::int64_t i = holders.offsets[as_size(back)]; i < holders.offsets[as_size(back) + 1];
         ++i) {
      const std::int32_t set = holders.sets[as_size(i)];
      for (const std::int32_t* symbol = sets.begin(set); symbol != sets.end(set); ++symbol) {
        add(*symbol, sets.count(set));
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
