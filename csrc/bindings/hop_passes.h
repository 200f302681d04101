// The passes of a hop over the blocks of nodes, threaded.
#pragma once
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "flow_passes.h"

namespace hyperhop::bindings {

using OptionalArray = std::optional<py::array>;

inline const py::array* given(const OptionalArray& array) {
  return array ? &*array : nullptr;
}

// The value of a 0-d array.
template <class T>
T number_of(const py::array& array) {
  const FloatArray<T> converted = FloatArray<T>::ensure(array);
  return *converted.data();
}

// The content side of a hop: rho (none gives null) and one gate for each flow.
template <class T>
struct Content {
  Content(const char* function, const FlowShape& shape, const OptionalArray& rho_in,
          const py::array& gate_in) {
    if (rho_in) rho = read_floats<T>({function, "rho"}, *rho_in, shape.nodes());
    if (gate_in.ndim() == 0) {
      gates.assign(static_cast<size_t>(shape.num_flows()), number_of<T>(gate_in));
      return;
    }
    const auto gate = read_floats<T>({function, "gate"}, gate_in, shape.per_flow());
    gates.assign(gate.data(), gate.data() + gate.size());
  }
  const T* rho_data() const { return rho ? rho->data() : nullptr; }

  std::optional<FloatArray<T>> rho;
  std::vector<T> gates;
};

// Segment by segment: the range of its blocks.
template <class Run>
void each_segment(const std::vector<FlowShape::NodeBlock>& blocks, const Run& run) {
  const auto count = static_cast<int64_t>(blocks.size());
  for (int64_t begin = 0; begin < count;) {
    const int64_t segment = blocks[static_cast<size_t>(begin)].segment;
    int64_t end = begin;
    while (end < count && blocks[static_cast<size_t>(end)].segment == segment) ++end;
    run(segment, begin, end);
    begin = end;
  }
}

// Sums of blocks (blocks, lanes) to sums of segments (segments, lanes), one after another.
template <class T>
void add_blocks(const std::vector<FlowShape::NodeBlock>& blocks, int64_t lanes, const T* parts,
                T* sums) {
  each_segment(blocks, [&](int64_t segment, int64_t begin, int64_t end) {
    for (int64_t l = 0; l < lanes; ++l) {
      T total = parts[begin * lanes + l];
      for (int64_t b = begin + 1; b < end; ++b) total += parts[b * lanes + l];
      sums[segment * lanes + l] = total;
    }
  });
}

// What joins the blocks of a segment: (blocks, lanes) factors, and sums whose row at the segment's
// first block is its divisor.
template <class T>
struct HopFactors {
  std::unique_ptr<T[]> factors, sums;
};

// For a hop that does nothing beside.
inline void no_block(const FlowShape::NodeBlock&, int64_t) {}

// Calls before_weigh(block, its index) where `values` hold phi of the block, and after_scale where
// they hold pi'.
template <class T, class BeforeWeigh, class AfterScale>
HopFactors<T> hop_forward(const FlowGraph& graph, const FlowShape& shape, const T* pi,
                          const T* beta, const HopArgs<T>& hop, T* values, int threads,
                          const BeforeWeigh& before_weigh, const AfterScale& after_scale,
                          int64_t content_work = 0) {
  const FlowKernels<T>& kernel = kernels().flow<T>();
  const int64_t lanes = shape.lanes();
  const auto plan = graph.plan(shape.offsets());
  const auto& blocks = plan->blocks();
  const auto count = static_cast<int64_t>(blocks.size());
  auto tops = make_values<T>(count * lanes), sums = make_values<T>(count * lanes);
  const int64_t grain =
      flow_grain(count, (graph.num_edges() + graph.num_nodes()) * lanes + content_work);
  parallel_for(count, grain, threads, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      const auto& block = blocks[static_cast<size_t>(b)];
      HopArgs<T> own = hop;
      own.gate += block.segment;
      propagate_block(graph, *plan, lanes, b, pi, beta, values);
      before_weigh(block, b);
      kernel.hop_weigh(own, block.begin, block.end, values, tops.get() + b * lanes,
                       sums.get() + b * lanes);
    }
  });
  std::vector<const T*> divisors(static_cast<size_t>(shape.num_segments()));
  each_segment(blocks, [&](int64_t segment, int64_t begin, int64_t end) {
    T* divisor = sums.get() + begin * lanes;
    kernel.hop_combine(end - begin, lanes, tops.get() + begin * lanes, divisor);
    divisors[static_cast<size_t>(segment)] = divisor;
  });
  parallel_for(count, flow_grain(count, graph.num_nodes() * lanes + content_work), threads,
               [&](int64_t begin, int64_t end) {
                 for (int64_t b = begin; b < end; ++b) {
                   const auto& block = blocks[static_cast<size_t>(b)];
                   kernel.hop_scale(lanes, block.begin, block.end, values, tops.get() + b * lanes,
                                    divisors[static_cast<size_t>(block.segment)]);
                   after_scale(block, b);
                 }
               });
  return {std::move(tops), std::move(sums)};
}

template <class T>
struct HopGradients {
  T *pi, *beta, *rho, *gate;  // the last two null without rho
};

// For every segment and lane: c, and the anchor that stands for phi.
template <class T>
struct HopAnchors {
  std::unique_ptr<T[]> dots, ratios, contents;
};

template <class T>
HopAnchors<T> hop_anchors(const FlowGraph& graph, const FlowPlan& plan, int64_t lanes, const T* pi,
                          const T* beta, const HopArgs<T>& hop, const T* output, const T* grad,
                          int threads) {
  const FlowKernels<T>& kernel = kernels().flow<T>();
  const auto& blocks = plan.blocks();
  const auto count = static_cast<int64_t>(blocks.size());
  const int64_t flows = (static_cast<int64_t>(plan.segments().size()) - 1) * lanes;
  const auto parts = make_values<T>(count * lanes);
  const auto peaks = make_values<int64_t>(count * lanes);
  parallel_for(count, flow_grain(count, graph.num_nodes() * lanes), threads,
               [&](int64_t begin, int64_t end) {
                 for (int64_t b = begin; b < end; ++b) {
                   const auto& block = blocks[static_cast<size_t>(b)];
                   kernel.hop_dot(output, grad, lanes, block.begin, block.end,
                                  parts.get() + b * lanes);
                   kernel.hop_peak(output, lanes, block.begin, block.end, peaks.get() + b * lanes);
                 }
               });
  HopAnchors<T> anchors{make_values<T>(flows), make_values<T>(flows), make_values<T>(flows)};
  add_blocks(blocks, lanes, parts.get(), anchors.dots.get());
  each_segment(blocks, [&](int64_t segment, int64_t begin, int64_t end) {
    for (int64_t l = 0; l < lanes; ++l) {
      int64_t peak = peaks[static_cast<size_t>(begin * lanes + l)];
      for (int64_t b = begin + 1; b < end; ++b) {
        const int64_t other = peaks[static_cast<size_t>(b * lanes + l)];
        if (output[other * lanes + l] > output[peak * lanes + l]) peak = other;
      }
      HopAnchorArgs<T> args{hop, graph.in(), pi, of_segment(beta, graph, segment), output, peak, l};
      args.hop.gate += segment;
      kernel.hop_anchor(args, anchors.ratios.get() + segment * lanes + l,
                        anchors.contents.get() + segment * lanes + l);
    }
  });
  return anchors;
}

// Whether the content of a hop is known as its rho, or was scored on the way and not kept.
enum class ContentKept { yes, no };

template <class T>
void hop_backward_pass(const FlowGraph& graph, const FlowShape& shape, const T* pi, const T* beta,
                       const HopArgs<T>& hop, const T* output, const T* grad,
                       const HopGradients<T>& into, int threads,
                       ContentKept kept = ContentKept::yes) {
  const FlowKernels<T>& kernel = kernels().flow<T>();
  const int64_t lanes = shape.lanes(), values = graph.num_nodes() * lanes;
  const auto plan = graph.plan(shape.offsets());
  const auto& blocks = plan->blocks();
  const auto count = static_cast<int64_t>(blocks.size());
  const HopAnchors<T> anchors =
      hop_anchors(graph, *plan, lanes, pi, beta, hop, output, grad, threads);
  const auto grad_phi = make_values<T>(values), parts = make_values<T>(count * lanes);
  const auto phi = kept == ContentKept::no ? make_values<T>(values) : std::unique_ptr<T[]>();
  const int64_t work = values + (phi ? graph.num_edges() * lanes : 0);
  parallel_for(count, flow_grain(count, work), threads, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      const auto& block = blocks[static_cast<size_t>(b)];
      const int64_t flow = block.segment * lanes;
      if (phi) propagate_block(graph, *plan, lanes, b, pi, beta, phi.get());
      HopBackwardArgs<T> args{hop,
                              output,
                              grad,
                              anchors.dots.get() + flow,
                              anchors.ratios.get() + flow,
                              anchors.contents.get() + flow,
                              phi.get(),
                              grad_phi.get(),
                              into.rho};
      args.hop.gate += block.segment;
      kernel.hop_backward(args, block.begin, block.end, parts.get() + b * lanes);
    }
  });
  if (into.gate != nullptr) {
    std::fill(into.gate, into.gate + shape.num_flows(), T(0));  // also for segments without nodes
    add_blocks(blocks, lanes, parts.get(), into.gate);
  }
  propagate_backward_pass(graph, *plan, lanes, pi, beta, grad_phi.get(), into.pi, into.beta,
                          threads);
}

}  // namespace hyperhop::bindings
