#include "graph_view.h"

#include <algorithm>

namespace hyperhop::graph {

Row Adjacency::row(std::int32_t node, std::int32_t with_relation) const {
  const Row all = row(node);
  const std::int32_t* first = relations + all.begin;
  const std::int32_t* last = relations + all.end;
  const auto [low, high] = std::equal_range(first, last, with_relation);
  return {low - relations, high - relations};
}

// Galloping: most groups are short, a hub's may be huge.
std::int64_t Adjacency::end_of_relation(std::int64_t begin, std::int64_t end) const {
  const std::int32_t relation = relations[begin];
  std::int64_t jump = 1;
  while (begin + jump < end && relations[begin + jump] == relation) jump *= 2;
  const std::int32_t* first = relations + begin + (jump + 1) / 2;
  const std::int32_t* last = relations + std::min(begin + jump, end);
  return std::upper_bound(first, last, relation) - relations;
}

bool GraphView::has_triple(std::int32_t head, std::int32_t relation, std::int32_t tail) const {
  const Row range = out.row(head, relation);
  return std::binary_search(out.neighbours + range.begin, out.neighbours + range.end, tail);
}

}  // namespace hyperhop::graph
