// The paths behind a target: a flow walked back from where it arrived to where it started.
//
// A step from u to v at hop t carries flow if pi[t-1](u) > 0 and some edge (u, r, v) has
// beta[t](r) > 0; a NaN carries none. A path is one such step a hop, from a node with pi[0] > 0 to
// the target at the last hop. Of parallel edges the one of the largest beta, then of the lowest
// relation id, stands for the step; so a path is told by its nodes.
//
// Weight of a step: pi[t-1](u), or that times beta[t](r), in double. Score of a path: the sum of
// the natural logarithms of its weights, hop after hop; of a product that underflows, the sum of
// both.
//
// Greedy: at each hop the step of the largest weight, then of the lowest u. Where that leads to a
// node that no flow came to (a flow with leaked mass holds such nodes) the walk is done again among
// the steps that do lead back to a start; so a path is found wherever there is one.
// Best: the k paths of the largest scores; of two that score alike the one whose last but one node
// is lower, and where that is the same, the one whose part up to it comes first by this rule.
//
// `edges` are the in-edges of a FlowGraph, rows being tails.
// Cost: greedy O(in-degrees met), at worst best's with k = 1; best O(hops * edges * k) at most, of
// edges that lie behind the targets.
#pragma once

#include <cstdint>
#include <vector>

#include "../kernels/flow.h"
#include "node_index.h"
#include "sizes.h"

namespace hyperhop::graph {

// One flow and the attention at each hop. Lanes of a batch lie `stride` apart.
template <typename T>
struct FlowHistory {
  std::int64_t hops;
  const T* const* flows;  // hops + 1 of them
  const T* const* betas;  // hops of them
  std::int64_t stride, flow_offset, beta_offset;
  bool with_beta;  // whether a step's weight has its beta in it

  T flow(std::int64_t hop, std::int32_t node) const {
    return flows[hop][node * stride + flow_offset];
  }
  T beta(std::int64_t hop, std::int32_t relation) const {
    return betas[hop - 1][relation * stride + beta_offset];
  }
};

// The best `k` paths to some targets of one flow, by dynamic programming over the hops.
template <typename T>
class BestPaths {
 public:
  BestPaths(const FlowEdges& edges, const FlowHistory<T>& history,
            const std::vector<std::int32_t>& targets, std::int64_t k);

  // How many paths lead to `node` at this hop; 0 for one that no flow came to.
  std::int64_t count(std::int64_t hop, std::int32_t node) const;

  // Path number `rank` to a target: hops + 1 entities, hops relations, the score.
  void write(std::int32_t target, std::int64_t rank, std::int32_t* entities,
             std::int32_t* relations, double* score) const;

 private:
  struct Entry {
    double score;
    std::int64_t before;  // the entry of the hop before that this one continues
    std::int32_t node, relation;
  };
  // The nodes of a hop that lie behind the targets, and the paths to each of them, best first.
  struct Hop {
    NodeIndex numbers;
    std::vector<std::int32_t> nodes;
    std::vector<std::int64_t> first;  // (nodes + 1,): where each node's paths begin
    std::vector<Entry> paths;
  };

  void add(Hop& hop, std::int32_t node);
  void find_nodes(const std::vector<std::int32_t>& targets);
  void extend(std::int64_t hop);

  const FlowEdges* edges_;
  FlowHistory<T> history_;
  std::size_t k_;
  std::vector<Hop> hops_;
};

// The greedy path to `target`, written as BestPaths::write does; false if there is none.
template <typename T>
bool trace_greedy(const FlowEdges& edges, const FlowHistory<T>& history, std::int32_t target,
                  std::int32_t* entities, std::int32_t* relations, double* score);

}  // namespace hyperhop::graph
