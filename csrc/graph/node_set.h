// A set of node ids as one bit a node: adding costs the same for a leaf and for a hub. A second
// level has one bit for each word of the first that holds a node, so that members are found without
// reading every word.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "zeroed_words.h"

namespace hyperhop::graph {

class NodeSet {
 public:
  explicit NodeSet(std::int64_t num_nodes)
      : words_(static_cast<std::size_t>((num_nodes + 63) / 64)),
        blocks_((words_.size() + 63) / 64) {}

  // True if the node was not in the set.
  bool insert(std::int32_t node) {
    const std::size_t w = static_cast<std::size_t>(node) >> 6;
    const std::uint64_t bit = std::uint64_t{1} << (node & 63);
    if (words_[w] & bit) return false;
    words_[w] |= bit;
    blocks_[w >> 6] |= std::uint64_t{1} << (w & 63);
    return true;
  }

  bool contains(std::int32_t node) const {
    return (words_[static_cast<std::size_t>(node) >> 6] >> (node & 63)) & 1;
  }

  // `members` must be what was inserted; the set is empty afterwards.
  void clear(const std::vector<std::int32_t>& members) {
    for (const std::int32_t node : members) {
      const std::size_t w = static_cast<std::size_t>(node) >> 6;
      words_[w] = 0;
      blocks_[w >> 6] = 0;
    }
  }

  // Sorts `members` (what was inserted) and empties the set. They are read back from the bits,
  // unless there are so few that sorting them is cheaper.
  void sort_and_clear(std::vector<std::int32_t>& members) {
    if (members.size() * 8 < blocks_.size()) {
      std::sort(members.begin(), members.end());
      clear(members);
      return;
    }
    std::int32_t* next = members.data();
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      for (std::uint64_t block = blocks_[b]; block != 0; block &= block - 1) {
        const std::size_t w = b * 64 + static_cast<std::size_t>(__builtin_ctzll(block));
        for (std::uint64_t word = words_[w]; word != 0; word &= word - 1) {
          *next++ = static_cast<std::int32_t>(w * 64) + __builtin_ctzll(word);
        }
        words_[w] = 0;
      }
      blocks_[b] = 0;
    }
  }

  // Lets the next set of this thread have the memory. The set must be empty and is of no use after.
  void give_back() {
    words_.give_back();
    blocks_.give_back();
  }

 private:
  ZeroedWords words_;
  ZeroedWords blocks_;
};

}  // namespace hyperhop::graph
