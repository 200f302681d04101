#include "hop.h"

#include "hop_terms.h"
#include "node_pass.h"

namespace hyperhop::HH_ISA {

// Every kernel comes twice: a vector is several nodes of one lane, or several lanes of one node.
// What is done with a vector is the same, and so are the bits.

// y where it may count for the largest: not where no mass is, and a NaN comes out through its
// weight.
template <class T>
HH_INLINE Vec<T> candidate(Vec<T> t, Vec<T> y) {
  y = select(y == y, y, Vec<T>{});
  return select(t == T(0), Vec<T>{} - kInfinity<T>, y);
}

template <class T>
HH_INLINE Vec<T> weight(Vec<T> t, Vec<T> y, Vec<T> base) {
  return select(t == T(0), t, t * exp<T>(y - base));
}

template <class T>
HH_INLINE void weigh_nodes(const HopArgs<T>& args, const T* rho, T gate, int64_t n, T* values,
                           T* top, T* sum) {
  using V = Vec<T>;
  const auto mass = [&](int64_t i) HH_INLINE_LAMBDA {
    return keep_some<T>(mass_of(load_some(values + i, n - i), args.eps, args.reachable_only),
                        n - i);
  };
  T largest = rho == nullptr ? T(0) : -kInfinity<T>;
  if (rho != nullptr) {
    V tops = V{} + largest;
    for (int64_t i = 0; i < n; i += kLanesOf<T>) {
      const V y = candidate<T>(mass(i), content_of<T>(load_some(rho + i, n - i), V{} + gate));
      tops = select(y > tops, y, tops);
    }
    for (int l = 0; l < kLanesOf<T>; ++l) largest = tops[l] > largest ? tops[l] : largest;
  }
  const V base = V{} + finite_or_zero(largest);
  BlockSum<T> total;
  for (int64_t i = 0; i < n; i += kLanesOf<T>) {
    V w = mass(i);
    if (rho != nullptr)
      w = weight<T>(w, content_of<T>(load_some(rho + i, n - i), V{} + gate), base);
    store_some(values + i, w, n - i);
    total.add(w);
  }
  *top = largest;
  *sum = total.total();
}

template <class T>
HH_INLINE void weigh_lanes(const HopArgs<T>& args, int64_t begin, int64_t end, int64_t lane,
                           T* values, T* top, T* sum) {
  using V = Vec<T>;
  const int64_t lanes = args.lanes;
  const T* rho = args.rho == nullptr ? nullptr : args.rho + lane;
  const V gate = load<V>(args.gate + lane);
  values += lane;
  const auto mass = [&](int64_t v) HH_INLINE_LAMBDA {
    return mass_of(load<V>(values + v * lanes), args.eps, args.reachable_only);
  };
  V tops{};
  if (rho != nullptr) {
    tops = V{} - kInfinity<T>;
    for (int64_t v = begin; v < end; ++v) {
      const V y = candidate<T>(mass(v), content_of<T>(load<V>(rho + v * lanes), gate));
      tops = select(y > tops, y, tops);
    }
  }
  const V base = select(tops == -kInfinity<T>, V{}, tops);
  LaneSum<T> total;
  for (int64_t v = begin; v < end; ++v) {
    V w = mass(v);
    if (rho != nullptr) w = weight<T>(w, content_of<T>(load<V>(rho + v * lanes), gate), base);
    store(values + v * lanes, w);
    total.add(w);
  }
  store(top + lane, tops);
  store(sum + lane, total.total());
}

template <class T>
void hop_weigh(const HopArgs<T>& args, int64_t begin, int64_t end, T* values, T* top, T* sum) {
  const int64_t lanes = args.lanes;
  each_lane<T>(
      lanes,
      [&](int64_t l) HH_INLINE_LAMBDA { weigh_lanes(args, begin, end, l, values, top, sum); },
      [&](int64_t l) HH_INLINE_LAMBDA {
        Column<T> column, rho_column;
        column.read(values, lanes, begin, end, l);
        T* own = column.write(values, lanes, begin);
        const T* rho = rho_column.read(args.rho, lanes, begin, end, l);
        weigh_nodes(args, rho, args.gate[l], end - begin, own, top + l, sum + l);
        column.give_back(values, lanes, begin, end, l);
      });
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
  each_lane<T>(
      lanes,
      [&](int64_t l) HH_INLINE_LAMBDA {
        V total = load<V>(divisor + l);
        total = select(total == T(0), V{} + T(1), total);  // dead: the weights are zeros
        const V own = load<V>(factor + l);
        for (int64_t v = begin; v < end; ++v) {
          T* value = values + v * lanes + l;
          store(value, load<V>(value) * own / total);
        }
      },
      [&](int64_t l) HH_INLINE_LAMBDA {
        Column<T> column;
        column.read(values, lanes, begin, end, l);
        T* own = column.write(values, lanes, begin);
        const T total = divisor[l] == T(0) ? T(1) : divisor[l];
        const int64_t n = end - begin;
        for (int64_t i = 0; i < n; i += kLanesOf<T>)
          store_some(own + i, load_some(own + i, n - i) * factor[l] / total, n - i);
        column.give_back(values, lanes, begin, end, l);
      });
}

template <class T>
void hop_dot(const T* output, const T* grad, int64_t lanes, int64_t begin, int64_t end, T* dot) {
  using V = Vec<T>;
  each_lane<T>(
      lanes,
      [&](int64_t l) HH_INLINE_LAMBDA {
        LaneSum<T> sum;
        for (int64_t v = begin; v < end; ++v)
          sum.add(load<V>(output + v * lanes + l) * load<V>(grad + v * lanes + l));
        store(dot + l, sum.total());
      },
      [&](int64_t l) HH_INLINE_LAMBDA {
        Column<T> output_column, grad_column;
        const T* pi = output_column.read(output, lanes, begin, end, l);
        const T* own = grad_column.read(grad, lanes, begin, end, l);
        const int64_t n = end - begin;
        BlockSum<T> sum;
        for (int64_t i = 0; i < n; i += kLanesOf<T>)
          sum.add(load_some(pi + i, n - i) * load_some(own + i, n - i));
        dot[l] = sum.total();
      });
}

// Where the first of the largest of some values stands; 0 where none is above -inf.
template <class T>
HH_INLINE int64_t largest_at(const T* values, int64_t count) {
  using V = Vec<T>;
  using Int = typename FloatFormat<T>::Int;
  V tops = V{} - kInfinity<T>;
  Vec<Int> places{};
  int64_t i = 0;
  for (; i + kLanesOf<T> <= count; i += kLanesOf<T>) {
    const V v = load<V>(values + i);
    const auto larger = v > tops;
    tops = select(larger, v, tops);
    places = select(larger, Vec<Int>{} + Int(i), places);
  }
  T top = -kInfinity<T>;
  int64_t place = 0;
  for (int l = 0; l < kLanesOf<T>; ++l)
    if (tops[l] > top || (tops[l] == top && places[l] + l < place)) {
      top = tops[l];
      place = places[l] + l;
    }
  for (; i < count; ++i)
    if (values[i] > top) {
      top = values[i];
      place = i;
    }
  return place;
}

template <class T>
void hop_peak(const T* output, int64_t lanes, int64_t begin, int64_t end, int64_t* node) {
  using V = Vec<T>;
  using I = Vec<typename FloatFormat<T>::Int>;
  each_lane<T>(
      lanes,
      [&](int64_t l) HH_INLINE_LAMBDA {
        V largest = V{} - kInfinity<T>;
        I place{};
        for (int64_t v = begin; v < end; ++v) {
          const V mass = load<V>(output + v * lanes + l);
          const auto larger = mass > largest;
          largest = select(larger, mass, largest);
          place = select(larger, I{} + typename FloatFormat<T>::Int(v - begin), place);
        }
        for (int i = 0; i < kLanesOf<T>; ++i) node[l + i] = begin + place[i];
      },
      [&](int64_t l) HH_INLINE_LAMBDA {
        Column<T> column;
        node[l] = begin + largest_at(column.read(output, lanes, begin, end, l), end - begin);
      });
}

template <class T>
void hop_anchor(const HopAnchorArgs<T>& args, T* ratio, T* content) {
  const int64_t lanes = args.hop.lanes, place = args.node * lanes + args.lane;
  *ratio = *content = 0;
  if (args.output[place] == T(0)) return;
  T phi = 0;
  for (int64_t e = args.in.offsets[args.node]; e < args.in.offsets[args.node + 1]; ++e)
    phi += args.pi[args.in.node[e] * lanes + args.lane] *
           args.beta[args.in.relation[e] * lanes + args.lane];
  *ratio = args.output[place] / mass_of(Vec<T>{} + phi, args.hop.eps, args.hop.reachable_only)[0];
  if (args.hop.rho != nullptr)
    *content =
        content_of<T>(Vec<T>{} + args.hop.rho[place], Vec<T>{} + args.hop.gate[args.lane])[0];
}

// The gradients of phi and rho, and x rho.
template <class T>
struct NodeGradients {
  Vec<T> phi, rho, gate;
};

template <class T>
HH_INLINE NodeGradients<T> node_gradients(Vec<T> pi, Vec<T> grad, Vec<T> dot, Vec<T> ratio) {
  const Vec<T> inner = grad - dot;
  return {select(pi == T(0), Vec<T>{}, inner * ratio), pi * inner, Vec<T>{}};
}

template <class T>
HH_INLINE NodeGradients<T> node_gradients(Vec<T> pi, Vec<T> grad, Vec<T> dot, Vec<T> ratio,
                                          Vec<T> rho, Vec<T> gate, Vec<T> content) {
  using V = Vec<T>;
  const V inner = grad - dot, x = pi * inner;
  const V quotient = exp<T>(content_of<T>(rho, gate) - content) * ratio;
  return {select(pi == T(0), V{}, inner * quotient), x * gate,
          select(rho == -kInfinity<T>, V{}, x * rho)};
}

// The gradient of phi by itself.
template <class T>
HH_INLINE Vec<T> phi_gradient(Vec<T> pi, Vec<T> grad, Vec<T> dot, Vec<T> t) {
  return select(t == T(0), Vec<T>{}, pi * (grad - dot) / t);
}

template <class T>
HH_INLINE void backward_lanes(const HopBackwardArgs<T>& args, int64_t begin, int64_t end,
                              int64_t lane, T* grad_gate) {
  using V = Vec<T>;
  const int64_t lanes = args.hop.lanes;
  const V dot = load<V>(args.dot + lane), ratio = load<V>(args.ratio + lane);
  const V gate = load<V>(args.hop.gate + lane), content = load<V>(args.content + lane);
  LaneSum<T> sum;
  for (int64_t v = begin; v < end; ++v) {
    const int64_t i = v * lanes + lane;
    const V pi = load<V>(args.output + i), grad = load<V>(args.grad + i);
    if (args.phi != nullptr) {
      const V t = mass_of(load<V>(args.phi + i), args.hop.eps, args.hop.reachable_only);
      store(args.grad_phi + i, phi_gradient<T>(pi, grad, dot, t));
      continue;
    }
    if (args.hop.rho == nullptr) {
      store(args.grad_phi + i, node_gradients<T>(pi, grad, dot, ratio).phi);
      continue;
    }
    const NodeGradients<T> one =
        node_gradients<T>(pi, grad, dot, ratio, load<V>(args.hop.rho + i), gate, content);
    store(args.grad_phi + i, one.phi);
    store(args.grad_rho + i, one.rho);
    sum.add(one.gate);
  }
  if (args.hop.rho != nullptr) store(grad_gate + lane, sum.total());
}

template <class T>
HH_INLINE void backward_nodes(const HopBackwardArgs<T>& args, int64_t begin, int64_t end,
                              int64_t lane, T* grad_gate) {
  using V = Vec<T>;
  Column<T> pi_column, grad_column, rho_column, phi_column, grad_phi_column, grad_rho_column;
  const int64_t n = end - begin, lanes = args.hop.lanes;
  const T* pi = pi_column.read(args.output, lanes, begin, end, lane);
  const T* grad = grad_column.read(args.grad, lanes, begin, end, lane);
  const T* rho = rho_column.read(args.hop.rho, lanes, begin, end, lane);
  const T* phi = phi_column.read(args.phi, lanes, begin, end, lane);
  T* grad_phi = grad_phi_column.write(args.grad_phi, lanes, begin);
  T* grad_rho = grad_rho_column.write(args.grad_rho, lanes, begin);
  const V dot = V{} + args.dot[lane], ratio = V{} + args.ratio[lane];
  const V gate = V{} + args.hop.gate[lane], content = V{} + args.content[lane];
  BlockSum<T> sum;
  for (int64_t i = 0; i < n; i += kLanesOf<T>) {
    const V own = load_some(pi + i, n - i), g = load_some(grad + i, n - i);
    if (phi != nullptr) {
      const V t = mass_of(load_some(phi + i, n - i), args.hop.eps, args.hop.reachable_only);
      store_some(grad_phi + i, phi_gradient<T>(own, g, dot, t), n - i);
      continue;
    }
    if (rho == nullptr) {
      store_some(grad_phi + i, node_gradients<T>(own, g, dot, ratio).phi, n - i);
      continue;
    }
    const NodeGradients<T> one =
        node_gradients<T>(own, g, dot, ratio, load_some(rho + i, n - i), gate, content);
    store_some(grad_phi + i, one.phi, n - i);
    store_some(grad_rho + i, one.rho, n - i);
    sum.add(keep_some<T>(one.gate, n - i));
  }
  if (rho != nullptr) grad_gate[lane] = sum.total();
  grad_phi_column.give_back(args.grad_phi, lanes, begin, end, lane);
  grad_rho_column.give_back(args.grad_rho, lanes, begin, end, lane);
}

template <class T>
void hop_backward(const HopBackwardArgs<T>& args, int64_t begin, int64_t end, T* grad_gate) {
  each_lane<T>(
      args.hop.lanes,
      [&](int64_t l) HH_INLINE_LAMBDA { backward_lanes(args, begin, end, l, grad_gate); },
      [&](int64_t l) HH_INLINE_LAMBDA { backward_nodes(args, begin, end, l, grad_gate); });
}

#define HH_INSTANTIATE(T)                                                     \
  template void hop_weigh(const HopArgs<T>&, int64_t, int64_t, T*, T*, T*);   \
  template void hop_combine(int64_t, int64_t, T*, T*);                        \
  template void hop_scale(int64_t, int64_t, int64_t, T*, const T*, const T*); \
  template void hop_dot(const T*, const T*, int64_t, int64_t, int64_t, T*);   \
  template void hop_peak(const T*, int64_t, int64_t, int64_t, int64_t*);      \
  template void hop_anchor(const HopAnchorArgs<T>&, T*, T*);                  \
  template void hop_backward(const HopBackwardArgs<T>&, int64_t, int64_t, T*);
HH_INSTANTIATE(float)
HH_INSTANTIATE(double)
#undef HH_INSTANTIATE

}  // namespace hyperhop::HH_ISA
