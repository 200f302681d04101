#include <pybind11/stl.h>

#include <optional>

#include "arrays.h"
#include "flow_passes.h"
#include "gil.h"
#include "module.h"

namespace hyperhop::bindings {
namespace {

constexpr const char* kHop = "hop";
constexpr const char* kHopBackward = "hop_backward";

using OptionalArray = std::optional<py::array>;

const py::array* given(const OptionalArray& array) {
  return array ? &*array : nullptr;
}

void check_eps(const char* function, double eps) {
  if (!(eps >= 0 && eps - eps == 0))
    throw std::invalid_argument(std::string(function) +
                                ": eps must be a finite number of at least 0, got " +
                                std::string(py::str(py::float_(eps))));
}

// The content side of a hop: rho (none gives null) and one gate for each flow.
template <class T>
struct Content {
  Content(const char* function, const FlowShape& shape, const OptionalArray& rho_in,
          const py::array& gate_in) {
    if (rho_in) rho = read_floats<T>({function, "rho"}, *rho_in, shape.nodes());
    if (gate_in.ndim() == 0) {
      gates.assign(static_cast<size_t>(shape.num_flows()), *FloatArray<T>::ensure(gate_in).data());
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

template <class T>
void hop_forward(const FlowGraph& graph, const FlowShape& shape, const T* pi, const T* beta,
                 const HopArgs<T>& hop, T* values, int threads) {
  const FlowKernels<T>& kernel = kernels().flow<T>();
  const int64_t lanes = shape.lanes();
  const auto blocks = shape.node_blocks();
  const auto count = static_cast<int64_t>(blocks.size());
  const auto tops = make_values<T>(count * lanes), sums = make_values<T>(count * lanes);
  const int64_t grain = flow_grain(count, (graph.num_edges() + graph.num_nodes()) * lanes);
  parallel_for(count, grain, threads, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      const auto& block = blocks[static_cast<size_t>(b)];
      HopArgs<T> own = hop;
      own.gate += block.segment;
      propagate_block(graph, lanes, block, pi, beta, values);
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
  parallel_for(count, flow_grain(count, graph.num_nodes() * lanes), threads,
               [&](int64_t begin, int64_t end) {
                 for (int64_t b = begin; b < end; ++b) {
                   const auto& block = blocks[static_cast<size_t>(b)];
                   kernel.hop_scale(lanes, block.begin, block.end, values, tops.get() + b * lanes,
                                    divisors[static_cast<size_t>(block.segment)]);
                 }
               });
}

py::object hop(const FlowGraph& graph, const py::array& pi_in, const py::array& beta_in,
               const OptionalArray& rho_in, const py::array& gate_in, bool gate_is_number,
               double eps, const py::object& segments, bool reachable_only,
               const py::object& out_in, int threads) {
  const bool wide = is_double(kHop, {{"pi", &pi_in},
                                     {"beta", &beta_in},
                                     {"rho", given(rho_in)},
                                     {"gate", gate_is_number ? nullptr : &gate_in}});
  check_eps(kHop, eps);
  const FlowShape shape(kHop, {"pi", &pi_in}, segments, graph.num_nodes(), &graph);
  return with_float_type(wide, [&](auto zero) {
    using T = decltype(zero);
    const auto pi = read_floats<T>({kHop, "pi"}, pi_in, shape.nodes());
    const auto beta =
        read_floats<T>({kHop, "beta"}, beta_in, shape.per_relation(graph.num_relations()));
    const Content<T> content(kHop, shape, rho_in, gate_in);
    std::vector<py::array> inputs{pi, beta};
    if (content.rho) inputs.push_back(*content.rho);
    Output out(kHop, out_in, shape.nodes(), py::dtype::of<T>(), inputs);
    const HopArgs<T> args{shape.lanes(), T(eps), reachable_only, content.rho_data(),
                          content.gates.data()};
    const T *pi_data = pi.data(), *beta_data = beta.data();
    T* values = out.data<T>();
    {
      const GilReleased released;
      hop_forward(graph, shape, pi_data, beta_data, args, values, threads);
    }
    return out.finish();
  });
}

template <class T>
struct HopGradients {
  T *pi, *beta, *rho, *gate;  // the last two null without rho
};

template <class T>
void hop_backward_pass(const FlowGraph& graph, const FlowShape& shape, const T* pi, const T* beta,
                       const HopArgs<T>& hop, const T* output, const T* grad,
                       const HopGradients<T>& into, int threads) {
  const FlowKernels<T>& kernel = kernels().flow<T>();
  const int64_t lanes = shape.lanes(), values = graph.num_nodes() * lanes;
  const auto blocks = shape.node_blocks();
  const auto count = static_cast<int64_t>(blocks.size());
  const auto phi = make_values<T>(values), grad_phi = make_values<T>(values);
  const auto parts = make_values<T>(count * lanes);
  const auto dots = make_values<T>(shape.num_segments() * lanes);
  const auto arguments = [&](const FlowShape::NodeBlock& block) {
    HopBackwardArgs<T> args{
        hop, output, phi.get(), grad, dots.get() + block.segment * lanes, grad_phi.get(), into.rho};
    args.hop.gate += block.segment;
    return args;
  };
  parallel_for(count, flow_grain(count, (graph.num_edges() + graph.num_nodes()) * lanes), threads,
               [&](int64_t begin, int64_t end) {
                 for (int64_t b = begin; b < end; ++b) {
                   const auto& block = blocks[static_cast<size_t>(b)];
                   propagate_block(graph, lanes, block, pi, beta, phi.get());
                   kernel.hop_dot(arguments(block), block.begin, block.end,
                                  parts.get() + b * lanes);
                 }
               });
  add_blocks(blocks, lanes, parts.get(), dots.get());
  parallel_for(count, flow_grain(count, values), threads, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      const auto& block = blocks[static_cast<size_t>(b)];
      kernel.hop_backward(arguments(block), block.begin, block.end, parts.get() + b * lanes);
    }
  });
  if (into.gate != nullptr) {
    std::fill(into.gate, into.gate + shape.num_flows(), T(0));  // also for segments without nodes
    add_blocks(blocks, lanes, parts.get(), into.gate);
  }
  propagate_backward_pass(graph, shape, pi, beta, grad_phi.get(), into.pi, into.beta, threads);
}

py::tuple hop_backward(const FlowGraph& graph, const py::array& pi_in, const py::array& beta_in,
                       const py::array& output_in, const py::array& grad_in,
                       const OptionalArray& rho_in, const py::array& gate_in, bool gate_is_number,
                       double eps, const py::object& segments, bool reachable_only, int threads) {
  const bool wide = is_double(kHopBackward, {{"pi", &pi_in},
                                             {"beta", &beta_in},
                                             {"result", &output_in},
                                             {"grad", &grad_in},
                                             {"rho", given(rho_in)},
                                             {"gate", gate_is_number ? nullptr : &gate_in}});
  check_eps(kHopBackward, eps);
  const FlowShape shape(kHopBackward, {"pi", &pi_in}, segments, graph.num_nodes(), &graph);
  return with_float_type(wide, [&](auto zero) -> py::tuple {
    using T = decltype(zero);
    const Shape nodes = shape.nodes(), relations = shape.per_relation(graph.num_relations());
    const auto pi = read_floats<T>({kHopBackward, "pi"}, pi_in, nodes);
    const auto beta = read_floats<T>({kHopBackward, "beta"}, beta_in, relations);
    const auto output = read_floats<T>({kHopBackward, "result"}, output_in, nodes);
    const auto grad = read_floats<T>({kHopBackward, "grad"}, grad_in, nodes);
    const Content<T> content(kHopBackward, shape, rho_in, gate_in);
    const auto make = [](const Shape& size) {
      return Output(kHopBackward, py::none(), size, py::dtype::of<T>(), {});
    };
    Output grad_pi = make(nodes), grad_beta = make(relations);
    std::optional<Output> grad_rho, grad_gate;
    HopGradients<T> into{grad_pi.data<T>(), grad_beta.data<T>(), nullptr, nullptr};
    if (rho_in) {
      into.rho = grad_rho.emplace(make(nodes)).template data<T>();
      into.gate = grad_gate.emplace(make(shape.per_flow())).template data<T>();
    }
    const HopArgs<T> args{shape.lanes(), T(eps), reachable_only, content.rho_data(),
                          content.gates.data()};
    const T *pi_data = pi.data(), *beta_data = beta.data(), *grad_data = grad.data(),
            *output_data = output.data();
    {
      const GilReleased released;
      hop_backward_pass(graph, shape, pi_data, beta_data, args, output_data, grad_data, into,
                        threads);
    }
    return py::make_tuple(grad_pi.finish(), grad_beta.finish(),
                          grad_rho ? grad_rho->finish() : py::none(),
                          grad_gate ? grad_gate->finish() : py::none());
  });
}

}  // namespace

void bind_hop(py::module_& m) {
  m.def("hop", &hop, py::arg("graph"), py::arg("pi"), py::arg("beta"), py::arg("rho"),
        py::arg("gate"), py::arg("gate_is_number"), py::arg("eps"), py::arg("segments"),
        py::arg("reachable_only"), py::arg("out"), py::arg("threads"));
  m.def("hop_backward", &hop_backward, py::arg("graph"), py::arg("pi"), py::arg("beta"),
        py::arg("output"), py::arg("grad"), py::arg("rho"), py::arg("gate"),
        py::arg("gate_is_number"), py::arg("eps"), py::arg("segments"), py::arg("reachable_only"),
        py::arg("threads"));
}

}  // namespace hyperhop::bindings
