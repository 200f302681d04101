// The graph that results from adding facts to a graph, or from taking facts away.
//
// Equal to a graph built from the resulting facts but for its ids: a name keeps its id, new names
// get the ids after all others, by name. A name whose last fact is taken away is retired: its id is
// given to no other name, and a merge that brings the name back gives it its old id. Both cost a
// copy of the edges and what it takes to find the places of the changed ones; nothing is sorted but
// the change. Neither graph may be trusted: both are checked as they are read.
#pragma once

#include <cstdint>
#include <vector>

#include "csr.h"
#include "graph_view.h"
#include "names.h"

namespace hyperhop::graph {

struct NamedGraph {
  GraphView graph;
  NameView entities;
  NameView relations;
};

// How a table of names changed.
struct NameChange {
  NameBlob added;                   // names of the new ids
  bool reordered = false;           // `order` replaces the one there was
  std::vector<std::int32_t> order;  // as NameView::order; empty where ids are places again
};

struct ChangedGraph {
  NameChange entities;
  NameChange relations;
  std::int64_t num_changed = 0;  // facts added or taken away; if none, the orders are empty
  EdgeOrder out;
  EdgeOrder in;
};

// `graph` with the names in use and the facts of `other`.
// Throws std::length_error beyond max_entities or max_relations ids.
ChangedGraph merge(const NamedGraph& graph, const NamedGraph& other, std::int64_t max_entities,
                   std::int64_t max_relations);

// `graph` without facts that it holds, in any order, once or more.
ChangedGraph without(const NamedGraph& graph, std::vector<Triple> facts);

// Do both hold the same names in use and the same facts between them, whatever their ids?
bool equal(const NamedGraph& a, const NamedGraph& b);

}  // namespace hyperhop::graph
