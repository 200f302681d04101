// The order in which kernels walk a graph cut into segments: blocks of nodes, in them rows by
// degree, and the edges of these rows in a line.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/flow.h"

namespace hyperhop {

// Nodes [begin, end) of one segment.
struct NodeBlock {
  std::int64_t segment, begin, end;
};

// Blocks of at most kNodeBlock nodes, segment by segment; `segments` are node offsets.
std::vector<NodeBlock> node_blocks_of(const std::vector<std::int64_t>& segments);

// Blocks of nodes [begin, end) whose beta gradients are summed in one table.
struct EdgeBlock {
  std::int64_t segment, begin, end;
};

class FlowPlan {
 public:
  // O(E + V).
  FlowPlan(const FlowEdges& in, const FlowEdges& out, std::vector<std::int64_t> segments,
           std::int64_t num_relations);

  const std::vector<std::int64_t>& segments() const { return segments_; }
  const std::vector<NodeBlock>& blocks() const { return blocks_; }

  // Rows of a block: tails and their in-edges, or heads and their out-edges.
  FlowRows in(std::int64_t block) const { return in_.rows(block); }
  FlowRows out(std::int64_t block) const { return out_.rows(block); }

  // Segment by segment; a segment of nodes has at least one, an empty one has none. A new one
  // starts where the out-edges before a block have passed another multiple of 65,536, counted from
  // the segment's first: fixed by the segment alone.
  const std::vector<EdgeBlock>& edge_blocks() const { return edge_blocks_; }

 private:
  class Side {
   public:
    Side(const FlowEdges& edges, const std::vector<NodeBlock>& blocks, std::int64_t num_relations);
    FlowRows rows(std::int64_t block) const;

   private:
    struct Start {
      std::size_t run, row, edge;
    };
    std::vector<Start> starts_;  // of each block, and the end
    std::vector<FlowRun> runs_;
    std::vector<std::int32_t> row_;
    int node_shift_;
    bool wide_;
    std::vector<std::uint32_t> words_;  // one of the two is empty
    std::vector<std::uint64_t> wide_words_;
  };

  std::vector<std::int64_t> segments_;
  std::vector<NodeBlock> blocks_;
  Side in_, out_;
  std::vector<EdgeBlock> edge_blocks_;
};

}  // namespace hyperhop
