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

template <class T>
void propagate_block(const FlowGraph& graph, int64_t lanes, const FlowShape::NodeBlock& block,
                     const T* pi, const T* beta, T* phi) {
  kernels().flow<T>().propagate(
      {graph.in(), lanes, pi, of_segment(beta, graph, block.segment), phi}, block.begin, block.end);
}

// Gradients of pi and beta from that of phi; every value is written.
template <class T>
void propagate_backward_pass(const FlowGraph& graph, const FlowShape& shape, const T* pi,
                             const T* beta, const T* grad_phi, T* grad_pi, T* grad_beta,
                             int threads) {
  const FlowEdges out = graph.out();
  const int64_t lanes = shape.lanes(), size = graph.num_relations() * lanes;
  const auto run_blocks = [&](int64_t segment, int64_t first, int64_t last, T* tables,
                              int64_t count) {
    const int64_t begin = shape.begin(segment), end = shape.end(segment);
    const auto scratch = make_values<T>((kBlockQuarters - 1) * size);
    for (int64_t k = first; k < last; ++k)
      kernels().flow<T>().propagate_backward(
          {out, lanes, graph.num_relations(), pi, of_segment(beta, graph, segment), grad_phi,
           grad_pi, tables + (k - first) * size, scratch.get()},
          edge_block_begin(out.offsets, begin, end, k),
          k + 1 == count ? end : edge_block_begin(out.offsets, begin, end, k + 1));
  };
  // Segments of one block: side by side. Others: their blocks side by side, some at a time, so
  // that the tables do not grow with the graph.
  std::vector<int64_t> small, large;
  int64_t small_edges = 0;
  for (int64_t g = 0; g < shape.num_segments(); ++g) {
    const bool is_small = num_edge_blocks(out.offsets, shape.begin(g), shape.end(g)) == 1;
    (is_small ? small : large).push_back(g);
    if (is_small) small_edges += out.offsets[shape.end(g)] - out.offsets[shape.begin(g)];
  }
  const auto num_small = static_cast<int64_t>(small.size());
  parallel_for(num_small, flow_grain(num_small, small_edges * lanes), threads,
               [&](int64_t first, int64_t last) {
                 for (int64_t i = first; i < last; ++i) {
                   const int64_t g = small[static_cast<size_t>(i)];
                   run_blocks(g, 0, 1, of_segment(grad_beta, graph, g), 1);
                 }
               });
  constexpr int64_t kBlocksAtOnce = 32;
  for (const int64_t g : large) {
    const int64_t count = num_edge_blocks(out.offsets, shape.begin(g), shape.end(g));
    const auto tables = make_values<T>(std::min(count, kBlocksAtOnce) * size);
    T* total = of_segment(grad_beta, graph, g);
    std::fill(total, total + size, T(0));
    for (int64_t begin = 0; begin < count; begin += kBlocksAtOnce) {
      const int64_t blocks = std::min(kBlocksAtOnce, count - begin);
      parallel_for(blocks, 1, threads, [&](int64_t first, int64_t last) {
        run_blocks(g, begin + first, begin + last, tables.get() + first * size, count);
      });
      for (int64_t k = 0; k < blocks; ++k)
        for (int64_t i = 0; i < size; ++i) total[i] += tables[static_cast<size_t>(k * size + i)];
    }
  }
}

}  // namespace hyperhop::bindings
