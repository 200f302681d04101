#include "flow_plan.h"

#include <algorithm>
#include <utility>

#include "graph/sizes.h"
#include "kernels/node_sums.h"

namespace hyperhop {

using graph::as_size;

std::vector<NodeBlock> node_blocks_of(const std::vector<std::int64_t>& segments) {
  std::vector<NodeBlock> blocks;
  blocks.reserve(segments.size() + as_size(segments.back() / kNodeBlock));
  for (std::size_t g = 0; g + 1 < segments.size(); ++g)
    for (std::int64_t v = segments[g]; v < segments[g + 1]; v += kNodeBlock)
      blocks.push_back(
          {static_cast<std::int64_t>(g), v, std::min(v + kNodeBlock, segments[g + 1])});
  return blocks;
}

namespace {

// Bits that hold every id below `count`.
int bits_of(std::int64_t count) {
  int bits = 0;
  while ((count - 1) >> bits > 0) ++bits;
  return bits;
}

}  // namespace

FlowPlan::Side::Side(const FlowEdges& edges, const std::vector<NodeBlock>& blocks,
                     std::int64_t num_relations) {
  const std::int64_t num_rows = blocks.empty() ? 0 : blocks.back().end;
  const std::size_t num_words = as_size(edges.offsets[num_rows]) + kFlowLookahead;
  wide_ = bits_of(num_rows) + bits_of(num_relations) > 32;
  node_shift_ = wide_ ? 32 : bits_of(num_relations);
  row_.reserve(as_size(num_rows));
  wide_ ? wide_words_.reserve(num_words) : words_.reserve(num_words);
  const auto num_edges = [&] { return wide_ ? wide_words_.size() : words_.size(); };
  starts_.reserve(blocks.size() + 1);
  const auto degree = [&](std::int64_t row) { return edges.offsets[row + 1] - edges.offsets[row]; };
  // Rows by degree, those of one degree ascending: short degrees are counted, the rest sorted.
  constexpr std::int64_t kCounted = 64;
  std::vector<std::int32_t> of_degree[kCounted], longer;
  for (const NodeBlock& block : blocks) {
    starts_.push_back({runs_.size(), row_.size(), num_edges()});
    for (std::int64_t v = block.begin; v < block.end; ++v) {
      const std::int64_t d = degree(v);
      (d < kCounted ? of_degree[d] : longer).push_back(static_cast<std::int32_t>(v));
    }
    std::stable_sort(longer.begin(), longer.end(),
                     [&](std::int32_t a, std::int32_t b) { return degree(a) < degree(b); });
    const auto append = [&](const std::vector<std::int32_t>& rows) {
      for (const std::int32_t row : rows) {
        const auto d = static_cast<std::int32_t>(degree(row));
        if (runs_.size() == starts_.back().run || runs_.back().degree != d) runs_.push_back({d, 0});
        ++runs_.back().rows;
        row_.push_back(row);
        for (std::int64_t e = edges.offsets[row]; e < edges.offsets[row] + d; ++e) {
          const std::uint64_t word =
              as_size(edges.node[e]) << node_shift_ | as_size(edges.relation[e]);
          wide_ ? wide_words_.push_back(word) : words_.push_back(static_cast<std::uint32_t>(word));
        }
      }
    };
    for (std::vector<std::int32_t>& rows : of_degree) {
      append(rows);
      rows.clear();
    }
    append(longer);
    longer.clear();
  }
  starts_.push_back({runs_.size(), row_.size(), num_edges()});
  wide_ ? wide_words_.resize(num_words) : words_.resize(num_words);
}

FlowRows FlowPlan::Side::rows(std::int64_t block) const {
  const Start &start = starts_[as_size(block)], &end = starts_[as_size(block) + 1];
  return {runs_.data() + start.run,
          static_cast<std::int64_t>(end.run - start.run),
          row_.data() + start.row,
          wide_ ? nullptr : words_.data() + start.edge,
          wide_ ? wide_words_.data() + start.edge : nullptr,
          node_shift_};
}

FlowPlan::FlowPlan(const FlowEdges& in, const FlowEdges& out, std::vector<std::int64_t> segments,
                   std::int64_t num_relations)
    : segments_(std::move(segments)),
      blocks_(node_blocks_of(segments_)),
      in_(in, blocks_, num_relations),
      out_(out, blocks_, num_relations) {
  constexpr std::int64_t kEdges = 1 << 16;
  std::int64_t passed = 0;
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    const NodeBlock& block = blocks_[b];
    const std::int64_t first = out.offsets[segments_[as_size(block.segment)]];
    const std::int64_t multiple = (out.offsets[block.begin] - first) / kEdges;
    const auto index = static_cast<std::int64_t>(b);
    if (b == 0 || blocks_[b - 1].segment != block.segment || multiple != passed)
      edge_blocks_.push_back({block.segment, index, index});
    edge_blocks_.back().end = index + 1;
    passed = multiple;
  }
}

}  // namespace hyperhop
