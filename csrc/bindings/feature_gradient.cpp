#include "../dispatch.h"
#include "arrays.h"
#include "feature_arrays.h"
#include "gil.h"
#include "module.h"

namespace hyperhop::bindings {

// `function` and the names of arguments are those of the public function that asks.
static py::object feature_gradient(const std::string& function, const char* weights_name,
                                   const py::array& weights_in, const char* rows_name,
                                   const py::array& rows_in, int64_t dim,
                                   const py::object& segments, int threads) {
  const bool wide =
      is_double(function.c_str(), {{weights_name, &weights_in}, {rows_name, &rows_in}});
  const FlowShape shape =
      FlowShape::of_nodes(function.c_str(), {weights_name, &weights_in}, segments);
  return with_float_type(wide, [&](auto zero) {
    using T = decltype(zero);
    const auto weights = read_floats<T>({function, weights_name}, weights_in, shape.nodes());
    const auto rows = read_floats<T>({function, rows_name}, rows_in, shape.rows(dim));
    Output out(function, py::none(), {weights_in.shape(0), dim}, py::dtype::of<T>(), {});
    const FeatureGradientArgs<T> args{shape.lanes(), dim, weights.data(), rows.data(),
                                      out.data<T>()};
    {
      const GilReleased released;
      const auto kernel = kernels().flow<T>().feature_gradient;
      each_block(shape.node_blocks(), weights.size() * dim, threads,
                 [&](const FlowShape::NodeBlock& block, int64_t) {
                   FeatureGradientArgs<T> own = args;
                   own.rows += block.segment * dim;
                   kernel(own, block.begin, block.end);
                 });
    }
    return out.finish();
  });
}

void bind_feature_gradient(py::module_& m) {
  m.def("feature_gradient", &feature_gradient, py::arg("function"), py::arg("weights_name"),
        py::arg("weights"), py::arg("rows_name"), py::arg("rows"), py::arg("dim"),
        py::arg("segments"), py::arg("threads"));
}

}  // namespace hyperhop::bindings
