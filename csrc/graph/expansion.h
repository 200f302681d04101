// One step of a beam of HyperNodes, as a stream: which triple may join which HyperNode, so that
// every set comes once, without a table of the sets.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "triple_index.h"

namespace hyperhop::graph {

// A set {H, t} from parents H and P = {H, t} without i has t in P. So only triples that some parent
// holds can lead to a set twice, and there are few of those.
class Expansion {
 public:
  // `rows`: the HyperNodes of the beam, in any order, with repetitions.
  Expansion(const TripleIndex& index, const HyperNodeRows& rows, bool keep_parents);

  // Parents: the beam's HyperNodes in canonical order, each once.
  std::int64_t num_parents() const { return parents_.count(); }
  HyperNodeRow parent(std::int64_t i) const { return parents_.row(i); }
  // Whether a parent is a candidate itself: all are if parents are kept, else those that nothing is
  // adjacent to.
  bool is_kept(std::int64_t parent) const { return kept_[as_size(parent)]; }

  // An entity and the parents that its triples are adjacent to, ascending.
  struct Place {
    std::int32_t entity;
    std::vector<std::int64_t> parents;
  };
  const std::vector<Place>& places() const { return places_; }

  // Whether the set {parent, triple} is to be made here: not where the triple is in the parent,
  // where the triple's other end brings it to the same parent too and comes first, or where the set
  // comes from an earlier parent or is a kept one.
  bool admits(std::int64_t parent, std::int32_t entity, AdjacentTriple triple) const {
    if (triple.other < entity && is_adjacent(parent, triple.other)) return false;
    return !may_be_held(triple.rank) || !is_repeated(parent, triple.rank);
  }

  // Places have one triple each for every parent and entity at most: an upper bound of the sets.
  std::int64_t most_candidates() const;

 private:
  bool is_adjacent(std::int64_t parent, std::int32_t entity) const {
    if (!(entity_bits_[as_size(parent)] & bit_of_word(entity))) return false;
    const auto& entities = entities_[as_size(parent)];
    return std::binary_search(entities.begin(), entities.end(), entity);
  }
  bool has_neighbour(std::int64_t parent) const;
  bool is_repeated(std::int64_t parent, std::int32_t rank) const;
  std::int64_t find(HyperNodeRow row) const;  // -1 if it is no parent
  void find_places();

  // Filters, for nearly all triples hold nothing that needs a search: of the ranks that parents
  // hold, and of the entities of one parent.
  static constexpr std::uint32_t kHashBits = 14;
  static std::uint32_t hash(std::int32_t value) {
    return static_cast<std::uint32_t>(value) * 2654435769u;
  }
  static std::uint32_t place_of(std::int32_t rank) { return hash(rank) >> (32 - kHashBits); }
  static std::uint64_t bit_of_word(std::int32_t entity) {
    return std::uint64_t(1) << (hash(entity) >> 26);
  }
  bool may_be_held(std::int32_t rank) const {
    return held_[place_of(rank) / 64] >> (place_of(rank) % 64) & 1;
  }

  const TripleIndex& index_;
  HyperNodeRows parents_;
  std::vector<std::vector<std::int32_t>> entities_;  // of each parent, ascending
  std::vector<std::uint64_t> entity_bits_;           // a filter of each
  std::vector<bool> kept_;
  std::vector<Place> places_;
  std::array<std::uint64_t, (1 << kHashBits) / 64> held_{};
};

// Writes the set {row, rank} to `to`, ascending. rank -1 stands for none.
void write_set(HyperNodeRow row, std::int32_t rank, std::int32_t* to);

}  // namespace hyperhop::graph
