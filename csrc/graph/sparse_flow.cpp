#include "sparse_flow.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "node_index.h"
#include "node_set.h"
#include "sizes.h"
#include "zeroed_words.h"

namespace hyperhop::graph {
namespace {

constexpr std::int64_t kFew = 4;     // nodes an edge, from which on a table of those met is smaller
constexpr std::int64_t kAhead = 16;  // nodes whose rows are fetched ahead

std::int64_t degree(const FlowEdges& edges, std::int32_t node) {
  return edges.offsets[node + std::int64_t{1}] - edges.offsets[node];
}
std::int64_t degree(const FactEdges& edges, std::int32_t node) {
  const Row out = edges.facts.out.row(node);
  std::int64_t count = out.end - out.begin + (edges.stay ? 1 : 0);
  if (edges.inverse) {
    const Row in = edges.facts.in.row(node);
    count += in.end - in.begin;
  }
  return count;
}

void fetch(const FlowEdges& edges, std::int32_t node) {
  __builtin_prefetch(edges.node + edges.offsets[node]);
  __builtin_prefetch(edges.relation + edges.offsets[node]);
}
void fetch(const Adjacency& side, std::int32_t node) {
  const Row row = side.row(node);
  __builtin_prefetch(side.neighbours + row.begin);
  __builtin_prefetch(side.relations + row.begin);
}
void fetch(const FactEdges& edges, std::int32_t node) {
  fetch(edges.facts.out, node);
  if (edges.inverse) fetch(edges.facts.in, node);
}

// function(relation, node) of every edge out of `node`; those to one node by ascending relation.
template <typename Function>
void each_edge(const FlowEdges& edges, std::int32_t node, Function&& function) {
  const std::int64_t end = edges.offsets[node + std::int64_t{1}];
  for (std::int64_t e = edges.offsets[node]; e < end; ++e) {
    function(edges.relation[e], edges.node[e]);
  }
}
template <typename Function>
void each_edge(const Adjacency& side, std::int32_t node, std::int32_t shift, Function&& function) {
  const Row row = side.row(node);
  for (std::int64_t e = row.begin; e < row.end; ++e) {
    function(shift + side.relation(e), side.neighbour(e));
  }
}
template <typename Function>
void each_edge(const FactEdges& edges, std::int32_t node, Function&& function) {
  each_edge(edges.facts.out, node, 0, function);
  if (edges.inverse) each_edge(edges.facts.in, node, edges.facts.num_relations, function);
  if (edges.stay) function(static_cast<std::int32_t>(edges.num_relations() - 1), node);
}

// Sums by node in a table as large as what was met.
template <typename T>
class TableOfSums {
 public:
  explicit TableOfSums(std::int64_t) {}

  void make_room(std::int64_t edges) { index_.reserve(nodes_.size() + as_size(edges)); }

  void add(std::int32_t node, T value) {
    const std::size_t number = as_size(index_.insert(node));
    if (number == nodes_.size()) {
      nodes_.push_back(node);
      sums_.push_back(0);
    }
    sums_[number] += value;
  }

  NodeValues<T> take() {
    std::sort(nodes_.begin(), nodes_.end());
    NodeValues<T> found;
    for (const std::int32_t node : nodes_) {
      const T sum = sums_[as_size(index_.find(node))];
      if (sum == 0) continue;
      found.nodes.push_back(node);
      found.values.push_back(sum);
    }
    return found;
  }

 private:
  NodeIndex index_;
  std::vector<std::int32_t> nodes_;
  std::vector<T> sums_;
};

// Sums by node in one array of all nodes, of which only what was met is touched.
template <typename T>
class ArrayOfSums {
 public:
  explicit ArrayOfSums(std::int64_t num_nodes) : set_(num_nodes), sums_(as_size(num_nodes)) {}

  void make_room(std::int64_t) {}

  void add(std::int32_t node, T value) {
    if (set_.insert(node)) nodes_.push_back(node);
    std::uint64_t& word = sums_[as_size(node)];
    T sum;
    std::memcpy(&sum, &word, sizeof(T));
    sum += value;
    std::memcpy(&word, &sum, sizeof(T));
  }

  NodeValues<T> take() {
    set_.sort_and_clear(nodes_);
    NodeValues<T> found;
    found.values.reserve(nodes_.size());
    std::size_t kept = 0;
    for (const std::int32_t node : nodes_) {
      std::uint64_t& word = sums_[as_size(node)];
      T sum;
      std::memcpy(&sum, &word, sizeof(T));
      word = 0;
      if (sum == 0) continue;
      nodes_[kept++] = node;
      found.values.push_back(sum);
    }
    nodes_.resize(kept);
    found.nodes = std::move(nodes_);
    set_.give_back();
    sums_.give_back();
    return found;
  }

 private:
  NodeSet set_;
  ZeroedWords sums_;
  std::vector<std::int32_t> nodes_;
};

template <typename Sums, typename T, typename Edges>
NodeValues<T> spread_into(const Edges& edges, std::int64_t num_nodes, const NodeValuesView<T>& flow,
                          const T* beta) {
  Sums sums(num_nodes);
  for (std::int64_t i = 0; i < flow.count; ++i) {
    if (i + kAhead < flow.count) fetch(edges, flow.nodes[i + kAhead]);
    const T pi = flow.values[i];
    sums.make_room(degree(edges, flow.nodes[i]));
    each_edge(edges, flow.nodes[i], [&](std::int32_t relation, std::int32_t node) {
      sums.add(node, pi * beta[relation]);
    });
  }
  return sums.take();
}

template <typename T, typename Edges>
NodeValues<T> spread_from(const Edges& edges, std::int64_t num_nodes, const NodeValuesView<T>& flow,
                          const T* beta) {
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < flow.count; ++i) count += degree(edges, flow.nodes[i]);
  return count < num_nodes / kFew ? spread_into<TableOfSums<T>>(edges, num_nodes, flow, beta)
                                  : spread_into<ArrayOfSums<T>>(edges, num_nodes, flow, beta);
}

}  // namespace

template <typename T>
NodeValues<T> spread(const FlowEdges& edges, std::int64_t num_nodes, const NodeValuesView<T>& flow,
                     const T* beta) {
  return spread_from(edges, num_nodes, flow, beta);
}
template <typename T>
NodeValues<T> spread(const FactEdges& edges, const NodeValuesView<T>& flow, const T* beta) {
  return spread_from(edges, edges.facts.num_entities, flow, beta);
}

template NodeValues<float> spread(const FlowEdges&, std::int64_t, const NodeValuesView<float>&,
                                  const float*);
template NodeValues<double> spread(const FlowEdges&, std::int64_t, const NodeValuesView<double>&,
                                   const double*);
template NodeValues<float> spread(const FactEdges&, const NodeValuesView<float>&, const float*);
template NodeValues<double> spread(const FactEdges&, const NodeValuesView<double>&, const double*);

}  // namespace hyperhop::graph
