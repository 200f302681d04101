#include "score_paths.h"

#include "trie_walk.h"

namespace hyperhop::HH_ISA {

// Sums per vector of lanes and leaf. More chains hide the latency of wide FMAs; the number is part
// of the result's bits, so it depends on the ISA alone.
constexpr int kScoreChains = kTileVectors == 1 ? 4 : 2;

// <W_s, R_n> for kStates states and kLeaves leaves at once, out[s][n]. The additions of one pair do
// not depend on how many stand beside it.
template <int kStates, int kLeaves>
HH_INLINE void score_pairs(int entries, const float* const* states, const float* const* leaves,
                           float* out) {
  constexpr int kPairs = kStates * kLeaves;
  F32 total[kPairs] = {};
  HH_UNROLL
  for (int v = 0; v < kTileVectors; ++v) {
    F32 sums[kPairs][kScoreChains] = {};
    const auto add_entry = [&](int e, int chain) __attribute__((always_inline)) {
      const int at = e * kTileLanes + v * kF32Lanes;
      F32 w[kStates];
      HH_UNROLL
      for (int s = 0; s < kStates; ++s) w[s] = load<F32>(states[s] + at);
      HH_UNROLL
      for (int n = 0; n < kLeaves; ++n) {
        const F32 r = load<F32>(leaves[n] + at);
        HH_UNROLL
        for (int s = 0; s < kStates; ++s)
          sums[s * kLeaves + n][chain] = fma(w[s], r, sums[s * kLeaves + n][chain]);
      }
    };
    int e = 0;
    for (; e + kScoreChains <= entries; e += kScoreChains) HH_UNROLL
    for (int c = 0; c < kScoreChains; ++c) add_entry(e + c, c);
    for (int c = 0; e + c < entries; ++c) add_entry(e + c, c);
    HH_UNROLL
    for (int p = 0; p < kPairs; ++p) {
      F32 sum = sums[p][0] + sums[p][1];
      if (kScoreChains == 4) sum += sums[p][kScoreChains - 2] + sums[p][kScoreChains - 1];
      total[p] += sum;
    }
  }
  int p = 0;
  HH_UNROLL
  for (; p + 4 <= kPairs; p += 4) sum_lanes_of_four(total + p, out + p);
  HH_UNROLL
  for (; p < kPairs; ++p) out[p] = sum_lanes(total[p]);
}

// Where a walk keeps its tiles: packed symbols, a state per depth, the states of a dense group.
struct Scratch {
  int64_t floats;  // a tile
  float *symbols, *states, *dense;

  HH_INLINE Scratch(const Trie& trie, int64_t tile_floats)
      : floats(tile_floats),
        symbols(trie.scratch),
        states(symbols + trie.num_symbols * floats),
        dense(states + (trie.max_depth + 1) * floats) {}
  HH_INLINE const float* symbol(int64_t s) const { return symbols + s * floats; }
};

template <int kLeaves>
HH_INLINE void score_leaves(int entries, const Scratch& scratch, const float* state,
                            const int32_t* symbols, float* out) {
  const float* leaves[kLeaves];
  for (int i = 0; i < kLeaves; ++i) leaves[i] = scratch.symbol(symbols[i]);
  score_pairs<1, kLeaves>(entries, &state, leaves, out);
}

HH_INLINE void score_step(int entries, const Trie& trie, const Scratch& scratch,
                          const TrieStep& step, float* partial) {
  const float* state = scratch.states + step.depth * scratch.floats;
  const int32_t* symbols = trie.leaf_symbols + step.first_leaf;
  float* out = partial + step.first_leaf;
  int64_t n = 0;
  for (; n + 4 <= step.num_leaves; n += 4)
    score_leaves<4>(entries, scratch, state, symbols + n, out + n);
  switch (step.num_leaves - n) {
    case 3:
      return score_leaves<3>(entries, scratch, state, symbols + n, out + n);
    case 2:
      return score_leaves<2>(entries, scratch, state, symbols + n, out + n);
    case 1:
      return score_leaves<1>(entries, scratch, state, symbols + n, out + n);
  }
}

// A patch of the dense table whose symbols' tiles stay in the first-level cache (24 KiB at m = 4)
// while all states pass by, two states and three symbols at a time.
constexpr int kPanel = 12, kPanelStates = 2, kPanelSymbols = 3;

template <int kStates, int kSymbols>
HH_INLINE void score_patch(int entries, const Scratch& scratch, int64_t state,
                           const int32_t* symbols, const int32_t* table, int64_t row,
                           float* partial) {
  const float *states[kStates], *leaves[kSymbols];
  float out[kStates * kSymbols];
  for (int s = 0; s < kStates; ++s) states[s] = scratch.dense + (state + s) * scratch.floats;
  for (int n = 0; n < kSymbols; ++n) leaves[n] = scratch.symbol(symbols[n]);
  score_pairs<kStates, kSymbols>(entries, states, leaves, out);
  for (int s = 0; s < kStates; ++s)
    for (int n = 0; n < kSymbols; ++n) {
      const int32_t leaf = table[s * row + n];
      if (leaf >= 0) partial[leaf] = out[s * kSymbols + n];
    }
}

static void score_dense(int entries, const Trie& trie, const Scratch& scratch,
                        const TrieGroup& group, int64_t num_states, float* partial) {
  const int32_t* symbols = trie.dense_symbols + group.first_symbol;
  const int32_t* table = trie.dense_leaves + group.first_entry;
  const int64_t row = group.num_symbols;
  for (int64_t panel = 0; panel < row; panel += kPanel) {
    const int64_t panel_end = panel + kPanel < row ? panel + kPanel : row;
    int64_t s = 0;
    for (; s + kPanelStates <= num_states; s += kPanelStates) {
      int64_t n = panel;
      for (; n + kPanelSymbols <= panel_end; n += kPanelSymbols)
        score_patch<kPanelStates, kPanelSymbols>(entries, scratch, s, symbols + n,
                                                 table + s * row + n, row, partial);
      for (; n < panel_end; ++n)
        score_patch<kPanelStates, 1>(entries, scratch, s, symbols + n, table + s * row + n, row,
                                     partial);
    }
    for (; s < num_states; ++s)
      for (int64_t n = panel; n < panel_end; ++n)
        score_patch<1, 1>(entries, scratch, s, symbols + n, table + s * row + n, row, partial);
  }
}

template <int kBlockSize>
static void score_tile(const ScorePathsArgs& args, const Scratch& scratch, const float* query,
                       int64_t tile, float* partial) {
  const BlockShape& shape = args.shape;
  const Trie& trie = args.trie;
  const int m = kBlockSize ? kBlockSize : shape.block_size;
  const int entries = 2 * m * m;
  const TrieStep* end = trie.steps + trie.num_steps;
  Ahead ahead(m);

  load_tile(shape, Layout::planes, query, tile, scratch.states);
  for (int64_t g = 0; g < trie.num_groups; ++g) {
    const TrieGroup& group = trie.groups[g];
    int64_t num_states = 0;
    for (int64_t s = 0; s < group.num_steps; ++s) {
      const TrieStep& step = trie.steps[group.first_step + s];
      float* state = scratch.states + step.depth * scratch.floats;
      if (step.depth > 0) {
        ahead.clear();
        const TrieStep* next = &step + 1;
        if (next < end && next->depth > 0) ahead.add(scratch.symbol(next->symbol));
        if (next < end)
          for (int64_t n = 0; n < next->num_leaves && n < 3; ++n)
            ahead.add(scratch.symbol(trie.leaf_symbols[next->first_leaf + n]));
        product_tile<kBlockSize, true, false>(m, scratch.symbol(step.symbol),
                                              state - scratch.floats, state, ahead);
      }
      if (group.num_symbols == 0)
        score_step(entries, trie, scratch, step, partial);
      else if (step.num_leaves > 0)
        memcpy(scratch.dense + scratch.floats * num_states++, state,
               size_t(scratch.floats) * sizeof(float));
    }
    if (group.num_symbols > 0) score_dense(entries, trie, scratch, group, num_states, partial);
  }
}

void score_paths(const ScorePathsArgs& args, int64_t tile) {
  const BlockShape& shape = args.shape;
  const Scratch scratch(args.trie, shape.tile_floats());
  pack_symbols(shape, args.trie, tile);
  with_block_size(shape.block_size, [&](auto m) {
    for (int64_t q = 0; q < args.num_queries; ++q)
      score_tile<m.value>(args, scratch, args.queries + q * shape.floats(), tile,
                          args.partial + (q * shape.tiles() + tile) * args.num_leaves);
  });
}

}  // namespace hyperhop::HH_ISA
