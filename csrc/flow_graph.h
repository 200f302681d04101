// The graph that flow runs over: a directed multigraph with self loops, whose edges stand in two
// orders. Values are checked once, here; kernels trust them.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "flow_plan.h"
#include "kernels/flow.h"

namespace hyperhop {

class FlowGraph {
 public:
  // Edge e runs from src[e] to dst[e]. Throws std::invalid_argument for an id out of range.
  // O(E + V + R), stable counting passes.
  FlowGraph(const std::int32_t* src, const std::int32_t* relation, const std::int32_t* dst,
            std::int64_t num_edges, std::int64_t num_nodes, std::int64_t num_relations);

  std::int64_t num_nodes() const { return num_nodes_; }
  std::int64_t num_relations() const { return num_relations_; }
  std::int64_t num_edges() const { return static_cast<std::int64_t>(in_.relation.size()); }

  FlowEdges in() const { return in_.view(); }    // rows are tails: by (dst, src, relation)
  FlowEdges out() const { return out_.view(); }  // rows are heads: by (src, dst, relation)

  // Whether some edge joins a node below `node` with one at or above it. O(E) at the first call.
  bool is_crossed(std::int64_t node) const;

  // How to walk the graph cut into these segments, which must not be crossed. The last one is kept:
  // O(segments), or O(E + V) for other segments than at the last call.
  std::shared_ptr<const FlowPlan> plan(const std::vector<std::int64_t>& segments) const;

 private:
  struct Edges {
    std::vector<std::int64_t> offsets;
    std::vector<std::int32_t> node, relation;
    FlowEdges view() const { return {offsets.data(), node.data(), relation.data()}; }
  };

  std::int64_t num_nodes_, num_relations_;
  Edges in_, out_;
  mutable std::once_flag crossings_counted_;
  mutable std::vector<bool> crossed_;
  mutable std::mutex plan_mutex_;
  mutable std::shared_ptr<const FlowPlan> plan_;
};

}  // namespace hyperhop
