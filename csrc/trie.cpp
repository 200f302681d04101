#include "trie.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace hyperhop {
namespace {

// Symbol + 1 at a place of a path's sort key (its prefix, padded to the longest, then its last
// symbol); 0 where there is none, which sorts first.
uint64_t key_digit(const PathsView& paths, int64_t path, int64_t place, int64_t places) {
  const int64_t length = paths.length(path);
  if (place == places - 1) return length ? uint64_t(paths.begin(path)[length - 1]) + 1 : 0;
  return place + 1 < length ? uint64_t(paths.begin(path)[place]) + 1 : 0;
}

int bits_for(uint64_t count) {
  int bits = 0;
  while (bits < 64 && (count >> bits) != 0) ++bits;
  return bits;
}

bool comes_before(const PathsView& paths, int64_t a, int64_t b) {
  const int64_t na = std::max<int64_t>(paths.length(a) - 1, 0);
  const int64_t nb = std::max<int64_t>(paths.length(b) - 1, 0);
  const int32_t *pa = paths.begin(a), *pb = paths.begin(b);
  const int64_t common = std::mismatch(pa, pa + std::min(na, nb), pb).first - pa;
  if (common < std::min(na, nb)) return pa[common] < pb[common];
  if (na != nb) return na < nb;
  const uint64_t la = key_digit(paths, a, 0, 1), lb = key_digit(paths, b, 0, 1);
  return la != lb ? la < lb : a < b;
}

bool in_order(const PathsView& paths) {
  for (int64_t p = 1; p < paths.count; ++p)
    if (!comes_before(paths, p - 1, p)) return false;
  return true;
}

// Least significant digit first; items equal in [low_bit, high_bit) keep their order.
void radix_sort(std::vector<uint64_t>& items, int low_bit, int high_bit) {
  constexpr int kDigitBits = 11;
  std::vector<uint64_t> spare(items.size());
  for (int shift = low_bit; shift < high_bit; shift += kDigitBits) {
    const uint64_t mask = (uint64_t{1} << std::min(kDigitBits, high_bit - shift)) - 1;
    std::array<int64_t, (1 << kDigitBits) + 1> starts{};
    for (const uint64_t item : items) ++starts[size_t((item >> shift) & mask) + 1];
    std::partial_sum(starts.begin(), starts.end(), starts.begin());
    for (const uint64_t item : items)
      spare[size_t(starts[size_t((item >> shift) & mask)]++)] = item;
    items.swap(spare);
  }
}

}  // namespace

std::vector<int64_t> trie_order(const PathsView& paths, int64_t num_symbols) {
  std::vector<int64_t> order(static_cast<size_t>(paths.count));
  std::iota(order.begin(), order.end(), int64_t{0});
  if (in_order(paths)) return order;
  int64_t places = 1;
  for (int64_t p = 0; p < paths.count; ++p) places = std::max(places, paths.length(p));
  const int symbol_bits = bits_for(uint64_t(num_symbols)),
            id_bits = bits_for(uint64_t(paths.count));
  if (places > 64 || places * symbol_bits + id_bits > 64) {
    std::sort(order.begin(), order.end(),
              [&](int64_t a, int64_t b) { return comes_before(paths, a, b); });
    return order;
  }
  // Key and id in one word.
  std::vector<uint64_t> items(order.size());
  for (int64_t p = 0; p < paths.count; ++p) {
    uint64_t key = 0;
    for (int64_t i = 0; i < places; ++i) key = key << symbol_bits | key_digit(paths, p, i, places);
    items[size_t(p)] = key << id_bits | uint64_t(p);
  }
  radix_sort(items, id_bits, id_bits + int(places) * symbol_bits);
  const uint64_t id_mask = (uint64_t{1} << id_bits) - 1;
  for (size_t i = 0; i < order.size(); ++i) order[i] = int64_t(items[i] & id_mask);
  return order;
}

TrieBuilder::TrieBuilder(const PathsView& paths, const std::vector<int64_t>& order,
                         int64_t num_symbols)
    : paths_(paths), order_(order), local_(size_t(num_symbols) + 1, -1) {}

int32_t TrieBuilder::local_symbol(TrieProgram& program, int64_t symbol) {
  int32_t& slot = symbol < 0 ? local_.back() : local_[size_t(symbol)];
  if (slot < 0) {
    slot = int32_t(program.symbols.size());
    program.symbols.push_back(symbol);
  }
  return slot;
}

TrieProgram TrieBuilder::build(int64_t begin, int64_t end) {
  TrieProgram program;
  // Paths are visited in sorted order, which for memory is no order at all.
  constexpr int64_t kFar = 16, kNear = 8;
  const int32_t* parent = nullptr;  // the prefix the last step stands at
  int64_t depth = 0;
  program.steps.reserve(size_t(end - begin));  // address space: pages are taken as they fill
  program.leaf_symbols.reserve(size_t(end - begin));
  program.leaf_offsets.reserve(size_t(end - begin) + 1);
  for (int64_t position = begin; position < end; ++position) {
    if (position + kFar < end) {
      __builtin_prefetch(paths_.offsets + order_[size_t(position + kFar)]);
      __builtin_prefetch(paths_.begin(order_[size_t(position + kNear)]));
    }
    const int64_t path = order_[size_t(position)];
    const int32_t* symbols = paths_.begin(path);
    const int64_t length = paths_.length(path);
    const int64_t prefix = std::max<int64_t>(length - 1, 0);
    const int64_t leaves = program.num_leaves();
    int64_t common = 0;
    if (parent)
      common = std::mismatch(symbols, symbols + std::min(prefix, depth), parent).first - symbols;
    const bool same_parent = parent && prefix == depth && common == depth;
    if (!same_parent) {
      if (prefix == 0) program.steps.push_back({0, -1, leaves, 0});
      for (int64_t d = common; d < prefix; ++d)
        program.steps.push_back({int32_t(d + 1), local_symbol(program, symbols[d]), leaves, 0});
      parent = symbols;
      depth = prefix;
      program.max_depth = std::max(program.max_depth, depth);
    }
    const int32_t leaf = local_symbol(program, length ? symbols[length - 1] : -1);
    // Equal sequences are neighbours and share one leaf.
    if (same_parent && program.leaf_symbols.back() == leaf) continue;
    program.leaf_symbols.push_back(leaf);
    program.leaf_offsets.push_back(position - begin);
    ++program.steps.back().num_leaves;
  }
  program.leaf_offsets.push_back(end - begin);
  for (const int64_t symbol : program.symbols)
    (symbol < 0 ? local_.back() : local_[size_t(symbol)]) = -1;
  return program;
}

Trie TrieProgram::trie(const StoredRows& codebook, float* scratch) const {
  Trie trie{};
  trie.codebook = codebook;
  trie.symbols = symbols.data();
  trie.num_symbols = int64_t(symbols.size());
  trie.steps = steps.data();
  trie.num_steps = int64_t(steps.size());
  trie.leaf_symbols = leaf_symbols.data();
  trie.groups = groups.data();
  trie.num_groups = int64_t(groups.size());
  trie.dense_symbols = dense_symbols.data();
  trie.dense_leaves = dense_leaves.data();
  trie.max_depth = max_depth;
  trie.scratch = scratch;
  return trie;
}

void TrieProgram::group(Grouping grouping) {
  // A pair in a dense table costs about half of a walked leaf (measured), so it pays where at least
  // half of the table is asked for; a table of one row reuses nothing.
  constexpr double kDenseShare = 0.5;
  std::vector<int32_t> column(symbols.size(), -1);  // of a local symbol in the group's table
  std::vector<int32_t> seen;
  for (int64_t begin = 0; begin < int64_t(steps.size());) {
    int64_t end = begin, states = 0, leaves = 0;
    seen.clear();
    for (; end < int64_t(steps.size()) && states < kDenseStates; ++end) {
      const TrieStep& step = steps[size_t(end)];
      states += step.num_leaves > 0;
      leaves += step.num_leaves;
      for (int64_t leaf = step.first_leaf; leaf < step.first_leaf + step.num_leaves; ++leaf) {
        const int32_t symbol = leaf_symbols[size_t(leaf)];
        if (column[size_t(symbol)] >= 0) continue;
        column[size_t(symbol)] = int32_t(seen.size());
        seen.push_back(symbol);
      }
    }
    const int64_t width = int64_t(seen.size());
    const bool pays = states > 1 && double(leaves) >= kDenseShare * double(states * width);
    const bool dense =
        leaves > 0 && (grouping == Grouping::dense || (grouping == Grouping::automatic && pays));
    if (dense) {
      const bool full = leaves == states * width;
      const int64_t entry = full ? -1 : int64_t(dense_leaves.size());
      groups.push_back({begin, end - begin, int64_t(dense_symbols.size()), width,
                        steps[size_t(begin)].first_leaf, entry});
      dense_symbols.insert(dense_symbols.end(), seen.begin(), seen.end());
      if (!full) dense_leaves.resize(size_t(entry + states * width), int32_t(num_leaves()));
      for (int64_t s = begin, row = entry; s < end && !full; ++s) {
        const TrieStep& step = steps[size_t(s)];
        for (int64_t leaf = step.first_leaf; leaf < step.first_leaf + step.num_leaves; ++leaf)
          dense_leaves[size_t(row + column[size_t(leaf_symbols[size_t(leaf)])])] = int32_t(leaf);
        row += step.num_leaves > 0 ? width : 0;
      }
    } else if (!groups.empty() && groups.back().num_symbols == 0) {
      groups.back().num_steps += end - begin;
    } else {
      groups.push_back({begin, end - begin, 0, 0, 0, 0});
    }
    for (const int32_t symbol : seen) column[size_t(symbol)] = -1;
    begin = end;
  }
}

int TrieProgram::threads(const BlockShape& shape, int asked) const {
  constexpr double kThreadedFlops = 4e6;  // some 50 microseconds
  const double m = shape.block_size;
  const double products = double(steps.size()), leaves = double(num_leaves());
  const double flops = double(shape.blocks) * (8 * m * m * m * products + 4 * m * m * leaves);
  return flops < kThreadedFlops ? 1 : asked;
}

}  // namespace hyperhop
