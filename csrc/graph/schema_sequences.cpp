#include "schema_sequences.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <tuple>
#include <utility>

#include "sizes.h"

namespace hyperhop::graph {
namespace {

// The sequences of one depth: row i is symbols[i * depth, (i + 1) * depth).
struct Level {
  std::int64_t depth = 0;
  std::vector<std::int32_t> symbols;
  std::vector<std::int64_t> supports;

  std::int64_t count() const { return static_cast<std::int64_t>(supports.size()); }
  const std::int32_t* row(std::int64_t i) const { return symbols.data() + i * depth; }
};

// One way on from a row of a level.
struct Step {
  std::int64_t support;
  std::int32_t parent;
  std::int32_t symbol;
};
constexpr std::int64_t kStepEntries = sizeof(Step) / sizeof(std::int32_t);

class Search {
 public:
  Search(const SchemaView& schema, const std::vector<std::int32_t>& first,
         const SchemaSequenceOptions& options, const Limits& limits)
      : schema_(schema),
        first_(first),
        options_(options),
        limits_(limits),
        bound_(options.inverse ? 2 * schema.num_relations : schema.num_relations) {}

  Sequences run() {
    level_.supports.push_back(kEverything);  // the empty sequence
    for (std::int64_t depth = 1; depth <= options_.max_hops && level_.count() > 0; ++depth) {
      bool complete = extend();
      if (options_.beam > 0) narrow();
      advance();
      complete = emit() && complete;
      if (!complete) {
        result_.truncated = true;
        break;
      }
    }
    return std::move(result_);
  }

 private:
  // All one-symbol extensions of the level, in order. False where a limit stopped it; without a
  // beam one extension beyond `cap` is kept as the proof that there are more.
  bool extend() {
    steps_.clear();
    for (std::int64_t i = 0; i < level_.count(); ++i) {
      const auto parent = static_cast<std::int32_t>(i);
      const Going going = level_.depth == 0 ? begin() : follow(parent);
      if (going == Going::kLimit) return false;
      if (going == Going::kCap) return true;
    }
    return true;
  }

  enum class Going { kOn, kCap, kLimit };

  Going begin() {
    for (const std::int32_t symbol : first_) {
      if (symbol >= bound_) break;
      const std::int64_t domain = schema_.count(schema_.inverse(symbol), symbol);
      if (domain <= 0) continue;
      const Going going = take({domain, 0, symbol});
      if (going != Going::kOn) return going;
    }
    return Going::kOn;
  }

  Going follow(std::int32_t parent) {
    const Row row = schema_.row(level_.row(parent)[level_.depth - 1]);
    const std::int64_t end = schema_.lower_bound(row, bound_);
    const std::int64_t before = level_.depth == 1 ? kEverything : level_.supports[as_size(parent)];
    for (std::int64_t pair = row.begin; pair < end; ++pair) {
      const std::int64_t support = std::min(before, schema_.counts[pair]);
      const Going going = take({support, parent, schema_.symbol(pair)});
      if (going != Going::kOn) return going;
    }
    return Going::kOn;
  }

  Going take(const Step& step) {
    const auto steps = static_cast<std::int64_t>(steps_.size());
    const auto held = static_cast<std::int64_t>(level_.symbols.size() + result_.symbols.size());
    if (++visited_ > limits_.edge_visits) return Going::kLimit;
    if (held + (steps + 1) * (kStepEntries + level_.depth + 1) > limits_.entries) {
      return Going::kLimit;
    }
    steps_.push_back(step);
    if (options_.beam > 0) {
      if (steps / 2 >= std::max(options_.beam, kFewSteps)) narrow();
      return Going::kOn;
    }
    return emitted() + steps >= options_.cap ? Going::kCap : Going::kOn;
  }

  // The `beam` best steps, in order of their symbols.
  void narrow() {
    if (static_cast<std::int64_t>(steps_.size()) <= options_.beam) return;
    const std::int32_t* ranks = options_.symbol_ranks;
    const auto by_rank = [ranks](std::int32_t a, std::int32_t b) { return ranks[a] < ranks[b]; };
    const auto better = [&](const Step& a, const Step& b) {
      if (a.support != b.support) return a.support > b.support;
      if (a.parent == b.parent) return by_rank(a.symbol, b.symbol);
      const std::int32_t* row_a = level_.row(a.parent);
      const std::int32_t* row_b = level_.row(b.parent);
      return std::lexicographical_compare(row_a, row_a + level_.depth, row_b, row_b + level_.depth,
                                          by_rank);
    };
    std::nth_element(steps_.begin(), steps_.begin() + options_.beam, steps_.end(), better);
    steps_.resize(as_size(options_.beam));
    std::sort(steps_.begin(), steps_.end(), [](const Step& a, const Step& b) {
      return std::tie(a.parent, a.symbol) < std::tie(b.parent, b.symbol);
    });
  }

  // Makes the steps the next level.
  void advance() {
    Level next;
    next.depth = level_.depth + 1;
    next.symbols.reserve(steps_.size() * as_size(next.depth));
    next.supports.reserve(steps_.size());
    for (const Step& step : steps_) {
      const std::int32_t* row = level_.row(step.parent);
      next.symbols.insert(next.symbols.end(), row, row + level_.depth);
      next.symbols.push_back(step.symbol);
      next.supports.push_back(step.support);
    }
    level_ = std::move(next);
  }

  // Appends the level to the result; false if `cap` cut it.
  bool emit() {
    const std::int64_t count = std::min(level_.count(), options_.cap - emitted());
    result_.symbols.insert(result_.symbols.end(), level_.row(0), level_.row(count));
    for (std::int64_t i = 0; i < count; ++i) {
      result_.offsets.push_back(result_.offsets.back() + level_.depth);
    }
    return count == level_.count();
  }

  std::int64_t emitted() const { return static_cast<std::int64_t>(result_.offsets.size()) - 1; }

  static constexpr std::int64_t kEverything = std::numeric_limits<std::int64_t>::max();
  static constexpr std::int64_t kFewSteps = 32'768;  // below that, narrowing is not worth its time

  const SchemaView& schema_;
  const std::vector<std::int32_t>& first_;
  const SchemaSequenceOptions& options_;
  const Limits& limits_;
  const std::int32_t bound_;  // symbols at or above it are not used
  Level level_;
  std::vector<Step> steps_;
  Sequences result_;
  std::int64_t visited_ = 0;
};

}  // namespace

Sequences schema_sequences(const SchemaView& schema, const std::vector<std::int32_t>& first,
                           const SchemaSequenceOptions& options, const Limits& limits) {
  return Search(schema, first, options, limits).run();
}

}  // namespace hyperhop::graph
