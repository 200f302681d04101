// k-hop balls, and the edges of one entity.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../graph/ball.h"
#include "../parallel.h"
#include "gil.h"
#include "graph_index.h"
#include "module.h"

namespace hyperhop::bindings {
namespace {

py::tuple ball_tuple(graph::Ball&& ball) {
  return py::make_tuple(to_array(std::move(ball.entities)), to_array(std::move(ball.hops)),
                        to_array(std::move(ball.heads)), to_array(std::move(ball.relations)),
                        to_array(std::move(ball.tails)), to_array(std::move(ball.topics)),
                        to_array(std::move(ball.hub_ids)), ball.truncated);
}

using Topics = std::vector<std::int32_t>;

// `mediators` is None, a mask by id or ascending ids, and is kept alive.
class BallArguments {
 public:
  BallArguments(const GraphIndex& index, std::int64_t hops, bool out, bool inward, bool induced,
                std::int64_t max_degree, bool skip_hubs, const py::object& mediators,
                std::int64_t max_edges, std::int64_t edge_visits) {
    options.hops = hops;
    options.out = out;
    options.in = inward;
    options.induced = induced;
    options.hubs.max_degree = max_degree;
    options.hubs.mode = skip_hubs ? graph::HubRule::Mode::kSkip : graph::HubRule::Mode::kSample;
    options.max_edges = max_edges;
    options.edge_visits = edge_visits;
    if (mediators.is_none()) return;
    if (py::isinstance<py::array_t<bool>>(mediators)) {
      mask_.emplace("subgraph", "mediators", mediators);
      require(mask_->size() == index.view().num_entities,
              "subgraph: a mask of mediators must have one item for each of the " +
                  std::to_string(index.view().num_entities) + " ids, got " +
                  std::to_string(mask_->size()));
      options.mediators.mask = mask_->data();
    } else {
      ids_.emplace("subgraph", "mediators", mediators);
      options.mediators.ids = ids_->data();
      options.mediators.count = ids_->size();
    }
  }

  graph::BallOptions options{};

 private:
  std::optional<Column<bool>> mask_;
  std::optional<Column<std::int32_t>> ids_;
};

py::tuple find_ball(const GraphIndex& index, const Topics& topics, std::int64_t hops, bool out,
                    bool inward, bool induced, std::int64_t max_degree, bool skip_hubs,
                    const py::object& mediators, std::int64_t max_edges, std::int64_t edge_visits) {
  const BallArguments arguments(index, hops, out, inward, induced, max_degree, skip_hubs, mediators,
                                max_edges, edge_visits);
  for (const std::int32_t topic : topics) index.check_entity("subgraph", topic);
  graph::Ball ball;
  {
    const GilReleased released;
    ball = graph::find_ball(index.view(), topics.data(), static_cast<std::int64_t>(topics.size()),
                            arguments.options);
  }
  return ball_tuple(std::move(ball));
}

py::list find_balls(const GraphIndex& index, const std::vector<Topics>& topics, std::int64_t hops,
                    bool out, bool inward, bool induced, std::int64_t max_degree, bool skip_hubs,
                    const py::object& mediators, std::int64_t max_edges, std::int64_t edge_visits,
                    int threads) {
  const BallArguments arguments(index, hops, out, inward, induced, max_degree, skip_hubs, mediators,
                                max_edges, edge_visits);
  for (const Topics& each : topics) {
    for (const std::int32_t topic : each) index.check_entity("subgraph_batch", topic);
  }
  const auto count = static_cast<std::int64_t>(topics.size());
  std::vector<graph::Ball> balls(topics.size());
  {
    const GilReleased released;
    parallel_for(count, 1, threads, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const Topics& each = topics[static_cast<std::size_t>(i)];
        balls[static_cast<std::size_t>(i)] = graph::find_ball(
            index.view(), each.data(), static_cast<std::int64_t>(each.size()), arguments.options);
      }
    });
  }
  py::list found;
  for (graph::Ball& ball : balls) found.append(ball_tuple(std::move(ball)));
  return found;
}

// Relations and neighbours of an entity's edges in one direction; of one relation, if it is >= 0.
py::tuple find_neighbours(const GraphIndex& index, std::int32_t entity, bool out,
                          std::int32_t relation) {
  index.check_entity("neighbors", entity);
  const graph::Adjacency& side = out ? index.view().out : index.view().in;
  const graph::Row row = relation < 0 ? side.row(entity) : side.row(entity, relation);
  std::vector<std::int32_t> relations, neighbours;
  relations.reserve(static_cast<std::size_t>(row.end - row.begin));
  neighbours.reserve(static_cast<std::size_t>(row.end - row.begin));
  for (std::int64_t e = row.begin; e < row.end; ++e) {
    relations.push_back(side.relation(e));
    neighbours.push_back(side.neighbour(e));
  }
  return py::make_tuple(to_array(std::move(relations)), to_array(std::move(neighbours)));
}

std::int64_t find_degree(const GraphIndex& index, std::int32_t entity, bool out, bool in) {
  index.check_entity("degree", entity);
  std::int64_t degree = 0;
  if (out) degree += index.view().out.row(entity).end - index.view().out.row(entity).begin;
  if (in) degree += index.view().in.row(entity).end - index.view().in.row(entity).begin;
  return degree;
}

}  // namespace

void bind_graph_ball(py::module_& m) {
  m.def("graph_ball", &find_ball, py::arg("graph"), py::arg("topics"), py::arg("hops"),
        py::arg("out"), py::arg("inward"), py::arg("induced"), py::arg("max_degree"),
        py::arg("skip_hubs"), py::arg("mediators"), py::arg("max_edges"), py::arg("edge_visits"));
  m.def("graph_balls", &find_balls, py::arg("graph"), py::arg("topics"), py::arg("hops"),
        py::arg("out"), py::arg("inward"), py::arg("induced"), py::arg("max_degree"),
        py::arg("skip_hubs"), py::arg("mediators"), py::arg("max_edges"), py::arg("edge_visits"),
        py::arg("threads"));
  m.def("graph_neighbours", &find_neighbours, py::arg("graph"), py::arg("entity"), py::arg("out"),
        py::arg("relation"));
  m.def("graph_degree", &find_degree, py::arg("graph"), py::arg("entity"), py::arg("out"),
        py::arg("inward"));
}

}  // namespace hyperhop::bindings
