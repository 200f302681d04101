// Uninitialised, aligned memory for kernels.
#pragma once
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

namespace hyperhop::bindings {

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

}  // namespace hyperhop::bindings
