#include "sparse_flow.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <utility>

#include "node_set.h"
#include "sizes.h"
#include "zeroed_words.h"

namespace hyperhop::graph {
namespace {

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

// Sums by node of a list of what is added, sorted by node without changing the order of equals.
template <typename T>
class SortedSums {
 public:
  SortedSums(std::int64_t num_nodes, std::int64_t edges) {
    parts_.reserve(as_size(edges));
    while (num_nodes > std::int64_t{1} << (kDigit * digits_)) ++digits_;
  }

  void add(std::int32_t node, T value) { parts_.push_back({node, value}); }

  NodeValues<T> take() {
    sort();
    NodeValues<T> found;
    for (std::size_t i = 0; i < parts_.size();) {
      const std::int32_t node = parts_[i].node;
      T sum = 0;
      for (; i < parts_.size() && parts_[i].node == node; ++i) sum += parts_[i].value;
      if (sum == 0) continue;
      found.nodes.push_back(node);
      found.values.push_back(sum);
    }
    return found;
  }

 private:
  struct Part {
    std::int32_t node;
    T value;
  };
  static constexpr int kDigit = 8;  // bits
  static constexpr std::size_t kFewParts = 64;

  void sort() {
    if (parts_.size() <= kFewParts) {
      std::stable_sort(parts_.begin(), parts_.end(),
                       [](const Part& a, const Part& b) { return a.node < b.node; });
      return;
    }
    std::vector<Part> sorted(parts_.size());
    for (int digit = 0; digit < digits_; ++digit) {
      const auto bucket = [digit](const Part& part) {
        return as_size(part.node >> (kDigit * digit)) & ((1u << kDigit) - 1);
      };
      std::array<std::size_t, (1u << kDigit) + 1> starts{};
      for (const Part& part : parts_) ++starts[bucket(part) + 1];
      std::partial_sum(starts.begin(), starts.end(), starts.begin());
      for (const Part& part : parts_) sorted[starts[bucket(part)]++] = part;
      parts_.swap(sorted);
    }
  }

  std::vector<Part> parts_;
  int digits_ = 1;
};

// Sums by node in one array of all nodes, of which only what was met is touched.
template <typename T>
class ArrayOfSums {
 public:
  ArrayOfSums(std::int64_t num_nodes, std::int64_t) : set_(num_nodes), sums_(as_size(num_nodes)) {}

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
NodeValues<T> spread_into(Sums&& sums, const Edges& edges, const NodeValuesView<T>& flow,
                          const T* beta) {
  for (std::int64_t i = 0; i < flow.count; ++i) {
    if (i + kAhead < flow.count) fetch(edges, flow.nodes[i + kAhead]);
    const T pi = flow.values[i];
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
  return count <= num_nodes ? spread_into(SortedSums<T>(num_nodes, count), edges, flow, beta)
                            : spread_into(ArrayOfSums<T>(num_nodes, count), edges, flow, beta);
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
