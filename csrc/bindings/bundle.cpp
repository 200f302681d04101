#include <stdexcept>

#include "../dispatch.h"
#include "../parallel.h"
#include "arrays.h"
#include "gil.h"
#include "module.h"

namespace hyperhop::bindings {

static py::object bundle(const py::array& xs_in,
                         const py::array_t<float, py::array::c_style>& weights,
                         const py::object& out_in, int threads) {
  const BlockArray xs = read_blocks({"bundle", "xs"}, xs_in);
  Shape leading = xs.vectors.leading;
  if (leading.empty())
    throw std::invalid_argument("bundle: xs needs a leading axis to sum over, got one hypervector");
  const int64_t count = leading.front();
  if (weights.ndim() != 1 || weights.shape(0) != count)
    throw std::invalid_argument(
        "bundle: weights must have shape " + to_string({count}) + ", got " +
        to_string(Shape(weights.shape(), weights.shape() + weights.ndim())));
  leading.erase(leading.begin());
  const BlockShape& shape = xs.vectors.shape;
  const Layout layout = xs.vectors.layout;
  Output out("bundle", out_in, full_shape(leading, layout, shape), dtype_of(layout), {xs.array});
  int64_t size = shape.floats();
  for (const int64_t axis : leading) size *= axis;
  const BundleArgs args{count, size, weights.data(), xs.data(), out.data<float>()};
  {
    const GilReleased released;
    const BundleKernel* kernel = kernels().bundle;
    const int64_t grain = 1 + (1 << 18) / (count + 1);
    parallel_for(size, grain, threads, [&](int64_t b, int64_t e) { kernel(args, b, e); });
  }
  return out.finish();
}

void bind_bundle(py::module_& m) {
  m.def("bundle", &bundle, py::arg("xs"), py::arg("weights"), py::arg("out"), py::arg("threads"));
}

}  // namespace hyperhop::bindings
