// bundle: out[i] = sum_k weights[k] * x[k][i], k ascending, one float32 accumulator per element.
// Elementwise, so it serves both layouts. An empty sum is zero; NaN propagates.
#pragma once
#include <stdint.h>

namespace hyperhop {

struct BundleArgs {
  int64_t count;   // K
  int64_t stride;  // floats between x[k] and x[k + 1]
  const float* weights;
  const float* x;
  float* out;
};
using BundleKernel = void(const BundleArgs&, int64_t begin, int64_t end);

}  // namespace hyperhop
