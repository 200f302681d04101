// One hop of a flow that is held as its active nodes, so that only their edges are touched.
//
// Phi[v] = sum over the edges (u, r, v) of active u of pi[u] * beta[r], for every v that such an
// edge leads to and where the sum is not 0. Every sum runs one edge after another, by (u, r), in T:
// the order of the dense kernel, so that the bits do not depend on how the sums are kept.
//
// Cost: O(edges of active nodes) time and memory, times the bytes of a node id, whatever the size
// of the graph; from a certain share of the graph on, sums are kept in one array of all nodes.
#pragma once

#include <cstdint>
#include <vector>

#include "../kernels/flow.h"
#include "graph_view.h"

namespace hyperhop::graph {

// Nodes ascending, each once, and a value of each.
template <typename T>
struct NodeValues {
  std::vector<std::int32_t> nodes;
  std::vector<T> values;
};

// The same, where somebody else keeps them.
template <typename T>
struct NodeValuesView {
  const std::int32_t* nodes;
  const T* values;
  std::int64_t count;
};

// A graph of facts walked as a flow walks it: relation r along a fact, with `inverse` R + r against
// it, and with `stay` relation 2 R from every node to itself.
struct FactEdges {
  GraphView facts;
  bool inverse;
  bool stay;

  // Ids do not depend on the two switches.
  std::int64_t num_relations() const { return 2 * std::int64_t{facts.num_relations} + 1; }
};

// Nodes of `flow` must be ids of the graph and `beta` hold one value a relation. FactEdges checks
// what it reads, and throws DamagedStore; FlowEdges are the out-edges of a FlowGraph of so many
// nodes.
template <typename T>
NodeValues<T> spread(const FlowEdges& edges, std::int64_t num_nodes, const NodeValuesView<T>& flow,
                     const T* beta);
template <typename T>
NodeValues<T> spread(const FactEdges& edges, const NodeValuesView<T>& flow, const T* beta);

}  // namespace hyperhop::graph
