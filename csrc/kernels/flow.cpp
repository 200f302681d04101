#include "flow.h"

#include <string.h>

#include "../math/simd.h"

namespace hyperhop::HH_ISA {

template <class T>
static void propagate_single(const PropagateArgs<T>& args, int64_t node_begin, int64_t node_end) {
  const FlowEdges& in = args.in;
  for (int64_t v = node_begin; v < node_end; ++v) {
    T sum = 0;
    for (int64_t e = in.offsets[v]; e < in.offsets[v + 1]; ++e)
      sum += args.pi[in.node[e]] * args.beta[in.relation[e]];
    args.phi[v] = sum;
  }
}

template <class T>
static void propagate_lanes(const PropagateArgs<T>& args, int64_t node_begin, int64_t node_end) {
  const FlowEdges& in = args.in;
  const int64_t lanes = args.lanes;
  for (int64_t v = node_begin; v < node_end; ++v) {
    T* sum = args.phi + v * lanes;
    memset(sum, 0, size_t(lanes) * sizeof(T));
    for (int64_t e = in.offsets[v]; e < in.offsets[v + 1]; ++e) {
      const T* pi = args.pi + in.node[e] * lanes;
      const T* beta = args.beta + in.relation[e] * lanes;
      for (int64_t l = 0; l < lanes; ++l) sum[l] += pi[l] * beta[l];
    }
  }
}

template <class T>
void propagate(const PropagateArgs<T>& args, int64_t node_begin, int64_t node_end) {
  if (args.lanes == 1)
    propagate_single(args, node_begin, node_end);
  else
    propagate_lanes(args, node_begin, node_end);
}

// One quarter: its edge sums of grad_pi, and its grad_beta added to `table`.
template <class T>
static void backward_rows(const PropagateBackwardArgs<T>& args, int64_t node_begin,
                          int64_t node_end, T* table) {
  const FlowEdges& out = args.out;
  const int64_t lanes = args.lanes;
  memset(table, 0, size_t(args.num_relations * lanes) * sizeof(T));
  for (int64_t u = node_begin; u < node_end; ++u) {
    const T* pi = args.pi + u * lanes;
    T* sum = args.grad_pi + u * lanes;
    memset(sum, 0, size_t(lanes) * sizeof(T));
    for (int64_t e = out.offsets[u]; e < out.offsets[u + 1]; ++e) {
      const T* d = args.grad_phi + out.node[e] * lanes;
      const T* beta = args.beta + out.relation[e] * lanes;
      T* grad_beta = table + out.relation[e] * lanes;
      for (int64_t l = 0; l < lanes; ++l) {
        sum[l] += beta[l] * d[l];
        grad_beta[l] += pi[l] * d[l];
      }
    }
  }
}

template <class T>
void propagate_backward(const PropagateBackwardArgs<T>& args, int64_t node_begin,
                        int64_t node_end) {
  const int64_t* offsets = args.out.offsets;
  const int64_t first = offsets[node_begin], edges = offsets[node_end] - first;
  const int64_t size = args.num_relations * args.lanes;
  int64_t begin = node_begin;
  for (int q = 0; q < kBlockQuarters; ++q) {
    const int64_t end =
        q + 1 == kBlockQuarters
            ? node_end
            : first_row_at(offsets, begin, node_end, first + edges * (q + 1) / kBlockQuarters);
    T* table = q == 0 ? args.grad_beta : args.scratch + (q - 1) * size;
    backward_rows(args, begin, end, table);
    begin = end;
  }
  for (int q = 1; q < kBlockQuarters; ++q)
    for (int64_t i = 0; i < size; ++i) args.grad_beta[i] += args.scratch[(q - 1) * size + i];
}

template void propagate(const PropagateArgs<float>&, int64_t, int64_t);
template void propagate(const PropagateArgs<double>&, int64_t, int64_t);
template void propagate_backward(const PropagateBackwardArgs<float>&, int64_t, int64_t);
template void propagate_backward(const PropagateBackwardArgs<double>&, int64_t, int64_t);

}  // namespace hyperhop::HH_ISA
