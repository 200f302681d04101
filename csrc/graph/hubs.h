// What a walk does at a hub: a node with more edges in one direction than a limit.
//
// sample: of each relation in the row at most max_degree / (number of relations in the row) edges
// are followed, at least one, evenly spaced. So no relation of a hub is lost, and which edges are
// followed depends on the graph and the limit alone.
// skip: the hub may be reached but is not left in that direction. A topic is sampled instead,
// because a walk that cannot start tells nobody anything.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "graph_view.h"

namespace hyperhop::graph {

// `count` of the edges [begin, begin + size), evenly spaced from the first on.
struct Stretch {
  std::int64_t begin;
  std::int64_t size;
  std::int64_t count;

  // i < count; the product of two 64-bit sizes is taken in 128 bits.
  std::int64_t edge(std::int64_t i) const {
    if (count == size) return begin + i;
    return begin + static_cast<std::int64_t>(static_cast<unsigned __int128>(i) *
                                             static_cast<unsigned __int128>(size) /
                                             static_cast<unsigned __int128>(count));
  }

  template <typename Function>
  void each_edge(Function&& function) const {
    if (count == size) {
      for (std::int64_t e = begin; e < begin + size; ++e) function(e);
    } else {
      for (std::int64_t i = 0; i < count; ++i) function(edge(i));
    }
  }
};

struct HubRule {
  enum class Mode { kSample, kSkip };

  std::int64_t max_degree = std::numeric_limits<std::int64_t>::max();
  Mode mode = Mode::kSample;

  bool has_limit() const { return max_degree < std::numeric_limits<std::int64_t>::max(); }
  bool is_hub(Row row) const { return row.end - row.begin > max_degree; }
  bool skips(Row row, bool is_topic) const {
    return mode == Mode::kSkip && !is_topic && is_hub(row);
  }

  // Edges followed for each relation of a hub's row that is not skipped.
  std::int64_t per_relation(const Adjacency& side, Row row) const {
    std::int64_t relations = 0;
    for (std::int64_t e = row.begin; e < row.end; e = side.end_of_relation(e, row.end)) {
      ++relations;
    }
    return std::max<std::int64_t>(1, max_degree / relations);
  }

  // Calls function(stretch) for the edges along which the row is left: once with all of them, or,
  // at a sampled hub, once for each relation. Stops and returns false where function does.
  template <typename Function>
  bool each_stretch(const Adjacency& side, Row row, bool is_topic, Function&& function) const {
    const std::int64_t size = row.end - row.begin;
    if (!is_hub(row)) return function(Stretch{row.begin, size, size});
    if (skips(row, is_topic)) return true;
    const std::int64_t most = per_relation(side, row);
    for (std::int64_t e = row.begin; e < row.end;) {
      const std::int64_t end = side.end_of_relation(e, row.end);
      if (!function(Stretch{e, end - e, std::min(most, end - e)})) return false;
      e = end;
    }
    return true;
  }

  // Is the edge from `node` to `neighbour` one along which the row of `node` is left?
  bool follows(const Adjacency& side, std::int32_t node, bool is_topic, std::int32_t relation,
               std::int32_t neighbour) const {
    const Row row = side.row(node);
    if (!is_hub(row)) return true;
    if (skips(row, is_topic)) return false;
    const Row same = side.row(node, relation);
    const std::int32_t* first = side.neighbours + same.begin;
    const std::int64_t size = same.end - same.begin;
    const std::int64_t place = std::lower_bound(first, first + size, neighbour) - first;
    if (place == size) return false;  // damaged
    const std::int64_t count = std::min(per_relation(side, row), size);
    // Of the sample, the first edge at that place or after it.
    const auto i = static_cast<std::int64_t>(
        (static_cast<unsigned __int128>(place) * static_cast<unsigned __int128>(count) +
         static_cast<unsigned __int128>(size) - 1) /
        static_cast<unsigned __int128>(size));
    return i < count && Stretch{0, size, count}.edge(i) == place;
  }
};

}  // namespace hyperhop::graph
