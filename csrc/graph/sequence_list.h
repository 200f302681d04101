// Symbol sequences, one after another.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace hyperhop::graph {

struct SequenceList {
  const std::int32_t* symbols;  // checked: 0 <= symbol < 2 * num_relations
  const std::int64_t* offsets;  // (count + 1,), ascending
  std::int64_t count;

  const std::int32_t* begin(std::int64_t i) const { return symbols + offsets[i]; }
  std::int64_t length(std::int64_t i) const { return offsets[i + 1] - offsets[i]; }

  // The end of the sequences from `first` on that differ only in their last symbol, if these ascend
  // and all walk edges forward or all backward.
  std::int64_t end_of_group(std::int64_t first, std::int32_t num_relations) const {
    const std::int64_t prefix = length(first) - 1;
    std::int64_t i = first + 1;
    if (prefix < 0) return i;
    for (; i < count && length(i) == prefix + 1; ++i) {
      const std::int32_t before = begin(i - 1)[prefix];
      const std::int32_t symbol = begin(i)[prefix];
      if (symbol <= before || (symbol < num_relations) != (before < num_relations)) break;
      if (!std::equal(begin(i), begin(i) + prefix, begin(first))) break;
    }
    return i;
  }
};

// Sequences that own their symbols.
struct OwnedSequences {
  std::vector<std::int32_t> symbols;
  std::vector<std::int64_t> offsets{0};

  void append(const std::int32_t* begin, const std::int32_t* end) {
    symbols.insert(symbols.end(), begin, end);
    offsets.push_back(static_cast<std::int64_t>(symbols.size()));
  }
  SequenceList list() const {
    return {symbols.data(), offsets.data(), static_cast<std::int64_t>(offsets.size()) - 1};
  }
};

}  // namespace hyperhop::graph
