#include "sequences.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "node_set.h"

namespace hyperhop::graph {
namespace {

std::size_t as_size(std::int64_t value) {
  return static_cast<std::size_t>(value);
}

// Distinct sorted node sets, each stored once.
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
  std::int64_t set;  // in the next depth's pool; -1 at the last depth, where nobody asks for it
  std::int64_t
      size;  // number of distinct end nodes; not counted where set is -1 and there is no beam
};

// The prefixes of one depth: row i is symbols[i * depth, (i + 1) * depth).
struct Level {
  std::int64_t depth = 0;
  std::vector<std::int32_t> symbols;
  std::vector<std::int64_t> sets;
  std::vector<std::int64_t> sizes;

  std::int64_t count() const { return static_cast<std::int64_t>(sets.size()); }
  const std::int32_t* row(std::int64_t i) const { return symbols.data() + i * depth; }
};

class Search {
 public:
  Search(const GraphView& graph, std::int32_t topic, const SequenceOptions& options,
         const Limits& limits)
      : graph_(graph),
        topic_(topic),
        options_(options),
        limits_(limits),
        seen_(graph.num_entities),
        counts_(2 * as_size(graph.num_relations), 0) {}

  Sequences run() {
    Level level;
    pool_.intern({topic_});
    level.sets.push_back(0);
    level.sizes.push_back(1);
    for (std::int64_t depth = 1; depth <= options_.max_hops && level.count() > 0; ++depth) {
      const bool last = depth == options_.max_hops;
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
      const std::size_t set = as_size(level.sets[as_size(i)]);
      if (first_step[set] < 0) {
        first_step[set] = static_cast<std::int64_t>(steps.size());
        const bool fits =
            last && options_.beam == 0 ? find_symbols(set, steps) : find_sets(set, !last, steps);
        if (!fits) {
          complete = false;
          return next;
        }
        end_step[set] = static_cast<std::int64_t>(steps.size());
      }
      for (std::int64_t s = first_step[set]; s < end_step[set]; ++s) {
        if (options_.beam == 0 && emitted + next.count() > options_.cap) return next;
        const std::int64_t held =
            static_cast<std::int64_t>(next.symbols.size() + result_.symbols.size());
        if (held + next.depth > limits_.entries) {
          complete = false;
          return next;
        }
        const Step& step = steps[as_size(s)];
        next.symbols.insert(next.symbols.end(), level.row(i), level.row(i) + level.depth);
        next.symbols.push_back(step.symbol);
        next.sets.push_back(step.set);
        next.sizes.push_back(step.size);
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
      kept.symbols.insert(kept.symbols.end(), level.row(i), level.row(i) + level.depth);
      kept.sets.push_back(level.sets[as_size(i)]);
      kept.sizes.push_back(level.sizes[as_size(i)]);
    }
    return kept;
  }

  // Appends the level to the result; false if `cap` cut it.
  bool emit(const Level& level) {
    const std::int64_t emitted = static_cast<std::int64_t>(result_.offsets.size()) - 1;
    const std::int64_t count = std::min(level.count(), options_.cap - emitted);
    result_.symbols.insert(result_.symbols.end(), level.row(0), level.row(count));
    for (std::int64_t i = 0; i < count; ++i) {
      result_.offsets.push_back(result_.offsets.back() + level.depth);
    }
    return count == level.count();
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

  // Steps of a set with the node sets they lead to: edges are gathered by symbol (count, then
  // place), then each symbol's neighbours become a set. False if a limit was reached.
  bool find_sets(std::size_t set, bool keep_sets, std::vector<Step>& steps) {
    const std::int32_t* first = pool_.begin(static_cast<std::int64_t>(set));
    const std::int32_t* last = pool_.end(static_cast<std::int64_t>(set));
    std::int64_t edges = 0;
    bool fits = each_side([&](const Adjacency& side, std::int32_t) {
      for (const std::int32_t* node = first; node != last; ++node) {
        const Row row = side.row(*node);
        edges += row.end - row.begin;
        if (!visit(1 + row.end - row.begin)) return false;
      }
      return true;
    });
    if (!fits || edges + pool_.total() + next_pool_.total() > limits_.entries) return false;

    std::vector<std::int32_t> present;
    each_side([&](const Adjacency& side, std::int32_t shift) {
      for (const std::int32_t* node = first; node != last; ++node) {
        const Row row = side.row(*node);
        for (std::int64_t e = row.begin; e < row.end; ++e) {
          const std::int32_t symbol = side.relation(e) + shift;
          if (counts_[as_size(symbol)]++ == 0) present.push_back(symbol);
        }
      }
      return true;
    });
    std::sort(present.begin(), present.end());
    std::int64_t place = 0;
    for (const std::int32_t symbol : present) {
      place += std::exchange(counts_[as_size(symbol)], place);
    }
    gathered_.resize(as_size(edges));
    each_side([&](const Adjacency& side, std::int32_t shift) {
      for (const std::int32_t* node = first; node != last; ++node) {
        const Row row = side.row(*node);
        for (std::int64_t e = row.begin; e < row.end; ++e) {
          std::int64_t& slot = counts_[as_size(side.relation(e) + shift)];
          gathered_[as_size(slot++)] = side.neighbour(e);
        }
      }
      return true;
    });

    std::int64_t begin = 0;
    for (const std::int32_t symbol : present) {
      const std::int64_t end = std::exchange(counts_[as_size(symbol)], 0);
      members_.clear();
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int32_t node = gathered_[as_size(i)];
        if (node == topic_ && !options_.return_to_topic) continue;
        if (seen_.insert(node)) members_.push_back(node);
      }
      begin = end;
      if (members_.empty()) continue;
      const std::int64_t size = static_cast<std::int64_t>(members_.size());
      if (keep_sets) {
        seen_.sort_and_clear(members_);
        steps.push_back({symbol, next_pool_.intern(members_), size});
      } else {
        seen_.clear(members_);
        steps.push_back({symbol, -1, size});
      }
    }
    return true;
  }

  // Steps of a set without the sets they lead to: jumps from relation to relation in each row and
  // stops when every symbol was seen.
  bool find_symbols(std::size_t set, std::vector<Step>& steps) {
    const std::int32_t* first = pool_.begin(static_cast<std::int64_t>(set));
    const std::int32_t* last = pool_.end(static_cast<std::int64_t>(set));
    std::vector<std::int32_t> present;
    const bool fits = each_side([&](const Adjacency& side, std::int32_t shift) {
      const std::size_t all = present.size() + as_size(graph_.num_relations);
      for (const std::int32_t* node = first; node != last && present.size() < all; ++node) {
        const Row row = side.row(*node);
        if (!visit(1)) return false;
        for (std::int64_t e = row.begin; e < row.end;) {
          if (!visit(1)) return false;
          const std::int32_t relation = side.relation(e);
          const std::int64_t next = side.end_of_relation(e, row.end);
          std::int64_t& seen = counts_[as_size(relation + shift)];
          if (seen == 0 && leads_off_topic(side, e, next)) {
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
    for (const std::int32_t symbol : present) steps.push_back({symbol, -1, 0});
    return true;
  }

  // Neighbours in [begin, end) are distinct, so only the first can be the topic if one is enough.
  bool leads_off_topic(const Adjacency& side, std::int64_t begin, std::int64_t end) const {
    return options_.return_to_topic || side.neighbour(begin) != topic_ || end - begin > 1;
  }

  const GraphView& graph_;
  const std::int32_t topic_;
  const SequenceOptions& options_;
  const Limits& limits_;
  Sequences result_;
  SetPool pool_;       // sets of the current depth
  SetPool next_pool_;  // and of the next
  NodeSet seen_;
  std::vector<std::int64_t> counts_;  // by symbol, all zero between calls
  std::vector<std::int32_t> gathered_;
  std::vector<std::int32_t> members_;
  std::int64_t visited_ = 0;
};

}  // namespace

Sequences find_sequences(const GraphView& graph, std::int32_t topic, const SequenceOptions& options,
                         const Limits& limits) {
  return Search(graph, topic, options, limits).run();
}

}  // namespace hyperhop::graph
