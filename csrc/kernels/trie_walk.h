// Per-ISA piece shared by encode_paths and score_paths: tiles of the symbols in a trie.
#pragma once
#include "tile.h"
#include "trie.h"

namespace hyperhop::HH_ISA {

// Tile of a local symbol, compact.
HH_INLINE void load_symbol(const BlockShape& shape, const Trie& trie, int64_t symbol, int64_t tile,
                           float* HH_RESTRICT out) {
  if (trie.symbols[symbol] >= 0) {
    load_tile(shape, trie.codebook.layout, trie.codebook.row(shape, trie.symbols[symbol]), tile,
              out);
    return;
  }
  const int lanes = lanes_in_tile(shape, tile);
  const int m = shape.block_size;
  memset(out, 0, size_t(shape.tile_floats()) * sizeof(float));
  for (int i = 0; i < m; ++i)
    for (int l = 0; l < lanes; ++l) out[(i * m + i) * 2 * kTileLanes + l] = 1.0f;
}

// Every symbol's tile, compact and side by side. Rows of the codebook lie a power of two apart;
// packed, they stop evicting each other from the cache.
HH_INLINE void pack_symbols(const BlockShape& shape, const Trie& trie, int64_t tile) {
  for (int64_t s = 0; s < trie.num_symbols; ++s)
    load_symbol(shape, trie, s, tile, trie.scratch + s * shape.tile_floats());
}

}  // namespace hyperhop::HH_ISA
