// Both orders of a set of triples.
#pragma once

#include <cstdint>
#include <vector>

namespace hyperhop::graph {

struct Triple {
  std::int32_t head;
  std::int32_t relation;
  std::int32_t tail;
};

struct EdgeOrder {
  std::vector<std::int64_t> offsets;     // (num_entities + 1,)
  std::vector<std::int32_t> relations;   // (num_triples,)
  std::vector<std::int32_t> neighbours;  // (num_triples,)
};

struct BothOrders {
  EdgeOrder out;  // by (head, relation, tail)
  EdgeOrder in;   // by (tail, relation, head)
  std::int64_t num_duplicates = 0;
};

// starts[k]: number of triples whose key is below k.
std::vector<std::int64_t> starts_by(const std::vector<Triple>& triples, std::int32_t Triple::* key,
                                    std::int64_t num_keys);

// Keeps the order of triples with equal keys. `scratch` has the size of `triples`.
void stable_sort_by(std::vector<Triple>& triples, std::vector<Triple>& scratch,
                    std::int32_t Triple::* key, std::int64_t num_keys);

// Merges exact duplicates. Five stable counting passes: O(triples + entities + relations).
BothOrders build_orders(std::vector<Triple> triples, std::int64_t num_entities,
                        std::int64_t num_relations);

}  // namespace hyperhop::graph
