#include "change.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "offsets.h"
#include "sizes.h"

namespace hyperhop::graph {
namespace {

[[noreturn]] void throw_inconsistent(const char* what) {
  throw DamagedStore(std::string("the graph is damaged: ") + what +
                     "; open it with verify=True to find the file");
}

// An edge as one of the two orders has it.
struct Edge {
  std::int32_t row;
  std::int32_t relation;
  std::int32_t neighbour;

  bool operator<(const Edge& other) const {
    return std::tie(row, relation, neighbour) <
           std::tie(other.row, other.relation, other.neighbour);
  }
};

Edge turned(const Edge& edge) {
  return {edge.neighbour, edge.relation, edge.row};
}

// Where an edge is in its order, or would be.
struct Place {
  std::int64_t edge;
  bool found;
};

Place place_of(const Adjacency& side, const Edge& edge) {
  if (edge.row >= side.num_entities) return {side.num_triples, false};
  const Row row = side.row(edge.row, edge.relation);
  const std::int32_t* end = side.neighbours + row.end;
  const std::int32_t* at = std::lower_bound(side.neighbours + row.begin, end, edge.neighbour);
  return {at - side.neighbours, at != end && *at == edge.neighbour};
}

// Calls function(node, edge) for every edge of a side, in order.
template <typename Function>
void each_edge(const Adjacency& side, Function&& function) {
  std::int64_t edge = 0;
  for (std::int32_t node = 0; node < side.num_entities; ++node) {
    const Row row = side.row(node);
    if (row.begin != edge) throw_damaged("offsets", node, row.begin, edge);
    for (; edge < row.end; ++edge) function(node, edge);
  }
  if (edge != side.num_triples) throw_damaged("offsets", side.num_entities, edge, edge);
}

void check_ids(const char* what, const std::int32_t* ids, std::int64_t count, std::int32_t bound) {
  std::uint32_t largest = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    largest = std::max(largest, static_cast<std::uint32_t>(ids[i]));
  }
  if (count == 0 || largest < static_cast<std::uint32_t>(bound)) return;
  const std::int32_t* bad = std::find(ids, ids + count, static_cast<std::int32_t>(largest));
  throw_damaged(what, bad - ids, *bad, bound - 1);
}

// One order with `edges` (ascending) put in before their places, or left out at them.
EdgeOrder changed_side(const Adjacency& side, const std::vector<Edge>& edges,
                       const std::vector<std::int64_t>& places, bool adds,
                       std::int64_t num_entities) {
  check_ids("relations", side.relations, side.num_triples, side.num_relations);
  check_ids("neighbours", side.neighbours, side.num_triples, side.num_entities);
  EdgeOrder order;
  order.offsets = changed_offsets(side.offsets, side.num_entities, side.num_triples, num_entities,
                                  static_cast<std::int64_t>(edges.size()), adds ? 1 : -1,
                                  [&edges](std::int64_t i) { return edges[as_size(i)].row; });
  order.relations.reserve(as_size(order.offsets.back()));
  order.neighbours.reserve(as_size(order.offsets.back()));
  std::int64_t copied = 0;
  const auto copy_until = [&](std::int64_t place) {
    order.relations.insert(order.relations.end(), side.relations + copied, side.relations + place);
    order.neighbours.insert(order.neighbours.end(), side.neighbours + copied,
                            side.neighbours + place);
    copied = place;
  };
  for (std::size_t i = 0; i < edges.size(); ++i) {
    copy_until(places[i]);
    if (adds) {
      order.relations.push_back(edges[i].relation);
      order.neighbours.push_back(edges[i].neighbour);
    } else {
      ++copied;
    }
  }
  copy_until(side.num_triples);
  return order;
}

// Both orders after `edges` (out order, ascending, distinct) that are all new, or all there.
void change_edges(const GraphView& graph, std::vector<Edge> edges, bool adds,
                  std::int64_t num_entities, ChangedGraph& changed) {
  changed.num_changed = static_cast<std::int64_t>(edges.size());
  if (edges.empty() && num_entities == graph.num_entities) return;
  for (const Adjacency* side : {&graph.out, &graph.in}) {
    if (side == &graph.in) {
      for (Edge& edge : edges) edge = turned(edge);
      std::sort(edges.begin(), edges.end());
    }
    std::vector<std::int64_t> places;
    places.reserve(edges.size());
    for (const Edge& edge : edges) {
      const Place place = place_of(*side, edge);
      if (place.found == adds) throw_inconsistent("its two orders hold different facts");
      if (!places.empty() && place.edge < places.back() + (adds ? 0 : 1)) {
        throw_damaged("edge places", places.back(), place.edge, side->num_triples);
      }
      places.push_back(place.edge);
    }
    (side == &graph.out ? changed.out : changed.in) =
        changed_side(*side, edges, places, adds, num_entities);
  }
}

struct Insertion {
  std::int64_t place;
  std::int32_t id;
};

// Appends at(0) ... at(count - 1) without those at `dropped` places and with each inserted id
// before its place. Both lists ascend.
template <typename At>
void splice(std::vector<std::int32_t>& result, std::int64_t count, At&& at,
            const std::vector<std::int64_t>& dropped, const std::vector<Insertion>& inserted) {
  auto drop = dropped.begin();
  auto insert = inserted.begin();
  for (std::int64_t place = 0; place <= count; ++place) {
    for (; insert != inserted.end() && insert->place == place; ++insert) {
      result.push_back(insert->id);
    }
    if (place == count) break;
    if (drop != dropped.end() && *drop == place) {
      ++drop;
    } else {
      result.push_back(at(place));
    }
  }
}

bool are_places(const std::vector<std::int32_t>& order) {
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (order[i] != static_cast<std::int32_t>(i)) return false;
  }
  return true;
}

// Ids of `added` names in use, by their id there, -1 for the retired ones.
std::vector<std::int32_t> add_names(const NameView& names, const NameView& added, std::int64_t most,
                                    NameChange& change) {
  std::vector<std::int32_t> ids(as_size(added.count), -1);
  std::vector<Insertion> entering;
  std::vector<std::int64_t> revived;
  std::int64_t place = 0;
  std::string_view before;
  for (std::int64_t i = 0; i < added.num_used(); ++i) {
    const std::int64_t its_id = added.id_at(i);
    const std::string_view name = added.name(its_id);
    if (i > 0 && before >= name) {
      throw_inconsistent("its names are not in order");
    }
    before = name;
    place = names.lower_bound(name, place);
    std::int32_t& id = ids[as_size(its_id)];
    if (place < names.num_used() && names.name(names.id_at(place)) == name) {
      id = static_cast<std::int32_t>(names.id_at(place));
      continue;
    }
    const std::int64_t retired = names.num_retired > 0 ? names.lower_bound_retired(name) : 0;
    if (retired < names.num_retired && names.name(names.retired_at(retired)) == name) {
      id = static_cast<std::int32_t>(names.retired_at(retired));
      revived.push_back(retired);
    } else {
      const std::int64_t next = names.count + change.added.count();
      if (next >= most) {
        throw std::length_error("more than " + std::to_string(most) +
                                " distinct names: ids are 32-bit");
      }
      id = static_cast<std::int32_t>(next);
      change.added.push_back(name);
    }
    entering.push_back({place, id});
  }
  if (entering.empty()) return ids;
  change.reordered = true;
  splice(
      change.order, names.num_used(),
      [&names](std::int64_t i) { return static_cast<std::int32_t>(names.id_at(i)); }, {}, entering);
  splice(change.order, names.num_retired,
         [&names](std::int64_t i) { return static_cast<std::int32_t>(~names.retired_at(i)); },
         revived, {});
  if (are_places(change.order)) change.order.clear();
  return ids;
}

// `ids`: distinct ids in use.
void retire_names(const NameView& names, std::vector<std::int32_t> ids, NameChange& change) {
  if (ids.empty()) return;
  std::sort(ids.begin(), ids.end(),
            [&names](std::int32_t a, std::int32_t b) { return names.name(a) < names.name(b); });
  std::vector<std::int64_t> leaving;
  std::vector<Insertion> retiring;
  for (const std::int32_t id : ids) {
    const std::int64_t place = names.lower_bound(names.name(id));
    if (place == names.num_used() || names.id_at(place) != id) {
      throw_inconsistent("a fact holds a name that is not in use");
    }
    leaving.push_back(place);
    retiring.push_back({names.lower_bound_retired(names.name(id)), ~id});
  }
  change.reordered = true;
  splice(change.order, names.num_used(),
         [&names](std::int64_t i) { return static_cast<std::int32_t>(names.id_at(i)); }, leaving,
         {});
  splice(
      change.order, names.num_retired,
      [&names](std::int64_t i) { return static_cast<std::int32_t>(~names.retired_at(i)); }, {},
      retiring);
}

std::int32_t mapped(const std::vector<std::int32_t>& ids, std::int32_t id, const char* what) {
  const std::int32_t value = ids[as_size(id)];
  if (value < 0) throw_damaged(what, id, value, static_cast<std::int64_t>(ids.size()) - 1);
  return value;
}

// Whether both have the same names in use; `ids` are then those in a, by id in b, -1 for retired
// ones.
bool match_names(const NameView& a, const NameView& b, std::vector<std::int32_t>& ids) {
  if (a.num_used() != b.num_used()) return false;
  ids.assign(as_size(b.count), -1);
  for (std::int64_t place = 0; place < a.num_used(); ++place) {
    const std::int64_t id = b.id_at(place);
    if (a.name(a.id_at(place)) != b.name(id)) return false;
    ids[as_size(id)] = static_cast<std::int32_t>(a.id_at(place));
  }
  return true;
}

}  // namespace

ChangedGraph merge(const NamedGraph& graph, const NamedGraph& other, std::int64_t max_entities,
                   std::int64_t max_relations) {
  ChangedGraph changed;
  const std::vector<std::int32_t> entities =
      add_names(graph.entities, other.entities, max_entities, changed.entities);
  const std::vector<std::int32_t> relations =
      add_names(graph.relations, other.relations, max_relations, changed.relations);
  const Adjacency& side = other.graph.out;
  std::vector<Edge> edges;
  each_edge(side, [&](std::int32_t head, std::int64_t e) {
    const Edge edge{mapped(entities, head, "entities"),
                    mapped(relations, side.relation(e), "relations"),
                    mapped(entities, side.neighbour(e), "entities")};
    if (!place_of(graph.graph.out, edge).found) edges.push_back(edge);
  });
  if (!std::is_sorted(edges.begin(), edges.end())) std::sort(edges.begin(), edges.end());
  change_edges(graph.graph, std::move(edges), true,
               graph.entities.count + changed.entities.added.count(), changed);
  return changed;
}

ChangedGraph without(const NamedGraph& graph, std::vector<Triple> facts) {
  ChangedGraph changed;
  std::vector<Edge> edges;
  edges.reserve(facts.size());
  for (const Triple& fact : facts) edges.push_back({fact.head, fact.relation, fact.tail});
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end(),
                          [](const Edge& a, const Edge& b) { return !(a < b) && !(b < a); }),
              edges.end());
  if (edges.empty()) return changed;
  std::vector<std::int32_t> entities;
  std::vector<std::int32_t> relations;
  for (const Edge& edge : edges) {
    entities.insert(entities.end(), {edge.row, edge.neighbour});
    relations.push_back(edge.relation);
  }
  change_edges(graph.graph, std::move(edges), false, graph.graph.num_entities, changed);

  const auto keep_unused = [](std::vector<std::int32_t>& ids, auto&& is_used) {
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    ids.erase(std::remove_if(ids.begin(), ids.end(), is_used), ids.end());
  };
  const auto has_row = [](const EdgeOrder& order, std::int32_t id) {
    return order.offsets[as_size(id)] < order.offsets[as_size(id) + 1];
  };
  keep_unused(entities,
              [&](std::int32_t id) { return has_row(changed.out, id) || has_row(changed.in, id); });
  std::vector<char> used(as_size(graph.graph.num_relations), 0);
  for (const std::int32_t relation : changed.out.relations) used[as_size(relation)] = 1;
  keep_unused(relations, [&used](std::int32_t id) { return used[as_size(id)] != 0; });
  retire_names(graph.entities, std::move(entities), changed.entities);
  retire_names(graph.relations, std::move(relations), changed.relations);
  return changed;
}

bool equal(const NamedGraph& a, const NamedGraph& b) {
  std::vector<std::int32_t> entities;
  std::vector<std::int32_t> relations;
  if (a.graph.num_triples != b.graph.num_triples ||
      !match_names(a.relations, b.relations, relations) ||
      !match_names(a.entities, b.entities, entities)) {
    return false;
  }
  // As many distinct facts on either side, so that one inclusion is enough.
  const Adjacency& side = b.graph.out;
  bool same = true;
  each_edge(side, [&](std::int32_t head, std::int64_t e) {
    same = same && a.graph.has_triple(mapped(entities, head, "entities"),
                                      mapped(relations, side.relation(e), "relations"),
                                      mapped(entities, side.neighbour(e), "entities"));
  });
  return same;
}

}  // namespace hyperhop::graph
