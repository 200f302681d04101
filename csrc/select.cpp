#include "select.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "dispatch.h"

namespace hyperhop {
namespace {

TopkScanKernel<float>* scan_kernel(float) {
  return kernels().topk_scan_f32;
}
TopkScanKernel<double>* scan_kernel(double) {
  return kernels().topk_scan_f64;
}

}  // namespace

template <class T>
std::vector<int64_t> select_top(const T* values, int64_t n, int64_t k, T sign) {
  k = std::min(k, n);
  if (k == 0) return {};
  const auto better = [&](int64_t a, int64_t b) {
    const T x = sign * values[a], y = sign * values[b];
    if (x > y) return true;
    if (x < y) return false;
    const bool x_is_nan = std::isnan(x), y_is_nan = std::isnan(y);
    return x_is_nan != y_is_nan ? y_is_nan : a < b;
  };
  // The first k are candidates whatever they hold. From then on only values that strictly beat the
  // worst of the best k can matter, since an equal value has a higher index.
  const int64_t capacity = std::min(n, 2 * k + 256);
  std::vector<int64_t> pool(static_cast<size_t>(capacity));
  for (int64_t i = 0; i < k; ++i) pool[size_t(i)] = i;
  int64_t held = k, next = k;
  const auto keep_best = [&] {
    std::nth_element(pool.begin(), pool.begin() + (k - 1), pool.begin() + held, better);
    held = k;
  };
  const TopkScanArgs<T> args{values, n, sign};
  keep_best();
  while (next < n) {
    const T worst = sign * values[pool[size_t(k - 1)]];
    if (std::isnan(worst)) {  // any number beats it, which no threshold can say
      for (; next < n && held < capacity; ++next)
        if (!std::isnan(values[next])) pool[size_t(held++)] = next;
    } else {
      int64_t found = 0;
      // A small first buffer tightens the threshold early.
      const int64_t room = std::min(capacity - held, std::max<int64_t>(k, 16));
      next = scan_kernel(T{})(args, next, worst, pool.data() + held, room, &found);
      held += found;
    }
    if (next < n && held > k) keep_best();
  }
  const auto end = pool.begin() + held;
  std::partial_sort(pool.begin(), pool.begin() + k, end, better);
  pool.resize(size_t(k));
  return pool;
}

template std::vector<int64_t> select_top(const float*, int64_t, int64_t, float);
template std::vector<int64_t> select_top(const double*, int64_t, int64_t, double);

}  // namespace hyperhop
