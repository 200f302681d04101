// Per-ISA pieces of blockwise cosine, shared by similarity and pairwise: a pair of hypervectors has
// the same bits in both. The cosine of a block is dot * (1/|x| * 1/|y|), where dot and the squared
// norms each are one chain over the block's entries, lane = block. Cosines are added over eight
// tiles in float32 and beyond in float64. A block whose squared norm would overflow or lose digits
// in float32 is scaled by a power of two first, which changes no digit of its cosine.
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

// Scales one block so that its largest entry lies in [1, 2). False for zeros and infinities, which
// stay as they are.
HH_INLINE bool rescale_block(int entries, float* tile) {
  float largest = 0;
  for (int e = 0; e < entries; ++e) {
    const float size = __builtin_fabsf(tile[e * kTileLanes]);
    largest = size > largest ? size : largest;
  }
  if (largest == 0 || largest - largest != 0) return false;
  constexpr uint64_t kBias = 1023;
  const uint64_t exponent = bit_cast<uint64_t>(double(largest)) >> 52;
  const double scale = bit_cast<double>((2 * kBias - exponent) << 52);
  for (int e = 0; e < entries; ++e)
    tile[e * kTileLanes] = float(double(tile[e * kTileLanes]) * scale);
  return true;
}

// Rescales the blocks of uncomfortable norm in a compact tile; whether there were any.
HH_INLINE bool rescale_tile(int entries, float* tile, const F32 (&squares)[kTileVectors]) {
  bool changed = false;
  for (int v = 0; v < kTileVectors; ++v) {
    if (comfortable(squares[v])) continue;
    for (int l = 0; l < kF32Lanes; ++l)
      if (!comfortable(F32{} + squares[v][l]))
        changed |= rescale_block(entries, tile + v * kF32Lanes + l);
  }
  return changed;
}

HH_INLINE void squares_of(int entries, const float* tile, F32 (&squares)[kTileVectors]) {
  HH_UNROLL
  for (int v = 0; v < kTileVectors; ++v) squares[v] = F32{};
  for (int e = 0; e < entries; ++e) HH_UNROLL
  for (int v = 0; v < kTileVectors; ++v) {
    const F32 value = load<F32>(tile + e * kTileLanes + v * kF32Lanes);
    squares[v] = fma(value, value, squares[v]);
  }
}

// Makes a compact tile ready: blocks of uncomfortable norm are rescaled in place, and the inverse
// norms of its lanes written (0 for a zero block and past D).
HH_INLINE void prepare_tile(int entries, float* tile, float* inverse) {
  F32 squares[kTileVectors];
  squares_of(entries, tile, squares);
  if (rescale_tile(entries, tile, squares)) squares_of(entries, tile, squares);
  for (int v = 0; v < kTileVectors; ++v) store(inverse + v * kF32Lanes, inverse_norm(squares[v]));
}

// The sum of cosines of one pair: `part` gathers the vectors of up to kPartTiles tiles, in order,
// and is then flushed.
constexpr int64_t kPartTiles = 8;
struct CosineSum {
  F32 part = {};
  F64 low = {}, high = {};

  // To be called after every tile.
  HH_INLINE void end_tile(int64_t tile) {
    if ((tile + 1) % kPartTiles == 0) flush();
  }
  HH_INLINE void flush() {
    Vec<float, kF64Lanes> half[2];
    memcpy(half, &part, sizeof(part));
    low += __builtin_convertvector(half[0], F64);
    high += __builtin_convertvector(half[1], F64);
    part = F32{};
  }
  HH_INLINE float mean(int64_t blocks) {
    flush();
    return float(sum_lanes(low + high) / double(blocks));
  }
};

}  // namespace hyperhop::HH_ISA
