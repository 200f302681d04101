// Dot products with rows and weighted sums of rows, several at a time. The bits of a dot product
// depend on its row and its query alone, those of a sum on the order of its rows: both may be
// grouped as it suits. Inner loops are functions of their own: inlined side by side they would
// spill their registers.
#pragma once
#include "../math/simd.h"
#include "row_sums.h"

namespace hyperhop::HH_ISA {

// x in every lane. (0 + x would be an addition: it differs for -0.)
template <class T>
HH_INLINE Vec<T> splat(T x) {
  return x - Vec<T>{};
}

template <int n>
struct Count {
  static constexpr int value = n;
};

// A row of `dim` numbers: whole vectors, then a tail that is read with zeros in the other lanes.
template <class T>
struct RowShape {
  using V = Vec<T>;
  static constexpr int kLanes = HH_VECTOR_BYTES / int(sizeof(T));

  int64_t dim, whole;  // whole: numbers in whole vectors

  explicit RowShape(int64_t dim_) : dim(dim_), whole(dim_ / kLanes * kLanes) {
    tail_ = int(dim - whole);
    first_ = whole ? kLanes - tail_ : 0;
    unsigned char bytes[HH_VECTOR_BYTES] = {};
    memset(bytes + size_t(first_) * sizeof(T), 255, size_t(tail_) * sizeof(T));
    memcpy(&kept_, bytes, sizeof(kept_));
  }

  // Calls use(at, read) for every vector: read(row) is the vector of that row, `at` its place in a
  // padded row.
  template <class Use>
  HH_INLINE void each_vector(const Use& use) const {
    for (int64_t j = 0; j < whole; j += kLanes)
      use(j, [j](const T* row) HH_INLINE_LAMBDA { return load<V>(row + j); });
    if (tail_) use(whole, [this](const T* row) HH_INLINE_LAMBDA { return load_tail(row); });
  }

  // The same for some vectors at a time, as many as registers hold beside four sums of each:
  // use(at, Count, read), where read(row, i) is the i-th of them.
  template <class Use>
  HH_INLINE void each_tile(const Use& use) const {
    constexpr int kVectors = HH_VECTOR_BYTES == 64 ? 4 : 2;
    int64_t j = 0;
    const auto read = [&](const T* row, int i)
                          HH_INLINE_LAMBDA { return load<V>(row + j + i * kLanes); };
    for (; j + kVectors * kLanes <= whole; j += kVectors * kLanes) use(j, Count<kVectors>(), read);
    for (; j < whole; j += kLanes) use(j, Count<1>(), read);
    if (tail_)
      use(whole, Count<1>(), [this](const T* row, int) HH_INLINE_LAMBDA { return load_tail(row); });
  }

  // Writes a row, each vector of it made by make(read).
  template <class Make>
  HH_INLINE void write(T* row, const Make& make) const {
    for (int64_t j = 0; j < whole; j += kLanes)
      store(row + j, make([j](const T* from) HH_INLINE_LAMBDA { return load<V>(from + j); }));
    if (!tail_) return;
    T lanes[kLanes];
    store(lanes, make([this](const T* from) HH_INLINE_LAMBDA { return load_tail(from); }));
    memcpy(row + whole, lanes + first_, size_t(tail_) * sizeof(T));
  }

  // A padded row to a row of `dim` numbers.
  HH_INLINE void store_row(T* row, const T* padded) const {
    memcpy(row, padded, size_t(whole) * sizeof(T));
    memcpy(row + whole, padded + whole + first_, size_t(tail_) * sizeof(T));
  }

 private:
  using Bits = Vec<uint64_t>;
  int tail_, first_;  // numbers in the tail, and the lane of the first of them
  Bits kept_;

  // The last vector of the row, unless the row is shorter than that.
  HH_INLINE V load_tail(const T* row) const {
    if (whole) return bit_cast<V>(bit_cast<Bits>(load<V>(row + dim - kLanes)) & kept_);
    T lanes[kLanes] = {};
    memcpy(lanes, row, size_t(tail_) * sizeof(T));
    return load<V>(lanes);
  }
};

// out[r * step + q] = row r . query q, each in one vector of partial sums.
template <int kRows, int kQueries, class T>
HH_NOINLINE void dot_rows(const RowShape<T>& shape, const T* rows, const T* queries, T* out,
                          int64_t step) {
  using V = Vec<T>;
  V sums[kRows][kQueries];
  HH_UNROLL
  for (int r = 0; r < kRows; ++r) HH_UNROLL
  for (int q = 0; q < kQueries; ++q) sums[r][q] = V{};
  shape.each_vector([&](int64_t, auto read) HH_INLINE_LAMBDA {
    V query[kQueries];
    HH_UNROLL
    for (int q = 0; q < kQueries; ++q) query[q] = read(queries + q * shape.dim);
    HH_UNROLL
    for (int r = 0; r < kRows; ++r) {
      const V row = read(rows + r * shape.dim);
      HH_UNROLL
      for (int q = 0; q < kQueries; ++q) sums[r][q] = fma(row, query[q], sums[r][q]);
    }
  });
  HH_UNROLL
  for (int r = 0; r < kRows; ++r) HH_UNROLL
  for (int q = 0; q < kQueries; ++q) out[r * step + q] = sum_lanes(sums[r][q]);
}

// sums += weight r * row r of kRows rows, r ascending, one chain a number; a padded row. The rows
// are streamed.
template <int kRows, class T>
HH_NOINLINE void add_rows(const RowShape<T>& shape, const T* rows, const T* weights, T* sums) {
  using V = Vec<T>;
  V weight[kRows];
  HH_UNROLL
  for (int r = 0; r < kRows; ++r) weight[r] = splat(weights[r]);
  shape.each_tile([&](int64_t at, auto vectors, auto read) HH_INLINE_LAMBDA {
    V sum[vectors.value];
    HH_UNROLL
    for (int i = 0; i < vectors.value; ++i) sum[i] = load<V>(sums + at + i * shape.kLanes);
    HH_UNROLL
    for (int r = 0; r < kRows; ++r) HH_UNROLL
    for (int i = 0; i < vectors.value; ++i)
      sum[i] = fma(weight[r], read(rows + r * shape.dim, i), sum[i]);
    HH_UNROLL
    for (int i = 0; i < vectors.value; ++i) store(sums + at + i * shape.kLanes, sum[i]);
  });
}

// out (num_rows, lanes): every row with every query.
template <class T>
HH_INLINE void dot_all(const RowShape<T>& shape, const T* rows, int64_t num_rows, const T* queries,
                       int64_t lanes, T* out) {
  constexpr int kQueries = HH_VECTOR_BYTES == 64 ? 4 : 2;  // as registers allow
  const auto dot = [&](int64_t r, int64_t l, auto row_count, auto query_count) {
    dot_rows<row_count.value, query_count.value>(
        shape, rows + r * shape.dim, queries + l * shape.dim, out + r * lanes + l, lanes);
  };
  int64_t r = 0;
  if (lanes == 1)
    for (; r + 8 <= num_rows; r += 8) dot(r, 0, Count<8>(), Count<1>());
  for (; r + 4 <= num_rows; r += 4) {
    int64_t l = 0;
    for (; l + kQueries <= lanes; l += kQueries) dot(r, l, Count<4>(), Count<kQueries>());
    for (; l < lanes; ++l) dot(r, l, Count<4>(), Count<1>());
  }
  for (; r < num_rows; ++r) {
    int64_t l = 0;
    for (; l + kQueries <= lanes; l += kQueries) dot(r, l, Count<1>(), Count<kQueries>());
    for (; l < lanes; ++l) dot(r, l, Count<1>(), Count<1>());
  }
}

// to[l] (a place in padded row l of sums) += weights[r, l] * vectors of row r, r ascending: the
// sums stay in registers. read(row, i) is the i-th vector.
template <int kSums, int kVectors, class T, class Read>
HH_NOINLINE void add_tile(const T* rows, int64_t dim, int64_t num_rows, const T* weights,
                          int64_t lanes, T* to, const Read& read) {
  using V = Vec<T>;
  constexpr int64_t kLanes = RowShape<T>::kLanes;
  const int64_t step = padded_row<T>(dim);
  V sums[kSums][kVectors];
  HH_UNROLL
  for (int l = 0; l < kSums; ++l) HH_UNROLL
  for (int i = 0; i < kVectors; ++i) sums[l][i] = load<V>(to + l * step + i * kLanes);
  for (int64_t r = 0; r < num_rows; ++r) {
    V row[kVectors];
    HH_UNROLL
    for (int i = 0; i < kVectors; ++i) row[i] = read(rows + r * dim, i);
    HH_UNROLL
    for (int l = 0; l < kSums; ++l) {
      const V weight = splat(weights[r * lanes + l]);
      HH_UNROLL
      for (int i = 0; i < kVectors; ++i) sums[l][i] = fma(weight, row[i], sums[l][i]);
    }
  }
  HH_UNROLL
  for (int l = 0; l < kSums; ++l) HH_UNROLL
  for (int i = 0; i < kVectors; ++i) store(to + l * step + i * kLanes, sums[l][i]);
}

// sums (lanes padded rows) += weights (num_rows, lanes) times rows.
template <class T>
HH_INLINE void add_all(const RowShape<T>& shape, const T* rows, int64_t num_rows, const T* weights,
                       int64_t lanes, T* sums) {
  if (lanes == 1) {
    int64_t r = 0;
    // Long rows in fours: where they are whole pages, eight and the sums would share one set of the
    // first-level cache.
    constexpr int64_t kLong = 2048 / int64_t(sizeof(T));
    if (shape.dim <= kLong)
      for (; r + 8 <= num_rows; r += 8) add_rows<8>(shape, rows + r * shape.dim, weights + r, sums);
    for (; r + 4 <= num_rows; r += 4) add_rows<4>(shape, rows + r * shape.dim, weights + r, sums);
    for (; r < num_rows; ++r) add_rows<1>(shape, rows + r * shape.dim, weights + r, sums);
    return;
  }
  constexpr int64_t kRowsInCache = 32;
  for (int64_t first = 0; first < num_rows; first += kRowsInCache) {
    const int64_t count = num_rows - first < kRowsInCache ? num_rows - first : kRowsInCache;
    const T* part = rows + first * shape.dim;
    const T* weight = weights + first * lanes;
    shape.each_tile([&](int64_t at, auto vectors, auto read) HH_INLINE_LAMBDA {
      int64_t l = 0;
      for (; l + 4 <= lanes; l += 4)
        add_tile<4, vectors.value>(part, shape.dim, count, weight + l, lanes,
                                   sums + l * padded_row<T>(shape.dim) + at, read);
      for (; l < lanes; ++l)
        add_tile<1, vectors.value>(part, shape.dim, count, weight + l, lanes,
                                   sums + l * padded_row<T>(shape.dim) + at, read);
    });
  }
}

}  // namespace hyperhop::HH_ISA
