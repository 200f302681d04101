// Graphs with facts added or taken away, and whether two graphs are equal.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "../graph/builder.h"
#include "../graph/change.h"
#include "gil.h"
#include "graph_index.h"
#include "graph_names.h"
#include "module.h"

namespace hyperhop::bindings {
namespace {

graph::NamedGraph named(const GraphIndex& index, const PyNames& entities,
                        const PyNames& relations) {
  require(entities.num_ids() == index.view().num_entities &&
              relations.num_ids() == index.view().num_relations,
          "graph_change: names and graph must have the same ids");
  return {index.view(), entities.view(), relations.view()};
}

// (new names' blob, their offsets, order or None)
py::tuple name_change(graph::NameChange&& change) {
  py::object order = py::none();
  if (change.reordered) order = to_array(std::move(change.order));
  return py::make_tuple(to_array<std::uint8_t>(std::move(change.added.blob)),
                        to_array(std::move(change.added.offsets)), order);
}

// (facts changed, entities, relations, arrays of both orders or None)
py::tuple changes(graph::ChangedGraph&& changed) {
  py::object orders = py::none();
  if (!changed.out.offsets.empty()) {
    py::dict arrays;
    arrays["out_offsets"] = to_array(std::move(changed.out.offsets));
    arrays["out_relations"] = to_array(std::move(changed.out.relations));
    arrays["out_tails"] = to_array(std::move(changed.out.neighbours));
    arrays["in_offsets"] = to_array(std::move(changed.in.offsets));
    arrays["in_relations"] = to_array(std::move(changed.in.relations));
    arrays["in_heads"] = to_array(std::move(changed.in.neighbours));
    orders = arrays;
  }
  return py::make_tuple(changed.num_changed, name_change(std::move(changed.entities)),
                        name_change(std::move(changed.relations)), orders);
}

py::tuple merge_graphs(const GraphIndex& index, const PyNames& entities, const PyNames& relations,
                       const GraphIndex& other, const PyNames& other_entities,
                       const PyNames& other_relations, std::int64_t max_entities) {
  const graph::NamedGraph ours = named(index, entities, relations);
  const graph::NamedGraph theirs = named(other, other_entities, other_relations);
  graph::ChangedGraph changed;
  {
    const GilReleased released;
    changed = graph::merge(ours, theirs, max_entities, graph::TripleBuilder::kMaxRelations);
  }
  return changes(std::move(changed));
}

// (first triple that is no fact, or -1; changes, none if there is such a triple)
py::tuple without_facts(const GraphIndex& index, const PyNames& entities, const PyNames& relations,
                        const py::object& heads, const py::object& relation_ids,
                        const py::object& tails, bool missing_ok) {
  const graph::NamedGraph ours = named(index, entities, relations);
  const Column<std::int64_t> head("without", "heads", heads);
  const Column<std::int64_t> relation("without", "relations", relation_ids);
  const Column<std::int64_t> tail("without", "tails", tails);
  require(head.size() == relation.size() && head.size() == tail.size(),
          "without: heads, relations and tails must be of one length");
  graph::ChangedGraph changed;
  std::int64_t missing = -1;
  {
    const GilReleased released;
    const auto is_id = [](std::int64_t id, std::int64_t bound) { return id >= 0 && id < bound; };
    std::vector<graph::Triple> facts;
    for (std::int64_t i = 0; i < head.size(); ++i) {
      const std::int64_t h = head.data()[i];
      const std::int64_t r = relation.data()[i];
      const std::int64_t t = tail.data()[i];
      const graph::Triple fact{static_cast<std::int32_t>(h), static_cast<std::int32_t>(r),
                               static_cast<std::int32_t>(t)};
      if (is_id(h, index.view().num_entities) && is_id(r, index.view().num_relations) &&
          is_id(t, index.view().num_entities) &&
          index.view().has_triple(fact.head, fact.relation, fact.tail)) {
        facts.push_back(fact);
      } else if (!missing_ok) {
        missing = i;
        break;
      }
    }
    if (missing < 0) changed = graph::without(ours, std::move(facts));
  }
  return py::make_tuple(missing, changes(std::move(changed)));
}

bool equal_graphs(const GraphIndex& index, const PyNames& entities, const PyNames& relations,
                  const GraphIndex& other, const PyNames& other_entities,
                  const PyNames& other_relations) {
  const graph::NamedGraph ours = named(index, entities, relations);
  const graph::NamedGraph theirs = named(other, other_entities, other_relations);
  const GilReleased released;
  return graph::equal(ours, theirs);
}

}  // namespace

void bind_graph_change(py::module_& m) {
  m.def("graph_merge", &merge_graphs, py::arg("graph"), py::arg("entities"), py::arg("relations"),
        py::arg("other"), py::arg("other_entities"), py::arg("other_relations"),
        py::arg("max_entities") = graph::TripleBuilder::kMaxEntities);
  m.def("graph_without", &without_facts, py::arg("graph"), py::arg("entities"),
        py::arg("relations"), py::arg("heads"), py::arg("relation_ids"), py::arg("tails"),
        py::arg("missing_ok"));
  m.def("graph_equal", &equal_graphs, py::arg("graph"), py::arg("entities"), py::arg("relations"),
        py::arg("other"), py::arg("other_entities"), py::arg("other_relations"));
}

}  // namespace hyperhop::bindings
