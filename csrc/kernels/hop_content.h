// A hop that scores nodes by their features and reads through its result (RSF-GLLM eq. 4 with
// sections 2.3.2 and 2.3.3), with one pass over the features: rho_v = h_v . q, and at once
// w_v h_v, w_v the weight of hop.h against the largest y so far (an online softmax). One block of
// nodes at a time, in groups whose rows stay in the first-level cache; hop_weigh then takes the
// weights again from rho, and has the same largest y. hop_content_total joins the blocks of a
// segment, with what hop_combine found: context = sum over blocks of factor * sums / divisor.
// Dot products and sums are those of content_score.h and read.h, so that rho and pi' have the bits
// of the separate functions; the context has the error of its own rounding.
// Backwards, with dc the gradient of the context and g that of pi':
//   g'_v = g_v + h_v . dc;  dot = sum pi' g + c . dc;  x_v = pi'_v (g'_v - dot);
//   u = sum x_v h_v;  dq = gate u;  dgate = u . q;  dh_v = pi'_v dc + gate x_v q
// in one pass too; the gradients of pi and beta follow from g' as in hop.h.
#pragma once
#include "hop.h"
#include "row_sums.h"

namespace hyperhop {

// Nodes of a group: a function of the row alone, as it decides when sums are rescaled.
constexpr int kContentRows = 16;
template <class T>
HH_INLINE constexpr int content_rows(int64_t dim) {
  const int64_t bytes = dim * int64_t(sizeof(T));
  return bytes <= 1024 ? kContentRows : bytes <= 2048 ? 8 : 4;
}

template <class T>
struct HopContentArgs {
  HopArgs<T> hop;  // its rho is not looked at
  int64_t dim;
  const T* features;  // (V, dim)
  const T* queries;   // (lanes, dim)
  const T* phi;       // (V, lanes)
  T* rho;             // (V, lanes), written
  T* scratch;         // content_scratch(lanes), for one call at a time
};
constexpr int64_t content_scratch(int64_t lanes) {
  return (kContentRows + 2) * lanes;
}
// The block's own sums (lanes padded rows) are written, not added to.
template <class T>
using HopContentKernel = void(const HopContentArgs<T>&, int64_t node_begin, int64_t node_end,
                              T* sums);
// Sums of a segment's blocks, factors (blocks, lanes), divisor (lanes,), to out (lanes, dim).
template <class T>
using HopContentTotalKernel = void(int64_t lanes, int64_t dim, int64_t blocks, const T* factors,
                                   const T* divisor, T* sums, T* out);

template <class T>
struct HopContentBackwardArgs {
  int64_t lanes, dim;
  const T* features;      // (V, dim)
  const T* queries;       // (lanes, dim), like the next three of the segment
  const T* grad_context;  // (lanes, dim) dc
  const T* gate;          // (lanes,)
  const T* dot;           // (lanes,)
  const T* output;        // (V, lanes) pi'
  const T* grad;          // (V, lanes) g
  T* whole_grad;          // (V, lanes) g'
  T* grad_features;       // (V, dim) or null
  T* scratch;             // content_scratch(lanes)
};
// The block's own sums of x h are written.
template <class T>
using HopContentBackwardKernel = void(const HopContentBackwardArgs<T>&, int64_t node_begin,
                                      int64_t node_end, T* sums);

}  // namespace hyperhop
