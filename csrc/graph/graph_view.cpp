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

bool GraphView::has_triple(std::int32_t head, std::int32_t relation, std::int32_t tail) const {
  const Row range = out.row(head, relation);
  return std::binary_search(out.neighbours + range.begin, out.neighbours + range.end, tail);
}

}  // namespace hyperhop::graph
