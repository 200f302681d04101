#include "score_paths.h"

#include "query_tile.h"
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
  // Few pairs take several vectors of lanes at once: eight sums hide the latency of an addition.
  constexpr int kWanted = 8 / (kPairs * kScoreChains);
  constexpr int kVectors = kWanted < 1 ? 1 : (kWanted < kTileVectors ? kWanted : kTileVectors);
  static_assert(kTileVectors % kVectors == 0, "a tile is cut evenly");
  F32 total[kPairs];
  HH_UNROLL
  for (int first = 0; first < kTileVectors; first += kVectors) {
    F32 sums[kVectors][kPairs][kScoreChains] = {};
    const auto add_entry = [&](int e, int chain) HH_INLINE_LAMBDA {
      HH_UNROLL
      for (int v = 0; v < kVectors; ++v) {
        const int at = e * kTileLanes + (first + v) * kF32Lanes;
        F32 w[kStates];
        HH_UNROLL
        for (int s = 0; s < kStates; ++s) {
          F32 entry = load<F32>(states[s] + at);
          if (kLeaves > 1) HH_KEEP_IN_REGISTER(entry);
          w[s] = entry;
        }
        HH_UNROLL
        for (int n = 0; n < kLeaves; ++n) {
          F32 r = load<F32>(leaves[n] + at);
          if (kStates > 1) HH_KEEP_IN_REGISTER(r);
          HH_UNROLL
          for (int s = 0; s < kStates; ++s) {
            F32& sum = sums[v][s * kLeaves + n][chain];
            sum = fma(w[s], r, sum);
          }
        }
      }
    };
    int e = 0;
    for (; e + kScoreChains <= entries; e += kScoreChains) HH_UNROLL
    for (int c = 0; c < kScoreChains; ++c) add_entry(e + c, c);
    for (int c = 0; e + c < entries; ++c) add_entry(e + c, c);
    HH_UNROLL
    for (int v = 0; v < kVectors; ++v) HH_UNROLL
    for (int p = 0; p < kPairs; ++p) {
      F32 sum = sums[v][p][0] + sums[v][p][1];
      if (kScoreChains == 4) sum += sums[v][p][kScoreChains - 2] + sums[v][p][kScoreChains - 1];
      total[p] = first + v == 0 ? sum : total[p] + sum;
    }
    // The sums of the next vectors need all registers.
    if (kVectors < kTileVectors) HH_KEEP_IN_MEMORY(total);
  }
  if (kPairs == 1) {
    out[0] = sum_lanes(total[0]);
    return;
  }
  HH_UNROLL
  for (int p = 0; p < kPairs; p += 4) {
    F32 vectors[4];
    float sums[4];
    HH_UNROLL
    for (int i = 0; i < 4; ++i) vectors[i] = total[p + i < kPairs ? p + i : p];
    sum_lanes_of_four(vectors, sums);
    memcpy(out + p, sums, (kPairs - p < 4 ? kPairs - p : 4) * sizeof(float));
  }
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

// Columns of a dense table whose tiles stay in the first-level cache (24 KiB at m = 4) while the
// rows, two at a time, pass by.
constexpr int kPanel = 12, kPatchRows = 2, kPatchColumns = 3;

template <int kRows, int kColumns>
HH_INLINE void score_patch(int entries, const Scratch& scratch, const float* states,
                           const int32_t* symbols, float* out) {
  const float *rows[kRows], *columns[kColumns];
  float scores[kRows][kColumns];
  HH_UNROLL
  for (int r = 0; r < kRows; ++r) rows[r] = states + r * scratch.floats;
  HH_UNROLL
  for (int c = 0; c < kColumns; ++c) columns[c] = scratch.symbol(symbols[c]);
  score_pairs<kRows, kColumns>(entries, rows, columns, scores[0]);
  HH_UNROLL
  for (int r = 0; r < kRows; ++r) memcpy(out + r * kPanel, scores[r], sizeof(scores[r]));
}

// out[r][c] for kRows states that stand together, up to kPanel columns. The states that follow are
// fetched meanwhile, an even share with each patch.
template <int kRows>
HH_INLINE void score_panel(int entries, const Scratch& scratch, const float* states,
                           const int32_t* symbols, int columns, float* out) {
  constexpr int kPatches = kPanel / kPatchColumns;
  const float* ahead = states + kRows * scratch.floats;
  const int64_t share = kPatchRows * scratch.floats / kPatches;
  int c = 0;
  for (; c + kPatchColumns <= columns; c += kPatchColumns, ahead += share) {
    for (int64_t i = 0; i < share; i += kTileLanes) __builtin_prefetch(ahead + i);
    score_patch<kRows, kPatchColumns>(entries, scratch, states, symbols + c, out + c);
  }
  for (; c < columns; ++c) score_patch<kRows, 1>(entries, scratch, states, symbols + c, out + c);
}

static void score_dense(int entries, const Trie& trie, const Scratch& scratch,
                        const TrieGroup& group, int64_t num_rows, float* partial) {
  const int64_t width = group.num_symbols;
  const int32_t* symbols = trie.dense_symbols + group.first_symbol;
  float scores[kPatchRows * kPanel];
  for (int64_t panel = 0; panel < width; panel += kPanel) {
    const int columns = int(panel + kPanel < width ? kPanel : width - panel);
    for (int64_t row = 0; row < num_rows; row += kPatchRows) {
      const int rows = row + kPatchRows <= num_rows ? kPatchRows : 1;
      const float* states = scratch.dense + row * scratch.floats;
      if (rows == kPatchRows)
        score_panel<kPatchRows>(entries, scratch, states, symbols + panel, columns, scores);
      else
        score_panel<1>(entries, scratch, states, symbols + panel, columns, scores);
      for (int r = 0; r < rows; ++r) {
        const int64_t first = (row + r) * width + panel;
        if (group.first_entry < 0) {
          memcpy(partial + group.first_leaf + first, scores + r * kPanel,
                 size_t(columns) * sizeof(float));
          continue;
        }
        const int32_t* leaves = trie.dense_leaves + group.first_entry + first;
        for (int c = 0; c < columns; ++c) partial[leaves[c]] = scores[r * kPanel + c];
      }
    }
  }
}

template <int kBlockSize>
static void score_tile(const ScorePathsArgs& args, const Scratch& scratch, int64_t query,
                       int64_t tile, float* partial) {
  const BlockShape& shape = args.shape;
  const Trie& trie = args.trie;
  const int m = kBlockSize ? kBlockSize : shape.block_size;
  const int entries = 2 * m * m;
  const TrieStep* end = trie.steps + trie.num_steps;
  Ahead ahead(m, trie.num_symbols);

  query_tile<kBlockSize>(args, query, tile, scratch.states);
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
        planes_tile<kBlockSize, true, false>(m, scratch.symbol(step.symbol), kTileLanes,
                                             state - scratch.floats, state, kTileLanes, ahead);
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
      score_tile<m.value>(args, scratch, q, tile,
                          args.partial + (q * shape.tiles() + tile) * (args.num_leaves + 1));
  });
}

}  // namespace hyperhop::HH_ISA
