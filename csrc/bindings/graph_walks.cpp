// Symbol sequences and entity paths from many topics at once.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../graph/paths.h"
#include "../graph/sequences.h"
#include "../graph/walk_rules.h"
#include "../parallel.h"
#include "gil.h"
#include "graph_index.h"
#include "module.h"
#include "paths.h"

namespace hyperhop::bindings {
namespace {

// A graph's WalkRules as Python hands them over: no limit is None, no mediators is None.
class GraphWalkRules {
 public:
  GraphWalkRules(const GraphIndex& index, std::int64_t max_hops, bool return_to_topic,
                 std::optional<std::int64_t> max_degree, bool skip_hubs,
                 const py::object& mediators)
      : rules_{max_hops, return_to_topic, {}, nullptr} {
    rules_.hubs.max_degree = max_degree.value_or(std::numeric_limits<std::int64_t>::max());
    rules_.hubs.mode = skip_hubs ? graph::HubRule::Mode::kSkip : graph::HubRule::Mode::kSample;
    if (mediators.is_none()) return;
    mediators_.emplace("GraphWalkRules", "mediators", mediators);
    require(mediators_->size() == index.view().num_entities,
            "GraphWalkRules: mediators must hold one byte an entity");
    rules_.mediators = mediators_->data();
  }

  // The mask is as long as one graph has entities, so it must not meet another.
  const graph::WalkRules& of(const GraphIndex& index) const {
    require(!mediators_ || mediators_->size() == index.view().num_entities,
            "GraphWalkRules: made for another graph");
    return rules_;
  }

 private:
  std::optional<Column<std::uint8_t>> mediators_;
  graph::WalkRules rules_;
};

void check_topics(const char* function, const GraphIndex& index,
                  const Column<std::int32_t>& topics) {
  for (std::int64_t i = 0; i < topics.size(); ++i) index.check_entity(function, topics.data()[i]);
}

void check_symbols(const GraphIndex& index, const std::int32_t* symbols, std::int64_t count) {
  const std::int64_t bound = 2 * static_cast<std::int64_t>(index.view().num_relations);
  for (std::int64_t i = 0; i < count; ++i) {
    if (symbols[i] < 0 || symbols[i] >= bound) {
      throw py::value_error("paths: sequences hold the symbol " + std::to_string(symbols[i]) +
                            ", expected 0 <= symbol < " + std::to_string(bound));
    }
  }
}

void check_sequences(const GraphIndex& index, const Column<std::int32_t>& symbols,
                     const Column<std::int64_t>& offsets) {
  bool ascending = offsets.size() >= 1 && offsets.data()[0] == 0 &&
                   offsets.data()[offsets.size() - 1] == symbols.size();
  for (std::int64_t i = 1; ascending && i < offsets.size(); ++i) {
    ascending = offsets.data()[i - 1] <= offsets.data()[i];
  }
  require(ascending, "paths: sequence offsets must ascend from 0 to the number of symbols");
  check_symbols(index, symbols.data(), symbols.size());
}

// walk(i) of each topic, over threads and without the GIL.
template <typename Result, typename Walk>
std::vector<Result> walk_each(std::int64_t topics, int threads, Walk&& walk) {
  std::vector<Result> found(static_cast<std::size_t>(topics));
  const GilReleased released;
  parallel_for(topics, 1, threads, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) found[static_cast<std::size_t>(i)] = walk(i);
  });
  return found;
}

py::list find_sequences(const GraphIndex& index, const py::object& topics,
                        const GraphWalkRules& walk_rules, std::int64_t cap, std::int64_t beam,
                        bool inverse, const py::object& symbol_ranks, const graph::Limits& limits,
                        int threads) {
  const Column<std::int32_t> topic("sequences", "topics", topics);
  check_topics("sequences", index, topic);
  const Column<std::int32_t> ranks("sequences", "symbol_ranks", symbol_ranks);
  require(beam == 0 || ranks.size() == 2 * static_cast<std::int64_t>(index.view().num_relations),
          "sequences: symbol_ranks must hold one rank a symbol");
  const graph::WalkRules& rules = walk_rules.of(index);
  const graph::SequenceOptions options{cap, beam, inverse, ranks.data()};
  auto found = walk_each<graph::Sequences>(topic.size(), threads, [&](std::int64_t i) {
    return graph::find_sequences(index.view(), topic.data()[i], rules, options, limits);
  });
  py::list result;
  for (graph::Sequences& one : found) {
    result.append(py::make_tuple(to_array(std::move(one.symbols)), to_array(std::move(one.offsets)),
                                 one.truncated, to_array(std::move(one.hubs))));
  }
  return result;
}

py::tuple to_tuple(graph::EntityPaths&& found) {
  return py::make_tuple(to_array(std::move(found.entities)), to_array(std::move(found.offsets)),
                        found.truncated, to_array(std::move(found.ends)),
                        to_array(std::move(found.end_offsets)), found.ends_truncated,
                        to_array(std::move(found.hubs)));
}

// `sequences`: (symbols, offsets) for each topic.
py::list expand_paths(const GraphIndex& index, const py::object& topics,
                      const GraphWalkRules& walk_rules, const py::list& sequences, std::int64_t cap,
                      bool simple, const graph::Limits& limits, int threads) {
  const Column<std::int32_t> topic("paths", "topics", topics);
  check_topics("paths", index, topic);
  require(static_cast<std::int64_t>(sequences.size()) == topic.size(),
          "paths: sequences must hold one list a topic");
  std::vector<Column<std::int32_t>> symbols;
  std::vector<Column<std::int64_t>> offsets;
  std::vector<graph::SequenceList> lists;
  for (const py::handle pair : sequences) {
    const auto arrays = pair.cast<std::pair<py::object, py::object>>();
    symbols.emplace_back("paths", "symbols", arrays.first);
    offsets.emplace_back("paths", "offsets", arrays.second);
    check_sequences(index, symbols.back(), offsets.back());
    lists.push_back({symbols.back().data(), offsets.back().data(), offsets.back().size() - 1});
  }
  const graph::WalkRules& rules = walk_rules.of(index);
  const graph::PathOptions options{cap, simple};
  auto found = walk_each<graph::EntityPaths>(topic.size(), threads, [&](std::int64_t i) {
    return graph::expand_paths(index.view(), topic.data()[i], rules,
                               lists[static_cast<std::size_t>(i)], options, limits);
  });
  py::list result;
  for (graph::EntityPaths& one : found) result.append(to_tuple(std::move(one)));
  return result;
}

// Paths of one topic along the `chosen` of its sequences, and these: what a question asks for, in
// one call, since here the calls would take longer than the work.
py::tuple expand_chosen(const GraphIndex& index, std::int32_t topic,
                        const GraphWalkRules& walk_rules, const py::object& symbols,
                        const py::object& offsets, const py::object& chosen, std::int64_t cap,
                        bool simple, const graph::Limits& limits) {
  index.check_entity("paths", topic);
  const Column<std::int32_t> symbol("paths", "symbols", symbols);
  const Column<std::int64_t> offset("paths", "offsets", offsets);
  graph::OwnedSequences taken = take_sequences(symbol, offset, {"paths", "chosen", chosen});
  check_symbols(index, taken.symbols.data(), static_cast<std::int64_t>(taken.symbols.size()));
  const graph::WalkRules& rules = walk_rules.of(index);
  graph::EntityPaths found;
  {
    const GilReleased released;
    found = graph::expand_paths(index.view(), topic, rules, taken.list(), {cap, simple}, limits);
  }
  return py::make_tuple(to_array(std::move(taken.symbols)), to_array(std::move(taken.offsets)),
                        to_tuple(std::move(found)));
}

// Looks every step of every path up in the graph: the place in `entities` where the first step
// that is no fact begins, -1 if all are facts. Paths lie sequence by sequence, as `paths` lays
// them.
std::int64_t find_broken_step(const GraphIndex& index, const py::object& entities,
                              const py::object& path_offsets, const py::object& symbols,
                              const py::object& symbol_offsets) {
  const Column<std::int32_t> entity("broken_step", "entities", entities);
  const Column<std::int64_t> paths("broken_step", "path_offsets", path_offsets);
  const Column<std::int32_t> symbol("broken_step", "symbols", symbols);
  const Column<std::int64_t> offset("broken_step", "symbol_offsets", symbol_offsets);
  check_sequences(index, symbol, offset);
  require(paths.size() == offset.size(),
          "broken_step: path_offsets must hold one more than there "
          "are sequences");
  const graph::GraphView& view = index.view();
  std::int64_t place = 0;
  for (std::int64_t sequence = 0; sequence + 1 < offset.size(); ++sequence) {
    const std::int64_t first = offset.data()[sequence];
    const std::int64_t length = offset.data()[sequence + 1] - first;
    for (std::int64_t path = paths.data()[sequence]; path < paths.data()[sequence + 1]; ++path) {
      require(place + length < entity.size(), "broken_step: entities are fewer than the paths say");
      for (std::int64_t step = 0; step < length; ++step, ++place) {
        const std::int32_t label = symbol.data()[first + step];
        std::int32_t head = entity.data()[place], tail = entity.data()[place + 1];
        const bool inverse = label >= view.num_relations;
        if (inverse) std::swap(head, tail);
        if (head < 0 || head >= view.num_entities ||
            !view.has_triple(head, inverse ? label - view.num_relations : label, tail)) {
          return place;
        }
      }
      ++place;
    }
  }
  return -1;
}

}  // namespace

void bind_graph_walks(py::module_& m) {
  py::class_<GraphWalkRules>(m, "GraphWalkRules")
      .def(py::init<const GraphIndex&, std::int64_t, bool, std::optional<std::int64_t>, bool,
                    const py::object&>(),
           py::arg("graph"), py::arg("max_hops"), py::arg("return_to_topic"), py::arg("max_degree"),
           py::arg("skip_hubs"), py::arg("mediators"));
  m.def("graph_sequences", &find_sequences, py::arg("graph"), py::arg("topics"), py::arg("rules"),
        py::arg("cap"), py::arg("beam"), py::arg("inverse"), py::arg("symbol_ranks"),
        py::arg("limits"), py::arg("threads"));
  m.def("graph_paths", &expand_paths, py::arg("graph"), py::arg("topics"), py::arg("rules"),
        py::arg("sequences"), py::arg("cap"), py::arg("simple"), py::arg("limits"),
        py::arg("threads"));
  m.def("graph_chosen_paths", &expand_chosen, py::arg("graph"), py::arg("topic"), py::arg("rules"),
        py::arg("symbols"), py::arg("offsets"), py::arg("chosen"), py::arg("cap"),
        py::arg("simple"), py::arg("limits"));
  m.def("graph_broken_step", &find_broken_step, py::arg("graph"), py::arg("entities"),
        py::arg("path_offsets"), py::arg("symbols"), py::arg("symbol_offsets"));
}

}  // namespace hyperhop::bindings
