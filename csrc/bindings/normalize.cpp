#include <cmath>

#include "../dispatch.h"
#include "../parallel.h"
#include "arrays.h"
#include "gil.h"
#include "module.h"

namespace hyperhop::bindings {

static py::object run(const std::string& function, NormalizeKernel* kernel, int64_t grain,
                      const py::array& x_in, const py::object& out_in, int threads) {
  const BlockArray x = read_blocks({function, "x"}, x_in);
  const BlockShape& shape = x.vectors.shape;
  const Layout layout = x.vectors.layout;
  Output out(function, out_in, full_shape(x.vectors.leading, layout, shape), dtype_of(layout),
             {x.array});
  const NormalizeArgs args{
      shape, layout, layout, x.data(), out.data<float>(), std::sqrt(double(shape.block_size))};
  {
    const GilReleased released;
    parallel_for(x.vectors.rows, grain, threads, [&](int64_t b, int64_t e) { kernel(args, b, e); });
  }
  return out.finish();
}

static py::object normalize(const py::array& x, const py::object& out, int threads) {
  return run("normalize", kernels().normalize, 8, x, out, threads);
}

static py::object unitarize(const py::array& x, const py::object& out, int threads) {
  return run("unitarize", kernels().unitarize, 1, x, out, threads);
}

void bind_normalize(py::module_& m) {
  m.def("normalize", &normalize, py::arg("x"), py::arg("out"), py::arg("threads"));
  m.def("unitarize", &unitarize, py::arg("x"), py::arg("out"), py::arg("threads"));
}

}  // namespace hyperhop::bindings
