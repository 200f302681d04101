// read: c_b = sum over the nodes of a segment of pi[v, b] h_v (RSF-GLLM section 2.3.3), one block
// of nodes at a time: one chain a number inside a block (node_sums.h with one partial sum, as the
// numbers of a row are already side by side), blocks added in order. A segment without nodes reads
// 0; NaN surfaces, behind pi = 0 too.
#pragma once
#include "row_sums.h"

namespace hyperhop {

template <class T>
struct ReadArgs {
  int64_t lanes, dim;
  const T* features;  // (V, dim)
  const T* pi;        // (V, lanes)
  HH_INLINE int64_t sum_size() const { return lanes * padded_row<T>(dim); }
};
// A block's own sums (sum_size numbers) are written, not added to.
template <class T>
using ReadKernel = void(const ReadArgs<T>&, int64_t node_begin, int64_t node_end, T* sums);
// The sums of a segment's blocks, one after another, to out (lanes, dim). They are changed.
template <class T>
using ReadTotalKernel = void(int64_t lanes, int64_t dim, int64_t blocks, T* sums, T* out);

}  // namespace hyperhop
