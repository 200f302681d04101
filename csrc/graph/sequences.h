// All symbol sequences that some walk from `topic` follows, found with sets of nodes and no entity
// paths.
//
// A prefix is kept with the set of nodes its walks end on; prefixes that end on the same set share
// one copy and one expansion. At most the sets of two neighbouring depths are held. Sequences come
// ordered by (length, symbols).
//
// truncated: there is a further sequence beyond `cap`, or a limit was reached. Then the result is a
// prefix of the full list (with `beam`: of the list at that depth, chosen from what was looked at).
//
// beam: at each depth only the `beam` prefixes with the fewest distinct end nodes are returned and
// extended; ties go to the smaller tuple of symbol ranks.
#pragma once

#include <cstdint>
#include <vector>

#include "graph_view.h"

namespace hyperhop::graph {

struct SequenceOptions {
  std::int64_t max_hops;
  std::int64_t cap;
  std::int64_t beam;  // 0: keep all
  bool inverse;
  bool return_to_topic;
  const std::int32_t* symbol_ranks;  // (2 * num_relations,): place of each symbol among the names
};

struct Sequences {
  std::vector<std::int32_t> symbols;
  std::vector<std::int64_t> offsets{0};
  bool truncated = false;
};

Sequences find_sequences(const GraphView& graph, std::int32_t topic, const SequenceOptions& options,
                         const Limits& limits);

}  // namespace hyperhop::graph
