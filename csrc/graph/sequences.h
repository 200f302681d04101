// All symbol sequences that some walk from `topic` follows, found with sets of nodes and no entity
// paths.
//
// A prefix is kept with the set of nodes its walks end on; prefixes that end on the same set share
// one copy and one expansion. At most the sets of two neighbouring depths are held; a depth is a
// number of symbols. Sequences come ordered by (length, symbols).
//
// With mediators (walk_rules.h) a prefix also knows the fewest hops that lead to each of its nodes,
// because fewer hops leave more of max_hops. A prefix that ends on mediators only is extended but
// not returned.
//
// truncated: there is a further sequence beyond `cap`, or a limit was reached. Then the result is a
// prefix of the full list (with `beam`: of the list at that depth, chosen from what was looked at).
//
// beam: at each depth only the `beam` prefixes with the fewest distinct end nodes (mediators count)
// are returned and extended; ties go to the smaller tuple of symbol ranks.
//
// hubs: the nodes that a walk had to leave and that the rule for hubs sampled or skipped there.
#pragma once

#include <cstdint>
#include <vector>

#include "graph_view.h"
#include "walk_rules.h"

namespace hyperhop::graph {

struct SequenceOptions {
  std::int64_t cap;
  std::int64_t beam;  // 0: keep all
  bool inverse;
  const std::int32_t* symbol_ranks;  // (2 * num_relations,): place of each symbol among the names
};

struct Sequences {
  std::vector<std::int32_t> symbols;
  std::vector<std::int64_t> offsets{0};
  std::vector<std::int32_t> hubs;  // ascending, distinct
  bool truncated = false;
};

Sequences find_sequences(const GraphView& graph, std::int32_t topic, const WalkRules& rules,
                         const SequenceOptions& options, const Limits& limits);

}  // namespace hyperhop::graph
