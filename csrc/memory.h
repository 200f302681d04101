// Memory that kernels work in and write to.
#pragma once
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

namespace hyperhop {

// Uninitialised, on a cache line boundary.
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

// Whether an output is written past the caches: too large to stay in them (measured: half the time
// of a plain store), and aligned as that needs.
inline bool worth_streaming(const void* data, int64_t bytes) {
  constexpr int64_t kStreamBytes = 8 << 20;
  return bytes >= kStreamBytes && reinterpret_cast<uintptr_t>(data) % 64 == 0;
}

}  // namespace hyperhop
