// The nodes that a search has found, numbered 0, 1, 2 ... as they were found.
//
// A hash table of the size of what was found, not of the graph: finding a thousand of 88 million
// nodes touches some kilobytes that stay in the caches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hyperhop::graph {

class NodeIndex {
 public:
  NodeIndex() { clear(); }

  void clear() {
    slots_.assign(std::size_t{1} << kFirstBits, kEmpty);
    shift_ = 64 - kFirstBits;
    count_ = 0;
  }

  std::int32_t size() const { return count_; }

  // The node's number, which is size() before the call if the node is new.
  std::int32_t insert(std::int32_t node) {
    if (static_cast<std::size_t>(count_) * 2 >= slots_.size()) grow();
    Slot& slot = slots_[place(node)];
    if (slot.node == kNobody) slot = {node, count_++};
    return slot.number;
  }

  // The node's number, -1 if it was not found yet. `node` may be any value.
  std::int32_t find(std::int32_t node) const { return slots_[place(node)].number; }

  // Has the cache fetch what insert(node) or find(node) will look at.
  void prefetch(std::int32_t node) const { __builtin_prefetch(slots_.data() + first_place(node)); }

  // Gives memory beyond this many bytes back.
  void shrink(std::size_t bytes) {
    if ((slots_.capacity() + old_.capacity()) * sizeof(Slot) <= bytes) return;
    slots_ = {};
    old_ = {};
    clear();
  }

 private:
  struct Slot {
    std::int32_t node;
    std::int32_t number;
  };
  static constexpr std::int32_t kNobody = -1;
  static constexpr Slot kEmpty{kNobody, -1};
  static constexpr int kFirstBits = 11;

  std::size_t first_place(std::int32_t node) const {
    return (static_cast<std::uint32_t>(node) * 0x9E3779B97F4A7C15u) >> shift_;
  }

  // Where the node is, or the empty slot where it belongs.
  std::size_t place(std::int32_t node) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = first_place(node);
    while (slots_[at].node != node && slots_[at].node != kNobody) at = (at + 1) & mask;
    return at;
  }

  void grow() {
    old_.swap(slots_);
    slots_.assign(old_.size() * 2, kEmpty);
    shift_ -= 1;
    for (const Slot& slot : old_) {
      if (slot.node != kNobody) slots_[place(slot.node)] = slot;
    }
  }

  std::vector<Slot> slots_;
  std::vector<Slot> old_;  // kept, so that growing again needs no fresh memory
  int shift_ = 0;
  std::int32_t count_ = 0;
};

// Rules out most nodes outside a set with one bit each, from a cache that the set itself would not
// fit: one in sixteen or fewer of the others passes.
class NodeFilter {
 public:
  void reset(std::size_t count) {
    int bits = 12;
    while ((std::size_t{1} << bits) < count * 16) ++bits;
    words_.assign(std::size_t{1} << (bits - 6), 0);
    shift_ = 64 - bits;
  }

  void insert(std::int32_t node) {
    const std::size_t bit = place(node);
    words_[bit >> 6] |= std::uint64_t{1} << (bit & 63);
  }

  // 1 or 0. `node` may be any value.
  std::uint64_t may_hold(std::int32_t node) const {
    const std::size_t bit = place(node);
    return (words_[bit >> 6] >> (bit & 63)) & 1;
  }

  void shrink(std::size_t bytes) {
    if (words_.capacity() * sizeof(std::uint64_t) > bytes) words_ = {};
  }

 private:
  std::size_t place(std::int32_t node) const {
    return (static_cast<std::uint32_t>(node) * 0x9E3779B97F4A7C15u) >> shift_;
  }

  std::vector<std::uint64_t> words_;
  int shift_ = 0;
};

}  // namespace hyperhop::graph
