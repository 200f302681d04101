// The terms of eq. 4, for all kernels that weigh nodes.
#pragma once
#include "../math/exp_log.h"

namespace hyperhop::HH_ISA {

template <class T>
constexpr T kInfinity = T(__builtin_inf());

// t of eq. 4.
template <class T>
HH_INLINE Vec<T> mass_of(Vec<T> phi, T eps, bool reachable_only) {
  Vec<T> t = phi + eps;
  if (reachable_only) t = select(phi == T(0), Vec<T>{}, t);
  return select(phi < T(0), Vec<T>{} + T(__builtin_nan("")), t);
}

// y of eq. 4.
template <class T>
HH_INLINE Vec<T> content_of(Vec<T> rho, Vec<T> gate) {
  return select(rho == -kInfinity<T>, rho, rho * gate);
}

// -inf for none: its exponentials are taken against 0.
template <class T>
HH_INLINE T finite_or_zero(T top) {
  return top == -kInfinity<T> ? T(0) : top;
}

}  // namespace hyperhop::HH_ISA
