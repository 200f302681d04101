#include "last_steps.h"

#include <algorithm>

namespace hyperhop::graph {
namespace {

constexpr std::size_t kBlock = 32;

// The first of ascending ids that is not below `id`. Galloping: it is usually near.
const std::int32_t* skip_below(const std::int32_t* begin, const std::int32_t* end,
                               std::int32_t id) {
  std::ptrdiff_t jump = 1;
  while (jump < end - begin && begin[jump] < id) jump *= 2;
  return std::lower_bound(begin + jump / 2, begin + std::min(jump, end - begin), id);
}

// Has the rows of the next walks' ends on their way: they are anywhere in memory.
void prefetch_rows(const Adjacency& side, const std::vector<std::int32_t>& walks, std::size_t width,
                   std::size_t first) {
  const std::size_t count = std::min(kBlock, walks.size() / width - first);
  const std::int32_t* const last = walks.data() + (first + 1) * width - 1;
  for (std::size_t i = 0; i < count; ++i) __builtin_prefetch(side.offsets + last[i * width]);
  for (std::size_t i = 0; i < count; ++i) {
    const Row row = side.row(last[i * width]);
    __builtin_prefetch(side.relations + row.begin);
    __builtin_prefetch(side.neighbours + row.begin);
  }
}

}  // namespace

bool LastSteps::gather(const SequenceList& sequences, std::int64_t first, std::int64_t last,
                       std::int64_t most) {
  visits_ = 0;
  const std::int64_t prefix = sequences.length(first) - 1;
  if (!list_walks(sequences.begin(first), prefix, most)) return false;
  const std::int64_t group = last - first;
  if (steps_.size() < as_size(group)) steps_.resize(as_size(group));
  for (std::int64_t k = 0; k < group; ++k) steps_[as_size(k)].clear();

  const std::int32_t symbol = sequences.begin(first)[prefix];
  const Adjacency& side = graph_.side(symbol);
  relations_.clear();
  for (std::int64_t i = first; i < last; ++i) {
    const std::int32_t last_symbol = sequences.begin(i)[prefix];
    relations_.push_back(symbol < graph_.num_relations ? last_symbol
                                                       : last_symbol - graph_.num_relations);
  }
  const std::int32_t* const asked_end = relations_.data() + group;
  const std::vector<std::int32_t>& walks = levels_.back();
  const std::size_t width = levels_.size();
  for (std::size_t w = 0; w < walks.size() / width; ++w) {
    if (w % kBlock == 0) prefetch_rows(side, walks, width, w);
    const Row row = side.row(walks[w * width + width - 1]);
    const std::int32_t* asked = relations_.data();
    const std::int32_t* found = side.relations + row.begin;
    const std::int32_t* const row_end = side.relations + row.end;
    while (asked < asked_end && found < row_end) {
      if (++visits_ > most) return false;
      if (*found < *asked) {
        found = skip_below(found, row_end, *asked);
      } else if (*asked < *found) {
        asked = skip_below(asked, asked_end, *found);
      } else {
        std::vector<Step>& steps = steps_[as_size(asked - relations_.data())];
        do {
          const std::int32_t end = side.neighbour(found - side.relations);
          const bool is_path = end != topic_ || return_to_topic_;
          if (is_path) steps.push_back({static_cast<std::int32_t>(w), end});
        } while (++visits_ <= most && ++found < row_end && *found == *asked);
        ++asked;
      }
    }
  }
  return true;
}

// Breadth first: walks stay in ascending order. Those of symbols shared with the list before are
// kept.
bool LastSteps::list_walks(const std::int32_t* symbols, std::int64_t length, std::int64_t most) {
  std::size_t known = 0;
  const std::size_t limit = std::min({symbols_.size(), as_size(length), levels_.size() - 1});
  while (known < limit && symbols_[known] == symbols[known]) ++known;
  symbols_.assign(symbols, symbols + length);
  levels_.resize(known + 1);
  while (known < as_size(length)) {
    const std::int32_t symbol = symbols[known];
    const Adjacency& side = graph_.side(symbol);
    const std::vector<std::int32_t>& walks = levels_[known];
    const std::size_t width = ++known;
    std::vector<std::int32_t> longer;
    for (auto walk = walks.begin(); walk != walks.end();
         walk += static_cast<std::ptrdiff_t>(width)) {
      const auto end = walk + static_cast<std::ptrdiff_t>(width);
      const Row row = graph_.step(end[-1], symbol);
      visits_ += 1 + row.end - row.begin;
      if (visits_ > most) return false;
      for (std::int64_t edge = row.begin; edge < row.end; ++edge) {
        const std::int32_t next = side.neighbour(edge);
        if (next == topic_ && !return_to_topic_) continue;
        visits_ += static_cast<std::int64_t>(width);
        longer.insert(longer.end(), walk, end);
        longer.push_back(next);
      }
    }
    levels_.push_back(std::move(longer));
  }
  return true;
}

}  // namespace hyperhop::graph
