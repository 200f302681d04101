#include "../dispatch.h"
#include "arrays.h"
#include "feature_arrays.h"
#include "gil.h"
#include "module.h"

namespace hyperhop::bindings {

// `function` and the names of arguments are those of the public function that asks.
static py::object content_score(const std::string& function, const py::array& features_in,
                                const char* query_name, const py::array& query_in,
                                const py::object& segments, const py::object& out_in, int threads) {
  const bool wide =
      is_double(function.c_str(), {{"features", &features_in}, {query_name, &query_in}});
  return with_float_type(wide, [&](auto zero) {
    using T = decltype(zero);
    const auto features = read_features<T>(function, features_in);
    const int64_t nodes = features.shape(0), dim = features.shape(1);
    const Argument query_argument{function, query_name};
    const FlowShape shape = FlowShape::of_rows(
        query_argument, Shape(query_in.shape(), query_in.shape() + query_in.ndim()), dim, segments,
        nodes);
    const auto query = read_floats<T>(query_argument, query_in, shape.rows(dim));
    Output out(function, out_in, shape.nodes(), py::dtype::of<T>(), {features, query});
    const ContentScoreArgs<T> args{shape.lanes(), dim, features.data(), query.data(),
                                   out.data<T>()};
    {
      const GilReleased released;
      const auto kernel = kernels().flow<T>().content_score;
      each_block(shape.node_blocks(), nodes * shape.lanes() * dim, threads,
                 [&](const FlowShape::NodeBlock& block, int64_t) {
                   ContentScoreArgs<T> own = args;
                   own.queries += block.segment * dim;
                   kernel(own, block.begin, block.end);
                 });
    }
    return out.finish();
  });
}

void bind_content_score(py::module_& m) {
  m.def("content_score", &content_score, py::arg("function"), py::arg("features"),
        py::arg("query_name"), py::arg("query"), py::arg("segments"), py::arg("out"),
        py::arg("threads"));
}

}  // namespace hyperhop::bindings
