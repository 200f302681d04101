// The two passes over the edges of a graph, threaded.
#pragma once
#include <algorithm>
#include <vector>

#include "../dispatch.h"
#include "../parallel.h"
#include "flow_arrays.h"

namespace hyperhop::bindings {

// beta of a segment: row g of (G, R), or all of (R,) and (R, B).
template <class T>
T* of_segment(T* beta, const FlowGraph& graph, int64_t segment) {
  return beta + segment * graph.num_relations();
}

// beta as a forward pass reads it.
template <class T>
struct Attention {
  // Lanes that share one row of memory, as np.broadcast_to makes them, are read as one.
  Attention(const char* function, const py::array& given, const FlowShape& shape, int64_t R)
      : one_for_all(shape.is_lanes() && shape.lanes() > 1 && given.ndim() == 2 &&
                    given.shape(0) == R && given.shape(1) == shape.lanes() &&
                    given.strides(1) == 0) {
    if (one_for_all)
      values = read_floats<T>(
          {function, "beta"},
          py::array(given.dtype(), {given.shape(0)}, {given.strides(0)}, given.data(), given), {R});
    else
      values = read_floats<T>({function, "beta"}, given, shape.per_relation(R));
  }

  bool one_for_all;
  FloatArray<T> values;
};

// Phi of the nodes of a block, by its index.
template <class T>
void propagate_block(const FlowGraph& graph, const FlowPlan& plan, int64_t lanes, int64_t block,
                     const T* pi, const T* beta, T* phi, bool one_beta = false) {
  const int64_t segment = plan.blocks()[static_cast<size_t>(block)].segment;
  kernels().flow<T>().propagate(
      {plan.in(block), lanes, pi, of_segment(beta, graph, segment), one_beta, phi});
}

// Gradients of pi and beta from that of phi; every value is written.
template <class T>
void propagate_backward_pass(const FlowGraph& graph, const FlowPlan& plan, int64_t lanes,
                             const T* pi, const T* beta, const T* grad_phi, T* grad_pi,
                             T* grad_beta, int threads) {
  const int64_t size = graph.num_relations() * lanes;
  const auto run = [&](const EdgeBlock& edges, T* table) {
    for (int64_t b = edges.begin; b < edges.end; ++b)
      kernels().flow<T>().propagate_backward({plan.out(b), lanes, pi,
                                              of_segment(beta, graph, edges.segment), grad_phi,
                                              grad_pi, table});
  };
  const auto num_segments = static_cast<int64_t>(plan.segments().size()) - 1;
  std::fill(grad_beta, grad_beta + num_segments * size, T(0));
  // The first edge block of a segment adds to the segment's own gradient, side by side with those
  // of other segments. The rest add to tables of their own, some at a time, so that the tables do
  // not grow with the graph, and these are then added in order.
  std::vector<EdgeBlock> first, rest;
  for (const EdgeBlock& edges : plan.edge_blocks())
    (first.empty() || first.back().segment != edges.segment ? first : rest).push_back(edges);
  const auto num_first = static_cast<int64_t>(first.size());
  parallel_for(num_first, flow_grain(num_first, (graph.num_edges() + graph.num_nodes()) * lanes),
               threads, [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i) {
                   const EdgeBlock& edges = first[static_cast<size_t>(i)];
                   run(edges, of_segment(grad_beta, graph, edges.segment));
                 }
               });
  constexpr int64_t kTables = 32;
  const auto num_rest = static_cast<int64_t>(rest.size());
  const auto tables = make_values<T>(std::min(num_rest, kTables) * size);
  for (int64_t from = 0; from < num_rest; from += kTables) {
    const int64_t count = std::min(kTables, num_rest - from);
    parallel_for(count, 1, threads, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        T* table = tables.get() + i * size;
        std::fill(table, table + size, T(0));
        run(rest[static_cast<size_t>(from + i)], table);
      }
    });
    for (int64_t i = 0; i < count; ++i) {
      T* total = of_segment(grad_beta, graph, rest[static_cast<size_t>(from + i)].segment);
      for (int64_t j = 0; j < size; ++j) total[j] += tables[static_cast<size_t>(i * size + j)];
    }
  }
}

}  // namespace hyperhop::bindings
