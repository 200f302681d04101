// One step of beam search over HyperNodes, ranked by their composition scores.
#pragma once
#include <cstdint>
#include <vector>

#include "graph/expansion.h"
#include "kernels/composition.h"

namespace hyperhop {

// A query, scaled by a power of two so that its largest entry lies in [1, 2): cosines stay the
// same, and dot products stay in range.
class CosineQuery {
 public:
  CosineQuery(const float* query, int64_t dim);
  const float* values() const { return values_.data(); }
  double factor() const { return factor_; }  // 1 / |q|, or 0
  bool is_finite() const { return finite_; }

 private:
  std::vector<float> values_;
  double factor_ = 0;
  bool finite_ = false;
};

// The set {parent, rank}; rank -1 stands for the parent itself.
struct ScoredSet {
  float cosine;
  int32_t rank;
  int64_t parent;
};

// The composition score of one HyperNode. An empty one scores 0.
float composition_score(const graph::TripleIndex& index, const EmbeddingRows& embeddings,
                        const CosineQuery& query, graph::HyperNodeRow row);

// The k best candidates of an expansion: by cosine, a NaN after every number, then in canonical
// order. Memory: O(k + tile), and a row of floats for every triple of the beam.
std::vector<ScoredSet> best_candidates(const graph::TripleIndex& index,
                                       const graph::Expansion& expansion,
                                       const EmbeddingRows& embeddings, const CosineQuery& query,
                                       int64_t k, int threads);

}  // namespace hyperhop
