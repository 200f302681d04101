// Paths behind the targets of one flow, of packed flows or of lanes.
#include "../graph/backtrack.h"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "../flow_graph.h"
#include "../parallel.h"
#include "columns.h"
#include "flow_arrays.h"
#include "gil.h"
#include "module.h"

namespace hyperhop::bindings {
namespace {

using graph::as_size;

using Arrays = std::vector<py::array>;

constexpr const char* kBacktrack = "backtrack";
constexpr std::int64_t kTargetsOfChunk = 2048;  // targets that pay for a thread

std::string item(const char* name, std::size_t number) {
  return name + ("[" + std::to_string(number) + "]");
}

bool any_double(const char* name, const Arrays& arrays) {
  bool any = false;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    any |= is_double(kBacktrack, {{item(name, i).c_str(), &arrays[i]}});
  }
  return any;
}

// flows or betas: contiguous arrays of one shape, kept alive.
template <typename T>
class ArrayList {
 public:
  ArrayList(const char* name, const Arrays& arrays, const Shape& shape) {
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      arrays_.push_back(read_floats<T>({kBacktrack, item(name, i)}, arrays[i], shape));
      data_.push_back(arrays_.back().data());
    }
  }
  const T* const* data() const { return data_.data(); }

 private:
  std::vector<FloatArray<T>> arrays_;
  std::vector<const T*> data_;
};

// Targets in order: the node of each, -1 for none, and the number of its flow.
struct Targets {
  const std::int64_t* nodes;
  std::vector<std::int64_t> flows;
  std::int64_t count;
};

Targets number_flows(const Column<std::int64_t>& nodes, const FlowShape& shape,
                     std::int64_t num_nodes) {
  Targets targets{nodes.data(), std::vector<std::int64_t>(as_size(nodes.size())), nodes.size()};
  for (std::int64_t i = 0; i < targets.count; ++i) {
    const std::int64_t node = targets.nodes[i];
    require(node >= -1 && node < num_nodes, "backtrack: targets must be node ids below " +
                                                std::to_string(num_nodes) +
                                                ", or -1 for none, got " + std::to_string(node));
    if (node < 0) continue;
    targets.flows[as_size(i)] =
        shape.is_lanes() ? i / (targets.count / shape.lanes()) : shape.segment_of(node);
  }
  return targets;
}

// Paths of `hops` steps in target order.
struct Traced {
  explicit Traced(std::int64_t steps) : hops(steps) {}

  std::int64_t hops;
  std::vector<std::int32_t> entities, relations;
  std::vector<std::int64_t> targets, unreached;
  std::vector<double> scores;

  void resize(std::int64_t paths) {
    entities.resize(as_size(paths * (hops + 1)));
    relations.resize(as_size(paths * hops));
    targets.resize(as_size(paths));
    scores.resize(as_size(paths));
  }
  std::int32_t* entities_of(std::int64_t path) { return entities.data() + path * (hops + 1); }
  std::int32_t* relations_of(std::int64_t path) { return relations.data() + path * hops; }
};

template <typename T, typename History>
Traced trace_each(const FlowEdges& edges, const Targets& targets, History&& history,
                  std::int64_t hops, int threads) {
  Traced traced(hops);
  traced.resize(targets.count);
  std::vector<char> found(as_size(targets.count));
  parallel_for(targets.count, kTargetsOfChunk, threads, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      if (targets.nodes[i] < 0) continue;
      found[as_size(i)] = graph::trace_greedy(
          edges, history(targets.flows[as_size(i)]), static_cast<std::int32_t>(targets.nodes[i]),
          traced.entities_of(i), traced.relations_of(i), &traced.scores[as_size(i)]);
    }
  });
  std::int64_t kept = 0;
  for (std::int64_t i = 0; i < targets.count; ++i) {
    if (!found[as_size(i)]) {
      if (targets.nodes[i] >= 0) traced.unreached.push_back(i);
      continue;
    }
    if (kept < i) {
      std::copy_n(traced.entities_of(i), hops + 1, traced.entities_of(kept));
      std::copy_n(traced.relations_of(i), hops, traced.relations_of(kept));
      traced.scores[as_size(kept)] = traced.scores[as_size(i)];
    }
    traced.targets[as_size(kept++)] = i;
  }
  traced.resize(kept);
  return traced;
}

template <typename T, typename History>
Traced trace_best(const FlowEdges& edges, const Targets& targets, History&& history,
                  std::int64_t num_flows, std::int64_t hops, std::int64_t k, int threads) {
  std::vector<std::vector<std::int64_t>> targets_of(as_size(num_flows));
  for (std::int64_t i = 0; i < targets.count; ++i) {
    if (targets.nodes[i] >= 0) targets_of[as_size(targets.flows[as_size(i)])].push_back(i);
  }
  std::vector<Traced> parts(as_size(targets.count), Traced(hops));  // of each target
  parallel_for(num_flows, 1, threads, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t flow = begin; flow < end; ++flow) {
      const auto& mine = targets_of[as_size(flow)];
      if (mine.empty()) continue;
      std::vector<std::int32_t> nodes;
      for (const std::int64_t i : mine) {
        nodes.push_back(static_cast<std::int32_t>(targets.nodes[i]));
      }
      const graph::BestPaths<T> best(edges, history(flow), nodes, k);
      for (std::size_t j = 0; j < mine.size(); ++j) {
        Traced& part = parts[as_size(mine[j])];
        part.resize(best.count(hops, nodes[j]));
        for (std::int64_t rank = 0; rank < best.count(hops, nodes[j]); ++rank) {
          best.write(nodes[j], rank, part.entities_of(rank), part.relations_of(rank),
                     &part.scores[as_size(rank)]);
        }
      }
    }
  });
  Traced traced(hops);
  const auto append = [](auto& to, const auto& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  for (std::int64_t i = 0; i < targets.count; ++i) {
    const Traced& part = parts[as_size(i)];
    if (part.scores.empty() && targets.nodes[i] >= 0) traced.unreached.push_back(i);
    append(traced.entities, part.entities);
    append(traced.relations, part.relations);
    append(traced.scores, part.scores);
    traced.targets.insert(traced.targets.end(), part.scores.size(), i);
  }
  return traced;
}

// Targets in lanes: as many for each, lane by lane.
py::tuple backtrack(const FlowGraph& graph, const Arrays& flow_arrays, const Arrays& beta_arrays,
                    const py::object& target_nodes, const py::object& segments, std::int64_t k,
                    bool greedy, bool with_beta, int threads) {
  const bool wide = any_double("flows", flow_arrays) | any_double("betas", beta_arrays);
  const FlowShape shape(kBacktrack, {"flows[0]", &flow_arrays.at(0)}, segments, graph.num_nodes(),
                        &graph);
  const Column<std::int64_t> nodes(kBacktrack, "targets", target_nodes);
  const Targets targets = number_flows(nodes, shape, graph.num_nodes());
  const auto hops = static_cast<std::int64_t>(beta_arrays.size());
  return with_float_type(wide, [&](auto zero) -> py::tuple {
    using T = decltype(zero);
    const ArrayList<T> flows("flows", flow_arrays, shape.nodes());
    const ArrayList<T> betas("betas", beta_arrays, shape.per_relation(graph.num_relations()));
    const auto history = [&](std::int64_t flow) -> graph::FlowHistory<T> {
      const std::int64_t lane = shape.is_lanes() ? flow : 0;
      const std::int64_t segment = shape.is_lanes() ? 0 : flow;
      return {hops,          flows.data(), betas.data(),
              shape.lanes(), lane,         segment * graph.num_relations() + lane,
              with_beta};
    };
    Traced traced(hops);
    {
      const GilReleased released;
      traced =
          greedy ? trace_each<T>(graph.in(), targets, history, hops, threads)
                 : trace_best<T>(graph.in(), targets, history, shape.num_flows(), hops, k, threads);
    }
    const auto rows = static_cast<py::ssize_t>(traced.scores.size());
    py::array_t<T> scores(rows);
    std::transform(traced.scores.begin(), traced.scores.end(), scores.mutable_data(),
                   [](double score) { return static_cast<T>(score); });
    return py::make_tuple(
        to_array(std::move(traced.relations)),
        to_array(std::move(traced.entities)).reshape({rows, static_cast<py::ssize_t>(hops + 1)}),
        to_array(std::move(traced.targets)), scores, to_array(std::move(traced.unreached)));
  });
}

}  // namespace

void bind_backtrack(py::module_& m) {
  m.def("backtrack", &backtrack, py::arg("graph"), py::arg("flows"), py::arg("betas"),
        py::arg("targets"), py::arg("segments"), py::arg("k"), py::arg("greedy"),
        py::arg("with_beta"), py::arg("threads"));
}

}  // namespace hyperhop::bindings
