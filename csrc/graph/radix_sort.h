// Sorting by the upper 32 bits: for ids that carry something along.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace hyperhop::graph {

// Sorts [first, last) by the upper half of each item; equal ones must not occur. `largest` is the
// largest upper half there may be. O(n) and twice as fast as std::sort from a few hundred items on.
inline void sort_by_upper_half(std::uint64_t* first, std::uint64_t* last, std::uint32_t largest,
                               std::vector<std::uint64_t>& scratch) {
  constexpr int kMostDigitBits = 11;
  const std::size_t count = static_cast<std::size_t>(last - first);
  if (count < 256) {
    std::sort(first, last);
    return;
  }
  int bits = 1;
  while (bits < 32 && (largest >> bits) != 0) ++bits;
  const int passes = (bits + kMostDigitBits - 1) / kMostDigitBits;
  const int digit_bits = (bits + passes - 1) / passes;
  const std::uint64_t mask = (std::uint64_t{1} << digit_bits) - 1;
  if (scratch.size() < count) scratch.resize(count);
  std::uint64_t* from = first;
  std::uint64_t* to = scratch.data();
  for (int pass = 0; pass < passes; ++pass) {
    const int shift = 32 + pass * digit_bits;
    std::array<std::uint32_t, std::size_t{1} << kMostDigitBits> next{};
    for (std::size_t i = 0; i < count; ++i) ++next[(from[i] >> shift) & mask];
    std::uint32_t place = 0;
    for (std::uint64_t digit = 0; digit <= mask; ++digit) {
      const std::uint32_t size = next[digit];
      next[digit] = place;
      place += size;
    }
    for (std::size_t i = 0; i < count; ++i) to[next[(from[i] >> shift) & mask]++] = from[i];
    std::swap(from, to);
  }
  if (from != first) std::copy(from, from + count, first);
}

}  // namespace hyperhop::graph
