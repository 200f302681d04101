// The relation-schema graph (PathHD section 2.4): which symbol can follow which, and how often.
//
// Symbol a arrives at an entity exactly if inverse(a) leaves it. So count(a, b), the number of
// entities at which an edge walked as a arrives and one walked as b leaves, is the number of
// entities that both inverse(a) and b leave; count(inverse(s), s) is the number that s leaves.
//
// Row a holds the symbols b with count(a, b) > 0, ascending.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "graph_view.h"

namespace hyperhop::graph {

struct RelationSchema {
  std::vector<std::int64_t> offsets{0};  // (2 * num_relations + 1,)
  std::vector<std::int32_t> symbols;     // (pairs,)
  std::vector<std::int64_t> counts;      // (pairs,)
};

// The same as a stored directory holds it: checked as it is read, like the graph.
struct SchemaView {
  const std::int64_t* offsets;
  const std::int32_t* symbols;
  const std::int64_t* counts;
  std::int32_t num_relations;
  std::int64_t num_pairs;

  std::int32_t inverse(std::int32_t symbol) const {
    return symbol < num_relations ? symbol + num_relations : symbol - num_relations;
  }

  // `symbol` must be a checked symbol.
  Row row(std::int32_t symbol) const {
    const std::int64_t begin = offsets[symbol];
    const std::int64_t end = offsets[static_cast<std::int64_t>(symbol) + 1];
    if (begin < 0 || begin > end || end > num_pairs) {
      throw_damaged("schema_offsets", symbol, end, num_pairs);
    }
    return {begin, end};
  }

  std::int32_t symbol(std::int64_t pair) const {
    const std::int32_t value = symbols[pair];
    if (value < 0 || value / 2 >= num_relations) {
      throw_damaged("schema_symbols", pair, value, 2 * std::int64_t{num_relations} - 1);
    }
    return value;
  }

  // Position of the first symbol of the row that is not below `bound`.
  std::int64_t lower_bound(Row row, std::int32_t bound) const {
    return std::lower_bound(symbols + row.begin, symbols + row.end, bound) - symbols;
  }

  std::int64_t count(std::int32_t first, std::int32_t second) const {
    const Row followers = row(first);
    const std::int64_t pair = lower_bound(followers, second);
    return pair < followers.end && symbols[pair] == second ? counts[pair] : 0;
  }
};

// The distinct symbols that leave an entity, ascending. `entity` must be a checked id.
void leaving_symbols(const GraphView& graph, std::int32_t entity,
                     std::vector<std::int32_t>& symbols);

// Nothing where there are more than max_pairs pairs.
//
// Entities that the same symbols leave are counted once, with their number. Takes one look at each
// relation of each row, and the square of each distinct set of symbols; memory at most 16 bytes an
// edge, 16 bytes an entity, and the result.
std::optional<RelationSchema> build_schema(const GraphView& graph, std::int64_t max_pairs);

}  // namespace hyperhop::graph
