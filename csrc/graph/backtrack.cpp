#include "backtrack.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hyperhop::graph {
namespace {

// Calls function(u, relation, pi, beta) for every step into `node` at `hop` that carries flow, in
// ascending order of u.
template <typename T, typename Function>
void each_step(const FlowEdges& edges, const FlowHistory<T>& history, std::int64_t hop,
               std::int32_t node, Function&& function) {
  const std::int64_t end = edges.offsets[node + std::int64_t{1}];
  for (std::int64_t e = edges.offsets[node]; e < end;) {
    const std::int32_t source = edges.node[e];
    const T pi = history.flow(hop - 1, source);
    T best = 0;
    std::int32_t relation = -1;
    for (; e < end && edges.node[e] == source; ++e) {
      if (!(pi > 0)) continue;
      const T beta = history.beta(hop, edges.relation[e]);
      if (beta > best) {
        best = beta;
        relation = edges.relation[e];
      }
    }
    if (relation >= 0) function(source, relation, pi, best);
  }
}

template <typename T>
double weight_of(const FlowHistory<T>& history, T pi, T beta) {
  const auto weight = static_cast<double>(pi);
  return history.with_beta ? weight * static_cast<double>(beta) : weight;
}

template <typename T>
double log_weight(const FlowHistory<T>& history, T pi, T beta) {
  const double weight = weight_of(history, pi, beta);
  if (weight >= std::numeric_limits<double>::min()) return std::log(weight);
  const double log_pi = std::log(static_cast<double>(pi));
  return history.with_beta ? log_pi + std::log(static_cast<double>(beta)) : log_pi;
}

// Follows the step of the largest weight back through the hops, among those whose source at its hop
// is `allowed`; false where there is none.
template <typename T, typename Allowed>
bool follow(const FlowEdges& edges, const FlowHistory<T>& history, std::int32_t target,
            std::int32_t* entities, std::int32_t* relations, double* score, Allowed&& allowed) {
  entities[history.hops] = target;
  for (std::int64_t hop = history.hops; hop > 0; --hop) {
    double best = -1;  // a product may underflow to 0
    each_step(edges, history, hop, entities[hop],
              [&](std::int32_t source, std::int32_t relation, T pi, T beta) {
                const double weight = weight_of(history, pi, beta);
                if (!(weight > best) || !allowed(hop - 1, source)) return;
                best = weight;
                entities[hop - 1] = source;
                relations[hop - 1] = relation;
              });
    if (best < 0) return false;
  }
  if (!(history.flow(0, entities[0]) > 0)) return false;
  *score = 0;
  for (std::int64_t hop = 1; hop <= history.hops; ++hop) {
    *score += log_weight(history, history.flow(hop - 1, entities[hop - 1]),
                         history.beta(hop, relations[hop - 1]));
  }
  return true;
}

}  // namespace

template <typename T>
BestPaths<T>::BestPaths(const FlowEdges& edges, const FlowHistory<T>& history,
                        const std::vector<std::int32_t>& targets, std::int64_t k)
    : edges_(&edges), history_(history), k_(as_size(k)), hops_(as_size(history.hops + 1)) {
  find_nodes(targets);
  Hop& start = hops_.front();
  start.first.push_back(0);
  for (const std::int32_t node : start.nodes) {
    if (history_.flow(0, node) > 0) start.paths.push_back({0, -1, node, -1});
    start.first.push_back(static_cast<std::int64_t>(start.paths.size()));
  }
  for (std::int64_t hop = 1; hop <= history_.hops; ++hop) extend(hop);
}

template <typename T>
void BestPaths<T>::add(Hop& hop, std::int32_t node) {
  hop.numbers.reserve(hop.nodes.size() + 1);
  if (as_size(hop.numbers.insert(node)) == hop.nodes.size()) hop.nodes.push_back(node);
}

template <typename T>
void BestPaths<T>::find_nodes(const std::vector<std::int32_t>& targets) {
  for (const std::int32_t target : targets) add(hops_.back(), target);
  for (std::int64_t hop = history_.hops; hop > 0; --hop) {
    for (const std::int32_t node : hops_[as_size(hop)].nodes) {
      each_step(*edges_, history_, hop, node, [&](std::int32_t source, std::int32_t, T, T) {
        add(hops_[as_size(hop - 1)], source);
      });
    }
  }
}

template <typename T>
void BestPaths<T>::extend(std::int64_t number) {
  const Hop& before = hops_[as_size(number - 1)];
  Hop& hop = hops_[as_size(number)];
  std::vector<Entry> best;
  hop.first.push_back(0);
  for (const std::int32_t node : hop.nodes) {
    best.clear();
    each_step(*edges_, history_, number, node,
              [&](std::int32_t source, std::int32_t relation, T pi, T beta) {
                const std::size_t slot = as_size(before.numbers.find(source));
                const double weight = log_weight(history_, pi, beta);
                for (std::int64_t i = before.first[slot]; i < before.first[slot + 1]; ++i) {
                  const double score = before.paths[as_size(i)].score + weight;
                  // Behind its equals: they came from lower nodes, or before it from this one.
                  const auto place =
                      std::upper_bound(best.begin(), best.end(), score,
                                       [](double a, const Entry& b) { return a > b.score; });
                  if (place == best.end() && best.size() >= k_) break;
                  best.insert(place, {score, i, node, relation});
                  if (best.size() > k_) best.pop_back();
                }
              });
    hop.paths.insert(hop.paths.end(), best.begin(), best.end());
    hop.first.push_back(static_cast<std::int64_t>(hop.paths.size()));
  }
}

template <typename T>
std::int64_t BestPaths<T>::count(std::int64_t number, std::int32_t node) const {
  const Hop& hop = hops_[as_size(number)];
  const std::int32_t slot = hop.numbers.find(node);
  if (slot < 0) return 0;
  return hop.first[as_size(slot) + 1] - hop.first[as_size(slot)];
}

template <typename T>
void BestPaths<T>::write(std::int32_t target, std::int64_t rank, std::int32_t* entities,
                         std::int32_t* relations, double* score) const {
  const Hop& last = hops_.back();
  std::int64_t place = last.first[as_size(last.numbers.find(target))] + rank;
  *score = last.paths[as_size(place)].score;
  for (std::int64_t hop = history_.hops; hop >= 0; --hop) {
    const Entry& entry = hops_[as_size(hop)].paths[as_size(place)];
    entities[hop] = entry.node;
    if (hop > 0) relations[hop - 1] = entry.relation;
    place = entry.before;
  }
}

template <typename T>
bool trace_greedy(const FlowEdges& edges, const FlowHistory<T>& history, std::int32_t target,
                  std::int32_t* entities, std::int32_t* relations, double* score) {
  const auto any = [](std::int64_t, std::int32_t) { return true; };
  if (follow(edges, history, target, entities, relations, score, any)) return true;
  const BestPaths<T> reached(edges, history, {target}, 1);
  return follow(edges, history, target, entities, relations, score,
                [&](std::int64_t hop, std::int32_t node) { return reached.count(hop, node) > 0; });
}

template class BestPaths<float>;
template class BestPaths<double>;
template bool trace_greedy(const FlowEdges&, const FlowHistory<float>&, std::int32_t, std::int32_t*,
                           std::int32_t*, double*);
template bool trace_greedy(const FlowEdges&, const FlowHistory<double>&, std::int32_t,
                           std::int32_t*, std::int32_t*, double*);

}  // namespace hyperhop::graph
