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

// Neighbouring steps whose leaves are scored together. Without symbols each step scores its own
// leaves as it is reached. With symbols (most steps end in most of them, as in a complete
// enumeration) the states of all steps that have leaves meet all these symbols in one dense table.
// Entry [state][symbol] is leaf dense_leaves[first_entry + ...], or num_leaves where that sequence
// is not in the list; a full table's entries are the leaves from first_leaf on, in order.
struct TrieGroup {
  int64_t first_step, num_steps;
  int64_t first_symbol, num_symbols;  // in dense_symbols; num_symbols 0 for a walk
  int64_t first_leaf;
  int64_t first_entry;  // in dense_leaves; -1 for a full table
};

// States a dense group holds at most: few enough to stay in the second-level cache.
constexpr int kDenseStates = 64;

// A trie to walk. Symbols are local: symbols[s] is the codebook row of local symbol s;
// -1 is the identity hypervector, which stands for an empty sequence.
struct Trie {
  StoredRows codebook;  // planes or half_planes [R][m][m][2][D]
  const int64_t* symbols;
  int64_t num_symbols;
  const TrieStep* steps;
  int64_t num_steps;
  const int32_t* leaf_symbols;
  const TrieGroup* groups;
  int64_t num_groups;
  const int32_t* dense_symbols;
  const int32_t* dense_leaves;
  int64_t max_depth;
  float* scratch;  // a tile of every symbol, a state per depth, kDenseStates states
};

}  // namespace hyperhop
