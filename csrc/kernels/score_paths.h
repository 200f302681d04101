// score_paths: blockwise cosine (PathHD eq. 4) of one query with every leaf of a trie, without ever
// storing a path vector: tr(Q^H R1 R2 R3) = <R2^H R1^H Q, R3>, so each prefix costs one block
// product W <- R^H W and each leaf one trace <W, R>.
// `query` holds planes whose blocks already have norm 1 (or 0); the result is the sum over one
// tile's blocks of Re <W_j, R_j>; the caller adds tiles in order and scales by 1 / (D sqrt m). The
// accumulators of a leaf are fixed (kScoreChains per vector), so its bits depend only on the query
// and its own sequence. Error <= ~(2m L + m^2) eps relative to the score's scale of 1.
#pragma once
#include "blocks.h"
#include "trie.h"

namespace hyperhop {

struct ScorePathsArgs {
  BlockShape shape;
  Trie trie;           // scratch: a tile of every symbol, then a state per depth
  const float* query;  // [m][m][2][D]
  float* partial;      // one float per leaf
};
using ScorePathsKernel = void(const ScorePathsArgs&, int64_t tile);

}  // namespace hyperhop
