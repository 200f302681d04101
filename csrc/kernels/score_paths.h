// score_paths: blockwise cosine (PathHD eq. 4) of queries with every leaf of a trie, without ever
// storing a path vector: tr(Q^H R1 R2 R3) = <R2^H R1^H Q, R3>, so each prefix costs one block
// product W <- R^H W and each leaf one trace <W, R>.
// A query's planes have blocks of norm 1 (or 0); the result is the sum over one tile's blocks of
// Re <W_j, R_j>; the caller adds tiles in order and scales by 1 / (D sqrt m). The accumulators of a
// leaf are fixed (kScoreChains per vector), walked or in a dense group, so its bits depend only on
// the query and its own sequence. Error <= ~(2m L + m^2) eps relative to the score's scale of 1.
#pragma once
#include "blocks.h"
#include "trie.h"

namespace hyperhop {

// One query, given by the paths whose weighted sum it is.
struct Bundle {
  int64_t count;           // K; 0 where queries are given themselves
  const int64_t* offsets;  // (K + 1,)
  const int32_t* symbols;  // rows of the codebook
  const float* weights;
};

struct ScorePathsArgs {
  BlockShape shape;
  Trie trie;
  Bundle bundle;
  const float* queries;  // [num_queries][m][m][2][D], without a bundle
  int64_t num_queries;
  float* partial;  // [num_queries][tiles][num_leaves + 1]; the last takes what no leaf wants
  int64_t num_leaves;
};
using ScorePathsKernel = void(const ScorePathsArgs&, int64_t tile);

}  // namespace hyperhop
