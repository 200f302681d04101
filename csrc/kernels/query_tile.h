// Per-ISA piece shared by the scoring kernels: the query's tile, loaded or made.
#pragma once
#include "normalize_tile.h"
#include "score_paths.h"
#include "tile.h"

namespace hyperhop::HH_ISA {

// The weighted sum of path hypervectors, blocks scaled to norm 1: what encode_paths, bundle and
// normalize make one after another, with their bits, but never away from the first-level cache.
template <int kBlockSize>
HH_NOINLINE static void bundle_tile(const ScorePathsArgs& args, int64_t tile, float* out) {
  TileBuffers<4> buffers;
  float *product = buffers.tile(0), *next = buffers.tile(1), *symbol = buffers.tile(2);
  float* const sum = buffers.tile(3);
  const BlockShape& shape = args.shape;
  const Bundle& bundle = args.bundle;
  const int m = kBlockSize ? kBlockSize : shape.block_size;
  const int64_t floats = shape.tile_floats();
  const Ahead nothing(m, 0);
  const auto load_row = [&](int64_t i, float* to) HH_INLINE_LAMBDA {
    load_tile(shape, args.trie.codebook.layout, args.trie.codebook.row(shape, bundle.symbols[i]),
              tile, to);
  };
  memset(sum, 0, size_t(floats) * sizeof(float));
  for (int64_t k = 0; k < bundle.count; ++k) {
    const int64_t begin = bundle.offsets[k], end = bundle.offsets[k + 1];
    if (begin == end)
      identity_tile(shape, tile, product);
    else
      load_row(begin, product);
    for (int64_t i = begin + 1; i < end; ++i) {
      load_row(i, symbol);
      planes_tile_apart<kBlockSize, false, false>(m, product, kTileLanes, symbol, next, kTileLanes,
                                                  nothing);
      float* const done = next;
      next = product;
      product = done;
    }
    const F32 weight = F32{} + bundle.weights[k];
    for (int64_t i = 0; i < floats; i += kF32Lanes)
      store(sum + i, fma(weight, load<F32>(product + i), load<F32>(sum + i)));
  }
  normalize_tile(int(shape.entries()), 1.0, sum, out);
}

template <int kBlockSize>
HH_INLINE void query_tile(const ScorePathsArgs& args, int64_t query, int64_t tile, float* out) {
  if (args.bundle.count > 0)
    bundle_tile<kBlockSize>(args, tile, out);
  else
    load_tile(args.shape, Layout::planes, args.queries + query * args.shape.floats(), tile, out);
}

}  // namespace hyperhop::HH_ISA
