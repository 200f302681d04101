#include "feature_gradient.h"

#include "rows.h"

namespace hyperhop::HH_ISA {

template <class T>
void feature_gradient(const FeatureGradientArgs<T>& args, int64_t begin, int64_t end) {
  const RowShape<T> shape(args.dim);
  for (int64_t v = begin; v < end; ++v) {
    const T* weights = args.weights + v * args.lanes;
    shape.write(args.out + v * args.dim, [&](auto read) HH_INLINE_LAMBDA {
      Vec<T> sum{};
      for (int64_t l = 0; l < args.lanes; ++l)
        sum = fma(splat(weights[l]), read(args.rows + l * args.dim), sum);
      return sum;
    });
  }
}

template void feature_gradient(const FeatureGradientArgs<float>&, int64_t, int64_t);
template void feature_gradient(const FeatureGradientArgs<double>&, int64_t, int64_t);

}  // namespace hyperhop::HH_ISA
