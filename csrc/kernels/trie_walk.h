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
  identity_tile(shape, tile, out);
}

// Lines of a symbol's tile lie a plane apart, and symbols come in any order: nothing the hardware
// foresees.
HH_INLINE void prefetch_symbol(const BlockShape& shape, const Trie& trie, int64_t symbol,
                               int64_t tile) {
  if (symbol >= trie.num_symbols || trie.symbols[symbol] < 0) return;
  const StoredRows& codebook = trie.codebook;
  const int64_t size = codebook.layout == Layout::half_planes ? 2 : 4;
  const char* line = static_cast<const char*>(codebook.row(shape, trie.symbols[symbol])) +
                     tile * kTileLanes * size;
  for (int64_t e = 0; e < shape.entries(); ++e) __builtin_prefetch(line + e * shape.blocks * size);
}

// Every symbol's tile, compact and side by side. Rows of the codebook lie a power of two apart;
// packed, they stop evicting each other from the cache.
HH_INLINE void pack_symbols(const BlockShape& shape, const Trie& trie, int64_t tile) {
  constexpr int64_t kAhead = 2;
  for (int64_t s = 0; s < trie.num_symbols; ++s) {
    prefetch_symbol(shape, trie, s + kAhead, tile);
    load_symbol(shape, trie, s, tile, trie.scratch + s * shape.tile_floats());
  }
}

}  // namespace hyperhop::HH_ISA
