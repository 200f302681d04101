// The graph object that every walk takes, and what may be asked of one fact.
#include "graph_index.h"

#include <pybind11/pybind11.h>

#include <cstdint>
#include <exception>

#include "module.h"

namespace hyperhop::bindings {
namespace {

bool has_triple(const GraphIndex& index, std::int32_t head, std::int32_t relation,
                std::int32_t tail) {
  index.check_entity("has_triple", head);
  return index.view().has_triple(head, relation, tail);
}

}  // namespace

void bind_graph_index(py::module_& m) {
  py::register_local_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const graph::DamagedStore& error) {
      const py::object type = py::module_::import("hyperhop.graph.errors").attr("DamagedStore");
      PyErr_SetString(type.ptr(), error.what());
    }
  });

  py::class_<graph::Limits>(m, "GraphLimits")
      .def(py::init<std::int64_t, std::int64_t, std::int64_t>(), py::arg("edge_visits"),
           py::arg("entries"), py::arg("simple_steps"));

  py::class_<GraphIndex>(m, "GraphIndex")
      .def(py::init<const py::object&, const py::object&, const py::object&, const py::object&,
                    const py::object&, const py::object&, std::int32_t>(),
           py::arg("out_offsets"), py::arg("out_relations"), py::arg("out_tails"),
           py::arg("in_offsets"), py::arg("in_relations"), py::arg("in_heads"),
           py::arg("num_relations"))
      .def("has_triple", &has_triple, py::arg("head"), py::arg("relation"), py::arg("tail"));
}

}  // namespace hyperhop::bindings
