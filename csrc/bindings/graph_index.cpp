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

py::array_t<bool> has_triples(const GraphIndex& index, const py::object& heads,
                              const py::object& relations, const py::object& tails) {
  const Column<std::int32_t> head("has_triples", "heads", heads);
  const Column<std::int32_t> relation("has_triples", "relations", relations);
  const Column<std::int32_t> tail("has_triples", "tails", tails);
  require(head.size() == relation.size() && head.size() == tail.size(),
          "has_triples: heads, relations and tails must be of one length");
  py::array_t<bool> found(static_cast<py::ssize_t>(head.size()));
  bool* const out = found.mutable_data();
  for (std::int64_t i = 0; i < head.size(); ++i) {
    const std::int32_t from = head.data()[i];
    out[i] = from >= 0 && from < index.view().num_entities &&
             index.view().has_triple(from, relation.data()[i], tail.data()[i]);
  }
  return found;
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
      .def("has_triple", &has_triple, py::arg("head"), py::arg("relation"), py::arg("tail"))
      .def("has_triples", &has_triples, py::arg("heads"), py::arg("relations"), py::arg("tails"));
}

}  // namespace hyperhop::bindings
