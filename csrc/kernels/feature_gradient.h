// feature_gradient: dh_v = sum over b of weights[v, b] rows_b, with the rows of v's segment, b
// ascending, one chain a number. It is what read (weights pi, rows the gradient of the context) and
// content_score (weights the gradient of rho, rows the queries) send back to the features.
#pragma once
#include <stdint.h>

namespace hyperhop {

template <class T>
struct FeatureGradientArgs {
  int64_t lanes, dim;
  const T* weights;  // (V, lanes)
  const T* rows;     // (lanes, dim), of the segment
  T* out;            // (V, dim)
};
template <class T>
using FeatureGradientKernel = void(const FeatureGradientArgs<T>&, int64_t node_begin,
                                   int64_t node_end);

}  // namespace hyperhop
