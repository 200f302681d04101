#include <pybind11/stl.h>

#include <string>

#include "../dispatch.h"
#include "../parallel.h"
#include "module.h"

namespace hyperhop::bindings {

static std::string isa() {
  return kernels().isa;
}

static std::string compiler() {
#ifdef __clang__
  return "Clang " + std::to_string(__clang_major__) + '.' + std::to_string(__clang_minor__) + '.' +
         std::to_string(__clang_patchlevel__);
#else
  return "GNU " + std::to_string(__GNUC__) + '.' + std::to_string(__GNUC_MINOR__) + '.' +
         std::to_string(__GNUC_PATCHLEVEL__);
#endif
}

void bind_runtime(py::module_& m) {
  m.def("isas", &isas, "ISAs built in that this processor runs, best first.");
  m.def("isa", &isa, "The ISA in use.");
  m.def("select_isa", &select_isa, py::arg("name"));
  m.def("default_threads", &default_threads);
  m.def("compiler", &compiler, "Name and version of the compiler that built this module.");
  kernels();  // a wrong HYPERHOP_ISA is refused at import, not at the first call
}

}  // namespace hyperhop::bindings
