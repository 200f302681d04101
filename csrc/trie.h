// Builds the trie walk of kernels/trie.h from a list of relation sequences.
#pragma once
#include <cstdint>
#include <vector>

#include "kernels/check.h"
#include "kernels/trie.h"

namespace hyperhop {

// Path ids ordered by (all but the last symbol, last symbol, id), shorter prefixes first: a
// parent's leaves stand together and parents come in preorder. One pass for a list that is in order
// already, O(total symbols) for lists of ordinary length.
std::vector<int64_t> trie_order(const PathsView& paths, int64_t num_symbols);

// How leaves are scored: dense tables where they pay, never, or everywhere. The bits are the same.
enum class Grouping { automatic, walk, dense };

struct TrieProgram {
  std::vector<TrieStep> steps;
  std::vector<int32_t> leaf_symbols;  // local symbols
  std::vector<int64_t> leaf_offsets;  // leaf -> positions in order[begin, end), relative to begin
  std::vector<int64_t> symbols;       // local symbol -> codebook row, -1 for the identity
  std::vector<TrieGroup> groups;
  std::vector<int32_t> dense_symbols, dense_leaves;
  int64_t max_depth = 0;

  // Fills the groups, which only scoring needs.
  void group(Grouping grouping);

  int64_t num_leaves() const { return int64_t(leaf_symbols.size()); }
  Trie trie(const StoredRows& codebook, float* scratch) const;
  // Floats of scratch for one tile.
  int64_t scratch_floats(const BlockShape& shape) const {
    const int64_t tiles = int64_t(symbols.size()) + max_depth + 1;
    return (tiles + (dense_symbols.empty() ? 0 : kDenseStates)) * shape.tile_floats();
  }
  // `asked`, or 1 where a walk over all tiles is too short for waking another thread to pay.
  int threads(const BlockShape& shape, int asked) const;
};

// Builds walks over stretches of one sorted list. Not shared between threads: it keeps a table of
// the codebook's size, cleared entry by entry, so that many short stretches stay cheap.
class TrieBuilder {
 public:
  TrieBuilder(const PathsView& paths, const std::vector<int64_t>& order, int64_t num_symbols);
  // The walk over order[begin, end).
  TrieProgram build(int64_t begin, int64_t end);

 private:
  int32_t local_symbol(TrieProgram& program, int64_t symbol);

  const PathsView& paths_;
  const std::vector<int64_t>& order_;
  std::vector<int32_t> local_;  // codebook row -> local symbol, -1 if unused; last: the identity
};

}  // namespace hyperhop
