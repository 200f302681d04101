#include "ball.h"

#include <algorithm>
#include <array>
#include <utility>

#include "node_index.h"
#include "radix_sort.h"

namespace hyperhop::graph {
namespace {

constexpr std::int64_t kBlock = 32;            // nodes whose rows are fetched ahead
constexpr std::int64_t kBatch = 128;           // edges filtered at once
constexpr std::size_t kKeptBytes = 4ul << 20;  // of each scratch array, between two calls

// What is known of a node, by its number.
enum Flag : std::uint8_t { kLeft = 1, kMediator = 2, kOutHub = 4, kInHub = 8 };

std::size_t as_size(std::int64_t value) {
  return static_cast<std::size_t>(value);
}

// id and number in one word that sorts by id.
std::uint64_t pack(std::int32_t high, std::int32_t low) {
  return static_cast<std::uint64_t>(high) << 32 | static_cast<std::uint32_t>(low);
}
std::int32_t high(std::uint64_t packed) {
  return static_cast<std::int32_t>(packed >> 32);
}
std::int32_t low(std::uint64_t packed) {
  return static_cast<std::int32_t>(packed & 0xFFFFFFFFu);
}

// Rows are nearly sorted: only tails of another hop stand in the wrong place. What is not is left
// to std::sort.
void sort_row(std::uint64_t* first, std::uint64_t* last) {
  std::ptrdiff_t moves = 8 * (last - first);
  for (std::uint64_t* next = first; next != last; ++next) {
    const std::uint64_t key = *next;
    std::uint64_t* at = next;
    for (; at != first && at[-1] > key; --at) *at = at[-1];
    *at = key;
    moves -= next - at;
    if (moves < 0) return std::sort(first, last);
  }
}

// The nodes that the search went to from each left node, by number, in the order of its row: so
// that its edges need not be looked up again.
struct Trail {
  std::vector<std::int64_t> begins;  // by local index
  std::vector<std::int32_t> numbers;
  std::size_t numbered = 0;  // beyond: still ids
};

template <typename T>
void shrink(std::vector<T>& values) {
  values.clear();
  if (values.capacity() * sizeof(T) > kKeptBytes) values.shrink_to_fit();
}

// Nodes have a number (in the order they were found) and a local index (by hop and id).
class Search {
 public:
  Ball find(const GraphView& graph, const std::int32_t* topics, std::int64_t num_topics,
            const BallOptions& options) {
    graph_ = &graph;
    options_ = &options;
    truncated_ = grown_ = false;
    end_of_left_ = 0;
    steps_left_ = options.max_edges;
    visits_left_ = options.edge_visits;
    make_room(as_size(num_topics));
    for (std::int64_t i = 0; i < num_topics; ++i) discover(topics[i]);
    num_topics_ = index_.size();
    grow();
    grown_ = !truncated_;
    number_locally();
    collect_edges();
    return result(topics, num_topics);
  }

  // Ready for the next call; large arrays are given back.
  void clear() {
    index_.shrink(kKeptBytes);
    filter_.shrink(kKeptBytes);
    shrink(ids_);
    shrink(order_);
    shrink(scratch_);
    shrink(flags_);
    shrink(local_);
    shrink(layer_ends_);
    for (Trail* trail : {&out_trail_, &in_trail_}) {
      shrink(trail->begins);
      shrink(trail->numbers);
      trail->numbered = 0;
    }
    shrink(extras_);
    shrink(extra_keys_);
    shrink(extra_begins_);
    shrink(keys_);
    shrink(row_ends_);
  }

 private:
  std::int64_t count() const { return static_cast<std::int64_t>(order_.size()); }
  bool is_topic(std::int32_t number) const { return number < num_topics_; }
  std::uint8_t& flags(std::int32_t number) { return flags_[as_size(number)]; }

  // Room in ids_ for so many more nodes.
  void make_room(std::size_t more) {
    const std::size_t most = as_size(index_.size()) + more;
    if (ids_.size() < most) ids_.resize(most);
  }

  std::int32_t discover(std::int32_t node) {
    const std::int32_t number = index_.insert(node);
    ids_[as_size(number)] = node;
    return number;
  }

  bool is_mediator(std::int32_t node) const {
    const std::int32_t number = index_.find(node);
    return !(number >= 0 && is_topic(number)) && options_->mediators.contains(node);
  }

  // order_: the nodes by (hop, id), one layer after another.
  void grow() {
    std::int64_t begin = 0;
    for (std::int64_t hop = 0;; ++hop) {
      sort_layer(begin);
      if (options_->mediators.any() && !truncated_) {
        leave(begin, count(), true);
        if (index_.size() > count()) sort_layer(begin);
      }
      const std::int64_t end = count();
      layer_ends_.push_back(end);
      if (hop == options_->hops || truncated_) return;
      leave(begin, end, false);
      if (index_.size() == end) return;
      begin = end;
    }
  }

  // Adds what was found since to order_, and sorts it from `begin` on.
  void sort_layer(std::int64_t begin) {
    const bool mediators = options_->mediators.any();
    for (std::int32_t number = static_cast<std::int32_t>(count()); number < index_.size();
         ++number) {
      const std::int32_t node = ids_[as_size(number)];
      order_.push_back(pack(node, number));
      flags_.push_back(
          mediators && !is_topic(number) && options_->mediators.contains(node) ? kMediator : 0);
    }
    sort_by_upper_half(order_.data() + begin, order_.data() + count(),
                       static_cast<std::uint32_t>(graph_->num_entities), scratch_);
  }

  template <typename Function>
  void each_side(Function&& function) {
    if (options_->out) function(graph_->out, out_trail_, kOutHub);
    if (options_->in) function(graph_->in, in_trail_, kInHub);
  }

  // Follows the edges of a layer: free steps from mediators to others, or all that cost a hop.
  void leave(std::int64_t begin, std::int64_t end, bool free) {
    expect_steps(begin, end);
    for (std::int64_t block = begin; block < end; block += kBlock) {
      const std::int64_t stop = std::min(block + kBlock, end);
      each_side([&](const Adjacency& side, Trail&, Flag) { fetch_rows(side, block, stop, false); });
      for (std::int64_t i = block; i < stop && !truncated_; ++i) {
        const std::uint64_t node = order_[as_size(i)];
        const bool mediates = flags(low(node)) & kMediator;
        if (free && !mediates) continue;
        flags(low(node)) |= kLeft;
        end_of_left_ = i + 1;
        each_side([&](const Adjacency& side, Trail& trail, Flag hub) {
          const Row row = side.row(high(node));
          if (options_->hubs.is_hub(row)) flags(low(node)) |= hub;
          if (!free) trail.begins.push_back(static_cast<std::int64_t>(trail.numbers.size()));
          const bool complete =
              options_->hubs.each_stretch(side, row, is_topic(low(node)), [&](const Stretch& all) {
                return mediates ? follow_mediator(side, all, free) : follow(side, all, trail);
              });
          if (!complete) truncated_ = true;
        });
      }
      each_side([&](const Adjacency&, Trail& trail, Flag) { number_steps(trail); });
    }
  }

  // Makes the index large enough for most of what a layer leads to, at once; but no more than three
  // times as large, because much of it may be known already.
  void expect_steps(std::int64_t begin, std::int64_t end) {
    std::int64_t steps = 0;
    each_side([&](const Adjacency& side, Trail&, Flag) {
      for (std::int64_t i = begin; i < end; ++i) {
        const Row row = side.row(high(order_[as_size(i)]));
        steps += std::min(row.end - row.begin, options_->hubs.max_degree);
      }
    });
    const std::size_t found = as_size(index_.size());
    index_.reserve(found + std::min(as_size(steps), 2 * found + 4096));
  }

  // Has the cache fetch the rows of some nodes, and where those of the next nodes begin.
  void fetch_rows(const Adjacency& side, std::int64_t begin, std::int64_t end, bool relations) {
    for (std::int64_t i = begin; i < end; ++i) {
      if (i + kBlock < count()) {
        __builtin_prefetch(side.offsets + high(order_[as_size(i + kBlock)]));
      }
      const Row row = side.row(high(order_[as_size(i)]));
      __builtin_prefetch(side.neighbours + row.begin);
      if (row.end - row.begin > 16) __builtin_prefetch(side.neighbours + row.begin + 16);
      if (relations) __builtin_prefetch(side.relations + row.begin);
    }
  }

  // Puts the ids of the neighbours on the trail; number_steps then finds their numbers.
  bool follow(const Adjacency& side, const Stretch& stretch, Trail& trail) {
    const std::int64_t steps = std::min(stretch.count, steps_left_);
    steps_left_ -= steps;
    const std::size_t before = trail.numbers.size();
    trail.numbers.resize(before + as_size(steps));
    std::int32_t* ids = trail.numbers.data() + before;
    for (std::int64_t i = 0; i < steps; ++i) ids[i] = side.neighbour(stretch.edge(i));
    return steps == stretch.count;
  }

  void number_steps(Trail& trail) {
    constexpr std::size_t kAhead = 16;
    const std::size_t end = trail.numbers.size();
    std::int32_t* const steps = trail.numbers.data();
    make_room(end - trail.numbered);
    for (std::size_t i = trail.numbered; i < end; ++i) {
      if (i + kAhead < end) index_.prefetch(steps[i + kAhead]);
      steps[i] = discover(steps[i]);
    }
    trail.numbered = end;
  }

  bool follow_mediator(const Adjacency& side, const Stretch& stretch, bool free) {
    const std::int64_t steps = std::min(stretch.count, steps_left_);
    steps_left_ -= steps;
    make_room(as_size(steps));
    for (std::int64_t i = 0; i < steps; ++i) {
      const std::int32_t next = side.neighbour(stretch.edge(i));
      if (is_mediator(next) != free) discover(next);
    }
    return steps == stretch.count;
  }

  void number_locally() {
    local_.resize(order_.size());
    for (std::int64_t i = 0; i < count(); ++i) {
      local_[as_size(low(order_[as_size(i)]))] = static_cast<std::int32_t>(i);
    }
    if (options_->mediators.any()) end_of_left_ = count();  // the last layer was sorted again
    const auto layers = static_cast<std::int64_t>(layer_ends_.size());
    inner_ = options_->hops == 0        ? 0
             : layers <= options_->hops ? count()
                                        : layer_ends_[as_size(options_->hops - 1)];
  }

  // May the search step from the node that is i-th locally to that number? The node was left.
  bool may_step(std::int64_t i, std::int32_t number) {
    return i < inner_ || !(flags(number) & kMediator);
  }

  bool visit(std::int64_t edges) {
    visits_left_ -= edges;
    if (visits_left_ < 0) truncated_ = true;
    return visits_left_ >= 0;
  }

  // keys_: (relation, local tail) of all edges; row_ends_: where those of each head end.
  void collect_edges() {
    keys_.reserve(out_trail_.numbers.size());
    if (options_->induced) {
      filter_.reset(order_.size());
      for (const std::uint64_t node : order_) filter_.insert(high(node));
      if (find_out_hubs()) collect_edges_into(true);
    } else if (options_->in) {
      collect_edges_into(false);
    }
    sort_extras();
    const std::int64_t rows = options_->induced ? count() : options_->out ? end_of_left_ : 0;
    const std::int64_t heads = extra_begins_.empty() ? rows : count();
    bool complete = true;
    row_ends_.reserve(order_.size());
    for (std::int64_t block = 0; block < heads && complete; block += kBlock) {
      const std::int64_t stop = std::min(block + kBlock, heads);
      fetch_rows(graph_->out, block, std::min(stop, rows), block < inner_);
      for (std::int64_t i = block; i < stop && complete; ++i) complete = collect_row(i, i < rows);
    }
  }

  bool collect_row(std::int64_t i, bool has_row) {
    const std::uint64_t node = order_[as_size(i)];
    const std::size_t begin = keys_.size();
    bool complete = true;
    if (has_row && (options_->induced || (flags(low(node)) & kLeft))) {
      const Adjacency& side = graph_->out;
      complete = each_edge_inside(side, out_trail_, i, [&](std::int64_t edge, std::int32_t number) {
        keys_.push_back(pack(side.relation(edge), local_[as_size(number)]));
        return true;
      });
    }
    if (!extra_begins_.empty()) {
      keys_.insert(keys_.end(), extra_keys_.begin() + extra_begins_[as_size(i)],
                   extra_keys_.begin() + extra_begins_[as_size(i) + 1]);
    }
    sort_row(keys_.data() + begin, keys_.data() + keys_.size());
    if (!extra_begins_.empty()) {
      const auto first = keys_.begin() + static_cast<std::int64_t>(begin);
      keys_.erase(std::unique(first, keys_.end()), keys_.end());
    }
    if (keys_.size() > as_size(options_->max_edges)) {
      keys_.resize(as_size(options_->max_edges));
      truncated_ = true;
      complete = false;
    }
    row_ends_.push_back(static_cast<std::int64_t>(keys_.size()));
    return complete;
  }

  // Calls function(edge, number of the neighbour) for the edges along which node i is left and
  // whose other end is in the ball. False if a limit, or the function, stopped it.
  template <typename Function>
  bool each_edge_inside(const Adjacency& side, const Trail& trail, std::int64_t i,
                        Function&& function) {
    const std::uint64_t node = order_[as_size(i)];
    const Row row = side.row(high(node));
    const bool walked =
        grown_ && as_size(i) < trail.begins.size() && !(flags(low(node)) & kMediator);
    const std::int32_t* number = walked ? trail.numbers.data() + trail.begins[as_size(i)] : nullptr;
    return options_->hubs.each_stretch(side, row, is_topic(low(node)), [&](const Stretch& all) {
      if (!visit(all.count)) return false;
      if (!walked) return each_known(side, all, i, function);
      for (std::int64_t k = 0; k < all.count; ++k) {
        if (!function(all.edge(k), *number++)) return false;
      }
      return true;
    });
  }

  // The same of one stretch, by looking each neighbour up.
  template <typename Function>
  bool each_known(const Adjacency& side, const Stretch& stretch, std::int64_t i,
                  Function&& function) {
    if (stretch.count < stretch.size || !options_->induced) {
      for (std::int64_t k = 0; k < stretch.count; ++k) {
        if (!if_known(side, stretch.edge(k), i, function)) return false;
      }
      return true;
    }
    std::array<std::size_t, kBatch> places;
    const std::int64_t end = stretch.begin + stretch.size;
    for (std::int64_t edge = stretch.begin; edge < end; edge += kBatch) {
      const std::size_t batch = as_size(std::min(kBatch, end - edge));
      const std::size_t kept = filter_.may_hold(side.neighbours + edge, batch, places.data());
      for (std::size_t k = 0; k < kept; ++k) {
        if (!if_known(side, edge + static_cast<std::int64_t>(places[k]), i, function)) return false;
      }
    }
    return true;
  }

  template <typename Function>
  bool if_known(const Adjacency& side, std::int64_t edge, std::int64_t i, Function&& function) {
    const std::int32_t number = index_.find(side.neighbour(edge));
    if (number < 0 || (!options_->induced && !may_step(i, number))) return true;
    return function(edge, number);
  }

  // Flags the nodes of the ball with more outgoing edges than the limit. False if there are none.
  bool find_out_hubs() {
    if (!options_->hubs.has_limit()) return false;
    bool found = false;
    for (const std::uint64_t node : order_) {
      if (!options_->hubs.is_hub(graph_->out.row(high(node)))) continue;
      flags(low(node)) |= kOutHub;
      found = true;
    }
    return found;
  }

  // extras_: edges found at their tails that their heads' rows do not give.
  void collect_edges_into(bool from_hubs_only) {
    const Adjacency& side = graph_->in;
    bool complete = true;
    const std::int64_t rows = from_hubs_only ? count() : end_of_left_;
    for (std::int64_t block = 0; block < rows && complete; block += kBlock) {
      const std::int64_t stop = std::min(block + kBlock, rows);
      fetch_rows(side, block, stop, true);
      for (std::int64_t i = block; i < stop && complete; ++i) {
        if (!from_hubs_only && !(flags(low(order_[as_size(i)])) & kLeft)) continue;
        complete =
            each_edge_inside(side, in_trail_, i, [&](std::int64_t edge, std::int32_t number) {
              if (from_hubs_only ? !(flags(number) & kOutHub) : head_gives(number)) return true;
              if (as_size(options_->max_edges) == extras_.size()) {
                truncated_ = true;
                return false;
              }
              const std::int32_t head = local_[as_size(number)];
              extras_.push_back({head, pack(side.relation(edge), static_cast<std::int32_t>(i))});
              return true;
            });
      }
    }
  }

  bool head_gives(std::int32_t number) {
    return options_->out && local_[as_size(number)] < inner_ &&
           (flags(number) & (kLeft | kOutHub)) == kLeft;
  }

  // extra_keys_: keys of the extras, gathered by head.
  void sort_extras() {
    if (extras_.empty()) return;
    extra_begins_.assign(order_.size() + 2, 0);
    for (const Extra& extra : extras_) ++extra_begins_[as_size(extra.head) + 2];
    for (std::size_t i = 2; i < extra_begins_.size(); ++i) {
      extra_begins_[i] += extra_begins_[i - 1];
    }
    extra_keys_.resize(extras_.size());
    for (const Extra& extra : extras_) {
      extra_keys_[as_size(extra_begins_[as_size(extra.head) + 1]++)] = extra.key;
    }
  }

  Ball result(const std::int32_t* topics, std::int64_t num_topics) const {
    Ball ball;
    ball.truncated = truncated_;
    ball.entities.resize(order_.size());
    ball.hops.resize(order_.size());
    std::size_t i = 0;
    for (std::size_t hop = 0; hop < layer_ends_.size(); ++hop) {
      for (; i < as_size(layer_ends_[hop]); ++i) {
        ball.entities[i] = high(order_[i]);
        ball.hops[i] = static_cast<std::int32_t>(hop);
      }
    }
    ball.heads.resize(keys_.size());
    ball.relations.resize(keys_.size());
    ball.tails.resize(keys_.size());
    std::size_t e = 0;
    for (std::size_t head = 0; head < row_ends_.size(); ++head) {
      for (; e < as_size(row_ends_[head]); ++e) {
        ball.heads[e] = static_cast<std::int32_t>(head);
        ball.relations[e] = high(keys_[e]);
        ball.tails[e] = low(keys_[e]);
      }
    }
    for (std::int64_t t = 0; t < num_topics; ++t) {
      ball.topics.push_back(local_[as_size(index_.find(topics[t]))]);
    }
    if (!options_->hubs.has_limit()) return ball;
    for (const std::uint64_t node : order_) {
      if (flags_[as_size(low(node))] & (kOutHub | kInHub)) ball.hub_ids.push_back(high(node));
    }
    std::sort(ball.hub_ids.begin(), ball.hub_ids.end());
    return ball;
  }

  struct Extra {
    std::int32_t head;  // local
    std::uint64_t key;
  };

  const GraphView* graph_ = nullptr;
  const BallOptions* options_ = nullptr;
  bool truncated_ = false;
  bool grown_ = false;  // to the full radius
  std::int64_t steps_left_ = 0;
  std::int64_t visits_left_ = 0;
  std::int32_t num_topics_ = 0;   // distinct ones, which have the first numbers
  std::int64_t end_of_left_ = 0;  // local: no node from here on was left
  std::int64_t inner_ = 0;        // nodes before this local index are nearer than `hops`

  NodeIndex index_;
  NodeFilter filter_;
  std::vector<std::int32_t> ids_;     // by number, and room for more
  std::vector<std::uint64_t> order_;  // (id, number) of each node by local index
  std::vector<std::uint64_t> scratch_;
  std::vector<std::uint8_t> flags_;  // by number
  std::vector<std::int32_t> local_;  // by number
  std::vector<std::int64_t> layer_ends_;
  Trail out_trail_, in_trail_;
  std::vector<Extra> extras_;
  std::vector<std::uint64_t> extra_keys_;
  std::vector<std::int64_t> extra_begins_;
  std::vector<std::uint64_t> keys_;
  std::vector<std::int64_t> row_ends_;
};

}  // namespace

Ball find_ball(const GraphView& graph, const std::int32_t* topics, std::int64_t num_topics,
               const BallOptions& options) {
  // Kept between calls: fresh memory would cost more than the search of a small ball.
  thread_local Search kept;
  const struct Cleared {
    Search& search;
    ~Cleared() { search.clear(); }
  } cleared{kept};
  return cleared.search.find(graph, topics, num_topics, options);
}

}  // namespace hyperhop::graph
