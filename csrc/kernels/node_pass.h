// What the node passes share: columns of (V, lanes) arrays, vectors that may be short, and the sums
// of node_sums.h.
#pragma once
#include <string.h>

#include "../math/exp_log.h"
#include "node_sums.h"

namespace hyperhop::HH_ISA {

template <class T>
constexpr int kLanesOf = HH_VECTOR_BYTES / int(sizeof(T));

// The first `count` values, zeros behind them.
template <class T>
HH_INLINE Vec<T> load_some(const T* p, int64_t count) {
  if (count >= kLanesOf<T>) return load<Vec<T>>(p);
  Vec<T> v{};
  memcpy(&v, p, size_t(count) * sizeof(T));
  return v;
}

template <class T>
HH_INLINE void store_some(T* p, Vec<T> v, int64_t count) {
  if (count >= kLanesOf<T>) return store(p, v);
  memcpy(p, &v, size_t(count) * sizeof(T));
}

// Zeros behind the first `count` values.
template <class T>
HH_INLINE Vec<T> keep_some(Vec<T> v, int64_t count) {
  if (count >= kLanesOf<T>) return v;
  Vec<T> kept{};
  memcpy(&kept, &v, size_t(count) * sizeof(T));
  return kept;
}

// The partial sums of one block; vectors are added from the block's first node on.
template <class T>
class BlockSum {
 public:
  HH_INLINE void add(Vec<T> v) {
    parts_[next_] += v;
    next_ = next_ + 1 == kParts ? 0 : next_ + 1;
  }
  HH_INLINE T total() const {
    T sums[kNodePartials<T>];
    memcpy(sums, parts_, sizeof(sums));
    for (int half = kNodePartials<T> / 2; half > 0; half /= 2)
      for (int i = 0; i < half; ++i) sums[i] += sums[i + half];
    return sums[0];
  }

 private:
  static constexpr int kParts = kNodePartials<T> / kLanesOf<T>;
  Vec<T> parts_[kParts] = {};
  int next_ = 0;
};

// The same for as many lanes as a vector holds: a vector is one node.
template <class T>
class LaneSum {
 public:
  HH_INLINE void add(Vec<T> v) {
    parts_[next_] += v;
    next_ = next_ + 1 == kNodePartials<T> ? 0 : next_ + 1;
  }
  HH_INLINE Vec<T> total() const {
    Vec<T> sums[kNodePartials<T>];
    memcpy(sums, parts_, sizeof(sums));
    for (int half = kNodePartials<T> / 2; half > 0; half /= 2)
      for (int i = 0; i < half; ++i) sums[i] += sums[i + half];
    return sums[0];
  }

 private:
  Vec<T> parts_[kNodePartials<T>] = {};
  int next_ = 0;
};

// Calls whole(l) for every group of lanes [l, l + kLanesOf) and single(l) for each lane beyond.
template <class T, class Whole, class Single>
HH_INLINE void each_lane(int64_t lanes, const Whole& whole, const Single& single) {
  int64_t l = 0;
  for (; l + kLanesOf<T> <= lanes; l += kLanesOf<T>) whole(l);
  for (; l < lanes; ++l) single(l);
}

// One lane of a block of nodes as a contiguous array: in place where there is one lane, else a
// copy.
template <class T>
class Column {
 public:
  HH_INLINE const T* read(const T* array, int64_t lanes, int64_t begin, int64_t end, int64_t lane) {
    if (array == nullptr || lanes == 1) return array == nullptr ? nullptr : array + begin;
    for (int64_t v = begin; v < end; ++v) copy_[v - begin] = array[v * lanes + lane];
    return copy_;
  }
  // Where to write; give_back() puts it in its place.
  HH_INLINE T* write(T* array, int64_t lanes, int64_t begin) {
    return array == nullptr ? nullptr : lanes == 1 ? array + begin : copy_;
  }
  HH_INLINE void give_back(T* array, int64_t lanes, int64_t begin, int64_t end,
                           int64_t lane) const {
    if (array == nullptr || lanes == 1) return;
    for (int64_t v = begin; v < end; ++v) array[v * lanes + lane] = copy_[v - begin];
  }

 private:
  alignas(64) T copy_[kNodeBlock];
};

}  // namespace hyperhop::HH_ISA
