// What encode_paths and score_paths share: the walk is built and run a segment of sorted paths at a
// time, so that memory stays bounded, and tile by tile, so that threads have independent work.
#pragma once
#include <cstdlib>
#include <memory>
#include <new>

#include "../parallel.h"
#include "../trie.h"

namespace hyperhop::bindings {

constexpr int64_t kSegmentPaths = 1 << 16;
// Below this much arithmetic (some 50 microseconds) waking another thread costs more than it saves.
constexpr double kThreadedFlops = 4e6;

struct FreeDelete {
  void operator()(float* p) const { std::free(p); }
};
using Scratch = std::unique_ptr<float[], FreeDelete>;

inline Scratch make_scratch(int64_t floats) {
  const size_t bytes = (size_t(floats) * sizeof(float) + 63) / 64 * 64;
  auto* memory = static_cast<float*>(std::aligned_alloc(64, bytes));
  if (!memory) throw std::bad_alloc();
  return Scratch(memory);
}

// Calls run(tile, scratch) for every tile of the hypervectors.
template <class Run>
void for_each_tile(const TrieProgram& program, const BlockShape& shape, int threads,
                   const Run& run) {
  if (program.flops(shape) < kThreadedFlops) threads = 1;
  parallel_for(shape.tiles(), 1, threads, [&](int64_t begin, int64_t end) {
    const Scratch scratch = make_scratch(program.scratch_floats(shape));
    for (int64_t tile = begin; tile < end; ++tile) run(tile, scratch.get());
  });
}

}  // namespace hyperhop::bindings
