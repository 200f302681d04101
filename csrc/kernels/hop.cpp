#include "hop.h"

#include "hop_terms.h"
#include "node_pass.h"

namespace hyperhop::HH_ISA {

template <class T>
static T largest_content(const HopArgs<T>& args, const T* phi, const T* rho, T gate, int64_t n) {
  using V = Vec<T>;
  V top = V{} - kInfinity<T>;
  for (int64_t i = 0; i < n; i += kLanesOf<T>) {
    const V t =
        keep_some<T>(mass_of(load_some(phi + i, n - i), args.eps, args.reachable_only), n - i);
    V y = content_of<T>(load_some(rho + i, n - i), V{} + gate);
    y = select(y == y, y, V{});  // a NaN comes out through its weight
    y = select(t == T(0), V{} - kInfinity<T>, y);
    top = select(y > top, y, top);
  }
  T largest = top[0];
  for (int l = 1; l < kLanesOf<T>; ++l) largest = top[l] > largest ? top[l] : largest;
  return largest;
}

template <class T>
static T weigh(const HopArgs<T>& args, const T* rho, T gate, T top, int64_t n, T* values) {
  using V = Vec<T>;
  const T base = finite_or_zero(top);
  BlockSum<T> sum;
  for (int64_t i = 0; i < n; i += kLanesOf<T>) {
    V w = keep_some<T>(mass_of(load_some(values + i, n - i), args.eps, args.reachable_only), n - i);
    if (rho != nullptr) {
      const V y = content_of<T>(load_some(rho + i, n - i), V{} + gate);
      w = select(w == T(0), w, w * exp<T>(y - base));
    }
    store_some(values + i, w, n - i);
    sum.add(w);
  }
  return sum.total();
}

template <class T>
void hop_weigh(const HopArgs<T>& args, int64_t begin, int64_t end, T* values, T* top, T* sum) {
  Column<T> column, rho_column;
  const int64_t n = end - begin, lanes = args.lanes;
  for (int64_t l = 0; l < lanes; ++l) {
    column.read(values, lanes, begin, end, l);
    T* own = column.write(values, lanes, begin);
    const T* rho = rho_column.read(args.rho, lanes, begin, end, l);
    const T gate = args.gate[l];
    top[l] = rho == nullptr ? T(0) : largest_content(args, own, rho, gate, n);
    sum[l] = weigh(args, rho, gate, top[l], n, own);
    column.give_back(values, lanes, begin, end, l);
  }
}

template <class T>
void hop_combine(int64_t blocks, int64_t lanes, T* tops, T* sums) {
  for (int64_t l = 0; l < lanes; ++l) {
    T top = -kInfinity<T>;
    for (int64_t b = 0; b < blocks; ++b)
      top = tops[b * lanes + l] > top ? tops[b * lanes + l] : top;
    const T base = finite_or_zero(top);
    T total = 0;
    for (int64_t b = 0; b < blocks; ++b) {
      T& factor = tops[b * lanes + l];
      factor = exp<T>(Vec<T>{} + (factor - base))[0];
      total += factor * sums[b * lanes + l];
    }
    sums[l] = total;
  }
}

template <class T>
void hop_scale(int64_t lanes, int64_t begin, int64_t end, T* values, const T* factor,
               const T* divisor) {
  using V = Vec<T>;
  Column<T> column;
  const int64_t n = end - begin;
  for (int64_t l = 0; l < lanes; ++l) {
    column.read(values, lanes, begin, end, l);
    T* own = column.write(values, lanes, begin);
    const T total = divisor[l] == T(0) ? T(1) : divisor[l];  // dead: the weights are zeros
    for (int64_t i = 0; i < n; i += kLanesOf<T>) {
      const V w = load_some(own + i, n - i);
      store_some(own + i, w * factor[l] / total, n - i);
    }
    column.give_back(values, lanes, begin, end, l);
  }
}

template <class T>
void hop_dot(const HopBackwardArgs<T>& args, int64_t begin, int64_t end, T* dot) {
  Column<T> pi_column, grad_column;
  const int64_t n = end - begin, lanes = args.hop.lanes;
  for (int64_t l = 0; l < lanes; ++l) {
    const T* pi = pi_column.read(args.output, lanes, begin, end, l);
    const T* grad = grad_column.read(args.grad, lanes, begin, end, l);
    BlockSum<T> sum;
    for (int64_t i = 0; i < n; i += kLanesOf<T>)
      sum.add(load_some(pi + i, n - i) * load_some(grad + i, n - i));
    dot[l] = sum.total();
  }
}

template <class T>
void hop_backward(const HopBackwardArgs<T>& args, int64_t begin, int64_t end, T* grad_gate) {
  using V = Vec<T>;
  Column<T> pi_column, grad_column, phi_column, rho_column, grad_phi_column, grad_rho_column;
  const HopArgs<T>& hop = args.hop;
  const int64_t n = end - begin, lanes = hop.lanes;
  for (int64_t l = 0; l < lanes; ++l) {
    const T* pi = pi_column.read(args.output, lanes, begin, end, l);
    const T* grad = grad_column.read(args.grad, lanes, begin, end, l);
    const T* phi = phi_column.read(args.phi, lanes, begin, end, l);
    const T* rho = rho_column.read(hop.rho, lanes, begin, end, l);
    T* grad_phi = grad_phi_column.write(args.grad_phi, lanes, begin);
    T* grad_rho = grad_rho_column.write(args.grad_rho, lanes, begin);
    BlockSum<T> gate_sum;
    for (int64_t i = 0; i < n; i += kLanesOf<T>) {
      const V x = load_some(pi + i, n - i) * (load_some(grad + i, n - i) - args.dot[l]);
      const V t = mass_of(load_some(phi + i, n - i), hop.eps, hop.reachable_only);
      store_some(grad_phi + i, select(t == T(0), V{}, x / t), n - i);
      if (rho == nullptr) continue;
      const V content = load_some(rho + i, n - i);
      gate_sum.add(select(content == -kInfinity<T>, V{}, keep_some<T>(x * content, n - i)));
      store_some(grad_rho + i, x * hop.gate[l], n - i);
    }
    if (rho != nullptr) grad_gate[l] = gate_sum.total();
    grad_phi_column.give_back(args.grad_phi, lanes, begin, end, l);
    grad_rho_column.give_back(args.grad_rho, lanes, begin, end, l);
  }
}

#define HH_INSTANTIATE(T)                                                     \
  template void hop_weigh(const HopArgs<T>&, int64_t, int64_t, T*, T*, T*);   \
  template void hop_combine(int64_t, int64_t, T*, T*);                        \
  template void hop_scale(int64_t, int64_t, int64_t, T*, const T*, const T*); \
  template void hop_dot(const HopBackwardArgs<T>&, int64_t, int64_t, T*);     \
  template void hop_backward(const HopBackwardArgs<T>&, int64_t, int64_t, T*);
HH_INSTANTIATE(float)
HH_INSTANTIATE(double)
#undef HH_INSTANTIATE

}  // namespace hyperhop::HH_ISA
