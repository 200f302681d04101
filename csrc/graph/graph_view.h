// A read-only graph in two orders: edges by head (out) and edges by tail (in).
//
// The arrays may be a memory-mapped store that nobody verified. So every offset and id is compared
// with its bound where it is read, and DamagedStore is thrown instead of following it: a flipped
// byte may mislead, never crash.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace hyperhop::graph {

struct DamagedStore : std::runtime_error {
  using std::runtime_error::runtime_error;
};

[[noreturn]] inline void throw_damaged(const char* array, std::int64_t index, std::int64_t value,
                                       std::int64_t bound) {
  throw DamagedStore(std::string("the graph is damaged: ") + array + "[" + std::to_string(index) +
                     "] is " + std::to_string(value) + ", outside 0 to " + std::to_string(bound) +
                     "; open it with verify=True to find the file");
}

// A half-open range of edges.
struct Row {
  std::int64_t begin;
  std::int64_t end;
};

// One order of the edges: row u holds the edges of node u sorted by (relation, neighbour).
struct Adjacency {
  const std::int64_t* offsets;     // (num_entities + 1,)
  const std::int32_t* relations;   // (num_triples,)
  const std::int32_t* neighbours;  // (num_triples,)
  std::int32_t num_entities;
  std::int32_t num_relations;
  std::int64_t num_triples;

  // `node` must be a checked id.
  Row row(std::int32_t node) const {
    const std::int64_t begin = offsets[node];
    const std::int64_t end = offsets[static_cast<std::int64_t>(node) + 1];
    if (begin < 0 || begin > end || end > num_triples) {
      throw_damaged("offsets", node, end, num_triples);
    }
    return {begin, end};
  }

  std::int32_t relation(std::int64_t edge) const {
    const std::int32_t value = relations[edge];
    if (static_cast<std::uint32_t>(value) >= static_cast<std::uint32_t>(num_relations)) {
      throw_damaged("relations", edge, value, num_relations - 1);
    }
    return value;
  }

  std::int32_t neighbour(std::int64_t edge) const {
    const std::int32_t value = neighbours[edge];
    if (static_cast<std::uint32_t>(value) >= static_cast<std::uint32_t>(num_entities)) {
      throw_damaged("neighbours", edge, value, num_entities - 1);
    }
    return value;
  }

  // The edges of `node` with this relation.
  Row row(std::int32_t node, std::int32_t with_relation) const;

  // The first edge of [begin, end), a part of one row, whose relation is not that of edge `begin`.
  std::int64_t end_of_relation(std::int64_t begin, std::int64_t end) const;
};

// Symbol r walks relation r forward, num_relations + r walks it backward.
struct GraphView {
  Adjacency out;
  Adjacency in;
  std::int32_t num_entities;
  std::int32_t num_relations;
  std::int64_t num_triples;

  Row step(std::int32_t node, std::int32_t symbol) const {
    return symbol < num_relations ? out.row(node, symbol) : in.row(node, symbol - num_relations);
  }

  const Adjacency& side(std::int32_t symbol) const { return symbol < num_relations ? out : in; }

  bool has_triple(std::int32_t head, std::int32_t relation, std::int32_t tail) const;
};

// Bounds on one call, so that a hub can neither fill the memory nor run for minutes.
struct Limits {
  std::int64_t edge_visits;   // edges looked at
  std::int64_t entries;       // ids held in results and frontiers
  std::int64_t simple_steps;  // steps of the search for paths without repeated entities
};

}  // namespace hyperhop::graph
