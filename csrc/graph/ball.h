// The ball around topics: what is within a number of hops, and the edges in it.
//
// Hops. A step along an edge costs a hop. A mediator (a node that only ties others together, such
// as a blank node) is left free of cost, except to another mediator; so a walk through one costs
// the one hop that entered it. A topic is never a mediator. A node's hop is the cost of its
// cheapest walk from a topic; the ball holds the nodes of at most `hops`. `out` and `in` say along
// which edges it grows.
//
// Edges. Not induced: those that the search walked, so a step from a node of the ball whose cost
// keeps within `hops`. Induced: all between two nodes of the ball.
//
// Hubs (hubs.h). A hub is left along the edges of its sample alone. Not induced: only followed
// edges count. Induced: an edge out of a hub counts if it is in the sample of its head's outgoing
// edges or in those of its tail's incoming ones (all of them where the tail is no hub in that
// direction). So only edges between two hubs can be missing.
//
// Order. Topics as they were given, each once; then the nodes as the search first steps onto them,
// hop by hop. It leaves the nodes of a hop in this same order, each along its outgoing edges and
// then along its incoming ones, in the order of the rows: by (relation, neighbour). Before them it
// leaves the hop's mediators free of cost. Edges not induced: as they were first walked, so an edge
// that is walked from both ends stands where the first walk has it. Induced: by local head, then in
// the order of the head's row: by (relation, id of the tail). Nothing is sorted for it, and nothing
// depends on threads.
//
// Bounds. The search stops after following max_edges edges, and keeps what it found; of the edges
// the first max_edges are kept; no more than edge_visits edges are looked at in all. `truncated`
// tells of each.
//
// Cost: proportional to the edges of the nodes in the ball, whatever the size of the graph.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "graph_view.h"
#include "hubs.h"

namespace hyperhop::graph {

// A set of nodes as the caller has it: one byte a node, or ascending ids.
struct Mediators {
  const bool* mask = nullptr;  // (num_entities,)
  const std::int32_t* ids = nullptr;
  std::int64_t count = 0;

  bool any() const { return mask != nullptr || count > 0; }
  bool contains(std::int32_t node) const {
    return mask != nullptr ? mask[node] : std::binary_search(ids, ids + count, node);
  }
};

struct BallOptions {
  std::int64_t hops;
  bool out;
  bool in;
  bool induced;
  HubRule hubs;
  Mediators mediators;
  std::int64_t max_edges;
  std::int64_t edge_visits;
};

struct Ball {
  std::vector<std::int32_t> entities;
  std::vector<std::int32_t> hops;  // of each entity
  std::vector<std::int32_t> heads, relations, tails;
  std::vector<std::int32_t> topics;   // local index of each topic, in the order given
  std::vector<std::int32_t> hub_ids;  // ascending: hubs whose edges were not all followed
  bool truncated = false;
};

// `topics` must be checked ids.
Ball find_ball(const GraphView& graph, const std::int32_t* topics, std::int64_t num_topics,
               const BallOptions& options);

}  // namespace hyperhop::graph
