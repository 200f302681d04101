// Top-k as a total order: better value first, then lower index; a NaN comes after every number.
#pragma once
#include <cstdint>
#include <vector>

namespace hyperhop {

// Indexes of the min(k, n) best of values[0, n); `sign` is 1 for largest and -1 for smallest.
// O(n + k log k): a scan that keeps what beats the k-th so far, in a buffer selected when full;
// values that ascend are sampled first, so that they do not all pass.
template <class T>
std::vector<int64_t> select_top(const T* values, int64_t n, int64_t k, T sign);

}  // namespace hyperhop
