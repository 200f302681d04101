#include "csr.h"

#include <algorithm>
#include <array>

#include "huge_pages.h"
#include "sizes.h"

namespace hyperhop::graph {
std::vector<std::int64_t> starts_by(const std::vector<Triple>& triples, std::int32_t Triple::* key,
                                    std::int64_t num_keys) {
  std::vector<std::int64_t> starts(as_size(num_keys) + 1, 0);
  for (const Triple& triple : triples) ++starts[as_size(triple.*key) + 1];
  for (std::size_t k = 1; k < starts.size(); ++k) starts[k] += starts[k - 1];
  return starts;
}

// Digit by digit, so that the counters stay in the cache however many keys there are.
void stable_sort_by(std::vector<Triple>& triples, std::vector<Triple>& scratch,
                    std::int32_t Triple::* key, std::int64_t num_keys) {
  constexpr int kDigitBits = 9;
  constexpr std::size_t kDigits = std::size_t{1} << kDigitBits;
  for (int shift = 0; (num_keys - 1) >> shift > 0; shift += kDigitBits) {
    const auto digit = [key, shift](const Triple& triple) {
      return (static_cast<std::size_t>(triple.*key) >> shift) % kDigits;
    };
    std::array<std::size_t, kDigits + 1> next{};
    for (const Triple& triple : triples) ++next[digit(triple) + 1];
    for (std::size_t d = 1; d < kDigits; ++d) next[d] += next[d - 1];
    for (const Triple& triple : triples) scratch[next[digit(triple)]++] = triple;
    triples.swap(scratch);
  }
}

namespace {

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
  std::vector<Triple> scratch;
  reserve_huge(scratch, triples.size());
  scratch.resize(triples.size());
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
