// 64-bit words that are all zero, at the cost of what is touched: new ones come from calloc, which
// maps large memory without touching it, and whoever has set all of them back to zero may give them
// back to the thread for the next user. Who does not, as when an exception or a limit ends the
// work, has them freed.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <utility>

namespace hyperhop::graph {

class ZeroedWords {
 public:
  explicit ZeroedWords(std::size_t size) : size_(size) {
    Block* best = nullptr;
    for (Block& block : spare()) {
      if (block.size >= size && (best == nullptr || block.size < best->size)) best = &block;
    }
    if (best != nullptr) {
      block_ = std::exchange(*best, Block());
      return;
    }
    block_.words.reset(static_cast<std::uint64_t*>(std::calloc(std::max<std::size_t>(size, 1), 8)));
    if (block_.words == nullptr) throw std::bad_alloc();
    block_.size = size;
  }

  // All words must be zero; there are none left afterwards.
  void give_back() {
    assert(std::all_of(block_.words.get(), block_.words.get() + block_.size,
                       [](std::uint64_t word) { return word == 0; }));
    size_ = 0;
    auto& kept = spare();
    const auto smallest = std::min_element(
        kept.begin(), kept.end(), [](const Block& a, const Block& b) { return a.size < b.size; });
    if (block_.size > smallest->size) std::swap(block_, *smallest);
  }

  ZeroedWords(const ZeroedWords&) = delete;
  ZeroedWords& operator=(const ZeroedWords&) = delete;

  std::size_t size() const { return size_; }
  std::uint64_t& operator[](std::size_t i) { return block_.words[i]; }
  std::uint64_t operator[](std::size_t i) const { return block_.words[i]; }

 private:
  struct Free {
    void operator()(std::uint64_t* words) const { std::free(words); }
  };
  struct Block {
    std::unique_ptr<std::uint64_t[], Free> words;
    std::size_t size = 0;
  };

  static std::array<Block, 4>& spare() {
    thread_local std::array<Block, 4> blocks;
    return blocks;
  }

  std::size_t size_;
  Block block_;
};

}  // namespace hyperhop::graph
