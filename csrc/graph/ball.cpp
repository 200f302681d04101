#include "ball.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <memory>
#include <tuple>

#include "node_index.h"
#include "sizes.h"

namespace hyperhop::graph {
namespace {

constexpr std::int64_t kBlock = 32;            // nodes whose rows are fetched ahead
constexpr std::int64_t kLine = 16;             // ids in a line of the cache
constexpr std::int64_t kBatch = 512;           // edges of a row looked at before some are kept
constexpr std::size_t kAhead = 4096;           // nodes or edges that room is made for on suspicion
constexpr std::size_t kKeptBytes = 4ul << 20;  // of each scratch array, between two calls

template <typename T>
void shrink(std::vector<T>& values) {
  values.clear();
  if (values.capacity() * sizeof(T) > kKeptBytes) values.shrink_to_fit();
}

// A node is known by its number: its place in Ball::entities.
class Search {
 public:
  Ball find(const GraphView& graph, const std::int32_t* topics, std::int64_t num_topics,
            const BallOptions& options) {
    graph_ = &graph;
    options_ = &options;
    has_mediators_ = options.mediators.any();
    has_limit_ = options.hubs.has_limit();
    walk_keeps_rows_ = options.induced && options.out && !has_mediators_ && !has_limit_;
    steps_left_ = options.max_edges;
    visits_left_ = options.edge_visits;
    num_topics_ = 0;
    edges_ = 0;
    make_room_for_nodes(as_size(num_topics));
    for (std::int64_t i = 0; i < num_topics; ++i) ball_.topics.push_back(discover(topics[i]));
    num_topics_ = count();
    const std::int64_t left = grow();
    if (options.induced) collect_rows(left);
    finish();
    return std::move(ball_);
  }

  // Ready for the next call; large arrays are given back.
  void clear() {
    ball_ = {};
    index_.shrink(kKeptBytes);
    filter_.shrink(kKeptBytes);
    num_candidates_ = 0;
    shrink(hub_edges_);
  }

 private:
  struct HubEdge {  // ordered as its head's row is
    std::int32_t head, relation, tail_id, tail;
    bool operator<(const HubEdge& other) const {
      return std::tie(head, relation, tail_id) <
             std::tie(other.head, other.relation, other.tail_id);
    }
  };

  std::int32_t count() const { return index_.size(); }
  std::int32_t id(std::int64_t number) const { return ball_.entities[as_size(number)]; }
  bool is_topic(std::int64_t number) const { return number < num_topics_; }

  void make_room_for_nodes(std::size_t more) {
    const std::size_t most = as_size(count()) + more;
    index_.reserve(most);
    if (ball_.entities.size() < most) {
      ball_.entities.resize(std::max(most, 2 * ball_.entities.size()));
    }
  }

  void make_room_for_edges(std::size_t more) {
    const std::size_t most = as_size(edges_) + more;
    if (ball_.heads.size() >= most) return;
    const std::size_t size = std::max(most, 2 * ball_.heads.size());
    for (auto* column : {&ball_.heads, &ball_.relations, &ball_.tails}) column->resize(size);
  }

  std::int32_t discover(std::int32_t node) {
    const std::int32_t number = index_.insert(node);
    ball_.entities[as_size(number)] = node;
    return number;
  }

  bool is_mediator(std::int32_t node) const {
    if (!has_mediators_ || !options_->mediators.contains(node)) return false;
    const std::int32_t number = index_.find(node);
    return number < 0 || !is_topic(number);
  }

  // Finds the nodes hop by hop. Says how many of them were left along every edge.
  std::int64_t grow() {
    std::int64_t begin = 0;
    for (std::int32_t hop = 0;; ++hop) {
      if (has_mediators_) leave(begin, count(), true);
      const std::int64_t end = count();
      ball_.hops.resize(as_size(end), hop);
      if (hop == options_->hops || begin == end) return begin;
      leave(begin, end, false);
      if (ball_.truncated) {
        ball_.hops.resize(as_size(count()), hop + 1);
        return 0;
      }
      begin = end;
    }
  }

  template <typename Function>
  void each_side(Function&& function) {
    if (options_->out) function(graph_->out);
    if (options_->in) function(graph_->in);
  }

  // Follows the edges of a hop's nodes: free steps from mediators to others, or all that cost.
  void leave(std::int64_t begin, std::int64_t end, bool free) {
    std::size_t steps = 0;
    each_side([&](const Adjacency& side) { steps += edges_of(side, begin, end); });
    make_room_for_nodes(std::min(steps, kAhead + as_size(count())));
    make_room_for_edges(std::min(steps, kAhead + as_size(edges_)));
    for (std::int64_t block = begin; block < end; block += kBlock) {
      const std::int64_t stop = std::min(block + kBlock, end);
      each_side([&](const Adjacency& side) { fetch_rows(side, block, stop); });
      for (std::int64_t number = block; number < stop; ++number) {
        const bool mediates = is_mediator(id(number));
        if (free && !mediates) continue;
        each_side([&](const Adjacency& side) {
          if (ball_.truncated) return;
          each_stretch(side, number, [&](const Stretch& stretch) {
            return has_mediators_ || has_limit_
                       ? follow<false>(side, stretch, number, mediates, free, free ? begin : number,
                                       end)
                       : follow<true>(side, stretch, number, false, false, number, end);
          });
        });
      }
    }
  }

  // Along which edges the node is left; see HubRule.
  template <typename Function>
  void each_stretch(const Adjacency& side, std::int64_t number, Function&& function) {
    const Row row = side.row(id(number));
    if (options_->hubs.is_hub(row)) ball_.hub_ids.push_back(id(number));
    options_->hubs.each_stretch(side, row, is_topic(number), function);
  }

  std::size_t edges_of(const Adjacency& side, std::int64_t begin, std::int64_t end) const {
    std::int64_t edges = 0;
    for (std::int64_t i = begin; i < end; ++i) {
      const Row row = side.row(id(i));
      edges += row.end - row.begin;
    }
    return as_size(edges);
  }

  // Has the cache fetch the row of a node that comes soon, and where that of a later one begins.
  void fetch_ahead(const Adjacency& side, std::int64_t number) {
    if (number + 2 * kBlock < count()) __builtin_prefetch(side.offsets + id(number + 2 * kBlock));
    if (number + kBlock >= count()) return;
    const Row row = side.row(id(number + kBlock));
    const std::int64_t end = std::min(row.end, row.begin + 8 * kLine);
    for (std::int64_t e = row.begin; e < end; e += kLine) __builtin_prefetch(side.neighbours + e);
  }

  // Has the cache fetch the rows of some nodes.
  void fetch_rows(const Adjacency& side, std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const Row row = side.row(id(i));
      __builtin_prefetch(side.neighbours + row.begin);
      if (row.end - row.begin > 8) __builtin_prefetch(side.neighbours + row.begin + kLine);
      __builtin_prefetch(side.relations + row.begin);
    }
  }

  // May so many edges be looked at?
  bool visit(std::int64_t edges) {
    visits_left_ -= edges;
    if (visits_left_ < 0) ball_.truncated = true;
    return visits_left_ >= 0;
  }

  // Steps from a node. The nodes before `first` walked their edges earlier, and so did mediators
  // before `end` their edges to others. False where a bound stops it.
  template <bool kPlain>  // no mediators, no limit
  bool follow(const Adjacency& from, const Stretch& stretch, std::int64_t number, bool mediates,
              bool free, std::int64_t first, std::int64_t end) {
    if (!visit(stretch.count)) return false;
    const std::int64_t steps = std::min(stretch.count, steps_left_);
    steps_left_ -= steps;
    make_room_for_nodes(as_size(steps));
    make_room_for_edges(as_size(steps));
    const Adjacency side = from;  // a copy, which no writing can change
    const bool inward = &from == &graph_->in;
    const bool keeps = !options_->induced || (walk_keeps_rows_ && !inward);
    const bool both = !options_->induced && options_->out && options_->in;
    const auto here = static_cast<std::int32_t>(number);
    std::int32_t* const here_ends = (inward ? ball_.tails : ball_.heads).data();
    std::int32_t* const other_ends = (inward ? ball_.heads : ball_.tails).data();
    std::int32_t* const relations = ball_.relations.data();
    if (inward && !free) ++first;  // a loop was walked outward
    std::int64_t edges = edges_;
    for (std::int64_t i = 0; i < steps; ++i) {
      const std::int64_t edge = kPlain ? stretch.begin + i : stretch.edge(i);
      const std::int32_t node = side.neighbour(edge);
      if (!kPlain && mediates && is_mediator(node) == free) continue;
      const std::int32_t other = discover(node);
      here_ends[edges] = here;
      other_ends[edges] = other;
      relations[edges] = side.relation(edge);
      bool keep = keeps;
      if (both) {
        const bool walked =
            other < first || (!kPlain && !mediates && other < end && is_mediator(node));
        keep = !walked || (!kPlain && has_limit_ && !walks_back(from, other, edge, number));
      }
      edges += keep;
    }
    edges_ = edges;
    if (steps < stretch.count) ball_.truncated = true;
    return !ball_.truncated;
  }

  // Is the edge from `number` to `other` on this side one along which `other` is left?
  bool walks_back(const Adjacency& side, std::int64_t other, std::int64_t edge,
                  std::int64_t number) const {
    const Adjacency& back = &side == &graph_->out ? graph_->in : graph_->out;
    return options_->hubs.follows(back, id(other), is_topic(other), side.relation(edge),
                                  id(number));
  }

  // All edges between nodes of the ball, by head. A complete walk kept the rows of the nodes that
  // it left.
  void collect_rows(std::int64_t left) {
    if (!walk_keeps_rows_ || ball_.truncated) left = edges_ = 0;
    if (has_limit_) collect_hub_edges();
    filter_.reset(as_size(count()));
    for (std::int64_t i = 0; i < count(); ++i) filter_.insert(id(i));
    auto hub_edge = hub_edges_.begin();
    for (std::int64_t block = left; block < count(); block += kBlock) {
      const std::int64_t stop = std::min<std::int64_t>(block + kBlock, count());
      for (std::int64_t head = block; head < stop; ++head) {
        fetch_ahead(graph_->out, head);
        const Row row = graph_->out.row(id(head));
        if (!options_->hubs.is_hub(row)) {
          if (!visit(row.end - row.begin)) return void(keep_candidates(block));
          if (!add_candidates(row, head, block)) return;
          continue;
        }
        if (!keep_candidates(block)) return;
        for (; hub_edge != hub_edges_.end() && hub_edge->head == head; ++hub_edge) {
          make_room_for_edges(1);
          ball_.heads[as_size(edges_)] = hub_edge->head;
          ball_.relations[as_size(edges_)] = hub_edge->relation;
          ball_.tails[as_size(edges_++)] = hub_edge->tail;
        }
      }
      if (!keep_candidates(block)) return;
    }
  }

  // A candidate is edge * kBlock + its head's place in the block.
  bool add_candidates(Row row, std::int64_t head, std::int64_t block) {
    const NodeFilter::View filter = filter_.view();
    const std::int32_t* const neighbours = graph_->out.neighbours;
    for (std::int64_t edge = row.begin; edge < row.end;) {
      const std::int64_t end = std::min(row.end, edge + kBatch);
      std::int64_t* kept = candidates_.data() + num_candidates_;
      for (; edge < end; ++edge) {
        *kept = edge * kBlock + (head - block);
        kept += filter.may_hold(neighbours[edge]);
      }
      num_candidates_ = kept - candidates_.data();
      if (num_candidates_ > kBatch && !keep_candidates(block)) return false;
    }
    return true;
  }

  // Moves the candidates whose tails are in the ball to its edges. False if there are too many.
  bool keep_candidates(std::int64_t block) {
    const Adjacency side = graph_->out;  // a copy, as in follow
    make_room_for_edges(as_size(num_candidates_));
    const std::int64_t* const end = candidates_.data() + num_candidates_;
    for (const std::int64_t* each = candidates_.data(); each != end; ++each) {
      __builtin_prefetch(side.relations + *each / kBlock);
    }
    std::int32_t* const heads = ball_.heads.data();
    std::int32_t* const relations = ball_.relations.data();
    std::int32_t* const tails = ball_.tails.data();
    std::int64_t edges = edges_;
    for (const std::int64_t* each = candidates_.data(); each != end; ++each) {
      const std::int64_t edge = *each / kBlock;
      const std::int32_t tail = index_.find(side.neighbour(edge));
      heads[edges] = static_cast<std::int32_t>(block + *each % kBlock);
      relations[edges] = side.relation(edge);
      tails[edges] = tail;
      edges += tail >= 0;
    }
    edges_ = edges;
    num_candidates_ = 0;
    if (edges_ <= options_->max_edges) return true;
    edges_ = options_->max_edges;
    ball_.truncated = true;
    return false;
  }

  // hub_edges_: the edges out of hubs, which either end may follow.
  void collect_hub_edges() {
    const HubRule& hubs = options_->hubs;
    filter_.reset(as_size(count()));
    bool goes_on = true;
    for (std::int32_t head = 0; head < count(); ++head) {
      const Row row = graph_->out.row(id(head));
      if (!hubs.is_hub(row)) continue;
      filter_.insert(id(head));
      ball_.hub_ids.push_back(id(head));
      goes_on = goes_on && hubs.each_stretch(graph_->out, row, is_topic(head), [&](Stretch all) {
        return each_hub_edge(graph_->out, all, [&](std::int32_t tail, std::int32_t relation) {
          hub_edges_.push_back({head, relation, id(tail), tail});
        });
      });
    }
    for (std::int32_t tail = 0; tail < count() && goes_on && !ball_.hub_ids.empty(); ++tail) {
      fetch_ahead(graph_->in, tail);
      const Row row = graph_->in.row(id(tail));
      goes_on = hubs.each_stretch(graph_->in, row, is_topic(tail), [&](Stretch all) {
        return each_hub_edge(graph_->in, all, [&](std::int32_t head, std::int32_t relation) {
          if (!hubs.is_hub(graph_->out.row(id(head))) ||
              hubs.follows(graph_->out, id(head), is_topic(head), relation, id(tail))) {
            return;
          }
          hub_edges_.push_back({head, relation, id(tail), tail});
        });
      });
    }
    std::sort(hub_edges_.begin(), hub_edges_.end());
  }

  // Calls function(number of the neighbour, relation) for what is in the ball. False where a bound
  // stops it.
  template <typename Function>
  bool each_hub_edge(const Adjacency& side, const Stretch& stretch, Function&& function) {
    if (!visit(stretch.count)) return false;
    for (std::int64_t i = 0; i < stretch.count; ++i) {
      const std::int64_t edge = stretch.edge(i);
      const std::int32_t node = side.neighbour(edge);
      if (&side == &graph_->in && !filter_.may_hold(node)) continue;  // no hub
      const std::int32_t number = index_.find(node);
      if (number >= 0) function(number, side.relation(edge));
      if (static_cast<std::int64_t>(hub_edges_.size()) <= options_->max_edges) continue;
      ball_.truncated = true;
      return false;
    }
    return true;
  }

  void finish() {
    ball_.entities.resize(as_size(count()));
    for (auto* column : {&ball_.heads, &ball_.relations, &ball_.tails}) {
      column->resize(as_size(edges_));
    }
    std::vector<std::int32_t>& hubs = ball_.hub_ids;
    std::sort(hubs.begin(), hubs.end());
    hubs.erase(std::unique(hubs.begin(), hubs.end()), hubs.end());
  }

  const GraphView* graph_ = nullptr;
  const BallOptions* options_ = nullptr;
  bool has_mediators_ = false;
  bool has_limit_ = false;
  bool walk_keeps_rows_ = false;  // in the order that is wanted
  std::int64_t steps_left_ = 0;
  std::int64_t visits_left_ = 0;
  std::int32_t num_topics_ = 0;  // distinct ones, which have the first numbers
  std::int64_t edges_ = 0;       // the ball's columns have room for more

  Ball ball_;
  NodeIndex index_;
  NodeFilter filter_;
  std::array<std::int64_t, 2 * kBatch> candidates_;
  std::int64_t num_candidates_ = 0;
  std::vector<HubEdge> hub_edges_;
};

}  // namespace

Ball find_ball(const GraphView& graph, const std::int32_t* topics, std::int64_t num_topics,
               const BallOptions& options) {
  // Kept between calls: fresh memory would cost more than the search of a small ball. On the heap,
  // because inner loops would ask for the address of a thread's variable again and again.
  thread_local const auto kept = std::make_unique<Search>();
  const struct Cleared {
    Search& search;
    ~Cleared() { search.clear(); }
  } cleared{*kept};
  return cleared.search.find(graph, topics, num_topics, options);
}

}  // namespace hyperhop::graph
