// product: blockwise matrix products of hypervectors, the binding of GHRR (PathHD eq. 3).
//   bind          out_j = X_j Y_j
//   unbind_left   out_j = X_j^H Y_j      (X is the key)
//   unbind_right  out_j = X_j Y_j^H      (Y is the key)
// Row r of the output uses row x_rows[r] of x and y_rows[r] of y, which is how leading axes
// broadcast. Every output entry sums over k ascending, real part then imaginary part, fused where
// the ISA can: float32 accumulation, error <= (2m + 2) eps |X_j| |Y_j| entrywise. NaN and inf
// propagate.
#pragma once
#include "blocks.h"

namespace hyperhop {

enum class Product { bind, unbind_left, unbind_right };

struct ProductArgs {
  BlockShape shape;
  Layout layout;
  Product kind;
  const float* x;
  const int64_t* x_rows;
  const float* y;
  const int64_t* y_rows;
  float* out;   // may not overlap x or y
  bool stream;  // write past the caches, to 64-byte aligned rows_can_stream() rows
};

// The most floats of a row of planes that is streamed: it is made in the second-level cache.
constexpr int64_t kStreamedRowFloats = 1 << 14;

// Whether rows of this shape can be written past the caches.
HH_INLINE bool rows_can_stream(const BlockShape& shape, Layout layout) {
  return layout == Layout::complex
             ? shape.block_size % 2 == 0 && shape.floats() % kTileLanes == 0
             : shape.blocks % kTileLanes == 0 && shape.floats() <= kStreamedRowFloats;
}

using ProductKernel = void(const ProductArgs&, int64_t row_begin, int64_t row_end);

}  // namespace hyperhop
