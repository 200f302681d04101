// similarity: blockwise cosine of rows of x with rows of y (PathHD eq. 4),
//   (1 / D) sum_j Re tr(X_j^H Y_j) / (|X_j|_F |Y_j|_F),
// the norms computed in the same pass. A zero block contributes 0; NaN or inf in a block surfaces
// as NaN. Scaling a block by any power of two that float32 holds does not change its cosine. Rows
// of y are read once, from end to end; a row of x is prepared once for as long as it repeats, so
// the side that repeats should be x (the arguments may change places: the bits stay).
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
  float* scratch;  // similarity_scratch floats, for one call at a time
};
using SimilarityKernel = void(const SimilarityArgs&, int64_t row_begin, int64_t row_end);

// One prepared row: its values, and the inverse norms of its blocks.
inline int64_t similarity_scratch(const BlockShape& shape) {
  return shape.tiles() * (shape.tile_floats() + kTileLanes);
}

}  // namespace hyperhop
