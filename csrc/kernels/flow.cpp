#include "flow.h"

#include "../math/simd.h"

namespace hyperhop::HH_ISA {

template <class T, T number>
struct Constant {
  HH_INLINE constexpr operator T() const { return number; }
};

// Calls body(row, its first edge, its degree) for every row.
template <class Body>
HH_INLINE void each_row(const FlowRows& rows, const Body& body) {
  const int32_t* row = rows.row;
  int64_t edge = 0;
  for (int64_t i = 0; i < rows.num_runs; ++i) {
    const FlowRun& run = rows.runs[i];
    for (const int32_t* end = row + run.rows; row < end; ++row, edge += run.degree)
      body(*row, edge, run.degree);
  }
}

// The same for a body of a few instructions an edge: short degrees are constants to the compiler,
// which then has no loop to leave.
template <class Body>
HH_INLINE void each_short_row(const FlowRows& rows, const Body& body) {
  const int32_t* row = rows.row;
  int64_t edge = 0;
  const auto run = [&](int32_t count, auto degree) HH_INLINE_LAMBDA {
    for (const int32_t* end = row + count; row < end; ++row, edge += degree)
      body(*row, edge, degree);
  };
  for (int64_t i = 0; i < rows.num_runs; ++i) {
    const FlowRun& one = rows.runs[i];
    switch (one.degree) {
#define HH_DEGREE(d)                       \
  case d:                                  \
    run(one.rows, Constant<int64_t, d>{}); \
    break;
      HH_DEGREE(0)
      HH_DEGREE(1)
      HH_DEGREE(2)
      HH_DEGREE(3)
      HH_DEGREE(4)
      HH_DEGREE(5)
      HH_DEGREE(6)
      HH_DEGREE(7)
      HH_DEGREE(8)
      HH_DEGREE(9)
      HH_DEGREE(10)
      HH_DEGREE(11)
      HH_DEGREE(12)
      HH_DEGREE(13)
      HH_DEGREE(14)
      HH_DEGREE(15)
      HH_DEGREE(16)
#undef HH_DEGREE
      default:
        run(one.rows, int64_t(one.degree));
    }
  }
}

// The edges of rows, taken apart.
template <class Word>
class Edges {
 public:
  HH_INLINE Edges(const Word* words, int node_shift)
      : words_(words), node_shift_(node_shift), relation_mask_((Word(1) << node_shift) - 1) {}
  HH_INLINE int64_t node(int64_t e) const { return int64_t(words_[e] >> node_shift_); }
  HH_INLINE int64_t relation(int64_t e) const { return int64_t(words_[e] & relation_mask_); }

 private:
  const Word* words_;
  int node_shift_;
  Word relation_mask_;
};

template <class Run>
HH_INLINE void with_edges(const FlowRows& rows, const Run& run) {
  if (rows.words != nullptr) return run(Edges<uint32_t>(rows.words, rows.node_shift));
  run(Edges<uint64_t>(rows.wide_words, rows.node_shift));
}

template <class T, class Edges>
static void propagate_single(const PropagateArgs<T>& args, const Edges edges) {
  const T *pi = args.pi, *beta = args.beta;
  T* HH_RESTRICT phi = args.phi;
  each_short_row(args.in, [&](int32_t row, int64_t e, auto degree) HH_INLINE_LAMBDA {
    T sum = 0;
    for (int64_t k = e; k < e + degree; ++k) sum += pi[edges.node(k)] * beta[edges.relation(k)];
    phi[row] = sum;
  });
}

// `count` vectors V of lanes, from lane `first` on; beta of each lane, or one of all.
template <class V, int count, bool one_beta, class T, class Edges>
static void propagate_lanes(const PropagateArgs<T>& args, int64_t first, const Edges edges) {
  constexpr int64_t kStep = int64_t(sizeof(V) / sizeof(T));
  const int64_t lanes = args.lanes;
  const T* pi = args.pi + first;
  T* HH_RESTRICT phi = args.phi + first;
  const auto beta = [&](int64_t relation, int64_t i) HH_INLINE_LAMBDA {
    if constexpr (one_beta) return args.beta[relation] - V{};  // in every lane, -0 too
    return load<V>(args.beta + relation * lanes + first + i);
  };
  each_row(args.in, [&](int32_t row, int64_t e, int64_t degree) HH_INLINE_LAMBDA {
    V sum[count] = {};
    for (int64_t k = e; k < e + degree; ++k) {
      __builtin_prefetch(pi + edges.node(k + kFlowLookahead) * lanes);
      const T* p = pi + edges.node(k) * lanes;
      HH_UNROLL
      for (int i = 0; i < count; ++i)
        sum[i] += load<V>(p + i * kStep) * beta(edges.relation(k), i * kStep);
    }
    HH_UNROLL
    for (int i = 0; i < count; ++i) store(phi + row * lanes + i * kStep, sum[i]);
  });
}

template <class T, class Edges>
static void backward_single(const PropagateBackwardArgs<T>& args, const Edges edges) {
  const T *pi = args.pi, *beta = args.beta, *grad_phi = args.grad_phi;
  T* HH_RESTRICT grad_pi = args.grad_pi;
  T* HH_RESTRICT grad_beta = args.grad_beta;
  each_short_row(args.out, [&](int32_t row, int64_t e, auto degree) HH_INLINE_LAMBDA {
    const T own = pi[row];
    T sum = 0;
    for (int64_t k = e; k < e + degree; ++k) {
      const int64_t relation = edges.relation(k);
      const T d = grad_phi[edges.node(k)];
      sum += beta[relation] * d;
      grad_beta[relation] += own * d;
    }
    grad_pi[row] = sum;
  });
}

template <class V, int count, class T, class Edges>
static void backward_lanes(const PropagateBackwardArgs<T>& args, int64_t first, const Edges edges) {
  constexpr int64_t kStep = int64_t(sizeof(V) / sizeof(T));
  const int64_t lanes = args.lanes;
  const T *pi = args.pi + first, *beta = args.beta + first, *grad_phi = args.grad_phi + first;
  T* HH_RESTRICT grad_pi = args.grad_pi + first;
  T* HH_RESTRICT grad_beta = args.grad_beta + first;
  each_row(args.out, [&](int32_t row, int64_t e, int64_t degree) HH_INLINE_LAMBDA {
    V own[count], sum[count] = {};
    HH_UNROLL
    for (int i = 0; i < count; ++i) own[i] = load<V>(pi + row * lanes + i * kStep);
    for (int64_t k = e; k < e + degree; ++k) {
      __builtin_prefetch(grad_phi + edges.node(k + kFlowLookahead) * lanes);
      const int64_t relation = edges.relation(k) * lanes;
      const T *d = grad_phi + edges.node(k) * lanes, *b = beta + relation;
      T* table = grad_beta + relation;
      HH_UNROLL
      for (int i = 0; i < count; ++i) {
        const V grad = load<V>(d + i * kStep);
        sum[i] += load<V>(b + i * kStep) * grad;
        store(table + i * kStep, load<V>(table + i * kStep) + own[i] * grad);
      }
    }
    HH_UNROLL
    for (int i = 0; i < count; ++i) store(grad_pi + row * lanes + i * kStep, sum[i]);
  });
}

// Runs over all lanes: by pairs of vectors, then vectors, then single lanes, four at a time.
template <class T, class Run>
HH_INLINE void each_lane_group(int64_t lanes, const Run& run) {
  constexpr int64_t kVector = HH_VECTOR_BYTES / int64_t(sizeof(T));
  int64_t lane = 0;
  for (; lane + 2 * kVector <= lanes; lane += 2 * kVector) run(lane, Vec<T>{}, Constant<int, 2>{});
  for (; lane + kVector <= lanes; lane += kVector) run(lane, Vec<T>{}, Constant<int, 1>{});
  for (; lane + 4 <= lanes; lane += 4) run(lane, T{}, Constant<int, 4>{});
  for (; lane < lanes; ++lane) run(lane, T{}, Constant<int, 1>{});
}

template <class T>
void propagate(const PropagateArgs<T>& args) {
  with_edges(args.in, [&](auto edges) HH_INLINE_LAMBDA {
    if (args.lanes == 1) return propagate_single(args, edges);
    each_lane_group<T>(args.lanes, [&](int64_t lane, auto vector, auto count) HH_INLINE_LAMBDA {
      args.one_beta ? propagate_lanes<decltype(vector), count, true>(args, lane, edges)
                    : propagate_lanes<decltype(vector), count, false>(args, lane, edges);
    });
  });
}

template <class T>
void propagate_backward(const PropagateBackwardArgs<T>& args) {
  with_edges(args.out, [&](auto edges) HH_INLINE_LAMBDA {
    if (args.lanes == 1) return backward_single(args, edges);
    each_lane_group<T>(args.lanes, [&](int64_t lane, auto vector, auto count) HH_INLINE_LAMBDA {
      backward_lanes<decltype(vector), count>(args, lane, edges);
    });
  });
}

template void propagate(const PropagateArgs<float>&);
template void propagate(const PropagateArgs<double>&);
template void propagate_backward(const PropagateBackwardArgs<float>&);
template void propagate_backward(const PropagateBackwardArgs<double>&);

}  // namespace hyperhop::HH_ISA
