#include <pybind11/stl.h>

#include "arrays.h"
#include "feature_arrays.h"
#include "gil.h"
#include "hop_passes.h"
#include "module.h"

namespace hyperhop::bindings {
namespace {

// As hop_passes.h has them, for errors to name.
constexpr const char* kForwardContent = "hop";
constexpr const char* kBackwardContent = "hop_backward";

// The features of the nodes, and a query for each flow where they are scored with it.
template <class T>
struct Features {
  Features(const char* function, const FlowShape& shape, const py::array& features_in,
           const OptionalArray& query_in)
      : features(read_features<T>(function, features_in)), dim(features.shape(1)) {
    if (features.shape(0) != shape.nodes().front())
      throw std::invalid_argument(
          std::string(function) + ": features must have shape (V, d) with V = " +
          std::to_string(shape.nodes().front()) + ", got " + to_string({features.shape(0), dim}));
    if (query_in) query = read_floats<T>({function, "query"}, *query_in, shape.rows(dim));
  }
  FloatArray<T> features;
  int64_t dim;
  std::optional<FloatArray<T>> query;
};

void check_content(const char* function, const OptionalArray& rho, const OptionalArray& query) {
  if (rho && query)
    throw std::invalid_argument(std::string(function) +
                                ": rho and query both score the nodes, give one of them");
}

// Content scores, softmax and context with one pass over the features.
template <class T>
void scored_hop(const FlowGraph& graph, const FlowShape& shape, const T* pi, const T* beta,
                HopArgs<T> hop, const T* features, const T* queries, int64_t dim, T* values,
                T* context, int threads) {
  const FlowKernels<T>& kernel = kernels().flow<T>();
  const int64_t lanes = shape.lanes(), nodes = graph.num_nodes();
  const int64_t blocks = static_cast<int64_t>(shape.node_blocks().size());
  const int64_t size = lanes * padded_row<T>(dim);
  const AlignedValues<T> rho(nodes * lanes), sums(blocks * size);
  hop.rho = rho.get();
  const auto score = [&](const FlowShape::NodeBlock& block, int64_t b) {
    const AlignedValues<T> scratch(content_scratch(lanes));
    HopContentArgs<T> args{hop,    dim,       features,     queries + block.segment * dim,
                           values, rho.get(), scratch.get()};
    args.hop.gate += block.segment;
    kernel.hop_content(args, block.begin, block.end, sums.get() + b * size);
  };
  const HopFactors<T> joined = hop_forward(graph, shape, pi, beta, hop, values, threads, score,
                                           no_block, nodes * lanes * dim / 2);
  each_segment_blocks(shape, [&](int64_t g, int64_t first, int64_t count) {
    kernel.hop_content_total(lanes, dim, count, joined.factors.get() + first * lanes,
                             joined.sums.get() + first * lanes, sums.get() + first * size,
                             context + g * dim);
  });
}

// The context of a hop whose scores are given, read block by block.
template <class T>
void reading_hop(const FlowGraph& graph, const FlowShape& shape, const T* pi, const T* beta,
                 const HopArgs<T>& hop, const T* features, int64_t dim, T* values, T* context,
                 int threads) {
  const FlowKernels<T>& kernel = kernels().flow<T>();
  const ReadArgs<T> args{shape.lanes(), dim, features, values};
  const int64_t blocks = static_cast<int64_t>(shape.node_blocks().size());
  const AlignedValues<T> sums(blocks * args.sum_size());
  const auto read = [&](const FlowShape::NodeBlock& block, int64_t b) {
    kernel.read(args, block.begin, block.end, sums.get() + b * args.sum_size());
  };
  hop_forward(graph, shape, pi, beta, hop, values, threads, no_block, read,
              graph.num_nodes() * shape.lanes() * dim / 4);
  each_segment_blocks(shape, [&](int64_t g, int64_t first, int64_t count) {
    kernel.read_total(shape.lanes(), dim, count, sums.get() + first * args.sum_size(),
                      context + g * dim);
  });
}

py::tuple hop_content(const FlowGraph& graph, const py::array& pi_in, const py::array& beta_in,
                      const OptionalArray& rho_in, const OptionalArray& query_in,
                      const py::array& gate_in, bool gate_is_number, double eps,
                      const py::object& segments, bool reachable_only, const py::array& features_in,
                      const py::object& out_in, const py::object& context_out, int threads) {
  const char* name = kForwardContent;
  const bool wide = is_double(name, {{"pi", &pi_in},
                                     {"beta", &beta_in},
                                     {"rho", given(rho_in)},
                                     {"query", given(query_in)},
                                     {"gate", gate_is_number ? nullptr : &gate_in},
                                     {"features", &features_in}});
  check_eps(name, eps);
  check_content(name, rho_in, query_in);
  const FlowShape shape(name, {"pi", &pi_in}, segments, graph.num_nodes(), &graph);
  return with_float_type(wide, [&](auto zero) {
    using T = decltype(zero);
    const auto pi = read_floats<T>({name, "pi"}, pi_in, shape.nodes());
    const auto beta =
        read_floats<T>({name, "beta"}, beta_in, shape.per_relation(graph.num_relations()));
    const Content<T> content(name, shape, rho_in, gate_in);
    const Features<T> given_features(name, shape, features_in, query_in);
    std::vector<py::array> inputs{pi, beta, given_features.features};
    if (content.rho) inputs.push_back(*content.rho);
    if (given_features.query) inputs.push_back(*given_features.query);
    const int64_t dim = given_features.dim;
    Output out(name, out_in, shape.nodes(), py::dtype::of<T>(), inputs);
    Output context(name, context_out, shape.rows(dim), py::dtype::of<T>(), inputs);
    const HopArgs<T> args{shape.lanes(), T(eps), reachable_only, content.rho_data(),
                          content.gates.data()};
    const T *pi_data = pi.data(), *beta_data = beta.data(),
            *features = given_features.features.data();
    const T* queries = given_features.query ? given_features.query->data() : nullptr;
    T *values = out.data<T>(), *read_out = context.data<T>();
    {
      const GilReleased released;
      if (queries != nullptr)
        scored_hop(graph, shape, pi_data, beta_data, args, features, queries, dim, values, read_out,
                   threads);
      else
        reading_hop(graph, shape, pi_data, beta_data, args, features, dim, values, read_out,
                    threads);
    }
    return py::make_tuple(out.finish(), context.finish());
  });
}

// What a hop gave and what came back to it.
template <class T>
struct HopResult {
  const T *pi, *context, *grad, *grad_context;
};

// Of the content side, null where not wanted.
template <class T>
struct ContentGradients {
  T *query, *gate, *features;
};

// dot of hop_content.h for every flow: sum pi' g + c . dc.
template <class T>
std::vector<T> result_dots(const FlowShape& shape, int64_t dim, const HopResult<T>& result) {
  const FlowKernels<T>& kernel = kernels().flow<T>();
  const int64_t lanes = shape.lanes();
  const auto blocks = shape.node_blocks();
  std::vector<T> dots(static_cast<size_t>(shape.num_flows()), T(0));
  const auto parts = make_values<T>(static_cast<int64_t>(blocks.size()) * lanes);
  T* part = parts.get();
  for (const auto& block : blocks) {
    kernel.hop_dot(result.pi, result.grad, lanes, block.begin, block.end, part);
    part += lanes;
  }
  add_blocks(blocks, lanes, parts.get(), dots.data());
  for (int64_t f = 0; f < shape.num_flows(); ++f) {
    T read = 0;
    kernel.content_score({1, dim, result.context + f * dim, result.grad_context + f * dim, &read},
                         0, 1);
    dots[static_cast<size_t>(f)] += read;
  }
  return dots;
}

// g' and the gradients of queries, gates and features, with one pass over the features.
template <class T>
void scored_backward(const FlowShape& shape, int64_t dim, const HopArgs<T>& hop, const T* features,
                     const T* queries, const HopResult<T>& result, T* whole_grad,
                     const ContentGradients<T>& into, int threads) {
  const FlowKernels<T>& kernel = kernels().flow<T>();
  const int64_t lanes = shape.lanes(), nodes = shape.nodes().front();
  const auto blocks = shape.node_blocks();
  const int64_t size = lanes * padded_row<T>(dim);
  const AlignedValues<T> sums(static_cast<int64_t>(blocks.size()) * size);
  const std::vector<T> dots = result_dots(shape, dim, result);
  each_block(
      blocks, nodes * lanes * dim * 2, threads, [&](const FlowShape::NodeBlock& block, int64_t b) {
        const AlignedValues<T> scratch(content_scratch(lanes));
        const int64_t g = block.segment;
        kernel.hop_content_backward(
            {lanes, dim, features, queries + g * dim, result.grad_context + g * dim, hop.gate + g,
             dots.data() + g, result.pi, result.grad, whole_grad, into.features, scratch.get()},
            block.begin, block.end, sums.get() + b * size);
      });
  each_segment_blocks(shape, [&](int64_t g, int64_t first, int64_t count) {
    kernel.read_total(lanes, dim, count, sums.get() + first * size, into.query + g * dim);
  });
  for (int64_t f = 0; f < shape.num_flows(); ++f) {
    T* u = into.query + f * dim;
    kernel.content_score({1, dim, u, queries + f * dim, into.gate + f}, 0, 1);
    for (int64_t j = 0; j < dim; ++j) u[j] *= hop.gate[f];
  }
}

// g' and the gradient of the features of a hop whose scores were given.
template <class T>
void reading_backward(const FlowShape& shape, int64_t dim, const T* features,
                      const HopResult<T>& result, T* whole_grad, T* grad_features, int threads) {
  const FlowKernels<T>& kernel = kernels().flow<T>();
  const int64_t lanes = shape.lanes(), nodes = shape.nodes().front();
  each_block(shape.node_blocks(), nodes * lanes * dim, threads,
             [&](const FlowShape::NodeBlock& block, int64_t) {
               const T* grad_context = result.grad_context + block.segment * dim;
               kernel.content_score({lanes, dim, features, grad_context, whole_grad}, block.begin,
                                    block.end);
               for (int64_t i = block.begin * lanes; i < block.end * lanes; ++i)
                 whole_grad[i] += result.grad[i];
               if (grad_features != nullptr)
                 kernel.feature_gradient({lanes, dim, result.pi, grad_context, grad_features},
                                         block.begin, block.end);
             });
}

py::tuple hop_content_backward(const FlowGraph& graph, const py::array& pi_in,
                               const py::array& beta_in, const py::array& result_in,
                               const py::array& context_in, const py::array& grad_in,
                               const py::array& grad_context_in, const OptionalArray& rho_in,
                               const OptionalArray& query_in, const py::array& gate_in,
                               bool gate_is_number, double eps, const py::object& segments,
                               bool reachable_only, const py::array& features_in,
                               bool features_gradient, int threads) {
  const char* name = kBackwardContent;
  const bool wide = is_double(name, {{"pi", &pi_in},
                                     {"beta", &beta_in},
                                     {"result", &result_in},
                                     {"context", &context_in},
                                     {"grad", &grad_in},
                                     {"grad_context", &grad_context_in},
                                     {"rho", given(rho_in)},
                                     {"query", given(query_in)},
                                     {"gate", gate_is_number ? nullptr : &gate_in},
                                     {"features", &features_in}});
  check_eps(name, eps);
  check_content(name, rho_in, query_in);
  const FlowShape shape(name, {"pi", &pi_in}, segments, graph.num_nodes(), &graph);
  return with_float_type(wide, [&](auto zero) -> py::tuple {
    using T = decltype(zero);
    const Shape nodes = shape.nodes(), relations = shape.per_relation(graph.num_relations());
    const auto pi = read_floats<T>({name, "pi"}, pi_in, nodes);
    const auto beta = read_floats<T>({name, "beta"}, beta_in, relations);
    const Content<T> content(name, shape, rho_in, gate_in);
    const Features<T> side(name, shape, features_in, query_in);
    const int64_t dim = side.dim;
    const auto result_pi = read_floats<T>({name, "result"}, result_in, nodes);
    const auto context = read_floats<T>({name, "context"}, context_in, shape.rows(dim));
    const auto grad = read_floats<T>({name, "grad"}, grad_in, nodes);
    const auto grad_context =
        read_floats<T>({name, "grad_context"}, grad_context_in, shape.rows(dim));
    const auto make = [&](const Shape& size) {
      return Output(name, py::none(), size, py::dtype::of<T>(), {});
    };
    Output grad_pi = make(nodes), grad_beta = make(relations);
    std::optional<Output> grad_rho, grad_gate, grad_features, grad_query;
    HopGradients<T> into{grad_pi.data<T>(), grad_beta.data<T>(), nullptr, nullptr};
    ContentGradients<T> content_into{nullptr, nullptr, nullptr};
    if (rho_in || query_in) grad_gate.emplace(make(shape.per_flow()));
    if (rho_in) {
      into.rho = grad_rho.emplace(make(nodes)).template data<T>();
      into.gate = grad_gate->template data<T>();
    }
    if (query_in) {
      content_into.query = grad_query.emplace(make(shape.rows(dim))).template data<T>();
      content_into.gate = grad_gate->template data<T>();
    }
    if (features_gradient)
      content_into.features = grad_features.emplace(make({nodes.front(), dim})).template data<T>();
    const HopArgs<T> args{shape.lanes(), T(eps), reachable_only, content.rho_data(),
                          content.gates.data()};
    const HopResult<T> result{result_pi.data(), context.data(), grad.data(), grad_context.data()};
    const T *pi_data = pi.data(), *beta_data = beta.data(), *features = side.features.data();
    const T* queries = side.query ? side.query->data() : nullptr;
    {
      const GilReleased released;
      const AlignedValues<T> whole_grad(graph.num_nodes() * shape.lanes());
      if (queries != nullptr)
        scored_backward(shape, dim, args, features, queries, result, whole_grad.get(), content_into,
                        threads);
      else
        reading_backward(shape, dim, features, result, whole_grad.get(), content_into.features,
                         threads);
      hop_backward_pass(graph, shape, pi_data, beta_data, args, result.pi, whole_grad.get(), into,
                        threads, queries != nullptr ? ContentKept::no : ContentKept::yes);
    }
    const auto finish = [](std::optional<Output>& one) {
      return one ? one->finish() : py::object(py::none());
    };
    return py::make_tuple(grad_pi.finish(), grad_beta.finish(), finish(grad_rho), finish(grad_gate),
                          finish(grad_features), finish(grad_query));
  });
}

}  // namespace

void bind_hop_content(py::module_& m) {
  m.def("hop_content", &hop_content, py::arg("graph"), py::arg("pi"), py::arg("beta"),
        py::arg("rho"), py::arg("query"), py::arg("gate"), py::arg("gate_is_number"),
        py::arg("eps"), py::arg("segments"), py::arg("reachable_only"), py::arg("features"),
        py::arg("out"), py::arg("context_out"), py::arg("threads"));
  m.def("hop_content_backward", &hop_content_backward, py::arg("graph"), py::arg("pi"),
        py::arg("beta"), py::arg("result"), py::arg("context"), py::arg("grad"),
        py::arg("grad_context"), py::arg("rho"), py::arg("query"), py::arg("gate"),
        py::arg("gate_is_number"), py::arg("eps"), py::arg("segments"), py::arg("reachable_only"),
        py::arg("features"), py::arg("features_gradient"), py::arg("threads"));
}

}  // namespace hyperhop::bindings
