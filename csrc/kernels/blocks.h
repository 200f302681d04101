// Hypervectors in memory. A hypervector is D blocks of m x m complex numbers, in one of three
// layouts:
//   planes       float    [m][m][2][D]   lanes = blocks: a block product is FMAs over vectors of D
//   half_planes  float16  [m][m][2][D]   the same at half the size: read, never written
//   complex      float    [D][m][m][2]   complex64 as numpy and torch write it
// Kernels work on tiles: kTileLanes blocks of one hypervector, compact as [m][m][2][kTileLanes].
#pragma once
#include <stdint.h>

#include "../portability.h"

namespace hyperhop {

constexpr int kMaxBlockSize = 16;
constexpr int kTileLanes = 16;

enum class Layout { planes, half_planes, complex };

// Inlined always: an out-of-line copy compiled for one ISA must not serve another.
struct BlockShape {
  int64_t blocks;  // D
  int block_size;  // m

  // Floats per block, per row (hypervector) and per compact tile.
  HH_INLINE int64_t entries() const { return int64_t(block_size) * block_size * 2; }
  HH_INLINE int64_t floats() const { return entries() * blocks; }
  HH_INLINE int64_t tiles() const { return (blocks + kTileLanes - 1) / kTileLanes; }
  HH_INLINE int64_t tile_floats() const { return entries() * kTileLanes; }
};

// Rows of hypervectors that may be float16: the layout says what `data` points to.
struct StoredRows {
  Layout layout;
  const void* data;

  HH_INLINE const void* row(const BlockShape& shape, int64_t i) const {
    const int64_t bytes = shape.floats() * (layout == Layout::half_planes ? 2 : 4);
    return static_cast<const char*>(data) + i * bytes;
  }
};

}  // namespace hyperhop
