// Whole lists of relation paths, encoded or scored: tries built, tiles shared out over threads.
#pragma once
#include <cstdint>

#include "kernels/blocks.h"
#include "kernels/check.h"
#include "kernels/score_paths.h"
#include "trie.h"

namespace hyperhop {

struct CodebookRows {
  BlockShape shape;
  StoredRows rows;
  int64_t count;
};

// Hypervectors in planes or complex.
struct QueryRows {
  Layout layout;
  const float* data;
  int64_t count;
};

// How to score: constant block norms let prefixes move to the query's side.
struct ScoreMethod {
  bool unitary;
  Grouping grouping;
};

// out: a hypervector of each path, in `layout`.
void encode_list(const CodebookRows& codebook, const PathsView& paths, Layout layout, float* out,
                 int threads);

// out[query][path]: blockwise cosines with queries, or with one bundle of at least one path.
void score_list(const CodebookRows& codebook, const QueryRows& queries, const PathsView& paths,
                ScoreMethod method, float* out, int threads);
void score_list(const CodebookRows& codebook, const Bundle& query, const PathsView& paths,
                ScoreMethod method, float* out, int threads);

}  // namespace hyperhop
