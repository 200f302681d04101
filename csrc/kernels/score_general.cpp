#include "score_general.h"

#include "query_tile.h"
#include "trie_walk.h"

namespace hyperhop::HH_ISA {

// Norms in float64, so that no float32 block is too small or too large to be scaled.
static void scale_blocks(int m, float* tile) {
  double squares[kTileLanes] = {};
  float factors[kTileLanes];
  const int entries = 2 * m * m;
  for (int e = 0; e < entries; ++e)
    for (int l = 0; l < kTileLanes; ++l) {
      const double x = tile[e * kTileLanes + l];
      squares[l] += x * x;
    }
  for (int l = 0; l < kTileLanes; ++l)
    factors[l] = squares[l] == 0 ? 0.0f : float(__builtin_sqrt(double(m) / squares[l]));
  for (int e = 0; e < entries; ++e)
    for (int l = 0; l < kTileLanes; ++l) tile[e * kTileLanes + l] *= factors[l];
}

// Sum over lanes of Re <Q_j, P_j> / |P_j|. Where P_j is zero so is the dot product, unless Q_j is
// NaN, which surfaces.
HH_INLINE float sum_cosines(int entries, const float* query, const float* path) {
  F32 total{};
  for (int v = 0; v < kTileVectors; ++v) {
    F32 dot{}, square{};
    for (int e = 0; e < entries; ++e) {
      const F32 p = load<F32>(path + e * kTileLanes + v * kF32Lanes);
      dot = fma(load<F32>(query + e * kTileLanes + v * kF32Lanes), p, dot);
      square = fma(p, p, square);
    }
    for (int l = 0; l < kF32Lanes; ++l)
      if (square[l] != 0) dot[l] /= __builtin_sqrtf(square[l]);
    total += dot;
  }
  return sum_lanes(total);
}

template <int kBlockSize>
static void score_tile(const ScorePathsArgs& args, int64_t tile) {
  TileBuffers<2> buffers;
  float *query = buffers.tile(0), *product = buffers.tile(1);
  const BlockShape& shape = args.shape;
  const Trie& trie = args.trie;
  const int m = kBlockSize ? kBlockSize : shape.block_size;
  const int entries = 2 * m * m;
  const int64_t floats = shape.tile_floats();
  const float* packed = trie.scratch;
  float* states = trie.scratch + trie.num_symbols * floats;
  const Ahead nothing(m, 0);
  for (int64_t q = 0; q < args.num_queries; ++q) {
    query_tile<kBlockSize>(args, q, tile, query);
    float* partial = args.partial + (q * shape.tiles() + tile) * (args.num_leaves + 1);
    for (int64_t s = 0; s < trie.num_steps; ++s) {
      const TrieStep& step = trie.steps[s];
      float* state = states + step.depth * floats;
      if (step.depth == 1)
        memcpy(state, packed + step.symbol * floats, size_t(floats) * sizeof(float));
      else if (step.depth > 1)
        planes_tile_apart<kBlockSize, false, false>(m, state - floats, kTileLanes,
                                                    packed + step.symbol * floats, state,
                                                    kTileLanes, nothing);
      for (int64_t leaf = step.first_leaf; leaf < step.first_leaf + step.num_leaves; ++leaf) {
        const float* path = packed + trie.leaf_symbols[leaf] * floats;
        if (step.depth > 0) {
          planes_tile_apart<kBlockSize, false, false>(m, state, kTileLanes, path, product,
                                                      kTileLanes, nothing);
          path = product;
        }
        partial[leaf] = sum_cosines(entries, query, path);
      }
    }
  }
}

void score_general(const ScorePathsArgs& args, int64_t tile) {
  const BlockShape& shape = args.shape;
  const Trie& trie = args.trie;
  pack_symbols(shape, trie, tile);
  for (int64_t s = 0; s < trie.num_symbols; ++s)
    scale_blocks(shape.block_size, trie.scratch + s * shape.tile_floats());
  with_block_size(shape.block_size, [&](auto m) { score_tile<m.value>(args, tile); });
}

}  // namespace hyperhop::HH_ISA
