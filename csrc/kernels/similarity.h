// similarity: blockwise cosine of rows of x with rows of y (PathHD eq. 4),
//   (1 / D) sum_j Re tr(X_j^H Y_j) / (|X_j|_F |Y_j|_F),
// the norms computed in the same pass. A zero block contributes 0; NaN or inf in a block surfaces
// as NaN. Blocks whose squared norms leave the comfortable range of float32 are redone in float64,
// so scaling a block by any power of two that float32 holds does not change its cosine.
#pragma once
#include "blocks.h"

namespace hyperhop {

struct SimilarityArgs {
  BlockShape shape;
  StoredRows x;
  const int64_t* x_rows;
  StoredRows y;
  const int64_t* y_rows;
  float* out;
};
using SimilarityKernel = void(const SimilarityArgs&, int64_t row_begin, int64_t row_end);

}  // namespace hyperhop
