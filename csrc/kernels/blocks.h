// Hypervectors in memory. A hypervector is D blocks of m x m complex numbers, in one of two
// layouts:
//   planes    float   [m][m][2][D]   lanes = blocks: a block product is FMAs over vectors of D
//   complex   float   [D][m][m][2]   complex64 as numpy and torch write it
// Kernels work on tiles: kTileLanes blocks of one hypervector, compact as [m][m][2][kTileLanes].
#pragma once
#include <stdint.h>

#include "../portability.h"

namespace hyperhop {

constexpr int kMaxBlockSize = 16;
constexpr int kTileLanes = 16;

enum class Layout { planes, complex };

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

}  // namespace hyperhop
