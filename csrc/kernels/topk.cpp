#include "topk.h"

#include "../math/simd.h"

namespace hyperhop::HH_ISA {

// A group of values is skipped with one test of its lanes' maximum. A NaN never becomes the
// maximum.
constexpr int kGroupVectors = 8;

template <class T>
static int64_t topk_scan(const TopkScanArgs<T>& args, int64_t begin, T threshold, int64_t* found,
                         int64_t capacity, int64_t* num_found) {
  using V = Vec<T>;
  constexpr int kLanes = HH_VECTOR_BYTES / int(sizeof(T));
  constexpr int64_t kGroup = int64_t(kLanes) * kGroupVectors;
  const V sign = V{} + args.sign;
  const V limit = V{} + threshold;
  int64_t count = 0, i = begin;
  while (i < args.n) {
    if (i + kGroup <= args.n) {
      auto better = sign * load<V>(args.values + i) > limit;
      for (int v = 1; v < kGroupVectors; ++v)
        better |= sign * load<V>(args.values + i + v * kLanes) > limit;
      using Bits = Vec<uint64_t, kLanes* int(sizeof(T)) / 8>;
      const Bits bits = bit_cast<Bits>(better);
      uint64_t any = 0;
      for (int b = 0; b < int(sizeof(Bits) / 8); ++b) any |= bits[b];
      if (!any) {
        i += kGroup;
        continue;
      }
    }
    const int64_t end = i + kGroup < args.n ? i + kGroup : args.n;
    for (; i < end; ++i) {
      if (!(args.sign * args.values[i] > threshold)) continue;
      if (count == capacity) {
        *num_found = count;
        return i;
      }
      found[count++] = i;
    }
  }
  *num_found = count;
  return args.n;
}

int64_t topk_scan_f32(const TopkScanArgs<float>& args, int64_t begin, float threshold,
                      int64_t* found, int64_t capacity, int64_t* num_found) {
  return topk_scan(args, begin, threshold, found, capacity, num_found);
}

int64_t topk_scan_f64(const TopkScanArgs<double>& args, int64_t begin, double threshold,
                      int64_t* found, int64_t capacity, int64_t* num_found) {
  return topk_scan(args, begin, threshold, found, capacity, num_found);
}

}  // namespace hyperhop::HH_ISA
