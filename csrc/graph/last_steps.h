// The last step of many sequences at once.
//
// Sequences that differ only in their last symbol end from the same nodes. Here the walks of what
// they share are listed, and the row where each of them ends is read once for all last symbols,
// instead of once for each.
//
// Only for walks that follow every edge and may repeat entities: no hubs, mediators or `simple`.
#pragma once

#include <cstdint>
#include <vector>

#include "graph_view.h"
#include "sequence_list.h"
#include "sizes.h"

namespace hyperhop::graph {

class LastSteps {
 public:
  // A path: a walk of the shared symbols, and the end that the last symbol leads to from there.
  struct Step {
    std::int32_t walk;
    std::int32_t end;
  };

  LastSteps(const GraphView& graph, std::int32_t topic, bool return_to_topic)
      : graph_(graph), topic_(topic), return_to_topic_(return_to_topic), levels_{{topic}} {}

  // The steps of the sequences first ... last - 1, which are a group (end_of_group) of at least one
  // symbol each. False if that takes more than about `most` edges and ids. Throws DamagedStore.
  bool gather(const SequenceList& sequences, std::int64_t first, std::int64_t last,
              std::int64_t most);

  // Of the k-th sequence gathered, ascending. Valid until the next gather().
  const std::vector<Step>& steps(std::int64_t k) const { return steps_[as_size(k)]; }

  // The entities of a walk: the topic, and one for each shared symbol.
  const std::int32_t* walk(std::int32_t index) const {
    return levels_.back().data() + as_size(index) * levels_.size();
  }

  // Edges looked at and ids of walks listed by the last gather().
  std::int64_t visits() const { return visits_; }

 private:
  bool list_walks(const std::int32_t* symbols, std::int64_t length, std::int64_t most);

  const GraphView& graph_;
  const std::int32_t topic_;
  const bool return_to_topic_;
  std::vector<std::int32_t> symbols_;              // shared by the sequences at hand
  std::vector<std::vector<std::int32_t>> levels_;  // walks of the first d of them, d + 1 ids each
  std::vector<std::int32_t> relations_;            // of the last symbols, ascending
  std::vector<std::vector<Step>> steps_;
  std::int64_t visits_ = 0;
};

}  // namespace hyperhop::graph
