// Per-ISA piece shared by encode_paths and score_paths: the codebook tile of a trie, packed.
#pragma once
#include "tile.h"
#include "trie.h"

namespace hyperhop::HH_ISA {

// Rows of the codebook lie a power of two apart; packed next to each other they stop evicting each
// other from the cache.
HH_INLINE void pack_symbols(const BlockShape& shape, const TrieTile& trie, int64_t tile) {
  for (int64_t s = 0; s < trie.num_symbols; ++s) {
    float* out = trie.scratch + s * shape.tile_floats();
    if (trie.symbols[s] >= 0) {
      load_tile(shape, Layout::planes, trie.planes + trie.symbols[s] * shape.floats(), tile, out);
      continue;
    }
    const int lanes = lanes_in_tile(shape, tile);
    const int m = shape.block_size;
    memset(out, 0, size_t(shape.tile_floats()) * sizeof(float));
    for (int i = 0; i < m; ++i)
      for (int l = 0; l < lanes; ++l) out[(i * m + i) * 2 * kTileLanes + l] = 1.0f;
  }
}

}  // namespace hyperhop::HH_ISA
