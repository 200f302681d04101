#include "../dispatch.h"
#include "../near_rows.h"
#include "../parallel.h"
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

void require_shape(const py::array& array, const char* name, const Shape& shape) {
  const Shape got(array.shape(), array.shape() + array.ndim());
  if (got != shape)
    throw py::value_error("near_rows: " + std::string(name) + " must have shape " +
                          to_string(shape) + ", got " + to_string(got));
}

// Codes, scales and errors of rows as code_rows gives them; int16 codes (Q, d), scales and losses
// (Q,) of queries; float64 extra (Q, n) or None -> Q arrays of rows.
py::list near_rows(const py::array_t<int8_t, py::array::c_style>& codes, const Floats& scales,
                   const Floats& errors, const py::array_t<int16_t, py::array::c_style>& queries,
                   const Floats& query_scales, const Floats& lost, const py::object& extra_in,
                   int64_t k, int threads) {
  using Extra = py::array_t<double, py::array::c_style>;
  if (codes.ndim() != 2 || queries.ndim() != 2)
    throw py::value_error("near_rows: codes and queries must be 2-D");
  const int64_t count = codes.shape(0), dim = codes.shape(1), num_queries = queries.shape(0);
  const Extra extra = extra_in.is_none() ? Extra() : py::cast<Extra>(extra_in);
  require_shape(scales, "scales", {count});
  require_shape(errors, "errors", {count});
  require_shape(queries, "queries", {num_queries, dim});
  require_shape(query_scales, "query_scales", {num_queries});
  require_shape(lost, "lost", {num_queries});
  if (!extra_in.is_none()) require_shape(extra, "extra", {num_queries, count});
  if (k < 1 || k > count)
    throw py::value_error("near_rows: k must be 1 to " + std::to_string(count) + ", got " +
                          std::to_string(k));
  const CodedRows rows{codes.data(), scales.data(), errors.data(), count, dim};
  const CodedQueries asked{queries.data(), query_scales.data(), lost.data(),
                           extra_in.is_none() ? nullptr : extra.data(), num_queries};
  std::vector<std::vector<int64_t>> found;
  {
    const GilReleased released;
    found = hyperhop::near_rows(rows, asked, k, threads);
  }
  py::list result;
  for (auto& one : found) result.append(to_array(std::move(one)));
  return result;
}

}  // namespace

void bind_codes(py::module_& m) {
  m.def("code_rows", &code_rows, py::arg("rows"), py::arg("threads"));
  m.def("near_rows", &near_rows, py::arg("codes"), py::arg("scales"), py::arg("errors"),
        py::arg("queries"), py::arg("query_scales"), py::arg("lost"), py::arg("extra"),
        py::arg("k"), py::arg("threads"));
}

}  // namespace hyperhop::bindings
