// The relation-schema graph: what leaves an entity, what follows what, and its sequences.
#include <pybind11/pybind11.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../graph/schema.h"
#include "../graph/schema_sequences.h"
#include "gil.h"
#include "graph_index.h"
#include "module.h"

namespace hyperhop::bindings {
namespace {

py::array_t<std::int32_t> leaving_of_entity(const GraphIndex& index, std::int32_t entity) {
  index.check_entity("leaving", entity);
  std::vector<std::int32_t> symbols;
  graph::leaving_symbols(index.view(), entity, symbols);
  return to_array(std::move(symbols));
}

py::object relation_schema(const GraphIndex& index, std::int64_t max_pairs) {
  std::optional<graph::RelationSchema> schema;
  {
    const GilReleased released;
    schema = graph::build_schema(index.view(), max_pairs);
  }
  if (!schema) return py::none();
  return py::make_tuple(to_array(std::move(schema->offsets)), to_array(std::move(schema->symbols)),
                        to_array(std::move(schema->counts)));
}

py::tuple sequences_of_schema(const py::object& offsets, const py::object& symbols,
                              const py::object& counts, const py::object& first,
                              std::int64_t max_hops, std::int64_t cap, std::int64_t beam,
                              bool inverse, const py::object& symbol_ranks,
                              const graph::Limits& limits) {
  const Column<std::int64_t> offset("sequences", "schema_offsets", offsets);
  const Column<std::int32_t> symbol("sequences", "schema_symbols", symbols);
  const Column<std::int64_t> count("sequences", "schema_counts", counts);
  const Column<std::int32_t> firsts("sequences", "first", first);
  const Column<std::int32_t> ranks("sequences", "symbol_ranks", symbol_ranks);
  const std::int64_t num_symbols = offset.size() - 1;
  require(num_symbols >= 0 && num_symbols % 2 == 0 &&
              num_symbols / 2 <= graph::TripleBuilder::kMaxRelations &&
              symbol.size() == count.size(),
          "sequences: the arrays of the schema must have 2 R + 1 offsets and a count a symbol");
  require(beam == 0 || ranks.size() == num_symbols,
          "sequences: symbol_ranks must hold one rank a symbol");
  const std::vector<std::int32_t> begin(firsts.data(), firsts.data() + firsts.size());
  for (std::size_t i = 0; i < begin.size(); ++i) {
    require(begin[i] >= 0 && begin[i] < num_symbols && (i == 0 || begin[i - 1] < begin[i]),
            "sequences: first must hold symbols below " + std::to_string(num_symbols) +
                ", ascending and distinct");
  }
  const graph::SchemaView view{offset.data(), symbol.data(), count.data(),
                               static_cast<std::int32_t>(num_symbols / 2), symbol.size()};
  graph::Sequences found;
  {
    const GilReleased released;
    found =
        graph::schema_sequences(view, begin, {max_hops, cap, beam, inverse, ranks.data()}, limits);
  }
  return py::make_tuple(to_array(std::move(found.symbols)), to_array(std::move(found.offsets)),
                        found.truncated);
}

}  // namespace

void bind_graph_schema(py::module_& m) {
  m.def("graph_leaving", &leaving_of_entity, py::arg("graph"), py::arg("entity"));
  m.def("graph_schema", &relation_schema, py::arg("graph"), py::arg("max_pairs"));
  m.def("schema_sequences", &sequences_of_schema, py::arg("schema_offsets"),
        py::arg("schema_symbols"), py::arg("schema_counts"), py::arg("first"), py::arg("max_hops"),
        py::arg("cap"), py::arg("beam"), py::arg("inverse"), py::arg("symbol_ranks"),
        py::arg("limits"));
}

}  // namespace hyperhop::bindings
