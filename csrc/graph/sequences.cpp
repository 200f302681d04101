#include "sequences.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "node_set.h"
#include "sizes.h"
#include "zeroed_words.h"

namespace hyperhop::graph {
namespace {

// Distinct sets, each stored once: the nodes, ascending. With mediators the nodes that may be left
// in order of (hops after leaving, node), then those hops in the same order.
class SetPool {
 public:
  std::int64_t intern(const std::vector<std::int32_t>& nodes) {
    std::uint64_t hash = nodes.size();
    for (const std::int32_t node : nodes) {
      hash = (hash ^ static_cast<std::uint32_t>(node)) * 0x9E3779B97F4A7C15u;
      hash ^= hash >> 29;
    }
    const auto [first, last] = by_hash_.equal_range(hash);
    for (auto it = first; it != last; ++it) {
      if (std::equal(nodes.begin(), nodes.end(), begin(it->second), end(it->second))) {
        return it->second;
      }
    }
    const std::int64_t id = count();
    nodes_.insert(nodes_.end(), nodes.begin(), nodes.end());
    offsets_.push_back(static_cast<std::int64_t>(nodes_.size()));
    by_hash_.emplace(hash, id);
    return id;
  }

  const std::int32_t* begin(std::int64_t id) const { return nodes_.data() + offsets_[as_size(id)]; }
  const std::int32_t* end(std::int64_t id) const {
    return nodes_.data() + offsets_[as_size(id) + 1];
  }
  std::int64_t count() const { return static_cast<std::int64_t>(offsets_.size()) - 1; }
  std::int64_t total() const { return static_cast<std::int64_t>(nodes_.size()); }

 private:
  std::vector<std::int32_t> nodes_;
  std::vector<std::int64_t> offsets_{0};
  std::unordered_multimap<std::uint64_t, std::int64_t> by_hash_;
};

// One way on from a node set.
struct Step {
  std::int32_t symbol;
  std::int64_t set;   // in the next depth's pool; -1 where no walk goes on
  std::int64_t size;  // number of distinct end nodes; not counted at the last depth without a beam
  bool is_result;     // not all of them are mediators
};

// The prefixes of one depth: row i is symbols[i * depth, (i + 1) * depth).
struct Level {
  std::int64_t depth = 0;
  std::vector<std::int32_t> symbols;
  std::vector<std::int64_t> sets;
  std::vector<std::int64_t> sizes;
  std::vector<bool> is_result;
  std::int64_t results = 0;

  std::int64_t count() const { return static_cast<std::int64_t>(sets.size()); }
  const std::int32_t* row(std::int64_t i) const { return symbols.data() + i * depth; }

  void add(const std::int32_t* first, const std::int32_t* last, const Step& step) {
    symbols.insert(symbols.end(), first, last);
    symbols.push_back(step.symbol);
    sets.push_back(step.set);
    sizes.push_back(step.size);
    is_result.push_back(step.is_result);
    results += step.is_result;
  }
};

class Search {
 public:
  Search(const GraphView& graph, std::int32_t topic, const WalkRules& rules,
         const SequenceOptions& options, const Limits& limits)
      : graph_(graph),
        topic_(topic),
        rules_(rules),
        has_mediators_(rules.mediators != nullptr),
        options_(options),
        limits_(limits),
        seen_(graph.num_entities),
        counts_(2 * as_size(graph.num_relations)) {}

  Sequences run() {
    Level level;
    if (has_mediators_) {
      pool_.intern({topic_, 1});
    } else {
      pool_.intern({topic_});
    }
    level.sets.push_back(0);
    const std::int64_t max_depth = rules_.max_symbols();
    for (std::int64_t depth = 1; depth <= max_depth && level.count() > 0; ++depth) {
      const bool last = depth == max_depth;
      bool complete = true;
      Level next = extend(level, last, complete);
      if (options_.beam > 0 && next.count() > options_.beam) next = narrow(next);
      complete = emit(next) && complete;
      if (!complete) {
        result_.truncated = true;
        break;
      }
      level = std::move(next);
      std::swap(pool_, next_pool_);
      next_pool_ = SetPool();
    }
    result_.hubs.assign(hubs_.begin(), hubs_.end());
    std::sort(result_.hubs.begin(), result_.hubs.end());
    seen_.give_back();
    counts_.give_back();
    return std::move(result_);
  }

 private:
  // All one-symbol extensions of `level`, in order. `complete` turns false where a bound stopped
  // it; without a beam one extension beyond `cap` is kept as the proof that there are more.
  Level extend(const Level& level, bool last, bool& complete) {
    Level next;
    next.depth = level.depth + 1;
    const std::int64_t emitted = static_cast<std::int64_t>(result_.offsets.size()) - 1;
    std::vector<std::int64_t> first_step(as_size(pool_.count()), -1);
    std::vector<std::int64_t> end_step(as_size(pool_.count()), -1);
    std::vector<Step> steps;
    for (std::int64_t i = 0; i < level.count(); ++i) {
      if (level.sets[as_size(i)] < 0) continue;
      const std::size_t set = as_size(level.sets[as_size(i)]);
      if (first_step[set] < 0) {
        first_step[set] = static_cast<std::int64_t>(steps.size());
        const bool fits = last && options_.beam == 0 && !has_mediators_
                              ? find_symbols(set, steps)
                              : find_sets(set, !last, steps);
        if (!fits) {
          complete = false;
          return next;
        }
        end_step[set] = static_cast<std::int64_t>(steps.size());
      }
      for (std::int64_t s = first_step[set]; s < end_step[set]; ++s) {
        if (options_.beam == 0 && emitted + next.results > options_.cap) return next;
        const std::int64_t held =
            static_cast<std::int64_t>(next.symbols.size() + result_.symbols.size());
        if (held + next.depth > limits_.entries) {
          complete = false;
          return next;
        }
        next.add(level.row(i), level.row(i) + level.depth, steps[as_size(s)]);
      }
    }
    return next;
  }

  // The `beam` prefixes with the fewest end nodes, still in symbol order.
  Level narrow(const Level& level) const {
    std::vector<std::int64_t> order(as_size(level.count()));
    std::iota(order.begin(), order.end(), 0);
    const auto better = [&](std::int64_t a, std::int64_t b) {
      const std::int64_t size_a = level.sizes[as_size(a)];
      const std::int64_t size_b = level.sizes[as_size(b)];
      if (size_a != size_b) return size_a < size_b;
      const std::int32_t* ranks = options_.symbol_ranks;
      return std::lexicographical_compare(
          level.row(a), level.row(a) + level.depth, level.row(b), level.row(b) + level.depth,
          [ranks](std::int32_t x, std::int32_t y) { return ranks[x] < ranks[y]; });
    };
    std::nth_element(order.begin(), order.begin() + options_.beam, order.end(), better);
    order.resize(as_size(options_.beam));
    std::sort(order.begin(), order.end());
    Level kept;
    kept.depth = level.depth;
    for (const std::int64_t i : order) {
      const std::int32_t* last = level.row(i) + level.depth - 1;
      kept.add(level.row(i), last,
               {*last, level.sets[as_size(i)], level.sizes[as_size(i)],
                bool{level.is_result[as_size(i)]}});
    }
    return kept;
  }

  // Appends the level to the result; false if `cap` cut it.
  bool emit(const Level& level) {
    const std::int64_t emitted = static_cast<std::int64_t>(result_.offsets.size()) - 1;
    const std::int64_t count = std::min(level.results, options_.cap - emitted);
    std::int64_t left = count;
    for (std::int64_t i = 0; left > 0; ++i) {
      if (!level.is_result[as_size(i)]) continue;
      result_.symbols.insert(result_.symbols.end(), level.row(i), level.row(i + 1));
      result_.offsets.push_back(result_.offsets.back() + level.depth);
      --left;
    }
    return count == level.results;
  }

  bool visit(std::int64_t edges) {
    visited_ += edges;
    return visited_ <= limits_.edge_visits;
  }

  template <typename Function>
  bool each_side(Function&& function) const {
    if (!function(graph_.out, 0)) return false;
    return !options_.inverse || function(graph_.in, graph_.num_relations);
  }

  // The edges along which `node` is left, by stretches.
  template <typename Function>
  bool each_stretch(const Adjacency& side, std::int32_t node, Function&& function) const {
    return rules_.hubs.each_stretch(side, side.row(node), node == topic_, function);
  }

  void note_hub(std::int32_t node, Row row) {
    if (rules_.hubs.is_hub(row)) hubs_.insert(node);
  }

  bool is_mediator(std::int32_t node) const { return rules_.is_mediator(node, topic_); }

  // Steps of a set with the node sets they lead to: edges are gathered by symbol (count, then
  // place), then each symbol's neighbours become a set. False if a limit was reached.
  bool find_sets(std::size_t set, bool keep_sets, std::vector<Step>& steps) {
    const std::int32_t* first = pool_.begin(static_cast<std::int64_t>(set));
    const std::int32_t* last = pool_.end(static_cast<std::int64_t>(set));
    if (has_mediators_) last -= (last - first) / 2;
    std::int64_t edges = 0;
    bool fits = each_side([&](const Adjacency& side, std::int32_t) {
      for (const std::int32_t* node = first; node != last; ++node) {
        const Row row = side.row(*node);
        note_hub(*node, row);
        std::int64_t followed = 0;
        rules_.hubs.each_stretch(side, row, *node == topic_, [&](Stretch stretch) {
          followed += stretch.count;
          return true;
        });
        edges += followed;
        if (!visit(1 + followed)) return false;
      }
      return true;
    });
    if (!fits || edges + pool_.total() + next_pool_.total() > limits_.entries) return false;
    if (last - first == 1 && !has_mediators_ && !rules_.hubs.has_limit()) {
      find_sets_of_node(*first, keep_sets, steps);
      return true;
    }

    std::vector<std::int32_t> present;
    each_side([&](const Adjacency& side, std::int32_t shift) {
      for (const std::int32_t* node = first; node != last; ++node) {
        each_stretch(side, *node, [&](Stretch stretch) {
          stretch.each_edge([&](std::int64_t edge) {
            const std::int32_t symbol = side.relation(edge) + shift;
            if (counts_[as_size(symbol)]++ == 0) present.push_back(symbol);
          });
          return true;
        });
      }
      return true;
    });
    std::sort(present.begin(), present.end());
    std::uint64_t place = 0;
    for (const std::int32_t symbol : present) {
      place += std::exchange(counts_[as_size(symbol)], place);
    }
    if (has_mediators_) {
      gather<true>(first, last, as_size(edges));
    } else {
      gather<false>(first, last, as_size(edges));
    }

    std::size_t begin = 0;
    for (const std::int32_t symbol : present) {
      const std::size_t end = std::exchange(counts_[as_size(symbol)], 0);
      add_step(symbol, begin, end, keep_sets, steps);
      begin = end;
    }
    return true;
  }

  // The same of one node: its neighbours along one relation lie together, ascending and distinct.
  void find_sets_of_node(std::int32_t node, bool keep_sets, std::vector<Step>& steps) {
    each_side([&](const Adjacency& side, std::int32_t shift) {
      const Row row = side.row(node);
      for (std::int64_t e = row.begin; e < row.end;) {
        const std::int32_t symbol = side.relation(e) + shift;
        const std::int64_t end = side.end_of_relation(e, row.end);
        members_.clear();
        for (; e < end; ++e) {
          const std::int32_t neighbour = side.neighbour(e);
          if (neighbour != topic_ || rules_.return_to_topic) members_.push_back(neighbour);
        }
        if (members_.empty()) continue;
        const std::int64_t next_set = keep_sets ? next_pool_.intern(members_) : -1;
        steps.push_back({symbol, next_set, static_cast<std::int64_t>(members_.size()), true});
      }
      return true;
    });
  }

  // Fills gathered_ from the place in counts_ on for each symbol. With mediators also the hops, in
  // ascending order because a set is; a step that is not allowed leaves -1.
  template <bool kMediators>
  void gather(const std::int32_t* first, const std::int32_t* last, std::size_t edges) {
    gathered_.resize(edges);
    if (kMediators) gathered_hops_.resize(edges);
    each_side([&](const Adjacency& side, std::int32_t shift) {
      for (const std::int32_t* node = first; node != last; ++node) {
        const bool inside_hop = kMediators && is_mediator(*node);
        each_stretch(side, *node, [&](Stretch stretch) {
          stretch.each_edge([&](std::int64_t edge) {
            const std::size_t slot = counts_[as_size(side.relation(edge) + shift)]++;
            gathered_[slot] = side.neighbour(edge);
            if (kMediators) {
              gathered_hops_[slot] = node[last - first];
              if (inside_hop && is_mediator(gathered_[slot])) gathered_[slot] = -1;
            }
          });
          return true;
        });
      }
      return true;
    });
  }

  void add_step(std::int32_t symbol, std::size_t begin, std::size_t end, bool keep_set,
                std::vector<Step>& steps) {
    members_.clear();
    leaving_.clear();
    bool is_result = !has_mediators_;
    for (std::size_t i = begin; i < end; ++i) {
      const std::int32_t node = gathered_[i];
      if (node == topic_ && !rules_.return_to_topic) continue;
      if (has_mediators_) {
        if (node < 0 || !seen_.insert(node)) continue;
        members_.push_back(node);
        const bool mediator = is_mediator(node);
        is_result |= !mediator;
        const std::int32_t hops = gathered_hops_[i] + (mediator ? 0 : 1);
        if (hops <= rules_.max_hops) leaving_.push_back({hops, node});
      } else if (seen_.insert(node)) {
        members_.push_back(node);
      }
    }
    if (members_.empty()) return;
    const std::int64_t size = static_cast<std::int64_t>(members_.size());
    std::int64_t next_set = -1;
    if (keep_set && !has_mediators_) {
      seen_.sort_and_clear(members_);
      next_set = next_pool_.intern(members_);
    } else {
      seen_.clear(members_);
      if (keep_set && !leaving_.empty()) next_set = next_pool_.intern(leaving_record());
    }
    steps.push_back({symbol, next_set, size, is_result});
  }

  // What SetPool keeps of leaving_, in members_.
  const std::vector<std::int32_t>& leaving_record() {
    std::sort(leaving_.begin(), leaving_.end());
    members_.clear();
    for (const auto& [hops, node] : leaving_) members_.push_back(node);
    for (const auto& [hops, node] : leaving_) members_.push_back(hops);
    return members_;
  }

  // Steps of a set without the sets they lead to: jumps from relation to relation in each row and
  // stops when every symbol was seen (a limit on hubs wants to meet them all).
  bool find_symbols(std::size_t set, std::vector<Step>& steps) {
    const std::int32_t* first = pool_.begin(static_cast<std::int64_t>(set));
    const std::int32_t* last = pool_.end(static_cast<std::int64_t>(set));
    std::vector<std::int32_t> present;
    const bool fits = each_side([&](const Adjacency& side, std::int32_t shift) {
      const std::size_t all = present.size() + as_size(graph_.num_relations);
      for (const std::int32_t* node = first; node != last; ++node) {
        if (present.size() == all && !rules_.hubs.has_limit()) break;
        const Row row = side.row(*node);
        if (!visit(1)) return false;
        note_hub(*node, row);
        if (present.size() == all || rules_.hubs.skips(row, *node == topic_)) continue;
        const std::int64_t most =
            rules_.hubs.is_hub(row) ? rules_.hubs.per_relation(side, row) : row.end - row.begin;
        for (std::int64_t e = row.begin; e < row.end;) {
          if (!visit(1)) return false;
          const std::int32_t relation = side.relation(e);
          const std::int64_t next = side.end_of_relation(e, row.end);
          std::uint64_t& seen = counts_[as_size(relation + shift)];
          if (seen == 0 && leads_off_topic(side, e, std::min(most, next - e))) {
            seen = 1;
            present.push_back(relation + shift);
          }
          e = next;
        }
      }
      return true;
    });
    for (const std::int32_t symbol : present) counts_[as_size(symbol)] = 0;
    if (!fits) return false;
    std::sort(present.begin(), present.end());
    for (const std::int32_t symbol : present) steps.push_back({symbol, -1, 0, true});
    return true;
  }

  // The `count` edges followed from `begin` on have distinct ends, so two of them are enough.
  bool leads_off_topic(const Adjacency& side, std::int64_t begin, std::int64_t count) const {
    return rules_.return_to_topic || side.neighbour(begin) != topic_ || count > 1;
  }

  const GraphView& graph_;
  const std::int32_t topic_;
  const WalkRules& rules_;
  const bool has_mediators_;
  const SequenceOptions& options_;
  const Limits& limits_;
  Sequences result_;
  SetPool pool_;       // sets of the current depth
  SetPool next_pool_;  // and of the next
  NodeSet seen_;
  ZeroedWords counts_;  // by symbol, all zero between sets
  std::unordered_set<std::int32_t> hubs_;
  std::vector<std::int32_t> gathered_;
  std::vector<std::int32_t> gathered_hops_;
  std::vector<std::int32_t> members_;
  std::vector<std::pair<std::int32_t, std::int32_t>> leaving_;  // (hops after leaving, node)
  std::int64_t visited_ = 0;
};

}  // namespace

Sequences find_sequences(const GraphView& graph, std::int32_t topic, const WalkRules& rules,
                         const SequenceOptions& options, const Limits& limits) {
  return Search(graph, topic, rules, options, limits).run();
}

}  // namespace hyperhop::graph
