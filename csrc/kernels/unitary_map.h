// unitary_map: Hermitian blocks H to unitary ones, entry for entry of a semantic codebook:
//   exp     U = exp(iH), by scaling and squaring: Taylor's polynomial of degree 8 of iH / 2^s with
//           |H|_F / 2^s <= 1/4, then s squarings
//   cayley  U = (I + iH)(I - iH)^-1 = 2 (I - iH)^-1 - I, by Gauss-Jordan elimination
// H is packed into m x m reals: the diagonal, Re H_ij at [i][j] and Im H_ij at [j][i] for i < j.
// Float64 from + - * / sqrt alone, rounded once to float32: error <= 1e-10 |H|_F + eps entrywise,
// the same bits on every ISA and for any neighbours. A NaN or infinity makes its block NaN.
#pragma once
#include "blocks.h"

namespace hyperhop {

enum class UnitaryMap { exp, cayley };

struct UnitaryMapArgs {
  BlockShape shape;
  UnitaryMap map;
  const float* hermitian;  // [R][m][m][D]
  float* planes;           // [R][m][m][2][D]
};
using UnitaryMapKernel = void(const UnitaryMapArgs&, int64_t row_begin, int64_t row_end);

}  // namespace hyperhop
