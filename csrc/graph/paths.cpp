#include "paths.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "last_steps.h"
#include "node_set.h"
#include "sizes.h"

namespace hyperhop::graph {
namespace {

constexpr std::int64_t kLeastSimpleSteps = 4096;

// A group of sequences is listed at once unless that takes more edges than this, or than these for
// each path that `cap` leaves.
constexpr std::int64_t kMostListed = 1 << 21;
constexpr std::int64_t kLeastListed = 1 << 14;
constexpr std::int64_t kListedForPath = 16;

// An ascending list of ids, kept elsewhere.
struct Ids {
  const std::int32_t* begin = nullptr;
  const std::int32_t* end = nullptr;

  std::int64_t size() const { return end - begin; }
};

// Nodes some of the symbols lead to.
struct Level {
  std::vector<std::int32_t> nodes;  // ascending
  std::vector<Ids> steps;           // where the next symbol leads from each
  std::vector<std::int32_t> hops;   // only with mediators: the fewest to, or from, each
};

// What two ascending lists have in common, found from the shorter one: a hub beside a handful of
// nodes costs the handful.
class Common {
 public:
  Common(Ids ids, const std::vector<std::int32_t>& nodes)
      : shorter_(ids), longer_{nodes.data(), nodes.data() + nodes.size()}, nodes_(nodes.data()) {
    nodes_are_shorter_ = longer_.size() < shorter_.size();
    if (nodes_are_shorter_) std::swap(shorter_, longer_);
  }

  bool is_done() const { return shorter_.begin == shorter_.end; }

  // Looks at one more id; its position in `nodes`, or -1 if it is not in both.
  std::int64_t next() {
    const std::int32_t* id = shorter_.begin++;
    const std::int32_t* found = std::lower_bound(longer_.begin, longer_.end, *id);
    if (found == longer_.end || *found != *id) return -1;
    return (nodes_are_shorter_ ? id : found) - nodes_;
  }

 private:
  Ids shorter_;
  Ids longer_;
  const std::int32_t* nodes_;
  bool nodes_are_shorter_;
};

class Expansion {
 public:
  Expansion(const GraphView& graph, std::int32_t topic, const WalkRules& rules,
            const SequenceList& sequences, const PathOptions& options, const Limits& limits)
      : graph_(graph),
        topic_(topic),
        rules_(rules),
        has_mediators_(rules.mediators != nullptr),
        sequences_(sequences),
        options_(options),
        limits_(limits),
        last_steps_(graph, topic, rules.return_to_topic),
        seen_(graph.num_entities) {
    levels_.push_back({{topic}, {}, {0}});
  }

  EntityPaths run() {
    for (std::int64_t i = 0; i < sequences_.count;) {
      const std::int64_t end = sequences_.end_of_group(i, graph_.num_relations);
      const bool listed = gather(i, end);
      for (const std::int64_t first = i; i < end; ++i) {
        stored_ = 0;
        if (listed) {
          list(i, i - first);
        } else {
          expand(i);
        }
        result_.offsets.push_back(result_.offsets.back() + stored_);
        result_.end_offsets.push_back(static_cast<std::int64_t>(result_.ends.size()));
      }
    }
    share_out_cap();
    result_.hubs.assign(hubs_.begin(), hubs_.end());
    std::sort(result_.hubs.begin(), result_.hubs.end());
    seen_.give_back();
    return std::move(result_);
  }

 private:
  // Are the sequences first ... last - 1 at hand in last_steps_?
  bool gather(std::int64_t first, std::int64_t last) {
    const bool is_plain = !options_.simple && !has_mediators_ && !rules_.hubs.has_limit();
    if (!is_plain || sequences_.length(first) == 0) return false;
    if (limits_.edge_visits - visited_ < kMostListed) return false;  // expand() stops at the limit
    const std::int64_t room = std::min(options_.cap - result_.offsets.back(), kMostListed);
    const std::int64_t most = std::clamp(kListedForPath * room, kLeastListed, kMostListed);
    const bool gathered = last_steps_.gather(sequences_, first, last, most);
    visited_ += last_steps_.visits();
    return gathered;
  }

  // Ends and paths of sequence i, the k-th in last_steps_.
  void list(std::int64_t i, std::int64_t k) {
    const std::int64_t length = sequences_.length(i);
    const std::vector<LastSteps::Step>& steps = last_steps_.steps(k);
    ends_.clear();
    for (const LastSteps::Step& step : steps) {
      if (seen_.insert(step.end)) ends_.push_back(step.end);
    }
    seen_.sort_and_clear(ends_);
    add_ends(ends_);

    const std::int64_t paths = static_cast<std::int64_t>(steps.size());
    stored_ = std::min({paths, quota(), (limits_.entries - held()) / (length + 1)});
    result_.truncated |= stored_ < paths;
    std::vector<std::int32_t>& entities = result_.entities;
    entities.resize(entities.size() + as_size(stored_ * (length + 1)));
    std::int32_t* next = entities.data() + entities.size() - stored_ * (length + 1);
    for (std::int64_t p = 0; p < stored_; ++p) {
      const LastSteps::Step step = steps[as_size(p)];
      const std::int32_t* const walk = last_steps_.walk(step.walk);
      for (std::int64_t d = 0; d < length; ++d) *next++ = walk[d];
      *next++ = step.end;
    }
  }

  void expand(std::int64_t i) {
    begin_sequence(i);
    walk_forward();
    if (exhausted_) {
      result_.truncated = result_.ends_truncated = true;
    } else if (known_ == length_) {
      set_last_level();
      find_ends();
      prune();
      search();
    }
  }

  // Node sets of a prefix shared with the sequence before are kept.
  void begin_sequence(std::int64_t i) {
    const std::int32_t* previous = symbols_;
    symbols_ = sequences_.symbols + sequences_.offsets[i];
    length_ = sequences_.offsets[i + 1] - sequences_.offsets[i];
    if (sampled_ids_ > limits_.entries) {
      sampled_.clear();
      sampled_ids_ = 0;
      known_ = 0;
    }
    std::int64_t common = 0;
    while (common < std::min(known_, length_) && previous[common] == symbols_[common]) ++common;
    known_ = common;
  }

  bool visit(std::int64_t edges) {
    visited_ += edges;
    if (visited_ > limits_.edge_visits) exhausted_ = true;
    return !exhausted_;
  }

  bool is_mediator(std::int32_t node) const { return rules_.is_mediator(node, topic_); }

  // Hops that a step from `node` adds to a walk: it begins one, or ends the one it is inside.
  std::int32_t hops_of_step(std::int32_t node) const { return is_mediator(node) ? 0 : 1; }

  // Where a symbol leads from a node; not checked yet.
  Ids followed(std::int32_t node, std::int32_t symbol) {
    const Adjacency& side = graph_.side(symbol);
    if (rules_.hubs.has_limit()) {
      const Row row = side.row(node);
      if (rules_.hubs.is_hub(row)) return followed_at_hub(side, row, node, symbol);
    }
    const Row row = graph_.step(node, symbol);
    return {side.neighbours + row.begin, side.neighbours + row.end};
  }

  Ids followed_at_hub(const Adjacency& side, Row row, std::int32_t node, std::int32_t symbol) {
    hubs_.insert(node);
    if (rules_.hubs.skips(row, node == topic_)) return {};
    const Row part = graph_.step(node, symbol);
    const std::int64_t size = part.end - part.begin;
    if (size == 0) return {};
    const auto [entry, is_new] =
        sampled_.try_emplace(static_cast<std::int64_t>(symbol) << 32 | node);
    std::vector<std::int32_t>& ids = entry->second;
    if (is_new) {
      std::int64_t& most = most_[&side == &graph_.in].try_emplace(node, 0).first->second;
      if (most == 0) most = rules_.hubs.per_relation(side, row);
      const Stretch stretch{part.begin, size, std::min(size, most)};
      stretch.each_edge([&](std::int64_t edge) { ids.push_back(side.neighbour(edge)); });
      sampled_ids_ += stretch.count;
    }
    return {ids.data(), ids.data() + ids.size()};
  }

  std::int32_t checked(const Adjacency& side, const std::int32_t* id) const {
    if (static_cast<std::uint32_t>(*id) >= static_cast<std::uint32_t>(graph_.num_entities)) {
      throw_damaged("neighbours", id - side.neighbours, *id, graph_.num_entities - 1);
    }
    return *id;
  }

  // levels_[d]: where the first d symbols lead. Stops at a depth nobody reaches, or at a limit.
  void walk_forward() {
    while (!exhausted_ && known_ < length_) {
      Level& from = levels_[as_size(known_)];
      from.steps.resize(from.nodes.size());
      Level reached;
      if (has_mediators_) {
        reach_with_hops(from, symbols_[known_], reached);
      } else {
        reach(from, symbols_[known_], reached);
      }
      if (exhausted_ || reached.nodes.empty()) return;
      ++known_;
      levels_.resize(as_size(known_));
      levels_.push_back(std::move(reached));
    }
  }

  void reach(Level& from, std::int32_t symbol, Level& reached) {
    const Adjacency& side = graph_.side(symbol);
    const std::size_t everyone = as_size(graph_.num_entities) - (rules_.return_to_topic ? 0 : 1);
    for (std::size_t i = 0; i < from.nodes.size(); ++i) {
      const Ids ids = from.steps[i] = followed(from.nodes[i], symbol);
      const bool nobody_is_left = reached.nodes.size() == everyone;
      if (!visit(nobody_is_left ? 1 : 1 + ids.size())) break;
      if (nobody_is_left) continue;
      for (const std::int32_t* id = ids.begin; id != ids.end; ++id) {
        const std::int32_t next = checked(side, id);
        if (next == topic_ && !rules_.return_to_topic) continue;
        if (seen_.insert(next)) reached.nodes.push_back(next);
      }
    }
    seen_.sort_and_clear(reached.nodes);
  }

  // The same where mediators lengthen walks: nodes that are left with fewer hops go first, so that
  // the first walk to a node has the fewest.
  void reach_with_hops(Level& from, std::int32_t symbol, Level& reached) {
    const Adjacency& side = graph_.side(symbol);
    std::vector<std::pair<std::int32_t, std::size_t>> order;
    for (std::size_t i = 0; i < from.nodes.size(); ++i) {
      const std::int32_t hops = from.hops[i] + hops_of_step(from.nodes[i]);
      if (hops <= rules_.max_hops) order.push_back({hops, i});
    }
    std::sort(order.begin(), order.end());
    std::vector<std::pair<std::int32_t, std::int32_t>> found;  // (node, hops)
    for (const auto& [hops, i] : order) {
      const bool inside_hop = is_mediator(from.nodes[i]);
      const Ids ids = from.steps[i] = followed(from.nodes[i], symbol);
      if (!visit(1 + ids.size())) break;
      for (const std::int32_t* id = ids.begin; id != ids.end; ++id) {
        const std::int32_t next = checked(side, id);
        if (next == topic_ && !rules_.return_to_topic) continue;
        if (inside_hop && is_mediator(next)) continue;
        if (seen_.insert(next)) found.push_back({next, hops});
      }
    }
    std::sort(found.begin(), found.end());
    for (const auto& [node, hops] : found) {
      reached.nodes.push_back(node);
      reached.hops.push_back(hops);
    }
    seen_.clear(reached.nodes);
  }

  // alive_[length_]: where walks of the whole sequence may end.
  void set_last_level() {
    alive_.resize(as_size(length_) + 1);
    Level& last = alive_.back();
    last.nodes = levels_[as_size(length_)].nodes;
    if (!has_mediators_) return;
    last.nodes.erase(std::remove_if(last.nodes.begin(), last.nodes.end(),
                                    [this](std::int32_t node) { return is_mediator(node); }),
                     last.nodes.end());
    last.hops.assign(last.nodes.size(), 0);
  }

  // alive_[d]: those of levels_[d] from which the remaining symbols can be walked.
  void prune() {
    for (std::int64_t d = length_ - 1; d >= 0; --d) {
      const Level& all = levels_[as_size(d)];
      Level& alive = alive_[as_size(d)];
      const Level& targets = alive_[as_size(d) + 1];
      alive.nodes.clear();
      alive.steps.clear();
      alive.hops.clear();
      if (!has_mediators_) {
        for (const std::int32_t node : targets.nodes) seen_.insert(node);
      }
      for (std::size_t i = 0; i < all.nodes.size(); ++i) {
        if (has_mediators_) {
          const std::int64_t needed = hops_needed(all.nodes[i], all.steps[i], targets);
          if (all.hops[i] + needed > rules_.max_hops) continue;
          alive.hops.push_back(static_cast<std::int32_t>(needed));
        } else if (!reaches_seen(graph_.side(symbols_[d]), all.steps[i])) {
          continue;
        }
        alive.nodes.push_back(all.nodes[i]);
        alive.steps.push_back(all.steps[i]);
      }
      seen_.clear(targets.nodes);
    }
  }

  bool reaches_seen(const Adjacency& side, Ids ids) {
    for (const std::int32_t* id = ids.begin; id != ids.end; ++id) {
      if (!visit(1)) return false;
      if (seen_.contains(checked(side, id))) return true;
    }
    return false;
  }

  // The fewest hops of a walk from `node` on to the end of the sequence, or more than max_hops.
  std::int64_t hops_needed(std::int32_t node, Ids ids, const Level& targets) {
    std::int64_t fewest = rules_.max_hops;
    bool found = false;
    for (Common common(ids, targets.nodes); !common.is_done();) {
      if (!visit(1)) break;
      const std::int64_t position = common.next();
      if (position < 0) continue;
      if (is_mediator(node) && is_mediator(targets.nodes[as_size(position)])) continue;
      const std::int64_t hops = hops_of_step(node) + targets.hops[as_size(position)];
      found |= hops <= fewest;
      fewest = std::min(fewest, hops);
    }
    return found ? fewest : rules_.max_hops + 1;
  }

  // The position of the next common node, or -1 at the end or where a limit (then stopped_) is
  // reached.
  std::int64_t advance(Common& common) {
    while (!common.is_done()) {
      if (!visit(1) || (options_.simple && --steps_left_ < 0)) {
        stopped_ = true;
        return -1;
      }
      const std::int64_t position = common.next();
      if (position >= 0) return position;
    }
    return -1;
  }

  void begin_search() {
    allowance_ = std::max(kLeastSimpleSteps, simple_steps_ / 4);
    steps_left_ = allowance_;
    stopped_ = exhausted_;
  }

  void end_search() {
    simple_steps_ -= std::min(simple_steps_, allowance_ - std::max<std::int64_t>(0, steps_left_));
  }

  std::int64_t held() const {
    return static_cast<std::int64_t>(result_.entities.size() + result_.ends.size());
  }

  bool room_for(std::int64_t entries) const { return held() + entries <= limits_.entries; }

  // Paths one sequence may store: the room that is left if no later one had a path.
  // share_out_cap() takes back the rest.
  std::int64_t quota() const {
    return std::max<std::int64_t>(1, options_.cap - result_.offsets.back());
  }

  // Depth first over the pruned levels, neighbours ascending; stops when a path finds no room.
  void search() {
    if (alive_[0].nodes.empty()) {
      result_.truncated |= exhausted_;
      return;
    }
    std::vector<std::int32_t> path{topic_};
    std::vector<std::int32_t> used{0};  // hops of each part of `path`
    begin_search();
    if (length_ == 0) {
      stopped_ = !store(path);
    } else if (!follow(path, alive_[0].steps[0])) {
      search_below(path, used);
    }
    end_search();
    result_.truncated |= stopped_;
  }

  void search_below(std::vector<std::int32_t>& path, std::vector<std::int32_t>& used) {
    std::vector<Common> ways{{alive_[0].steps[0], alive_[1].nodes}};
    while (!stopped_ && !ways.empty()) {
      const std::int64_t position = advance(ways.back());
      if (position < 0) {
        ways.pop_back();
        path.pop_back();
        used.pop_back();
        continue;
      }
      const std::size_t depth = ways.size();
      const Level& level = alive_[depth];
      const std::int32_t node = level.nodes[as_size(position)];
      if (options_.simple && std::find(path.begin(), path.end(), node) != path.end()) continue;
      std::int32_t hops = 0;
      if (has_mediators_) {
        if (is_mediator(path.back()) && is_mediator(node)) continue;
        hops = used.back() + hops_of_step(path.back());
        if (hops + level.hops[as_size(position)] > rules_.max_hops) continue;
      }
      path.push_back(node);
      if (depth == as_size(length_)) {
        stopped_ = !store(path);
      } else if (!follow(path, level.steps[as_size(position)])) {
        used.push_back(hops);
        ways.push_back({level.steps[as_size(position)], alive_[depth + 1].nodes});
        continue;
      }
      path.pop_back();
    }
  }

  // Stores the paths one step on from `path` at once, if that step is the last and every node it
  // leads to is an end. False if it has to be searched.
  bool follow(const std::vector<std::int32_t>& path, Ids ids) {
    if (path.size() != as_size(length_) || options_.simple || has_mediators_) return false;
    stopped_ |= !visit(ids.size());
    const Adjacency& side = graph_.side(symbols_[length_ - 1]);
    for (const std::int32_t* id = ids.begin; id != ids.end && !stopped_; ++id) {
      const std::int32_t end = checked(side, id);
      if (end == topic_ && !rules_.return_to_topic) continue;
      stopped_ = !has_room();
      if (stopped_) break;
      result_.entities.insert(result_.entities.end(), path.begin(), path.end());
      result_.entities.push_back(end);
      ++stored_;
    }
    return true;
  }

  bool has_room() const { return stored_ < quota() && room_for(length_ + 1); }

  bool store(const std::vector<std::int32_t>& path) {
    if (!has_room()) return false;
    result_.entities.insert(result_.entities.end(), path.begin(), path.end());
    ++stored_;
    return true;
  }

  void find_ends() {
    const std::vector<std::int32_t>& last = alive_.back().nodes;
    if (!options_.simple || length_ == 0) {
      add_ends(last);
      return;
    }
    begin_search();
    std::vector<std::int32_t> ends;
    for (const std::int32_t end : last) {
      if (end != topic_ && ends_simple_path(end)) ends.push_back(end);
    }
    end_search();
    result_.ends_truncated |= stopped_;
    add_ends(ends);
  }

  // Backward from `end` through the levels. Each node there is reached from the topic, so that only
  // a repeated entity, or the hops, can be a dead end; at depth 1 the topic is one step away.
  bool ends_simple_path(std::int32_t end) {
    if (length_ == 1) return true;
    std::vector<std::int32_t> path{topic_, end};
    std::vector<std::int32_t> used{0};  // hops from each node of path[1 ...] on
    std::vector<Common> ways{way_back(end, length_)};
    while (!stopped_ && !ways.empty()) {
      const std::int64_t position = advance(ways.back());
      if (position < 0) {
        ways.pop_back();
        path.pop_back();
        used.pop_back();
        continue;
      }
      const std::int64_t depth = length_ - static_cast<std::int64_t>(ways.size());
      const Level& level = levels_[as_size(depth)];
      const std::int32_t node = level.nodes[as_size(position)];
      if (std::find(path.begin(), path.end(), node) != path.end()) continue;
      if (rules_.hubs.has_limit() && !holds(level.steps[as_size(position)], path.back())) continue;
      std::int32_t hops = 0;
      if (has_mediators_) {
        if (is_mediator(path.back()) && is_mediator(node)) continue;
        hops = used.back() + hops_of_step(node);
        if (hops + level.hops[as_size(position)] > rules_.max_hops) continue;
      }
      if (depth == 1) return true;
      path.push_back(node);
      used.push_back(hops);
      ways.push_back(way_back(node, depth));
    }
    return false;
  }

  // From a node at `depth` to the level before, along every edge: what a hub leaves out is not
  // known from here.
  Common way_back(std::int32_t node, std::int64_t depth) const {
    const std::int32_t symbol = symbols_[depth - 1];
    const std::int32_t relations = graph_.num_relations;
    const std::int32_t back = symbol < relations ? symbol + relations : symbol - relations;
    const Row row = graph_.step(node, back);
    const std::int32_t* neighbours = graph_.side(back).neighbours;
    return {{neighbours + row.begin, neighbours + row.end}, levels_[as_size(depth) - 1].nodes};
  }

  static bool holds(Ids ids, std::int32_t node) {
    return std::binary_search(ids.begin, ids.end, node);
  }

  void add_ends(const std::vector<std::int32_t>& ends) {
    if (room_for(static_cast<std::int64_t>(ends.size()))) {
      result_.ends.insert(result_.ends.end(), ends.begin(), ends.end());
    } else {
      result_.ends_truncated = true;
    }
  }

  // Drops what was stored beyond the rule of `cap`, moving kept entities down.
  void share_out_cap() {
    std::vector<std::int64_t>& offsets = result_.offsets;
    std::int64_t with_path = 0;
    for (std::int64_t i = 0; i < sequences_.count; ++i) {
      with_path += offsets[as_size(i) + 1] > offsets[as_size(i)];
    }
    std::int64_t firsts = std::min(with_path, options_.cap);
    std::int64_t rest = options_.cap - firsts;
    std::int64_t begin = 0;
    std::vector<std::int32_t>& entities = result_.entities;
    auto source = entities.cbegin();
    auto target = entities.begin();
    for (std::int64_t i = 0; i < sequences_.count; ++i) {
      const std::int64_t stored = offsets[as_size(i) + 1] - begin;
      const std::int64_t width = sequences_.offsets[i + 1] - sequences_.offsets[i] + 1;
      begin = offsets[as_size(i) + 1];
      std::int64_t kept = 0;
      if (stored > 0 && firsts > 0) {
        --firsts;
        kept = 1 + std::min(stored - 1, rest);
        rest -= kept - 1;
      }
      result_.truncated |= kept < stored;
      if (target != source) std::copy(source, source + kept * width, target);
      target += kept * width;
      source += stored * width;
      offsets[as_size(i) + 1] = offsets[as_size(i)] + kept;
    }
    entities.erase(target, entities.end());
  }

  const GraphView& graph_;
  const std::int32_t topic_;
  const WalkRules& rules_;
  const bool has_mediators_;
  const SequenceList& sequences_;
  const PathOptions& options_;
  const Limits& limits_;
  EntityPaths result_;

  const std::int32_t* symbols_ = nullptr;  // the sequence at hand
  std::int64_t length_ = 0;
  std::int64_t known_ = 0;   // levels_[0 ... known_] belong to it
  std::int64_t stored_ = 0;  // paths stored for it

  LastSteps last_steps_;
  std::vector<std::int32_t> ends_;  // of the sequence that list() is at
  NodeSet seen_;
  std::vector<Level> levels_;
  std::vector<Level> alive_;
  std::unordered_set<std::int32_t> hubs_;
  // Of each sampled hub: edges followed for one relation, out and in, and by symbol the ids.
  std::unordered_map<std::int32_t, std::int64_t> most_[2];
  std::unordered_map<std::int64_t, std::vector<std::int32_t>> sampled_;
  std::int64_t sampled_ids_ = 0;
  std::int64_t visited_ = 0;
  bool exhausted_ = false;                            // limits_.edge_visits is used up
  std::int64_t simple_steps_ = limits_.simple_steps;  // left for all sequences
  std::int64_t allowance_ = 0;   // for the search at hand, if it is for simple paths
  std::int64_t steps_left_ = 0;  // of the allowance
  bool stopped_ = false;         // the search at hand ended early
};

}  // namespace

EntityPaths expand_paths(const GraphView& graph, std::int32_t topic, const WalkRules& rules,
                         const SequenceList& sequences, const PathOptions& options,
                         const Limits& limits) {
  return Expansion(graph, topic, rules, sequences, options, limits).run();
}

}  // namespace hyperhop::graph
