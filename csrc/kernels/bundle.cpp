#include "bundle.h"

#include "../math/simd.h"

namespace hyperhop::HH_ISA {

void bundle(const BundleArgs& args, int64_t begin, int64_t end) {
  int64_t i = begin;
  for (; i + kF32Lanes <= end; i += kF32Lanes) {
    F32 sum{};
    for (int64_t k = 0; k < args.count; ++k) {
      const F32 weight = F32{} + args.weights[k];
      sum = fma(weight, load<F32>(args.x + k * args.stride + i), sum);
    }
    store(args.out + i, sum);
  }
  // The tail repeats the vector loop on a padded copy, so that an element's bits do not depend on
  // where the split between threads falls.
  for (; i < end; ++i) {
    F32 sum{};
    for (int64_t k = 0; k < args.count; ++k) {
      const F32 weight = F32{} + args.weights[k];
      sum = fma(weight, F32{} + args.x[k * args.stride + i], sum);
    }
    args.out[i] = sum[0];
  }
}

}  // namespace hyperhop::HH_ISA
