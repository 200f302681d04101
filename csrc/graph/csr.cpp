#include "csr.h"

#include <algorithm>

namespace hyperhop::graph {
namespace {

std::size_t as_size(std::int64_t value) {
  return static_cast<std::size_t>(value);
}

// starts[k]: number of triples whose key is below k.
std::vector<std::int64_t> starts_by(const std::vector<Triple>& triples, std::int32_t Triple::* key,
                                    std::int64_t num_keys) {
  std::vector<std::int64_t> starts(as_size(num_keys) + 1, 0);
  for (const Triple& triple : triples) ++starts[as_size(triple.*key) + 1];
  for (std::size_t k = 1; k < starts.size(); ++k) starts[k] += starts[k - 1];
  return starts;
}

void stable_sort_by(std::vector<Triple>& triples, std::vector<Triple>& scratch,
                    std::int32_t Triple::* key, std::int64_t num_keys) {
  std::vector<std::int64_t> next = starts_by(triples, key, num_keys);
  for (const Triple& triple : triples) {
    scratch[as_size(next[as_size(triple.*key)]++)] = triple;
  }
  triples.swap(scratch);
}

EdgeOrder edge_order(const std::vector<Triple>& triples, std::int32_t Triple::* row,
                     std::int32_t Triple::* neighbour, std::int64_t num_entities) {
  EdgeOrder order;
  order.offsets = starts_by(triples, row, num_entities);
  order.relations.reserve(triples.size());
  order.neighbours.reserve(triples.size());
  for (const Triple& triple : triples) {
    order.relations.push_back(triple.relation);
    order.neighbours.push_back(triple.*neighbour);
  }
  return order;
}

}  // namespace

BothOrders build_orders(std::vector<Triple> triples, std::int64_t num_entities,
                        std::int64_t num_relations) {
  BothOrders orders;
  std::vector<Triple> scratch(triples.size());
  stable_sort_by(triples, scratch, &Triple::tail, num_entities);
  stable_sort_by(triples, scratch, &Triple::relation, num_relations);
  stable_sort_by(triples, scratch, &Triple::head, num_entities);
  const auto last =
      std::unique(triples.begin(), triples.end(), [](const Triple& a, const Triple& b) {
        return a.head == b.head && a.relation == b.relation && a.tail == b.tail;
      });
  orders.num_duplicates = triples.end() - last;
  triples.erase(last, triples.end());
  scratch.resize(triples.size());
  orders.out = edge_order(triples, &Triple::head, &Triple::tail, num_entities);
  // Heads ascend already, so two more passes order by (tail, relation, head).
  stable_sort_by(triples, scratch, &Triple::relation, num_relations);
  stable_sort_by(triples, scratch, &Triple::tail, num_entities);
  orders.in = edge_order(triples, &Triple::tail, &Triple::head, num_entities);
  return orders;
}

}  // namespace hyperhop::graph
