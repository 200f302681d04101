#include "arrays.h"
#include "flow_passes.h"
#include "gil.h"
#include "module.h"

namespace hyperhop::bindings {
namespace {

constexpr const char* kPropagate = "propagate";
constexpr const char* kPropagateBackward = "propagate_backward";

py::object propagate(const FlowGraph& graph, const py::array& pi_in, const py::array& beta_in,
                     const py::object& segments, const py::object& out_in, int threads) {
  const bool wide = is_double(kPropagate, {{"pi", &pi_in}, {"beta", &beta_in}});
  const FlowShape shape(kPropagate, {"pi", &pi_in}, segments, graph.num_nodes(), &graph);
  return with_float_type(wide, [&](auto zero) {
    using T = decltype(zero);
    const auto pi = read_floats<T>({kPropagate, "pi"}, pi_in, shape.nodes());
    const Attention<T> beta(kPropagate, beta_in, shape, graph.num_relations());
    Output out(kPropagate, out_in, shape.nodes(), py::dtype::of<T>(), {pi, beta.values});
    const T *pi_data = pi.data(), *beta_data = beta.values.data();
    T* phi = out.data<T>();
    {
      const GilReleased released;
      const auto plan = graph.plan(shape.offsets());
      const auto count = static_cast<int64_t>(plan->blocks().size());
      parallel_for(count, flow_grain(count, graph.num_edges() * shape.lanes()), threads,
                   [&](int64_t begin, int64_t end) {
                     for (int64_t b = begin; b < end; ++b)
                       propagate_block(graph, *plan, shape.lanes(), b, pi_data, beta_data, phi,
                                       beta.one_for_all);
                   });
    }
    return out.finish();
  });
}

py::tuple propagate_backward(const FlowGraph& graph, const py::array& pi_in,
                             const py::array& beta_in, const py::array& grad_in,
                             const py::object& segments, int threads) {
  const bool wide =
      is_double(kPropagateBackward, {{"pi", &pi_in}, {"beta", &beta_in}, {"grad", &grad_in}});
  const FlowShape shape(kPropagateBackward, {"pi", &pi_in}, segments, graph.num_nodes(), &graph);
  return with_float_type(wide, [&](auto zero) -> py::tuple {
    using T = decltype(zero);
    const auto pi = read_floats<T>({kPropagateBackward, "pi"}, pi_in, shape.nodes());
    const auto beta = read_floats<T>({kPropagateBackward, "beta"}, beta_in,
                                     shape.per_relation(graph.num_relations()));
    const auto grad = read_floats<T>({kPropagateBackward, "grad"}, grad_in, shape.nodes());
    Output grad_pi(kPropagateBackward, py::none(), shape.nodes(), py::dtype::of<T>(), {});
    Output grad_beta(kPropagateBackward, py::none(), shape.per_relation(graph.num_relations()),
                     py::dtype::of<T>(), {});
    const T *pi_data = pi.data(), *beta_data = beta.data(), *grad_data = grad.data();
    T *pi_out = grad_pi.data<T>(), *beta_out = grad_beta.data<T>();
    {
      const GilReleased released;
      propagate_backward_pass(graph, *graph.plan(shape.offsets()), shape.lanes(), pi_data,
                              beta_data, grad_data, pi_out, beta_out, threads);
    }
    return py::make_tuple(grad_pi.finish(), grad_beta.finish());
  });
}

}  // namespace

void bind_flow(py::module_& m) {
  m.def("propagate", &propagate, py::arg("graph"), py::arg("pi"), py::arg("beta"),
        py::arg("segments"), py::arg("out"), py::arg("threads"));
  m.def("propagate_backward", &propagate_backward, py::arg("graph"), py::arg("pi"), py::arg("beta"),
        py::arg("grad"), py::arg("segments"), py::arg("threads"));
}

}  // namespace hyperhop::bindings
