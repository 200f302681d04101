// A list of relation sequences as a trie, the shared plan of encode_paths and score_paths.
// Sequences are sorted by (prefix, last symbol); each distinct prefix is one step, visited in
// preorder, and each distinct sequence is one leaf below its prefix.
#pragma once
#include "blocks.h"

namespace hyperhop {

// Step: state[depth] = state[depth - 1] extended by `symbol` (depth 0 is the root, no product),
// then leaves [first_leaf, first_leaf + num_leaves) are one-symbol extensions of state[depth].
struct TrieStep {
  int32_t depth;
  int32_t symbol;
  int64_t first_leaf;
  int64_t num_leaves;
};

// A trie to walk. Symbols are local: symbols[s] is the codebook row of local symbol s;
// -1 is the identity hypervector, which stands for an empty sequence.
struct Trie {
  StoredRows codebook;  // planes or half_planes [R][m][m][2][D]
  const int64_t* symbols;
  int64_t num_symbols;
  const TrieStep* steps;
  int64_t num_steps;
  const int32_t* leaf_symbols;
  float* scratch;
};

}  // namespace hyperhop
