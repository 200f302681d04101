// Counts and places are 64-bit and signed; the standard library wants them unsigned.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hyperhop::graph {

inline std::size_t as_size(std::int64_t value) {
  return static_cast<std::size_t>(value);
}

}  // namespace hyperhop::graph
