#include "../dispatch.h"
#include "arrays.h"
#include "feature_arrays.h"
#include "gil.h"
#include "module.h"

namespace hyperhop::bindings {

// `function` and the names of arguments are those of the public function that asks.
static py::object read(const std::string& function, const char* pi_name, const py::array& pi_in,
                       const py::array& features_in, const py::object& segments,
                       const py::object& out_in, int threads) {
  const bool wide = is_double(function.c_str(), {{pi_name, &pi_in}, {"features", &features_in}});
  return with_float_type(wide, [&](auto zero) {
    using T = decltype(zero);
    const auto features = read_features<T>(function, features_in);
    const int64_t nodes = features.shape(0), dim = features.shape(1);
    const FlowShape shape(function.c_str(), {pi_name, &pi_in}, segments, nodes, nullptr);
    const auto pi = read_floats<T>({function, pi_name}, pi_in, shape.nodes());
    Output out(function, out_in, shape.rows(dim), py::dtype::of<T>(), {pi, features});
    const ReadArgs<T> args{shape.lanes(), dim, features.data(), pi.data()};
    T* context = out.data<T>();
    {
      const GilReleased released;
      const FlowKernels<T>& kernel = kernels().flow<T>();
      const auto blocks = shape.node_blocks();
      const AlignedValues<T> sums(static_cast<int64_t>(blocks.size()) * args.sum_size());
      each_block(blocks, nodes * shape.lanes() * dim, threads,
                 [&](const FlowShape::NodeBlock& block, int64_t b) {
                   kernel.read(args, block.begin, block.end, sums.get() + b * args.sum_size());
                 });
      each_segment_blocks(shape, [&](int64_t g, int64_t first, int64_t count) {
        kernel.read_total(shape.lanes(), dim, count, sums.get() + first * args.sum_size(),
                          context + g * dim);
      });
    }
    return out.finish();
  });
}

void bind_read(py::module_& m) {
  m.def("read", &read, py::arg("function"), py::arg("pi_name"), py::arg("pi"), py::arg("features"),
        py::arg("segments"), py::arg("out"), py::arg("threads"));
}

}  // namespace hyperhop::bindings
