// codes: rows of floats as whole numbers of -127..127, a quarter of their size, for a search that
// reads every row and then looks again at those that may be best.
//   codes[j] = x[j] / scale, rounded to the nearest, with scale = max |x| / 127
//   error >= |x - scale codes|, in Euclidean norm
// Rows that are zero, or below 1e-30 throughout, have codes and scale 0. Scale and error of a row
// that is not finite are NaN, its codes 0.
#pragma once
#include <stdint.h>

namespace hyperhop {

using CodeRowKernel = void(const float* row, int64_t dim, int8_t* codes, float* scale,
                           float* error);

// Of rows begin..end: out[q, i - begin] = scales[i] query_scales[q] (sum over j of codes[i, j]
// queries[q, j]), the sum exactly: 127 sqrt(dim) |query| must be below 2^31. Rows are read once for
// all queries.
struct CodeProductsArgs {
  const int8_t* codes;  // (rows, dim)
  const float* scales;  // (rows,)
  int64_t dim;
  const int16_t* queries;     // (num_queries, dim)
  const float* query_scales;  // (num_queries,)
  int64_t num_queries;
  float* out;  // (num_queries, step)
  int64_t step;
};
using CodeProductsKernel = void(const CodeProductsArgs&, int64_t begin, int64_t end);

}  // namespace hyperhop
