// content_score: rho[v, b] = h_v . q_b for the queries of v's segment (RSF-GLLM section 2.3.2). A
// dot product is one vector of partial sums over the columns, so its bits depend on h_v and q_b
// alone. NaN surfaces; rows without columns score 0.
#pragma once
#include <stdint.h>

namespace hyperhop {

template <class T>
struct ContentScoreArgs {
  int64_t lanes, dim;
  const T* features;  // (V, dim)
  const T* queries;   // (lanes, dim), of the segment
  T* out;             // (V, lanes)
};
template <class T>
using ContentScoreKernel = void(const ContentScoreArgs<T>&, int64_t node_begin, int64_t node_end);

}  // namespace hyperhop
