#include "encode_paths.h"

#include "trie_walk.h"

namespace hyperhop::HH_ISA {

template <int kBlockSize>
static void encode_tile(const EncodePathsArgs& args, int64_t tile) {
  const BlockShape& shape = args.shape;
  const TrieTile& trie = args.trie;
  const int m = kBlockSize ? kBlockSize : shape.block_size;
  const int64_t floats = int64_t(2 * m * m) * kTileLanes;
  const float* packed = trie.scratch;
  float* leaf = trie.scratch + trie.num_symbols * floats;
  float* states = leaf + floats;

  pack_symbols(shape, trie, tile);
  for (int64_t s = 0; s < trie.num_steps; ++s) {
    const TrieStep& step = trie.steps[s];
    float* state = states + step.depth * floats;
    // The first symbol of a path is its own encoding: nothing is multiplied before depth 2.
    if (step.depth == 1)
      memcpy(state, packed + step.symbol * floats, size_t(floats) * sizeof(float));
    else if (step.depth > 1)
      product_tile<kBlockSize, false, false>(m, state - floats, packed + step.symbol * floats,
                                             state);
    for (int64_t n = step.first_leaf; n < step.first_leaf + step.num_leaves; ++n) {
      const float* symbol = packed + trie.leaf_symbols[n] * floats;
      if (step.depth > 0) product_tile<kBlockSize, false, false>(m, state, symbol, leaf);
      for (int64_t r = args.leaf_offsets[n]; r < args.leaf_offsets[n + 1]; ++r)
        store_tile(shape, args.layout, step.depth > 0 ? leaf : symbol, tile,
                   args.out + args.leaf_rows[r] * shape.floats());
    }
  }
}

void encode_paths(const EncodePathsArgs& args, int64_t tile) {
  with_block_size(args.shape.block_size, [&](auto m) { encode_tile<m.value>(args, tile); });
}

}  // namespace hyperhop::HH_ISA
