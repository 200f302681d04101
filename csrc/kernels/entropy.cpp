#include "entropy.h"

#include "node_pass.h"

namespace hyperhop::HH_ISA {

template <class T>
void entropy(const EntropyArgs<T>& args, int64_t begin, int64_t end, T* sums) {
  using V = Vec<T>;
  Column<T> column;
  const int64_t n = end - begin;
  for (int64_t l = 0; l < args.lanes; ++l) {
    const T* pi = column.read(args.pi, args.lanes, begin, end, l);
    BlockSum<T> sum;
    for (int64_t i = 0; i < n; i += kLanesOf<T>) {
      const V p = load_some(pi + i, n - i);
      sum.add(select(p == T(0), V{}, -p * log<T>(p + args.eps)));
    }
    sums[l] = sum.total();
  }
}

template <class T>
void entropy_backward(const EntropyArgs<T>& args, int64_t begin, int64_t end, const T* grad,
                      T* grad_pi) {
  using V = Vec<T>;
  Column<T> column, grad_column;
  const int64_t n = end - begin;
  for (int64_t l = 0; l < args.lanes; ++l) {
    const T* pi = column.read(args.pi, args.lanes, begin, end, l);
    T* own = grad_column.write(grad_pi, args.lanes, begin);
    for (int64_t i = 0; i < n; i += kLanesOf<T>) {
      const V p = load_some(pi + i, n - i), shifted = p + args.eps;
      const V share = select(p == T(0), V{}, p / shifted);
      store_some(own + i, -(log<T>(shifted) + share) * grad[l], n - i);
    }
    grad_column.give_back(grad_pi, args.lanes, begin, end, l);
  }
}

#define HH_INSTANTIATE(T)                                             \
  template void entropy(const EntropyArgs<T>&, int64_t, int64_t, T*); \
  template void entropy_backward(const EntropyArgs<T>&, int64_t, int64_t, const T*, T*);
HH_INSTANTIATE(float)
HH_INSTANTIATE(double)
#undef HH_INSTANTIATE

}  // namespace hyperhop::HH_ISA
