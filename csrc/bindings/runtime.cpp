#include <pybind11/stl.h>

#include "../dispatch.h"
#include "../parallel.h"
#include "module.h"

namespace hyperhop::bindings {

static std::string isa() {
  return kernels().isa;
}

void bind_runtime(py::module_& m) {
  m.def("isas", &isas, "ISAs built in that this processor runs, best first.");
  m.def("isa", &isa, "The ISA in use.");
  m.def("select_isa", &select_isa, py::arg("name"));
  m.def("default_threads", &default_threads);
  kernels();  // a wrong HYPERHOP_ISA is refused at import, not at the first call
}

}  // namespace hyperhop::bindings
