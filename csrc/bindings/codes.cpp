#include "../dispatch.h"
#include "../parallel.h"
#include "arrays.h"
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

// int8 (n, d), float32 (n,), int16 (Q, d), float32 (Q,) -> float32 (Q, n).
py::array code_products(const py::array_t<int8_t, py::array::c_style>& codes,
                        const py::array_t<float, py::array::c_style>& scales,
                        const py::array_t<int16_t, py::array::c_style>& queries,
                        const py::array_t<float, py::array::c_style>& query_scales, int threads) {
  if (codes.ndim() != 2 || queries.ndim() != 2 || codes.shape(1) != queries.shape(1))
    throw py::value_error("code_products: codes must be (n, d) and queries (Q, d)");
  const int64_t count = codes.shape(0), num_queries = queries.shape(0);
  if (scales.size() != count || query_scales.size() != num_queries)
    throw py::value_error("code_products: each row of codes and queries must have a scale");
  py::array_t<float> out({num_queries, count});
  const CodeProductsArgs args{codes.data(),   scales.data(),       count,       codes.shape(1),
                              queries.data(), query_scales.data(), num_queries, out.mutable_data()};
  {
    const GilReleased released;
    parallel_for(count, kRowsAtLeast, threads,
                 [&](int64_t begin, int64_t end) { kernels().code_products(args, begin, end); });
  }
  return out;
}

}  // namespace

void bind_codes(py::module_& m) {
  m.def("code_rows", &code_rows, py::arg("rows"), py::arg("threads"));
  m.def("code_products", &code_products, py::arg("codes"), py::arg("scales"), py::arg("queries"),
        py::arg("query_scales"), py::arg("threads"));
}

}  // namespace hyperhop::bindings
