#include <pybind11/stl.h>

#include <optional>

#include "arrays.h"
#include "gil.h"
#include "hop_passes.h"
#include "module.h"

namespace hyperhop::bindings {
namespace {

constexpr const char* kHop = "hop";
constexpr const char* kHopBackward = "hop_backward";

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
      hop_forward(graph, shape, pi_data, beta_data, args, values, threads, no_block, no_block);
    }
    return out.finish();
  });
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
        py::arg("result"), py::arg("grad"), py::arg("rho"), py::arg("gate"),
        py::arg("gate_is_number"), py::arg("eps"), py::arg("segments"), py::arg("reachable_only"),
        py::arg("threads"));
}

}  // namespace hyperhop::bindings
