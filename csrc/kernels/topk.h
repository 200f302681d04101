// topk_scan: the hot part of top-k. Walks values[begin, n) and writes the indexes of those better
// than `threshold` (strictly; a NaN never is) until `capacity` are found; returns where to resume.
// `sign` is 1 for largest and -1 for smallest: a value is compared as sign * value.
// The total order itself (value, then lower index, NaN last) lives in select.h.
#pragma once
#include <stdint.h>

namespace hyperhop {

template <class T>
struct TopkScanArgs {
  const T* values;
  int64_t n;
  T sign;
};
template <class T>
using TopkScanKernel = int64_t(const TopkScanArgs<T>&, int64_t begin, T threshold, int64_t* found,
                               int64_t capacity, int64_t* num_found);

}  // namespace hyperhop
