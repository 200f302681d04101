// Room for a sum of rows, the same for every ISA.
#pragma once
#include <stdint.h>

#include "../portability.h"

namespace hyperhop {

// `dim` numbers in whole cache lines, so also in whole vectors.
template <class T>
HH_INLINE constexpr int64_t padded_row(int64_t dim) {
  constexpr int64_t kLine = 64 / int64_t(sizeof(T));
  return (dim + kLine - 1) / kLine * kLine;
}

}  // namespace hyperhop
