// Per-ISA pieces of blockwise cosine, shared by similarity and pairwise: a pair of hypervectors has
// the same bits in both. The cosine of a block is dot * (1/|x| * 1/|y|), where dot and the squared
// norms each are one chain over the block's entries, lane = block. Cosines are added over the
// vectors of a tile in float32 and over tiles in float64.
// A block whose squared norm would overflow or lose digits in float32 is scaled by a power of two
// first, which changes no digit of its cosine.
#pragma once
#include "tile.h"

namespace hyperhop::HH_ISA {

HH_INLINE F32 inverse_norm(F32 square) {
  const F32 inverse = (F32{} + 1.0f) / sqrt(square);
  return select(square == 0.0f, F32{}, inverse);  // a zero block counts 0
}

// False for a zero, a NaN and an infinity too.
HH_INLINE bool comfortable(F32 square) {
  constexpr float kSmallest = 1e-30f, kLargest = 1e30f;
  return all((square > kSmallest) & (square < kLargest));
}

// Sums over the entries of one vector of lanes.
HH_INLINE F32 squares_of(int entries, const float* tile) {
  F32 sum{};
  for (int e = 0; e < entries; ++e) {
    const F32 value = load<F32>(tile + e * kTileLanes);
    sum = fma(value, value, sum);
  }
  return sum;
}

// Scales one block so that its largest entry lies in [1, 2); leaves zeros and infinities alone.
HH_INLINE void rescale_block(int entries, float* tile) {
  float largest = 0;
  for (int e = 0; e < entries; ++e) {
    const float size = __builtin_fabsf(tile[e * kTileLanes]);
    largest = size > largest ? size : largest;
  }
  if (largest == 0 || largest - largest != 0) return;
  constexpr uint64_t kBias = 1023;
  const uint64_t exponent = bit_cast<uint64_t>(double(largest)) >> 52;
  const double scale = bit_cast<double>((2 * kBias - exponent) << 52);
  for (int e = 0; e < entries; ++e)
    tile[e * kTileLanes] = float(double(tile[e * kTileLanes]) * scale);
}

// Makes a compact tile ready: blocks of uncomfortable norm are scaled in place, and the inverse
// norms of its lanes written (0 for a zero block and past D).
HH_INLINE void prepare_tile(int entries, float* tile, float* inverse) {
  for (int v = 0; v < kTileLanes; v += kF32Lanes) {
    F32 square = squares_of(entries, tile + v);
    if (!comfortable(square)) {
      for (int l = 0; l < kF32Lanes; ++l)
        if (!comfortable(F32{} + square[l])) rescale_block(entries, tile + v + l);
      square = squares_of(entries, tile + v);
    }
    store(inverse + v, inverse_norm(square));
  }
}

// The sum of cosines of one pair, tile by tile.
struct CosineSum {
  F64 low = {}, high = {};

  HH_INLINE void add(F32 cosines) {
    Vec<float, kF64Lanes> half[2];
    memcpy(half, &cosines, sizeof(cosines));
    low += __builtin_convertvector(half[0], F64);
    high += __builtin_convertvector(half[1], F64);
  }
  HH_INLINE float mean(int64_t blocks) const {
    return float(sum_lanes(low + high) / double(blocks));
  }
};

}  // namespace hyperhop::HH_ISA
