#include "../dispatch.h"
#include "arrays.h"
#include "feature_arrays.h"
#include "gil.h"
#include "module.h"

namespace hyperhop::bindings {
namespace {

constexpr const char* kForward = "entropy";
constexpr const char* kBackward = "entropy_backward";
constexpr int64_t kWorkOfLog = 16;  // multiply-adds that take as long

py::object entropy(const py::array& pi_in, const py::object& segments, double eps,
                   const py::object& out_in, int threads) {
  const bool wide = is_double(kForward, {{"pi", &pi_in}});
  check_eps(kForward, eps);
  const FlowShape shape = FlowShape::of_nodes(kForward, {"pi", &pi_in}, segments);
  return with_float_type(wide, [&](auto zero) {
    using T = decltype(zero);
    const auto pi = read_floats<T>({kForward, "pi"}, pi_in, shape.nodes());
    Output out(kForward, out_in, shape.per_flow(), py::dtype::of<T>(), {pi});
    const int64_t lanes = shape.lanes();
    const EntropyArgs<T> args{lanes, T(eps), pi.data()};
    T* total = out.data<T>();
    {
      const GilReleased released;
      const auto blocks = shape.node_blocks();
      const AlignedValues<T> sums(static_cast<int64_t>(blocks.size()) * lanes);
      each_block(blocks, pi.size() * kWorkOfLog, threads,
                 [&](const FlowShape::NodeBlock& block, int64_t b) {
                   kernels().flow<T>().entropy(args, block.begin, block.end,
                                               sums.get() + b * lanes);
                 });
      each_segment_blocks(shape, [&](int64_t g, int64_t first, int64_t count) {
        for (int64_t l = 0; l < lanes; ++l) {
          T sum = 0;
          for (int64_t b = first; b < first + count; ++b) sum += sums.get()[b * lanes + l];
          total[g + l] = sum;
        }
      });
    }
    return out.finish();
  });
}

py::object entropy_backward(const py::array& pi_in, const py::array& grad_in,
                            const py::object& segments, double eps, int threads) {
  const bool wide = is_double(kBackward, {{"pi", &pi_in}, {"grad", &grad_in}});
  check_eps(kBackward, eps);
  const FlowShape shape = FlowShape::of_nodes(kBackward, {"pi", &pi_in}, segments);
  return with_float_type(wide, [&](auto zero) {
    using T = decltype(zero);
    const auto pi = read_floats<T>({kBackward, "pi"}, pi_in, shape.nodes());
    const auto grad = read_floats<T>({kBackward, "grad"}, grad_in, shape.per_flow());
    Output out(kBackward, py::none(), shape.nodes(), py::dtype::of<T>(), {});
    const EntropyArgs<T> args{shape.lanes(), T(eps), pi.data()};
    const T* grads = grad.data();
    T* grad_pi = out.data<T>();
    {
      const GilReleased released;
      each_block(shape.node_blocks(), pi.size() * kWorkOfLog, threads,
                 [&](const FlowShape::NodeBlock& block, int64_t) {
                   kernels().flow<T>().entropy_backward(args, block.begin, block.end,
                                                        grads + block.segment, grad_pi);
                 });
    }
    return out.finish();
  });
}

}  // namespace

void bind_entropy(py::module_& m) {
  m.def("entropy", &entropy, py::arg("pi"), py::arg("segments"), py::arg("eps"), py::arg("out"),
        py::arg("threads"));
  m.def("entropy_backward", &entropy_backward, py::arg("pi"), py::arg("grad"), py::arg("segments"),
        py::arg("eps"), py::arg("threads"));
}

}  // namespace hyperhop::bindings
