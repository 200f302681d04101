// propagate: structural flow (RSF-GLLM section 3.3) of one segment,
//   phi_v = sum over edges (u, r, v) of pi_u * beta_r,
// one edge after another in the order (tail, head, relation), a product and then a sum, so that the
// bits depend on nothing but the edges of v. A node without in-edges gets 0.
// propagate_backward: with d = the gradient of phi,
//   grad_pi_u = sum over edges (u, r, v) of beta_r * d_v, in the order (head, tail, relation);
//   grad_beta_r = sum over edges of r of pi_u * d_v: the out-edges of the segment are cut into edge
//   blocks, each of them into four quarters (both at whole nodes); quarters are summed edge after
//   edge, then added in order. Blocks are added by the caller.
// pi, phi and their gradients are (V, lanes), beta and its gradient (R, lanes): each lane is a flow
// of its own, with the bits it would have alone. float32 and float64; no sum is wider than that.
#pragma once
#include <stdint.h>

#include "../portability.h"

namespace hyperhop {

// One of the two orders of a graph's edges: rows are the tails or the heads.
struct FlowEdges {
  const int64_t* offsets;   // (V + 1,) where the edges of each row start
  const int32_t* row;       // (E,)
  const int32_t* node;      // (E,) the other end
  const int32_t* relation;  // (E,)
};

template <class T>
struct PropagateArgs {
  FlowEdges in;
  int64_t lanes;
  const T* pi;
  const T* beta;  // of the segment
  T* phi;
};
template <class T>
using PropagateKernel = void(const PropagateArgs<T>&, int64_t node_begin, int64_t node_end);

constexpr int64_t kEdgeBlock = 1 << 16;
constexpr int kBlockQuarters = 4;

template <class T>
struct PropagateBackwardArgs {
  FlowEdges out;
  int64_t lanes;
  int64_t num_relations;
  const T* pi;
  const T* beta;  // of the segment
  const T* grad_phi;
  T* grad_pi;
  T* grad_beta;  // of the block: written, not added to
  T* scratch;    // (kBlockQuarters - 1) * num_relations * lanes
};
// The nodes of one edge block.
template <class T>
using PropagateBackwardKernel = void(const PropagateBackwardArgs<T>&, int64_t node_begin,
                                     int64_t node_end);

// The first of the nodes [begin, end) whose edges start at `edge` or later, else end.
HH_INLINE int64_t first_row_at(const int64_t* offsets, int64_t begin, int64_t end, int64_t edge) {
  while (begin < end) {
    const int64_t middle = begin + (end - begin) / 2;
    if (offsets[middle] < edge)
      begin = middle + 1;
    else
      end = middle;
  }
  return begin;
}

// Edge blocks of the nodes [begin, end), at least one, and where the k-th starts.
HH_INLINE int64_t num_edge_blocks(const int64_t* offsets, int64_t begin, int64_t end) {
  const int64_t edges = offsets[end] - offsets[begin];
  return edges <= kEdgeBlock ? 1 : (edges + kEdgeBlock - 1) / kEdgeBlock;
}
HH_INLINE int64_t edge_block_begin(const int64_t* offsets, int64_t begin, int64_t end, int64_t k) {
  return k == 0 ? begin : first_row_at(offsets, begin, end, offsets[begin] + k * kEdgeBlock);
}

}  // namespace hyperhop
