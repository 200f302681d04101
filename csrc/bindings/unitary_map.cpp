#include <stdexcept>

#include "../dispatch.h"
#include "../parallel.h"
#include "arrays.h"
#include "gil.h"
#include "module.h"

namespace hyperhop::bindings {

static UnitaryMap map_named(const std::string& name) {
  if (name == "exp") return UnitaryMap::exp;
  if (name == "cayley") return UnitaryMap::cayley;
  throw std::invalid_argument("unitary_map: map must be exp or cayley, got '" + name + "'");
}

static py::object unitary_map(const py::array_t<float, py::array::c_style>& hermitian,
                              const std::string& map, const py::object& out_in, int threads) {
  if (hermitian.ndim() != 4 || hermitian.shape(1) != hermitian.shape(2) || hermitian.shape(1) < 1 ||
      hermitian.shape(1) > kMaxBlockSize || hermitian.shape(3) < 1)
    throw std::invalid_argument("unitary_map: hermitian must be (R, m, m, D), m 1 to " +
                                std::to_string(kMaxBlockSize) + ", D at least 1");
  const UnitaryMap kind = map_named(map);
  const BlockShape shape{hermitian.shape(3), int(hermitian.shape(1))};
  const int64_t rows = hermitian.shape(0);
  Output out("unitary_map", out_in, full_shape({rows}, Layout::planes, shape),
             dtype_of(Layout::planes), {hermitian});
  const UnitaryMapArgs args{shape, kind, hermitian.data(), out.data<float>()};
  {
    const GilReleased released;
    const UnitaryMapKernel* kernel = kernels().unitary_map;
    parallel_for(rows, 4, threads, [&](int64_t b, int64_t e) { kernel(args, b, e); });
  }
  return out.finish();
}

void bind_unitary_map(py::module_& m) {
  m.def("unitary_map", &unitary_map, py::arg("hermitian"), py::arg("map"), py::arg("out"),
        py::arg("threads"));
}

}  // namespace hyperhop::bindings
