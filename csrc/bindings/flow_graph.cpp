#include "../flow_graph.h"

#include <string>

#include "columns.h"
#include "gil.h"
#include "module.h"

namespace hyperhop::bindings {
namespace {

std::unique_ptr<FlowGraph> make_flow_graph(const py::object& src, const py::object& relation,
                                           const py::object& dst, std::int64_t num_nodes,
                                           std::int64_t num_relations) {
  const Column<std::int32_t> heads("FlowGraph", "src", src);
  const Column<std::int32_t> relations("FlowGraph", "relation", relation);
  const Column<std::int32_t> tails("FlowGraph", "dst", dst);
  require(heads.size() == relations.size() && heads.size() == tails.size(),
          "FlowGraph: src, relation and dst must have one length, got " +
              std::to_string(heads.size()) + ", " + std::to_string(relations.size()) + " and " +
              std::to_string(tails.size()));
  const GilReleased released;
  return std::make_unique<FlowGraph>(heads.data(), relations.data(), tails.data(), heads.size(),
                                     num_nodes, num_relations);
}

}  // namespace

void bind_flow_graph(py::module_& m) {
  py::class_<FlowGraph>(m, "FlowEdges")
      .def(py::init(&make_flow_graph), py::arg("src"), py::arg("relation"), py::arg("dst"),
           py::arg("num_nodes"), py::arg("num_relations"));
}

}  // namespace hyperhop::bindings
