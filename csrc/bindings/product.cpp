#include "../dispatch.h"
#include "../memory.h"
#include "../parallel.h"
#include "arrays.h"
#include "gil.h"
#include "module.h"

namespace hyperhop::bindings {

struct ProductNames {
  const char *function, *x, *y;
};

static ProductNames names_of(Product kind) {
  switch (kind) {
    case Product::unbind_left:
      return {"unbind_left", "key", "z"};
    case Product::unbind_right:
      return {"unbind_right", "z", "key"};
    default:
      return {"bind", "x", "y"};
  }
}

template <Product kKind>
static py::object product(const py::array& x_in, const py::array& y_in, const py::object& out_in,
                          int threads) {
  const ProductNames names = names_of(kKind);
  const Argument arg{names.function, names.x};
  const BlockArray x = read_blocks(arg, x_in), y = read_blocks({names.function, names.y}, y_in);
  check_same_blocks(arg, x.vectors, names.y, y.vectors);
  const Broadcast rows = broadcast_rows(arg, x.vectors.leading, names.y, y.vectors.leading);
  const BlockShape& shape = x.vectors.shape;
  const Layout layout = x.vectors.layout;
  Output out(names.function, out_in, full_shape(rows.leading, layout, shape), dtype_of(layout),
             {x.array, y.array});
  const int64_t count = int64_t(rows.x_rows.size());
  const bool stream =
      rows_can_stream(shape, layout) &&
      worth_streaming(out.data<float>(), count * shape.floats() * int64_t(sizeof(float)));
  const ProductArgs args{shape,
                         layout,
                         kKind,
                         x.data(),
                         rows.x_rows.data(),
                         y.data(),
                         rows.y_rows.data(),
                         out.data<float>(),
                         stream};
  {
    const GilReleased released;
    const ProductKernel* kernel = kernels().product;
    const int64_t grain = 1 + (1 << 17) / shape.floats();
    parallel_for(count, grain, threads, [&](int64_t b, int64_t e) { kernel(args, b, e); });
  }
  return out.finish();
}

void bind_product(py::module_& m) {
  m.def("bind", &product<Product::bind>, py::arg("x"), py::arg("y"), py::arg("out"),
        py::arg("threads"));
  m.def("unbind_left", &product<Product::unbind_left>, py::arg("key"), py::arg("z"), py::arg("out"),
        py::arg("threads"));
  m.def("unbind_right", &product<Product::unbind_right>, py::arg("z"), py::arg("key"),
        py::arg("out"), py::arg("threads"));
}

}  // namespace hyperhop::bindings
