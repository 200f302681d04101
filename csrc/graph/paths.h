// Entity paths of given symbol sequences from one topic, and where each sequence ends.
//
// A sequence of L symbols gives paths of L + 1 entities, in ascending entity order. Nodes from
// which the rest of the sequence cannot be walked are removed first, so the search for walks never
// meets a dead end; sequences with few walks are listed without a search (last_steps.h). Walks
// follow the same edges at hubs and mediators as in sequences.h; only with mediators does max_hops
// still cut anything here, walk by walk.
//
// cap: paths in total. Every sequence that has a path keeps one (the first `cap` of them if there
// are more), what is left goes to the sequences in the order given.
//
// simple: no entity twice. This search can meet dead ends, so there are limits.simple_steps for all
// sequences. The ends of a sequence, and then its paths, may take a quarter of what is left, and
// always 4,096.
//
// ends: all distinct end entities, ascending, never cut by `cap`; ends_truncated tells that a limit
// cut them.
//
// truncated: a path is missing, because of `cap` or of a limit.
//
// hubs: the nodes that a walk had to leave and that the rule for hubs sampled or skipped there.
#pragma once

#include <cstdint>
#include <vector>

#include "graph_view.h"
#include "sequence_list.h"
#include "walk_rules.h"

namespace hyperhop::graph {

struct PathOptions {
  std::int64_t cap;
  bool simple;
};

struct EntityPaths {
  std::vector<std::int32_t> entities;
  std::vector<std::int64_t> offsets{0};  // (count + 1,): entity paths before each sequence
  std::vector<std::int32_t> ends;
  std::vector<std::int64_t> end_offsets{0};
  std::vector<std::int32_t> hubs;  // ascending, distinct
  bool truncated = false;
  bool ends_truncated = false;
};

EntityPaths expand_paths(const GraphView& graph, std::int32_t topic, const WalkRules& rules,
                         const SequenceList& sequences, const PathOptions& options,
                         const Limits& limits);

}  // namespace hyperhop::graph
