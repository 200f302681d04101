#include "flow_graph.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "graph/csr.h"
#include "graph/sizes.h"

namespace hyperhop {
namespace {

using graph::as_size;
using graph::Triple;

void check_ids(const char* name, const std::int32_t* ids, std::int64_t count, std::int64_t bound) {
  for (std::int64_t e = 0; e < count; ++e)
    if (ids[e] < 0 || ids[e] >= bound)
      throw std::invalid_argument("FlowGraph: " + std::string(name) + " must lie in 0.." +
                                  std::to_string(bound - 1) + ", got " + std::to_string(ids[e]) +
                                  " at edge " + std::to_string(e));
}

}  // namespace

FlowGraph::FlowGraph(const std::int32_t* src, const std::int32_t* relation, const std::int32_t* dst,
                     std::int64_t num_edges, std::int64_t num_nodes, std::int64_t num_relations)
    : num_nodes_(num_nodes), num_relations_(num_relations) {
  check_ids("src", src, num_edges, num_nodes);
  check_ids("relation", relation, num_edges, num_relations);
  check_ids("dst", dst, num_edges, num_nodes);
  std::vector<Triple> edges(as_size(num_edges)), scratch(as_size(num_edges));
  for (std::int64_t e = 0; e < num_edges; ++e) edges[as_size(e)] = {src[e], relation[e], dst[e]};
  const auto fill = [&](std::int32_t Triple::* row, std::int32_t Triple::* node, Edges& into) {
    into.offsets = graph::starts_by(edges, row, num_nodes);
    into.node.reserve(edges.size());
    into.relation.reserve(edges.size());
    for (const Triple& edge : edges) {
      into.node.push_back(edge.*node);
      into.relation.push_back(edge.relation);
    }
  };
  graph::stable_sort_by(edges, scratch, &Triple::relation, num_relations);
  graph::stable_sort_by(edges, scratch, &Triple::head, num_nodes);
  graph::stable_sort_by(edges, scratch, &Triple::tail, num_nodes);
  fill(&Triple::tail, &Triple::head, in_);
  // By (dst, src, relation) already, so one more pass orders by (src, dst, relation).
  graph::stable_sort_by(edges, scratch, &Triple::head, num_nodes);
  fill(&Triple::head, &Triple::tail, out_);
}

bool FlowGraph::is_crossed(std::int64_t node) const {
  std::call_once(crossings_counted_, [this] {
    std::vector<std::int64_t> change(as_size(num_nodes_) + 1, 0);
    for (std::int64_t v = 0; v < num_nodes_; ++v)
      for (std::int64_t e = in_.offsets[as_size(v)]; e < in_.offsets[as_size(v) + 1]; ++e) {
        const std::int64_t u = in_.node[as_size(e)];
        ++change[as_size(std::min(u, v)) + 1];
        --change[as_size(std::max(u, v)) + 1];
      }
    crossed_.resize(change.size());
    std::int64_t open = 0;
    for (std::size_t v = 0; v < change.size(); ++v) crossed_[v] = (open += change[v]) != 0;
  });
  return crossed_[as_size(node)];
}

std::shared_ptr<const FlowPlan> FlowGraph::plan(const std::vector<std::int64_t>& segments) const {
  const std::lock_guard<std::mutex> lock(plan_mutex_);
  if (!plan_ || plan_->segments() != segments)
    plan_ = std::make_shared<const FlowPlan>(in(), out(), segments, num_relations_);
  return plan_;
}

}  // namespace hyperhop
