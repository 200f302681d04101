// Offsets of rows. Every count of edges is 64-bit: a graph may have more than 2^31 of them.
#pragma once

#include <cstdint>
#include <vector>

#include "graph_view.h"

namespace hyperhop::graph {

// The offsets of a graph's rows after edges were added to it (sign 1) or taken from it (sign -1).
// changed(i) is the row of the i-th of them, ascending; rows beyond the old ones held nothing.
// Throws DamagedStore where the old offsets do not ascend from 0 to `num_edges`. O(num_rows).
template <typename RowOf>
std::vector<std::int64_t> changed_offsets(const std::int64_t* offsets, std::int64_t old_rows,
                                          std::int64_t num_edges, std::int64_t num_rows,
                                          std::int64_t num_changed, int sign, RowOf&& changed) {
  std::vector<std::int64_t> result;
  result.reserve(static_cast<std::size_t>(num_rows) + 1);
  std::int64_t before = 0;  // changed edges in rows before this one
  std::int64_t previous = 0;
  for (std::int64_t row = 0; row <= num_rows; ++row) {
    const std::int64_t old = row <= old_rows ? offsets[row] : num_edges;
    if (old < previous || (row == 0 && old != 0) || (row == old_rows && old != num_edges)) {
      throw_damaged("offsets", row, old, num_edges);
    }
    previous = old;
    while (before < num_changed && changed(before) < row) ++before;
    result.push_back(old + sign * before);
  }
  return result;
}

}  // namespace hyperhop::graph
