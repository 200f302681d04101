// The node pass of a hop (RSF-GLLM eq. 4), one block of nodes of one segment at a time:
//   pi'_v = exp(log t_v + y_v) / sum over z of exp(log t_z + y_z),  t = phi + eps,  y = gate * rho.
// As exp(log t) = t, hop_weigh takes the weights w_v = t_v exp(y_v - top) with top the largest y of
// a node of the block that has t > 0, and their sum; hop_combine joins the blocks of a segment;
// hop_scale makes pi' of the weights. No logarithm is rounded, and no exponential overflows.
//   rho null: y = 0. rho = -inf: the node gets no mass, whatever the gate.
//   reachable_only: t = 0 where phi = 0. phi < 0 or NaN, y = inf or NaN: the whole segment is NaN.
//   A block or segment without any t > 0 and y > -inf has sum 0; such a segment's pi' is 0 (a dead
//   hop).
// The gradients, given g = the gradient of pi', with c = sum pi' g and x = pi' (g - c):
//   grad_phi = x / t;  grad_rho = gate x;  grad_gate = sum x rho.
// Where y is known phi need not be: pi'_v / t_v = exp(y_v) / sum is exp(y_v - y_a) pi'_a / t_a for
// any node a, so hop_peak finds the node of the most mass (the first of equals) and hop_anchor
// takes its t from its in-edges. hop_dot gives c, hop_backward the rest; grad_phi is 0 where pi'
// is. Given phi, as by a caller who keeps no rho, it takes x / t. Arrays are (V, lanes); sums have
// the shape of node_sums.h. Error: a few units of the last place of each exponential and sum.
#pragma once
#include <stdint.h>

#include "flow.h"
#include "node_sums.h"

namespace hyperhop {

template <class T>
struct HopArgs {
  int64_t lanes;
  T eps;
  bool reachable_only;
  const T* rho;   // (V, lanes) or null
  const T* gate;  // (lanes,)
};

// Of a block of nodes: values (V, lanes) hold phi and receive the weights; the largest y and the
// sum of the weights, each (lanes,).
template <class T>
using HopWeighKernel = void(const HopArgs<T>&, int64_t node_begin, int64_t node_end, T* values,
                            T* top, T* sum);
// Blocks of a segment: tops and sums (blocks, lanes) in, the factor of each block's weights out in
// tops, the divisor of them all in sums' first row.
template <class T>
using HopCombineKernel = void(int64_t blocks, int64_t lanes, T* tops, T* sums);
// Values (V, lanes) hold weights and receive pi'.
template <class T>
using HopScaleKernel = void(int64_t lanes, int64_t node_begin, int64_t node_end, T* values,
                            const T* factor, const T* divisor);

// Of a block of nodes, for each lane: the first node of the largest output.
template <class T>
using HopPeakKernel = void(const T* output, int64_t lanes, int64_t node_begin, int64_t node_end,
                           int64_t* node);
// pi'_a / t_a and y_a of a node in one lane; both 0 where it has no mass.
template <class T>
struct HopAnchorArgs {
  HopArgs<T> hop;
  FlowEdges in;
  const T *pi, *beta;  // of the hop; beta of the segment
  const T* output;
  int64_t node, lane;
};
template <class T>
using HopAnchorKernel = void(const HopAnchorArgs<T>&, T* ratio, T* content);

template <class T>
struct HopBackwardArgs {
  HopArgs<T> hop;
  const T* output;   // (V, lanes) pi'
  const T* grad;     // (V, lanes)
  const T* dot;      // (lanes,) c of the segment, and its anchor
  const T* ratio;    // (lanes,)
  const T* content;  // (lanes,)
  const T* phi;      // (V, lanes), only without rho and instead of the anchor; or null
  T* grad_phi;       // (V, lanes)
  T* grad_rho;       // (V, lanes) or null
};
template <class T>
using HopDotKernel = void(const T* output, const T* grad, int64_t lanes, int64_t node_begin,
                          int64_t node_end, T* dot);
// grad_gate: this block's part, (lanes,); unused where rho is null.
template <class T>
using HopBackwardKernel = void(const HopBackwardArgs<T>&, int64_t node_begin, int64_t node_end,
                               T* grad_gate);

}  // namespace hyperhop
