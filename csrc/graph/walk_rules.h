// What a walk may do at each step, the same for sequences and for entity paths.
//
// hubs: see hubs.h; the row of the side that is walked decides.
//
// mediators: nodes that stand for a fact of several parts, not for a thing (Freebase's CVT nodes,
// blank nodes). Entering a mediator begins a hop and leaving it ends that hop, so a fact of several
// parts is one hop away, like any other. No walk ends on a mediator, and none goes from a mediator
// to a mediator. So every walk of h hops has h to 2 h symbols. The topic is never a mediator.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "graph_view.h"
#include "hubs.h"

namespace hyperhop::graph {

struct WalkRules {
  std::int64_t max_hops;
  bool return_to_topic;
  HubRule hubs;
  const std::uint8_t* mediators;  // (num_entities,), nonzero for a mediator; null: there are none

  // Symbols of the longest walk.
  std::int64_t max_symbols() const {
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    return mediators == nullptr ? max_hops : std::min(max_hops, most / 2) * 2;
  }

  bool is_mediator(std::int32_t node, std::int32_t topic) const {
    return mediators != nullptr && node != topic && mediators[node] != 0;
  }
};

}  // namespace hyperhop::graph
