// Per-ISA piece shared by normalize and scoring: the blocks of one compact tile scaled to a norm.
#pragma once
#include "tile.h"

namespace hyperhop::HH_ISA {

// All blocks of a tile at once, each summed in the order of its entries.
HH_INLINE void normalize_tile(int entries, double norm, const float* in, float* out) {
  double square[kTileLanes] = {}, scale[kTileLanes];
  for (int e = 0; e < entries; ++e)
    for (int l = 0; l < kTileLanes; ++l) {
      const double x = in[e * kTileLanes + l];
      square[l] += x * x;
    }
  // square - square is 0, or NaN for a block that holds NaN or inf.
  for (int l = 0; l < kTileLanes; ++l)
    scale[l] = square[l] == 0 ? 0 : norm / __builtin_sqrt(square[l]) + (square[l] - square[l]);
  for (int e = 0; e < entries; ++e)
    for (int l = 0; l < kTileLanes; ++l)
      out[e * kTileLanes + l] = float(double(in[e * kTileLanes + l]) * scale[l]);
}

}  // namespace hyperhop::HH_ISA
