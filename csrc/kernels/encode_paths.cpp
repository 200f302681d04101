#include "encode_paths.h"

#include "trie_walk.h"

namespace hyperhop::HH_ISA {

static void stream_tile(const BlockShape& shape, Layout layout, const float* in, int64_t tile,
                        float* row, float* spare) {
  const int64_t first = tile * kTileLanes, entries = shape.entries();
  if (layout == Layout::planes) {
    for (int64_t e = 0; e < entries; ++e)
      stream_copy(row + e * shape.blocks + first, in + e * kTileLanes, kTileLanes);
    return;
  }
  store_tile({kTileLanes, shape.block_size}, layout, in, 0, spare);
  stream_copy(row + first * entries, spare, shape.tile_floats());
}

template <int kBlockSize>
static void encode_tiles(const EncodePathsArgs& args, int64_t first, int64_t last) {
  TileBuffers<2> buffers;
  float *product = buffers.tile(0), *spare = buffers.tile(1);
  const BlockShape& shape = args.shape;
  const Trie& trie = args.trie;
  const int m = kBlockSize ? kBlockSize : shape.block_size;
  const int64_t floats = int64_t(2 * m * m) * kTileLanes, stride = floats * (last - first);
  pack_symbols(shape, trie, first, last);
  const float* packed = trie.scratch;
  float* states = trie.scratch + trie.num_symbols * stride;
  for (int64_t s = 0; s < trie.num_steps; ++s) {
    const TrieStep& step = trie.steps[s];
    float* state = states + step.depth * stride;
    // The first symbol of a path is its own encoding: nothing is multiplied before depth 2.
    if (step.depth == 1)
      memcpy(state, packed + step.symbol * stride, size_t(stride) * sizeof(float));
    for (int64_t at = 0; step.depth > 1 && at < stride; at += floats)
      product_tile<kBlockSize, false, false>(m, state - stride + at,
                                             packed + step.symbol * stride + at, state + at);
    for (int64_t leaf = step.first_leaf; leaf < step.first_leaf + step.num_leaves; ++leaf) {
      const float* symbol = packed + trie.leaf_symbols[leaf] * stride;
      for (int64_t tile = first; tile < last; ++tile) {
        const int64_t at = (tile - first) * floats;
        if (step.depth > 0)
          product_tile<kBlockSize, false, false>(m, state + at, symbol + at, product);
        const float* encoded = step.depth > 0 ? product : symbol + at;
        for (int64_t r = args.leaf_offsets[leaf]; r < args.leaf_offsets[leaf + 1]; ++r) {
          float* row = args.out + args.leaf_rows[r] * shape.floats();
          if (args.stream)
            stream_tile(shape, args.layout, encoded, tile, row, spare);
          else
            store_tile(shape, args.layout, encoded, tile, row);
        }
      }
    }
  }
  if (args.stream) stream_fence();
}

void encode_paths(const EncodePathsArgs& args, int64_t first_tile, int64_t last_tile) {
  with_block_size(args.shape.block_size,
                  [&](auto m) { encode_tiles<m.value>(args, first_tile, last_tile); });
}

}  // namespace hyperhop::HH_ISA
