#include "trie.h"

#include <algorithm>
#include <numeric>

namespace hyperhop {
namespace {

constexpr int64_t kLongestCountedPath = 32;

// Digit of a path in one column of its sort key; absent symbols sort first.
int32_t prefix_digit(const PathsView& paths, int64_t path, int64_t column) {
  return column + 1 < paths.length(path) ? paths.begin(path)[column] + 1 : 0;
}

int32_t last_digit(const PathsView& paths, int64_t path) {
  const int64_t length = paths.length(path);
  return length ? paths.begin(path)[length - 1] + 1 : 0;
}

template <class Digit>
void counting_sort(std::vector<int64_t>& order, std::vector<int64_t>& spare, int64_t num_symbols,
                   const Digit& digit) {
  std::vector<int64_t> starts(size_t(num_symbols) + 2, 0);
  for (const int64_t p : order) ++starts[size_t(digit(p)) + 1];
  std::partial_sum(starts.begin(), starts.end(), starts.begin());
  for (const int64_t p : order) spare[size_t(starts[size_t(digit(p))]++)] = p;
  order.swap(spare);
}

bool comes_before(const PathsView& paths, int64_t a, int64_t b) {
  const int64_t na = std::max<int64_t>(paths.length(a) - 1, 0);
  const int64_t nb = std::max<int64_t>(paths.length(b) - 1, 0);
  const int32_t *pa = paths.begin(a), *pb = paths.begin(b);
  const int64_t common = std::mismatch(pa, pa + std::min(na, nb), pb).first - pa;
  if (common < std::min(na, nb)) return pa[common] < pb[common];
  if (na != nb) return na < nb;
  const int32_t la = last_digit(paths, a), lb = last_digit(paths, b);
  return la != lb ? la < lb : a < b;
}

}  // namespace

std::vector<int64_t> trie_order(const PathsView& paths, int64_t num_symbols) {
  std::vector<int64_t> order(static_cast<size_t>(paths.count));
  std::iota(order.begin(), order.end(), int64_t{0});
  int64_t longest = 0;
  for (int64_t p = 0; p < paths.count; ++p) longest = std::max(longest, paths.length(p));
  if (longest > kLongestCountedPath || paths.count < num_symbols) {
    std::sort(order.begin(), order.end(),
              [&](int64_t a, int64_t b) { return comes_before(paths, a, b); });
    return order;
  }
  std::vector<int64_t> spare(order.size());
  counting_sort(order, spare, num_symbols, [&](int64_t p) { return last_digit(paths, p); });
  for (int64_t column = longest - 2; column >= 0; --column)
    counting_sort(order, spare, num_symbols,
                  [&](int64_t p) { return prefix_digit(paths, p, column); });
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
  const int32_t* parent = nullptr;  // the prefix the last step stands at
  int64_t depth = 0;
  program.leaf_symbols.reserve(size_t(end - begin));
  program.leaf_offsets.reserve(size_t(end - begin) + 1);
  for (int64_t position = begin; position < end; ++position) {
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
  return {codebook,     symbols.data(),        int64_t(symbols.size()),
          steps.data(), int64_t(steps.size()), leaf_symbols.data(),
          scratch};
}

int TrieProgram::threads(const BlockShape& shape, int asked) const {
  constexpr double kThreadedFlops = 4e6;  // some 50 microseconds
  const double m = shape.block_size;
  const double products = double(steps.size()), leaves = double(num_leaves());
  const double flops = double(shape.blocks) * (8 * m * m * m * products + 4 * m * m * leaves);
  return flops < kThreadedFlops ? 1 : asked;
}

}  // namespace hyperhop
