// Large arrays on large pages: a random read in a gigabyte then costs one cache miss, not two.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hyperhop::graph {

// Room for `count` values, on large pages where the system has them. A hint: nothing depends on it.
template <typename T>
void reserve_huge(std::vector<T>& values, std::size_t count) {
  constexpr std::uintptr_t kHugePage = std::uintptr_t{1} << 21;
  if (count <= values.capacity()) return;
  values.reserve(count);
#ifdef MADV_HUGEPAGE
  const auto begin = reinterpret_cast<std::uintptr_t>(values.data());
  const std::uintptr_t first = (begin + kHugePage - 1) / kHugePage * kHugePage;
  const std::uintptr_t last = (begin + count * sizeof(T)) / kHugePage * kHugePage;
  if (first < last) madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
#endif
}

// The same, doubling, for one that grows at its end.
template <typename T>
void make_room(std::vector<T>& values, std::size_t more) {
  const std::size_t needed = values.size() + more;
  if (needed > values.capacity()) {
    reserve_huge(values, needed > 2 * values.capacity() ? needed : 2 * values.capacity());
  }
}

}  // namespace hyperhop::graph
