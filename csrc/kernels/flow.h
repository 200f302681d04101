// propagate: structural flow (RSF-GLLM section 3.3) into a block of nodes,
//   phi_v = sum over edges (u, r, v) of pi_u * beta_r,
// one edge after another in the order (tail, head, relation), a product and then a sum, so that the
// bits depend on nothing but the edges of v. A node without in-edges gets 0.
// propagate_backward: with d = the gradient of phi, for the nodes u of a block,
//   grad_pi_u = sum over edges (u, r, v) of beta_r * d_v, in the order (head, tail, relation);
//   grad_beta_r += pi_u * d_v for every edge, row after row of the block.
// Rows stand by degree, so that the processor foresees where each ends; that moves no bit of phi or
// grad_pi, and fixes the order of grad_beta.
// pi, phi and their gradients are (V, lanes), beta and its gradient (R, lanes): each lane is a flow
// of its own, with the bits it would have alone. float32 and float64; no sum is wider than that:
// its relative error is at most that of one rounding an edge.
#pragma once
#include <stdint.h>

namespace hyperhop {

// One of the two orders of a graph's edges: rows are the tails or the heads.
struct FlowEdges {
  const int64_t* offsets;   // (V + 1,) where the edges of each row start
  const int32_t* node;      // (E,) the other end
  const int32_t* relation;  // (E,)
};

// Rows of one degree.
struct FlowRun {
  int32_t degree, rows;
};

// A block of rows as the kernels read it: runs, their rows, and the edges of these in a line. An
// edge is one word, its node above `node_shift` bits of its relation: of 32 bits where both fit,
// else of 64. Reading edges is half of what a flow reads.
struct FlowRows {
  const FlowRun* runs;
  int64_t num_runs;
  const int32_t* row;
  const uint32_t* words;       // or null
  const uint64_t* wide_words;  // where words is null
  int node_shift;
};

// How far beyond the edges of a block words may be read.
constexpr int kFlowLookahead = 16;

template <class T>
struct PropagateArgs {
  FlowRows in;
  int64_t lanes;
  const T* pi;
  const T* beta;  // of the segment
  bool one_beta;  // whether beta is (R,), the same for all lanes
  T* phi;
};
template <class T>
using PropagateKernel = void(const PropagateArgs<T>&);

template <class T>
struct PropagateBackwardArgs {
  FlowRows out;
  int64_t lanes;
  const T* pi;
  const T* beta;  // of the segment
  const T* grad_phi;
  T* grad_pi;
  T* grad_beta;  // added to
};
template <class T>
using PropagateBackwardKernel = void(const PropagateBackwardArgs<T>&);

}  // namespace hyperhop
