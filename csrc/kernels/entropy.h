// entropy: H_b = -sum over the nodes of a segment of pi[v, b] log(pi[v, b] + eps), the term of
// RSF-GLLM's flow sparsity, one block of nodes at a time; a node without mass adds 0 (also at
// eps = 0), a segment without nodes has 0, a negative sum pi + eps and NaN give NaN.
// entropy_backward: dpi_v = -(log(pi_v + eps) + pi_v / (pi_v + eps)) g, inf g at pi = eps = 0.
#pragma once
#include "node_sums.h"

namespace hyperhop {

template <class T>
struct EntropyArgs {
  int64_t lanes;
  T eps;
  const T* pi;  // (V, lanes)
};
// A block's own sums, (lanes,), in the shape of node_sums.h.
template <class T>
using EntropyKernel = void(const EntropyArgs<T>&, int64_t node_begin, int64_t node_end, T* sums);
// grad: (lanes,), of the segment.
template <class T>
using EntropyBackwardKernel = void(const EntropyArgs<T>&, int64_t node_begin, int64_t node_end,
                                   const T* grad, T* grad_pi);

}  // namespace hyperhop
