// A graph's arrays as Python hands them over, kept alive and checked against each other.
#pragma once
#include <cstdint>
#include <string>

#include "../graph/builder.h"
#include "../graph/graph_view.h"
#include "columns.h"

namespace hyperhop::bindings {

class GraphIndex {
 public:
  GraphIndex(const py::object& out_offsets, const py::object& out_relations,
             const py::object& out_tails, const py::object& in_offsets,
             const py::object& in_relations, const py::object& in_heads, std::int32_t num_relations)
      : out_offsets_("GraphIndex", "out_offsets", out_offsets),
        in_offsets_("GraphIndex", "in_offsets", in_offsets),
        out_relations_("GraphIndex", "out_relations", out_relations),
        out_tails_("GraphIndex", "out_tails", out_tails),
        in_relations_("GraphIndex", "in_relations", in_relations),
        in_heads_("GraphIndex", "in_heads", in_heads) {
    const std::int64_t edges = out_tails_.size();
    require(out_offsets_.size() >= 1 && out_offsets_.size() == in_offsets_.size() &&
                out_offsets_.size() - 1 <= graph::TripleBuilder::kMaxEntities,
            "GraphIndex: both offsets must have one length, at most 2**31");
    require(out_relations_.size() == edges && in_relations_.size() == edges &&
                in_heads_.size() == edges,
            "GraphIndex: relations, tails and heads must have one length");
    require(num_relations >= 0 && num_relations <= graph::TripleBuilder::kMaxRelations,
            "GraphIndex: num_relations is out of range");
    const auto entities = static_cast<std::int32_t>(out_offsets_.size() - 1);
    view_ = {{out_offsets_.data(), out_relations_.data(), out_tails_.data(), entities,
              num_relations, edges},
             {in_offsets_.data(), in_relations_.data(), in_heads_.data(), entities, num_relations,
              edges},
             entities,
             num_relations,
             edges};
  }

  const graph::GraphView& view() const { return view_; }

  void check_entity(const char* function, std::int64_t id) const {
    require(id >= 0 && id < view_.num_entities, std::string(function) + ": no entity with id " +
                                                    std::to_string(id) + ": there are " +
                                                    std::to_string(view_.num_entities));
  }

 private:
  Column<std::int64_t> out_offsets_, in_offsets_;
  Column<std::int32_t> out_relations_, out_tails_, in_relations_, in_heads_;
  graph::GraphView view_{};
};

}  // namespace hyperhop::bindings
