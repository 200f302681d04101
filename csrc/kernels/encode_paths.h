// encode_paths: path hypervectors R1 R2 ... RL (PathHD eq. 3), left to right, one block product per
// distinct prefix and one per distinct sequence. Leaf i is written to the rows
// leaf_rows[leaf_offsets[i] .. leaf_offsets[i + 1]) of out. An empty sequence is the identity.
#pragma once
#include "blocks.h"
#include "trie.h"

namespace hyperhop {

struct EncodePathsArgs {
  BlockShape shape;
  Layout layout;
  Trie trie;  // scratch: a tile of every symbol, then a state per depth
  int64_t num_leaves;
  const int64_t* leaf_offsets;
  const int64_t* leaf_rows;
  float* out;
  bool stream;  // write past the caches; needs 64-byte aligned rows and D a multiple of kTileLanes
};
using EncodePathsKernel = void(const EncodePathsArgs&, int64_t tile);

}  // namespace hyperhop
