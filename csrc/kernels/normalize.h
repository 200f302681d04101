// normalize: each block scaled to Frobenius norm `norm` (sqrt m for GHRR), computed in float64;
// zero blocks stay zero, a block with NaN or inf becomes NaN. unitarize: each block replaced by its
// polar factor U of X = U P, the nearest unitary matrix, by one-sided Jacobi in float64. A
// rank-deficient block gives the partial isometry with the kernel of X (so a zero block stays
// zero); a block with NaN or inf becomes NaN.
#pragma once
#include "blocks.h"

namespace hyperhop {

struct NormalizeArgs {
  BlockShape shape;
  Layout layout;      // of x
  Layout out_layout;  // of out
  const float* x;
  float* out;  // may be x where the layouts agree
  double norm;
};
using NormalizeKernel = void(const NormalizeArgs&, int64_t row_begin, int64_t row_end);
using UnitarizeKernel = void(const NormalizeArgs&, int64_t row_begin, int64_t row_end);

}  // namespace hyperhop
