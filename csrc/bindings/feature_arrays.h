// What the functions over node features share at the door.
#pragma once
#include "../kernels/node_sums.h"
#include "../memory.h"
#include "../parallel.h"
#include "flow_arrays.h"

namespace hyperhop::bindings {

// (V, d), contiguous.
template <class T>
FloatArray<T> read_features(const std::string& function, const py::array& features) {
  if (features.ndim() != 2)
    throw std::invalid_argument(
        function + ": features must have shape (V, d), got " +
        to_string(Shape(features.shape(), features.shape() + features.ndim())));
  return FloatArray<T>::ensure(features);
}

// Runs run(block, its index) for every block of nodes, some side by side; `work` is what all of
// them cost, in multiply-adds.
template <class Run>
void each_block(const std::vector<FlowShape::NodeBlock>& blocks, int64_t work, int threads,
                const Run& run) {
  const auto count = static_cast<int64_t>(blocks.size());
  parallel_for(count, flow_grain(count, work / 4), threads, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) run(blocks[static_cast<size_t>(b)], b);
  });
}

// For every segment, with or without nodes: run(segment, first of its blocks, how many).
template <class Run>
void each_segment_blocks(const FlowShape& shape, const Run& run) {
  int64_t first = 0;
  for (int64_t g = 0; g < shape.num_segments(); ++g) {
    const int64_t count = (shape.end(g) - shape.begin(g) + kNodeBlock - 1) / kNodeBlock;
    run(g, first, count);
    first += count;
  }
}

// Uninitialised values of T that start on a cache line.
template <class T>
class AlignedValues {
 public:
  explicit AlignedValues(int64_t count)
      : memory_(make_scratch(count * int64_t(sizeof(T) / sizeof(float)))) {}
  T* get() const { return reinterpret_cast<T*>(memory_.get()); }

 private:
  Scratch memory_;
};

}  // namespace hyperhop::bindings
