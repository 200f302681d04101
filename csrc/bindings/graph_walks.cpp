// Symbol sequences and entity paths from one topic.
#include <pybind11/pybind11.h>

#include <cstdint>
#include <string>
#include <utility>

#include "../graph/paths.h"
#include "../graph/sequences.h"
#include "gil.h"
#include "graph_index.h"
#include "module.h"

namespace hyperhop::bindings {
namespace {

void check_sequences(const GraphIndex& index, const Column<std::int32_t>& symbols,
                     const Column<std::int64_t>& offsets) {
  bool ascending = offsets.size() >= 1 && offsets.data()[0] == 0 &&
                   offsets.data()[offsets.size() - 1] == symbols.size();
  for (std::int64_t i = 1; ascending && i < offsets.size(); ++i) {
    ascending = offsets.data()[i - 1] <= offsets.data()[i];
  }
  require(ascending, "paths: sequence offsets must ascend from 0 to the number of symbols");
  const std::int64_t bound = 2 * static_cast<std::int64_t>(index.view().num_relations);
  for (std::int64_t i = 0; i < symbols.size(); ++i) {
    const std::int32_t symbol = symbols.data()[i];
    if (symbol < 0 || symbol >= bound) {
      throw py::value_error("paths: sequences hold the symbol " + std::to_string(symbol) +
                            ", expected 0 <= symbol < " + std::to_string(bound));
    }
  }
}

py::tuple find_sequences(const GraphIndex& index, std::int32_t topic, std::int64_t max_hops,
                         std::int64_t cap, std::int64_t beam, bool inverse, bool return_to_topic,
                         const py::object& symbol_ranks, const graph::Limits& limits) {
  index.check_entity("sequences", topic);
  const Column<std::int32_t> ranks("sequences", "symbol_ranks", symbol_ranks);
  require(beam == 0 || ranks.size() == 2 * static_cast<std::int64_t>(index.view().num_relations),
          "sequences: symbol_ranks must hold one rank a symbol");
  graph::Sequences found;
  {
    const GilReleased released;
    found = graph::find_sequences(
        index.view(), topic, {max_hops, cap, beam, inverse, return_to_topic, ranks.data()}, limits);
  }
  return py::make_tuple(to_array(std::move(found.symbols)), to_array(std::move(found.offsets)),
                        found.truncated);
}

py::tuple expand_paths(const GraphIndex& index, std::int32_t topic, const py::object& symbols,
                       const py::object& offsets, std::int64_t cap, bool simple,
                       bool return_to_topic, const graph::Limits& limits) {
  index.check_entity("paths", topic);
  const Column<std::int32_t> symbol("paths", "symbols", symbols);
  const Column<std::int64_t> offset("paths", "offsets", offsets);
  check_sequences(index, symbol, offset);
  graph::EntityPaths found;
  {
    const GilReleased released;
    found =
        graph::expand_paths(index.view(), topic, {symbol.data(), offset.data(), offset.size() - 1},
                            {cap, simple, return_to_topic}, limits);
  }
  return py::make_tuple(to_array(std::move(found.entities)), to_array(std::move(found.offsets)),
                        to_array(std::move(found.ends)), to_array(std::move(found.end_offsets)),
                        found.truncated, found.ends_truncated);
}

}  // namespace

void bind_graph_walks(py::module_& m) {
  m.def("graph_sequences", &find_sequences, py::arg("graph"), py::arg("topic"), py::arg("max_hops"),
        py::arg("cap"), py::arg("beam"), py::arg("inverse"), py::arg("return_to_topic"),
        py::arg("symbol_ranks"), py::arg("limits"));
  m.def("graph_paths", &expand_paths, py::arg("graph"), py::arg("topic"), py::arg("symbols"),
        py::arg("offsets"), py::arg("cap"), py::arg("simple"), py::arg("return_to_topic"),
        py::arg("limits"));
}

}  // namespace hyperhop::bindings
