// Names by id and ids by name.
#include "graph_names.h"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "module.h"

namespace hyperhop::bindings {

void bind_graph_names(py::module_& m) {
  py::class_<PyNames>(m, "NameIndex")
      .def(py::init<const py::object&, const py::object&>(), py::arg("blob"), py::arg("offsets"))
      .def("__len__", &PyNames::count)
      .def("name", &PyNames::name, py::arg("id"))
      .def("names", &PyNames::names, py::arg("ids"))
      .def("find", &PyNames::find, py::arg("name"))
      .def("lower_bound", &PyNames::lower_bound, py::arg("name"));
}

}  // namespace hyperhop::bindings
