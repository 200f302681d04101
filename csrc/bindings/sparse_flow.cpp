// One hop of a flow held as its active nodes.
#include "../graph/sparse_flow.h"

#include <pybind11/pybind11.h>

#include <cstdint>
#include <string>
#include <utility>

#include "../flow_graph.h"
#include "columns.h"
#include "flow_arrays.h"
#include "gil.h"
#include "graph_index.h"
#include "module.h"

namespace hyperhop::bindings {
namespace {

constexpr const char* kPropagateSparse = "propagate_sparse";

// Checks a flow held as active nodes, and calls spread(flow, beta) of the dtype of both.
template <typename Spread>
py::tuple with_flow(const py::object& node_ids, const py::array& value_array,
                    const py::array& beta_array, std::int64_t num_nodes, std::int64_t num_relations,
                    const Spread& spread) {
  const bool wide =
      is_double(kPropagateSparse, {{"pi.values", &value_array}, {"beta", &beta_array}});
  const Column<std::int32_t> nodes(kPropagateSparse, "pi.nodes", node_ids);
  for (std::int64_t i = 0; i < nodes.size(); ++i) {
    const std::int32_t node = nodes.data()[i];
    require(node >= 0 && node < num_nodes && (i == 0 || nodes.data()[i - 1] < node),
            "propagate_sparse: pi.nodes must ascend and lie below " + std::to_string(num_nodes));
  }
  return with_float_type(wide, [&](auto zero) -> py::tuple {
    using T = decltype(zero);
    const auto values =
        read_floats<T>({kPropagateSparse, "pi.values"}, value_array, {nodes.size()});
    const auto beta = read_floats<T>({kPropagateSparse, "beta"}, beta_array, {num_relations});
    graph::NodeValues<T> found;
    {
      const graph::NodeValuesView<T> flow{nodes.data(), values.data(), nodes.size()};
      const T* const attention = beta.data();
      const GilReleased released;
      found = spread(flow, attention);
    }
    return py::make_tuple(to_array(std::move(found.nodes)), to_array(std::move(found.values)));
  });
}

py::tuple spread_edges(const FlowGraph& edges, const py::object& nodes, const py::array& values,
                       const py::array& beta) {
  return with_flow(nodes, values, beta, edges.num_nodes(), edges.num_relations(),
                   [&](const auto& flow, const auto* attention) {
                     return graph::spread(edges.out(), edges.num_nodes(), flow, attention);
                   });
}

py::tuple spread_facts(const GraphIndex& facts, bool inverse, bool stay, const py::object& nodes,
                       const py::array& values, const py::array& beta) {
  const graph::FactEdges edges{facts.view(), inverse, stay};
  return with_flow(nodes, values, beta, facts.view().num_entities, edges.num_relations(),
                   [&](const auto& flow, const auto* attention) {
                     return graph::spread(edges, flow, attention);
                   });
}

}  // namespace

void bind_sparse_flow(py::module_& m) {
  m.def("propagate_sparse", &spread_edges, py::arg("graph"), py::arg("nodes"), py::arg("values"),
        py::arg("beta"));
  m.def("propagate_facts", &spread_facts, py::arg("facts"), py::arg("inverse"), py::arg("stay"),
        py::arg("nodes"), py::arg("values"), py::arg("beta"));
}

}  // namespace hyperhop::bindings
