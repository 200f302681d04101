#include "paths.h"

#include <algorithm>
#include <utility>

#include "node_set.h"

namespace hyperhop::graph {
namespace {

constexpr std::int64_t kLeastSimpleSteps = 4096;

std::size_t as_size(std::int64_t value) {
  return static_cast<std::size_t>(value);
}

// The nodes two ascending lists have in common, found from the shorter one: a hub beside a handful
// of nodes costs the handful.
struct Common {
  const std::int32_t* next;
  const std::int32_t* end;
  const std::int32_t* other;
  const std::int32_t* other_end;

  Common(const std::int32_t* a, const std::int32_t* a_end, const std::int32_t* b,
         const std::int32_t* b_end)
      : next(a), end(a_end), other(b), other_end(b_end) {
    if (b_end - b < a_end - a) {
      std::swap(next, other);
      std::swap(end, other_end);
    }
  }
};

class Expansion {
 public:
  Expansion(const GraphView& graph, std::int32_t topic, const SequenceList& sequences,
            const PathOptions& options, const Limits& limits)
      : graph_(graph),
        topic_(topic),
        sequences_(sequences),
        options_(options),
        limits_(limits),
        seen_(graph.num_entities),
        levels_{{topic}} {}

  EntityPaths run() {
    for (std::int64_t i = 0; i < sequences_.count; ++i) {
      begin_sequence(i);
      walk_forward();
      if (exhausted_) {
        result_.truncated = result_.ends_truncated = true;
      } else if (known_ == length_) {
        find_ends();
        prune();
        search();
      }
      result_.offsets.push_back(result_.offsets.back() + stored_);
      result_.end_offsets.push_back(static_cast<std::int64_t>(result_.ends.size()));
    }
    share_out_cap();
    return std::move(result_);
  }

 private:
  // Node sets of a prefix shared with the sequence before are kept.
  void begin_sequence(std::int64_t i) {
    const std::int32_t* previous = symbols_;
    symbols_ = sequences_.symbols + sequences_.offsets[i];
    length_ = sequences_.offsets[i + 1] - sequences_.offsets[i];
    std::int64_t common = 0;
    while (common < std::min(known_, length_) && previous[common] == symbols_[common]) ++common;
    known_ = common;
    stored_ = 0;
  }

  bool visit(std::int64_t edges) {
    visited_ += edges;
    if (visited_ > limits_.edge_visits) exhausted_ = true;
    return !exhausted_;
  }

  // levels_[d]: where the first d symbols lead. Stops at a depth nobody reaches, or at a limit.
  void walk_forward() {
    while (!exhausted_ && known_ < length_) {
      const std::int32_t symbol = symbols_[known_];
      const Adjacency& side = graph_.side(symbol);
      std::vector<std::int32_t> reached;
      for (const std::int32_t node : levels_[as_size(known_)]) {
        const Row row = graph_.step(node, symbol);
        if (!visit(1 + row.end - row.begin)) break;
        for (std::int64_t e = row.begin; e < row.end; ++e) {
          const std::int32_t next = side.neighbour(e);
          if (next == topic_ && !options_.return_to_topic) continue;
          if (seen_.insert(next)) reached.push_back(next);
        }
      }
      seen_.sort_and_clear(reached);
      if (exhausted_ || reached.empty()) return;
      ++known_;
      levels_.resize(as_size(known_));
      levels_.push_back(std::move(reached));
    }
  }

  // alive_[d]: those of levels_[d] from which the remaining symbols can be walked.
  void prune() {
    alive_.assign(as_size(length_) + 1, {});
    alive_[as_size(length_)] = levels_[as_size(length_)];
    for (std::int64_t d = length_ - 1; d >= 0; --d) {
      const std::vector<std::int32_t>& targets = alive_[as_size(d) + 1];
      for (const std::int32_t node : targets) seen_.insert(node);
      for (const std::int32_t node : levels_[as_size(d)]) {
        if (reaches_seen(node, symbols_[d])) alive_[as_size(d)].push_back(node);
      }
      seen_.clear(targets);
    }
  }

  bool reaches_seen(std::int32_t node, std::int32_t symbol) {
    const Row row = graph_.step(node, symbol);
    const Adjacency& side = graph_.side(symbol);
    for (std::int64_t e = row.begin; e < row.end; ++e) {
      if (!visit(1)) return false;
      if (seen_.contains(side.neighbour(e))) return true;
    }
    return false;
  }

  // Where one symbol leads from `node`, within `nodes` (valid ids, so what comes out is valid too).
  Common step_within(std::int32_t node, std::int32_t symbol,
                     const std::vector<std::int32_t>& nodes) const {
    const Row row = graph_.step(node, symbol);
    const std::int32_t* neighbours = graph_.side(symbol).neighbours;
    return {neighbours + row.begin, neighbours + row.end, nodes.data(),
            nodes.data() + nodes.size()};
  }

  // The next common node, or -1 at the end or where a limit (then stopped_) is reached.
  std::int32_t advance(Common& common) {
    while (common.next != common.end) {
      if (!visit(1) || (options_.simple && --steps_left_ < 0)) {
        stopped_ = true;
        return -1;
      }
      const std::int32_t node = *common.next++;
      if (std::binary_search(common.other, common.other_end, node)) return node;
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

  bool room_for(std::int64_t entries) {
    const std::int64_t held =
        static_cast<std::int64_t>(result_.entities.size() + result_.ends.size());
    return held + entries <= limits_.entries;
  }

  // Depth first over the pruned levels, neighbours ascending; stops when a path finds no room.
  void search() {
    // The room that is left if no later sequence had a path: share_out_cap() takes back the rest.
    const std::int64_t quota = std::max<std::int64_t>(1, options_.cap - result_.offsets.back());
    std::vector<std::int32_t> path{topic_};
    const auto store = [&] {
      if (stored_ == quota || !room_for(length_ + 1)) return false;
      result_.entities.insert(result_.entities.end(), path.begin(), path.end());
      ++stored_;
      return true;
    };
    if (length_ == 0) {
      result_.truncated |= !store();
      return;
    }
    begin_search();
    std::vector<Common> ways{step_within(topic_, symbols_[0], alive_[1])};
    while (!stopped_ && !ways.empty()) {
      const std::int32_t node = advance(ways.back());
      if (node < 0) {
        ways.pop_back();
        path.pop_back();
        continue;
      }
      if (options_.simple && std::find(path.begin(), path.end(), node) != path.end()) continue;
      path.push_back(node);
      const std::size_t depth = ways.size();
      if (depth < as_size(length_)) {
        ways.push_back(step_within(node, symbols_[depth], alive_[depth + 1]));
        continue;
      }
      stopped_ = !store();
      path.pop_back();
    }
    end_search();
    result_.truncated |= stopped_;
  }

  void find_ends() {
    const std::vector<std::int32_t>& last = levels_[as_size(length_)];
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
  // a repeated entity can be a dead end; at depth 1 the topic is one step away.
  bool ends_simple_path(std::int32_t end) {
    if (length_ == 1) return true;
    std::vector<std::int32_t> path{topic_, end};
    std::vector<Common> ways{step_back(end, length_)};
    while (!stopped_ && !ways.empty()) {
      const std::int32_t node = advance(ways.back());
      if (node < 0) {
        ways.pop_back();
        path.pop_back();
        continue;
      }
      if (std::find(path.begin(), path.end(), node) != path.end()) continue;
      const std::int64_t depth = length_ - static_cast<std::int64_t>(ways.size());
      if (depth == 1) return true;
      path.push_back(node);
      ways.push_back(step_back(node, depth));
    }
    return false;
  }

  // From a node at `depth` to the level before.
  Common step_back(std::int32_t node, std::int64_t depth) const {
    const std::int32_t symbol = symbols_[depth - 1];
    const std::int32_t relations = graph_.num_relations;
    return step_within(node, symbol < relations ? symbol + relations : symbol - relations,
                       levels_[as_size(depth) - 1]);
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
      target = std::copy(source, source + kept * width, target);
      source += stored * width;
      offsets[as_size(i) + 1] = offsets[as_size(i)] + kept;
    }
    entities.erase(target, entities.end());
  }

  const GraphView& graph_;
  const std::int32_t topic_;
  const SequenceList& sequences_;
  const PathOptions& options_;
  const Limits& limits_;
  EntityPaths result_;

  const std::int32_t* symbols_ = nullptr;  // the sequence at hand
  std::int64_t length_ = 0;
  std::int64_t known_ = 0;   // levels_[0 ... known_] belong to it
  std::int64_t stored_ = 0;  // paths stored for it

  NodeSet seen_;
  std::vector<std::vector<std::int32_t>> levels_;
  std::vector<std::vector<std::int32_t>> alive_;
  std::int64_t visited_ = 0;
  bool exhausted_ = false;                            // limits_.edge_visits is used up
  std::int64_t simple_steps_ = limits_.simple_steps;  // left for all sequences
  std::int64_t allowance_ = 0;   // for the search at hand, if it is for simple paths
  std::int64_t steps_left_ = 0;  // of the allowance
  bool stopped_ = false;         // the search at hand ended early
};

}  // namespace

EntityPaths expand_paths(const GraphView& graph, std::int32_t topic, const SequenceList& sequences,
                         const PathOptions& options, const Limits& limits) {
  return Expansion(graph, topic, sequences, options, limits).run();
}

}  // namespace hyperhop::graph
