// The nodes that a search has found, numbered 0, 1, 2 ... as they were found.
//
// A hash table of the size of what was found, not of the graph: finding a thousand of 88 million
// nodes touches some kilobytes that stay in the caches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace hyperhop::graph {

// Spreads neighbouring ids over the upper bits of a word.
constexpr std::uint64_t kMultiplier = 0x9E3779B97F4A7C15u;

class NodeIndex {
 public:
  NodeIndex() { clear(); }

  void clear() {
    make(kFirstSlots);
    count_ = 0;
  }

  std::int32_t size() const { return count_; }

  // Makes room for that many nodes in all.
  void reserve(std::size_t count) {
    std::size_t size = num_slots_;
    while (count * 2 > size) size *= 2;
    if (size > num_slots_) grow(size);
  }

  // The node's number, which is size() before the call if the node is new; room must be reserved.
  std::int32_t insert(std::int32_t node) {
    Slot& slot = slots_[place(node)];
    if (slot.node == kNobody) slot = {node, count_++};
    return slot.number;
  }

  // The node's number, -1 if it was not found yet. `node` may be any value.
  std::int32_t find(std::int32_t node) const { return slots_[place(node)].number; }

  // Empties the index and gives memory beyond this many bytes back.
  void shrink(std::size_t bytes) {
    if ((slots_.size() + old_.size()) * sizeof(Slot) > bytes) {
      slots_ = {};
      old_ = {};
    }
    clear();
  }

 private:
  struct Slot {
    std::int32_t node;
    std::int32_t number;
  };
  static constexpr std::int32_t kNobody = -1;
  static constexpr std::size_t kFirstSlots = 1024;

  std::size_t first_place(std::int32_t node) const {
    return (static_cast<std::uint32_t>(node) * kMultiplier) >> shift_;
  }

  // Where the node is, or the empty slot where it belongs.
  std::size_t place(std::int32_t node) const {
    const std::size_t mask = num_slots_ - 1;
    std::size_t at = first_place(node);
    while (slots_[at].node != node && slots_[at].node != kNobody) at = (at + 1) & mask;
    return at;
  }

  // An empty table of that many slots, a power of two.
  void make(std::size_t size) {
    if (slots_.size() < size) slots_.resize(size);
    std::memset(static_cast<void*>(slots_.data()), 0xFF, size * sizeof(Slot));  // kNobody, -1
    num_slots_ = size;
    for (shift_ = 64; size > 1; size /= 2) --shift_;
  }

  void grow(std::size_t size) {
    const std::size_t before = num_slots_;
    old_.swap(slots_);
    make(size);
    for (std::size_t i = 0; i < before; ++i) {
      if (old_[i].node != kNobody) slots_[place(old_[i].node)] = old_[i];
    }
  }

  std::vector<Slot> slots_;  // the first num_slots_ are in use
  std::vector<Slot> old_;    // kept, so that growing again needs no fresh memory
  std::size_t num_slots_ = 0;
  int shift_ = 0;
  std::int32_t count_ = 0;
};

// Rules out most nodes outside a set with one bit each, from a cache that the set itself would not
// fit: one in sixteen or fewer of the others passes.
class NodeFilter {
 public:
  void reset(std::size_t count) {
    std::size_t size = 64;
    while (size * 64 < count * 16) size *= 2;
    words_.assign(size, 0);
  }

  void insert(std::int32_t node) {
    words_[word(node, words_.size())] |= std::uint64_t{1} << (node & 63);
  }

  // True for every node in the set, and for few others. The node may be any value.
  bool may_hold(std::int32_t node) const { return view().may_hold(node); }

  // For loops that write: the compiler then knows that the filter stays as it is.
  struct View {
    const std::uint64_t* words;
    std::size_t size;

    bool may_hold(std::int32_t node) const { return (words[word(node, size)] >> (node & 63)) & 1; }
  };
  View view() const { return {words_.data(), words_.size()}; }

  void shrink(std::size_t bytes) {
    if (words_.capacity() * sizeof(std::uint64_t) > bytes) words_ = {};
  }

 private:
  static std::size_t word(std::int32_t node, std::size_t size) {
    return (static_cast<std::uint32_t>(node) >> 6) & (size - 1);
  }

  std::vector<std::uint64_t> words_;  // a power of two of them
};

}  // namespace hyperhop::graph
