// Which triples touch which entity, for the expansion of HyperNodes.
#pragma once

#include <cstdint>
#include <vector>

#include "hypernode_rows.h"

namespace hyperhop::graph {

// A triple at an entity: its rank, and the entity at its other end (the same for a self loop).
struct AdjacentTriple {
  std::int32_t rank;
  std::int32_t other;
};

template <typename T>
struct Range {
  const T* first;
  const T* last;
  const T* begin() const { return first; }
  const T* end() const { return last; }
  std::int64_t size() const { return last - first; }
};

// Triples are known by their rank in the order given, which is the order of sums and of ties.
class TripleIndex {
 public:
  // `order`: the rank of each triple, or null for its id. `links`: pairs of entities. Throws
  // std::invalid_argument for ids out of range and for an order that is no permutation.
  TripleIndex(const std::int64_t* head, const std::int64_t* tail, std::int64_t num_triples,
              std::int64_t num_entities, const std::int64_t* order, const std::int64_t* links,
              std::int64_t num_links);

  std::int64_t num_triples() const { return static_cast<std::int64_t>(triples_.size()); }
  std::int32_t rank(std::int64_t triple) const { return ranks_[static_cast<std::size_t>(triple)]; }
  std::int32_t triple(std::int32_t rank) const { return triples_[static_cast<std::size_t>(rank)]; }
  std::int32_t head(std::int32_t rank) const { return heads_[static_cast<std::size_t>(rank)]; }
  std::int32_t tail(std::int32_t rank) const { return tails_[static_cast<std::size_t>(rank)]; }

  // By rank, each once.
  Range<AdjacentTriple> at(std::int32_t entity) const {
    const std::int64_t* row = offsets_.data() + entity;
    return {adjacent_.data() + row[0], adjacent_.data() + row[1]};
  }
  // Ascending, without the entity itself.
  Range<std::int32_t> linked(std::int32_t entity) const {
    const std::int64_t* row = link_offsets_.data() + entity;
    return {linked_.data() + row[0], linked_.data() + row[1]};
  }

  // The entities whose triples are adjacent to these: theirs and those linked to them, ascending.
  std::vector<std::int32_t> entities_of(HyperNodeRow row) const;

 private:
  void count_order(const std::int64_t* order);
  void connect(std::int64_t num_entities);
  void link(std::int64_t num_entities, const std::int64_t* links, std::int64_t num_links);

  std::vector<std::int32_t> ranks_, triples_;  // of each triple; of each rank
  std::vector<std::int32_t> heads_, tails_;    // of each rank
  std::vector<std::int64_t> offsets_, link_offsets_;
  std::vector<AdjacentTriple> adjacent_;
  std::vector<std::int32_t> linked_;
};

}  // namespace hyperhop::graph
