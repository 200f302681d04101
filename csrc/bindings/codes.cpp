#include "../dispatch.h"
#include "../memory.h"
#include "../parallel.h"
#include "../select.h"
#include "arrays.h"
#include "columns.h"
#include "gil.h"
#include "module.h"

namespace hyperhop::bindings {
namespace {

constexpr int64_t kRowsAtLeast = 4096;  // for each thread

// float32 or float16 (n, d) -> codes int8 (n, d), scales and errors float32 (n,).
py::tuple code_rows(const py::array& rows_in, int threads) {
  const bool half = rows_in.dtype().equal(py::dtype("e"));
  if (!half && !rows_in.dtype().equal(py::dtype::of<float>()))
    throw py::type_error("code_rows: rows must be float32 or float16, got dtype " +
                         std::string(py::str(rows_in.dtype())));
  if (rows_in.ndim() != 2) throw py::value_error("code_rows: rows must be 2-D");
  const py::array rows = py::array::ensure(rows_in, py::array::c_style);
  const int64_t count = rows.shape(0), dim = rows.shape(1);
  py::array_t<int8_t> codes({count, dim});
  py::array_t<float> scales(count), errors(count);
  int8_t* code_out = codes.mutable_data();
  float *scale_out = scales.mutable_data(), *error_out = errors.mutable_data();
  const EmbeddingRows from{rows.data(), dim, half};
  {
    const GilReleased released;
    parallel_for(count, kRowsAtLeast, threads, [&](int64_t begin, int64_t end) {
      std::vector<float> row(static_cast<size_t>(dim));
      for (int64_t i = begin; i < end; ++i) {
        kernels().widen_row(from, i, row.data());
        kernels().code_row(row.data(), dim, code_out + i * dim, scale_out + i, error_out + i);
      }
    });
  }
  return py::make_tuple(codes, scales, errors);
}

using Floats = py::array_t<float, py::array::c_style>;

// int8 (n, d), float32 (n,) twice and int16 (d,) -> int64, ascending: rows whose upper bound
// reaches the k-th largest lower bound; all rows where fewer than k bounds are numbers. 1 <= k <=
// n.
py::array code_candidates(const py::array_t<int8_t, py::array::c_style>& codes,
                          const Floats& scales, const Floats& errors,
                          const py::array_t<int16_t, py::array::c_style>& query, float query_scale,
                          float lost, const py::object& extra_in, int64_t k, int threads) {
  if (codes.ndim() != 2 || query.ndim() != 1 || codes.shape(1) != query.shape(0))
    throw py::value_error("code_candidates: codes must be (n, d) and query (d,)");
  const int64_t count = codes.shape(0);
  py::array_t<double, py::array::c_style> extra;
  if (!extra_in.is_none()) extra = py::cast<decltype(extra)>(extra_in);
  if (scales.size() != count || errors.size() != count ||
      (!extra_in.is_none() && extra.size() != count))
    throw py::value_error("code_candidates: scales, errors and extra must be (n,)");
  if (k < 1 || k > count) throw py::value_error("code_candidates: k must be 1 to n");
  std::vector<int64_t> found;
  {
    const double* extra_data = extra_in.is_none() ? nullptr : extra.data();
    const GilReleased released;
    const Scratch bounds = make_scratch(2 * count);
    float *below = bounds.get(), *above = below + count;
    const CodeBoundsArgs args{codes.data(), scales.data(), errors.data(), codes.shape(1),
                              query.data(), query_scale,   lost,          extra_data,
                              below,        above};
    parallel_for(count, kRowsAtLeast, threads,
                 [&](int64_t begin, int64_t end) { kernels().code_bounds(args, begin, end); });
    const float least = below[select_top(below, count, k, 1.0f).back()];
    for (int64_t i = 0; i < count; ++i)
      if (above[i] >= least || least != least) found.push_back(i);
  }
  return to_array(std::move(found));
}

}  // namespace

void bind_codes(py::module_& m) {
  m.def("code_rows", &code_rows, py::arg("rows"), py::arg("threads"));
  m.def("code_candidates", &code_candidates, py::arg("codes"), py::arg("scales"), py::arg("errors"),
        py::arg("query"), py::arg("query_scale"), py::arg("lost"), py::arg("extra"), py::arg("k"),
        py::arg("threads"));
}

}  // namespace hyperhop::bindings
