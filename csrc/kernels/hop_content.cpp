#include "hop_content.h"

#include "hop_terms.h"
#include "node_pass.h"
#include "rows.h"

namespace hyperhop::HH_ISA {

template <class T>
struct Group {
  const T *phi, *rho;  // (rows, lanes)
  int64_t rows;
  T *weights, *tops, *factors;  // (rows, lanes), (lanes,), (lanes,)
};

// y where it may be the largest: -inf for a node without t, 0 for a NaN, which comes out through
// its weight.
template <class T>
HH_INLINE Vec<T> candidate(Vec<T> t, Vec<T> y) {
  y = select(y == y, y, Vec<T>{});
  return select(t == T(0), Vec<T>{} - kInfinity<T>, y);
}

template <class T>
HH_INLINE Vec<T> larger(Vec<T> a, Vec<T> b) {
  return select(b > a, b, a);
}

template <class T>
HH_INLINE Vec<T> weight_of(Vec<T> t, Vec<T> y, Vec<T> top) {
  const Vec<T> base = select(top == -kInfinity<T>, Vec<T>{}, top);
  return select(t == T(0), t, t * exp<T>(y - base));
}

// What sums against the old largest y are worth against the new one.
template <class T>
HH_INLINE Vec<T> factor_of(Vec<T> old_top, Vec<T> top) {
  return select(old_top == top, Vec<T>{} + T(1), exp<T>(old_top - top));
}

// One flow: vectors of nodes.
template <class T>
static void weigh_nodes(const HopArgs<T>& args, const Group<T>& group) {
  using V = Vec<T>;
  constexpr int kMost = kContentRows / kLanesOf<T> > 0 ? kContentRows / kLanesOf<T> : 1;
  V t[kMost], y[kMost], best = V{} + group.tops[0];
  int vectors = 0;
  for (int64_t i = 0; i < group.rows; i += kLanesOf<T>, ++vectors) {
    const int64_t left = group.rows - i;
    t[vectors] =
        keep_some<T>(mass_of(load_some(group.phi + i, left), args.eps, args.reachable_only), left);
    y[vectors] = content_of<T>(load_some(group.rho + i, left), V{} + args.gate[0]);
    best = larger<T>(best, candidate<T>(t[vectors], y[vectors]));
  }
  T top = best[0];
  for (int l = 1; l < kLanesOf<T>; ++l) top = best[l] > top ? best[l] : top;
  group.factors[0] = factor_of<T>(V{} + group.tops[0], V{} + top)[0];
  group.tops[0] = top;
  for (int i = 0; i < vectors; ++i)
    store_some(group.weights + i * kLanesOf<T>, weight_of<T>(t[i], y[i], V{} + top),
               group.rows - i * kLanesOf<T>);
}

// Several flows: vectors of lanes.
template <class T>
static void weigh_lanes(const HopArgs<T>& args, const Group<T>& group) {
  using V = Vec<T>;
  const int64_t lanes = args.lanes;
  for (int64_t l = 0; l < lanes; l += kLanesOf<T>) {
    const int64_t left = lanes - l;
    const V gate = load_some(args.gate + l, left), old = load_some(group.tops + l, left);
    V t[kContentRows], y[kContentRows], top = old;
    for (int64_t r = 0; r < group.rows; ++r) {
      t[r] = mass_of(load_some(group.phi + r * lanes + l, left), args.eps, args.reachable_only);
      y[r] = content_of<T>(load_some(group.rho + r * lanes + l, left), gate);
      top = larger<T>(top, candidate<T>(t[r], y[r]));
    }
    for (int64_t r = 0; r < group.rows; ++r)
      store_some(group.weights + r * lanes + l, weight_of<T>(t[r], y[r], top), left);
    store_some(group.factors + l, factor_of<T>(old, top), left);
    store_some(group.tops + l, top, left);
  }
}

template <class T>
void hop_content(const HopContentArgs<T>& args, int64_t begin, int64_t end, T* sums) {
  const RowShape<T> shape(args.dim);
  const int64_t lanes = args.hop.lanes, row = padded_row<T>(args.dim);
  memset(sums, 0, size_t(lanes * row) * sizeof(T));
  T* tops = args.scratch + kContentRows * lanes;
  T* factors = tops + lanes;
  for (int64_t l = 0; l < lanes; ++l) tops[l] = -kInfinity<T>;
  const int64_t step = content_rows<T>(args.dim);
  for (int64_t v = begin; v < end; v += step) {
    const int64_t rows = end - v < step ? end - v : step;
    const T* features = args.features + v * args.dim;
    T* rho = args.rho + v * lanes;
    dot_all(shape, features, rows, args.queries, lanes, rho);
    const Group<T> group{args.phi + v * lanes, rho, rows, args.scratch, tops, factors};
    lanes == 1 ? weigh_nodes(args.hop, group) : weigh_lanes(args.hop, group);
    for (int64_t l = 0; l < lanes; ++l) {
      if (factors[l] == T(1)) continue;
      for (int64_t j = 0; j < row; j += kLanesOf<T>)
        store(sums + l * row + j, load<Vec<T>>(sums + l * row + j) * factors[l]);
    }
    add_all(shape, features, rows, args.scratch, lanes, sums);
  }
}

template <class T>
void hop_content_total(int64_t lanes, int64_t dim, int64_t blocks, const T* factors,
                       const T* divisor, T* sums, T* out) {
  using V = Vec<T>;
  const RowShape<T> shape(dim);
  const int64_t row = padded_row<T>(dim);
  if (blocks == 0) {
    memset(out, 0, size_t(lanes * dim) * sizeof(T));
    return;
  }
  for (int64_t l = 0; l < lanes; ++l) {
    const T total = divisor[l] == T(0) ? T(1) : divisor[l];  // dead: the sums are zeros
    for (int64_t j = 0; j < row; j += kLanesOf<T>) {
      V sum = load<V>(sums + l * row + j) * factors[l];
      for (int64_t b = 1; b < blocks; ++b)
        sum += load<V>(sums + (b * lanes + l) * row + j) * factors[b * lanes + l];
      store(sums + l * row + j, sum / total);
    }
    shape.store_row(out + l * dim, sums + l * row);
  }
}

template <class T>
void hop_content_backward(const HopContentBackwardArgs<T>& args, int64_t begin, int64_t end,
                          T* sums) {
  const RowShape<T> shape(args.dim);
  const int64_t lanes = args.lanes;
  memset(sums, 0, size_t(lanes * padded_row<T>(args.dim)) * sizeof(T));
  T* x = args.scratch;
  const int64_t step = content_rows<T>(args.dim);
  for (int64_t v = begin; v < end; v += step) {
    const int64_t rows = end - v < step ? end - v : step;
    const T* features = args.features + v * args.dim;
    T* whole = args.whole_grad + v * lanes;
    const T *grad = args.grad + v * lanes, *pi = args.output + v * lanes;
    dot_all(shape, features, rows, args.grad_context, lanes, whole);
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t l = 0; l < lanes; ++l) {
        const int64_t i = r * lanes + l;
        whole[i] += grad[i];
        x[i] = pi[i] * (whole[i] - args.dot[l]);
      }
    add_all(shape, features, rows, x, lanes, sums);
    if (args.grad_features == nullptr) continue;
    for (int64_t r = 0; r < rows; ++r)
      shape.write(args.grad_features + (v + r) * args.dim, [&](auto read) HH_INLINE_LAMBDA {
        Vec<T> sum{};
        for (int64_t l = 0; l < lanes; ++l) {
          const int64_t i = r * lanes + l;
          sum = fma(splat(pi[i]), read(args.grad_context + l * args.dim), sum);
          sum = fma(splat(args.gate[l] * x[i]), read(args.queries + l * args.dim), sum);
        }
        return sum;
      });
  }
}

#define HH_INSTANTIATE(T)                                                                 \
  template void hop_content(const HopContentArgs<T>&, int64_t, int64_t, T*);              \
  template void hop_content_total(int64_t, int64_t, int64_t, const T*, const T*, T*, T*); \
  template void hop_content_backward(const HopContentBackwardArgs<T>&, int64_t, int64_t, T*);
HH_INSTANTIATE(float)
HH_INSTANTIATE(double)
#undef HH_INSTANTIATE

}  // namespace hyperhop::HH_ISA
