#include "score_paths.h"

#include "trie_walk.h"

namespace hyperhop::HH_ISA {

// Sums per vector of lanes and leaf. More chains hide the latency of wide FMAs; the number is part
// of the result's bits, so it depends on the ISA alone.
constexpr int kScoreChains = kTileVectors == 1 ? 4 : 2;

// <W, R_n> for kLeaves leaves at once. A leaf's own additions do not depend on kLeaves.
template <int kLeaves>
HH_INLINE void score_leaves(int entries, const float* state, const float* const* leaves,
                            float* out) {
  F32 total[kLeaves] = {};
  HH_UNROLL
  for (int v = 0; v < kTileVectors; ++v) {
    const int l = v * kF32Lanes;
    F32 sums[kLeaves][kScoreChains] = {};
    // Entries come in pairs (re, im); four chains take two matrix entries a turn.
    int e = 0;
    for (; e + kScoreChains <= entries; e += kScoreChains) HH_UNROLL
    for (int c = 0; c < kScoreChains; ++c) {
      const int at = (e + c) * kTileLanes + l;
      const F32 w = load<F32>(state + at);
      HH_UNROLL
      for (int n = 0; n < kLeaves; ++n) sums[n][c] = fma(w, load<F32>(leaves[n] + at), sums[n][c]);
    }
    for (int c = 0; e + c < entries; ++c) {
      const int at = (e + c) * kTileLanes + l;
      const F32 w = load<F32>(state + at);
      HH_UNROLL
      for (int n = 0; n < kLeaves; ++n) sums[n][c] = fma(w, load<F32>(leaves[n] + at), sums[n][c]);
    }
    HH_UNROLL
    for (int n = 0; n < kLeaves; ++n) {
      F32 sum = sums[n][0] + sums[n][1];
      if (kScoreChains == 4) sum += sums[n][kScoreChains - 2] + sums[n][kScoreChains - 1];
      total[n] += sum;
    }
  }
  HH_UNROLL
  for (int n = 0; n < kLeaves; ++n) out[n] = sum_lanes(total[n]);
}

template <int kBlockSize>
static void score_tile(const ScorePathsArgs& args, int64_t tile) {
  const BlockShape& shape = args.shape;
  const Trie& trie = args.trie;
  const int m = kBlockSize ? kBlockSize : shape.block_size;
  const int entries = 2 * m * m;
  const int64_t floats = int64_t(entries) * kTileLanes;
  const float* packed = trie.scratch;
  float* states = trie.scratch + trie.num_symbols * floats;

  pack_symbols(shape, trie, tile);
  load_tile(shape, Layout::planes, args.query, tile, states);
  for (int64_t s = 0; s < trie.num_steps; ++s) {
    const TrieStep& step = trie.steps[s];
    float* state = states + step.depth * floats;
    if (step.depth > 0)
      product_tile<kBlockSize, true, false>(m, packed + step.symbol * floats, state - floats,
                                            state);
    const int32_t* symbols = trie.leaf_symbols + step.first_leaf;
    float* out = args.partial + step.first_leaf;
    const float* leaves[4];
    int64_t n = 0;
    for (; n + 4 <= step.num_leaves; n += 4) {
      for (int i = 0; i < 4; ++i) leaves[i] = packed + symbols[n + i] * floats;
      score_leaves<4>(entries, state, leaves, out + n);
    }
    for (; n + 2 <= step.num_leaves; n += 2) {
      for (int i = 0; i < 2; ++i) leaves[i] = packed + symbols[n + i] * floats;
      score_leaves<2>(entries, state, leaves, out + n);
    }
    if (n < step.num_leaves) {
      leaves[0] = packed + symbols[n] * floats;
      score_leaves<1>(entries, state, leaves, out + n);
    }
  }
}

void score_paths(const ScorePathsArgs& args, int64_t tile) {
  with_block_size(args.shape.block_size, [&](auto m) { score_tile<m.value>(args, tile); });
}

}  // namespace hyperhop::HH_ISA
