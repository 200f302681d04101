// Names by id and ids by name.
#include "graph_names.h"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "module.h"

namespace hyperhop::bindings {

void bind_graph_names(py::module_& m) {
  py::class_<PyNames>(m, "NameIndex")
      .def(py::init<const py::object&, const py::object&, const py::object&>(), py::arg("blob"),
           py::arg("offsets"), py::arg("order") = py::none())
      .def("__len__", &PyNames::num_used)
      .def_property_readonly("num_ids", &PyNames::num_ids)
      .def("name", &PyNames::name, py::arg("id"))
      .def("names", &PyNames::names, py::arg("ids"))
      .def("find", &PyNames::find, py::arg("name"))
      .def("ids", &PyNames::ids, py::arg("begin"), py::arg("end"))
      .def("lower_bound", &PyNames::lower_bound, py::arg("name"));
}

}  // namespace hyperhop::bindings
