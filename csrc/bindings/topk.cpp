#include <algorithm>

#include "../parallel.h"
#include "../select.h"
#include "arrays.h"
#include "gil.h"
#include "module.h"

namespace hyperhop::bindings {
namespace {

template <class T>
py::tuple topk_of(const py::array& scores_in, int64_t k, bool largest, int threads) {
  const py::array_t<T, py::array::c_style> scores(scores_in);
  Shape shape(scores.shape(), scores.shape() + scores.ndim());
  const int64_t n = shape.back();
  k = std::min(k, n);
  const int64_t rows = n ? scores.size() / n : 0;
  shape.back() = k;
  py::array_t<int64_t> indices(shape);
  py::array_t<T> values(shape);
  const T* data = scores.data();
  int64_t* index_out = indices.mutable_data();
  T* value_out = values.mutable_data();
  {
    const GilReleased released;
    parallel_for(rows, 1 + (1 << 18) / (n + 1), threads, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const std::vector<int64_t> best = select_top(data + row * n, n, k, largest ? T(1) : T(-1));
        for (int64_t i = 0; i < k; ++i) {
          index_out[row * k + i] = best[size_t(i)];
          value_out[row * k + i] = data[row * n + best[size_t(i)]];
        }
      }
    });
  }
  return py::make_tuple(indices, values);
}

py::tuple topk(const py::array& scores, int64_t k, bool largest, int threads) {
  check_k("topk", k);
  if (scores.ndim() < 1) throw py::value_error("topk: scores must have at least one axis");
  if (scores.dtype().equal(py::dtype::of<double>()))
    return topk_of<double>(scores, k, largest, threads);
  if (scores.dtype().equal(py::dtype::of<float>()))
    return topk_of<float>(scores, k, largest, threads);
  throw py::type_error("topk: scores must be float32 or float64, got dtype " +
                       std::string(py::str(scores.dtype())));
}

}  // namespace

void bind_topk(py::module_& m) {
  m.def("topk", &topk, py::arg("scores"), py::arg("k"), py::arg("largest"), py::arg("threads"));
}

}  // namespace hyperhop::bindings
