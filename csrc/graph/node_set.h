// A set of node ids as one bit a node: adding costs the same for a leaf and for a hub.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "zeroed_words.h"

namespace hyperhop::graph {

class NodeSet {
 public:
  explicit NodeSet(std::int64_t num_nodes)
      : words_(static_cast<std::size_t>((num_nodes + 63) / 64)) {}

  // True if the node was not in the set.
  bool insert(std::int32_t node) {
    std::uint64_t& word = words_[static_cast<std::size_t>(node) >> 6];
    const std::uint64_t bit = std::uint64_t{1} << (node & 63);
    if (word & bit) return false;
    word |= bit;
    return true;
  }

  bool contains(std::int32_t node) const {
    return (words_[static_cast<std::size_t>(node) >> 6] >> (node & 63)) & 1;
  }

  // `members` must be what was inserted; the set is empty afterwards.
  void clear(const std::vector<std::int32_t>& members) {
    for (const std::int32_t node : members) words_[static_cast<std::size_t>(node) >> 6] = 0;
  }

  // Sorts `members` (what was inserted) and empties the set. A dense set is read back from its
  // bits, because that is cheaper than sorting a long list.
  void sort_and_clear(std::vector<std::int32_t>& members) {
    if (members.size() * 8 < words_.size()) {
      std::sort(members.begin(), members.end());
      clear(members);
      return;
    }
    std::size_t written = 0;
    for (std::size_t w = 0; w < words_.size(); ++w) {
      for (std::uint64_t word = words_[w]; word != 0; word &= word - 1) {
        members[written++] = static_cast<std::int32_t>(w * 64) + __builtin_ctzll(word);
      }
      words_[w] = 0;
    }
  }

  // Lets the next set of this thread have the memory. The set must be empty and is of no use after.
  void give_back() { words_.give_back(); }

 private:
  ZeroedWords words_;
};

}  // namespace hyperhop::graph
