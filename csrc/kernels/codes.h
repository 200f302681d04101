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

// Between which bounds the product of each row with a query lies, which is given as codes too:
//   p = scales[i] query_scale sum over j of codes[i, j] query[j]  (+ extra[i], where given)
//   below[i] = p - (errors[i] + lost),  above[i] = p + (errors[i] + lost)
// The sums are exact: 127 sqrt(dim) |query| must be below 2^31. `lost` bounds what the codes of the
// query miss and what float32 rounds off here.
struct CodeBoundsArgs {
  const int8_t* codes;  // (rows, dim)
  const float* scales;  // (rows,)
  const float* errors;  // (rows,)
  int64_t dim;
  const int16_t* query;  // (dim,)
  float query_scale, lost;
  const double* extra;  // (rows,), or null
  float* below;         // (rows,)
  float* above;         // (rows,)
};
using CodeBoundsKernel = void(const CodeBoundsArgs&, int64_t row_begin, int64_t row_end);

}  // namespace hyperhop
