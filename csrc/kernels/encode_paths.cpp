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
static void encode_tile(const EncodePathsArgs& args, int64_t tile) {
  TileBuffers<2> buffers;
  float *product = buffers.tile(0), *spare = buffers.tile(1);
  const BlockShape& shape = args.shape;
  const Trie& trie = args.trie;
  const int m = kBlockSize ? kBlockSize : shape.block_size;
  const int64_t floats = int64_t(2 * m * m) * kTileLanes;
  pack_symbols(shape, trie, tile);
  const float* packed = trie.scratch;
  float* states = trie.scratch + trie.num_symbols * floats;
  Ahead ahead(m, trie.num_symbols);
  for (int64_t s = 0; s < trie.num_steps; ++s) {
    const TrieStep& step = trie.steps[s];
    float* state = states + step.depth * floats;
    const int64_t end = step.first_leaf + step.num_leaves;
    const bool more = s + 1 < trie.num_steps && trie.steps[s + 1].depth > 0;
    const float* next_step = packed + (more ? trie.steps[s + 1].symbol : 0) * floats;
    // The first symbol of a path is its own encoding: nothing is multiplied before depth 2.
    if (step.depth == 1) {
      memcpy(state, packed + step.symbol * floats, size_t(floats) * sizeof(float));
    } else if (step.depth > 1) {
      ahead.clear();
      ahead.add(step.num_leaves > 0 ? packed + trie.leaf_symbols[step.first_leaf] * floats
                                    : next_step);
      planes_tile_apart<kBlockSize, false, false>(
          m, state - floats, kTileLanes, packed + step.symbol * floats, state, kTileLanes, ahead);
    }
    for (int64_t leaf = step.first_leaf; leaf < end; ++leaf) {
      const float* encoded = packed + trie.leaf_symbols[leaf] * floats;
      if (step.depth > 0) {
        ahead.clear();
        ahead.add(leaf + 1 < end ? packed + trie.leaf_symbols[leaf + 1] * floats : next_step);
        planes_tile_apart<kBlockSize, false, false>(m, state, kTileLanes, encoded, product,
                                                    kTileLanes, ahead);
        encoded = product;
      }
      for (int64_t r = args.leaf_offsets[leaf]; r < args.leaf_offsets[leaf + 1]; ++r) {
        float* row = args.out + args.leaf_rows[r] * shape.floats();
        if (args.stream)
          stream_tile(shape, args.layout, encoded, tile, row, spare);
        else
          store_tile(shape, args.layout, encoded, tile, row);
      }
    }
  }
  if (args.stream) stream_fence();
}

void encode_paths(const EncodePathsArgs& args, int64_t tile) {
  with_block_size(args.shape.block_size, [&](auto m) { encode_tile<m.value>(args, tile); });
}

}  // namespace hyperhop::HH_ISA
