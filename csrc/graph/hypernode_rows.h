// Rows of ranks: HyperNodes of any size, each ascending.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sizes.h"

namespace hyperhop::graph {

struct HyperNodeRow {
  const std::int32_t* ranks;
  std::int64_t size;
  const std::int32_t* begin() const { return ranks; }
  const std::int32_t* end() const { return ranks + size; }
  bool holds(std::int32_t rank) const { return std::find(begin(), end(), rank) != end(); }
};

// The canonical order: by ranks from the first on, a row before those it begins.
inline bool operator<(HyperNodeRow a, HyperNodeRow b) {
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
}
inline bool operator==(HyperNodeRow a, HyperNodeRow b) {
  return a.size == b.size && std::equal(a.begin(), a.end(), b.begin());
}

class HyperNodeRows {
 public:
  std::int64_t count() const { return static_cast<std::int64_t>(offsets_.size()) - 1; }
  HyperNodeRow row(std::int64_t i) const {
    const std::int64_t start = offsets_[as_size(i)];
    return {ranks_.data() + start, offsets_[as_size(i + 1)] - start};
  }
  void push(HyperNodeRow row) {
    ranks_.insert(ranks_.end(), row.begin(), row.end());
    offsets_.push_back(static_cast<std::int64_t>(ranks_.size()));
  }

 private:
  std::vector<std::int32_t> ranks_;
  std::vector<std::int64_t> offsets_{0};
};

}  // namespace hyperhop::graph
