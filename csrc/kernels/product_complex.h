// Block products of complex64 hypervectors where they lie, for even m. A row of op(B) is a vector
// of pairs (re, im); row i of the result sums a_ik times row k: re(a) (re, im) + im(a) (-im, re),
// in the order of the planes' kernel, so the bits are the same.
#pragma once
#include "tile.h"

namespace hyperhop::HH_ISA {

// Rows are cut into vectors of 8 floats where whole ones fit (m a multiple of 4), else of 4.
constexpr int kWideRow = kF32Lanes < 8 ? kF32Lanes : 8;
constexpr int kNarrowRow = 4;

template <int kWidth>
HH_INLINE Vec<float, kWidth> pairs(float re, float im) {
  Vec<float, kWidth> v;
  for (int i = 0; i < kWidth; i += 2) {
    v[i] = re;
    v[i + 1] = im;
  }
  return v;
}

// A part of the result: kRows rows, kVectors vectors wide.
template <int kRows, int kVectors, int kWidth, int kBlockSize, bool kConjA, bool kConjB>
HH_INLINE void complex_patch(int block_size, const float* a, const float* b,
                             float* HH_RESTRICT out) {
  using Row = Vec<float, kWidth>;
  const int m = kBlockSize ? kBlockSize : block_size;
  const int a_row = (kConjA ? 1 : m) * 2, a_step = (kConjA ? m : 1) * 2;
  Row sums[kRows][kVectors] = {};
  const auto term = [&](int k) HH_INLINE_LAMBDA {
    Row times_re[kVectors], times_im[kVectors];
    HH_UNROLL
    for (int c = 0; c < kVectors; ++c) {
      const Row row = load<Row>(b + 2 * m * k + c * kWidth);
      times_im[c] = swap_pairs<kWidth>(row) *
                    pairs<kWidth>(kConjA || kConjB ? 1.0f : -1.0f, kConjA ? -1.0f : 1.0f);
      times_re[c] = kConjB ? row * pairs<kWidth>(1.0f, -1.0f) : row;
    }
    HH_UNROLL
    for (int i = 0; i < kRows; ++i) {
      const float* entry = a + i * a_row + k * a_step;
      const Row re = pairs<kWidth>(entry[0], entry[0]), im = pairs<kWidth>(entry[1], entry[1]);
      HH_UNROLL
      for (int c = 0; c < kVectors; ++c) {
        sums[i][c] = fma_lanes<kWidth>(re, times_re[c], sums[i][c]);
        sums[i][c] = fma_lanes<kWidth>(im, times_im[c], sums[i][c]);
      }
    }
  };
  if (kBlockSize > 0 && kBlockSize <= 4) {
    HH_UNROLL
    for (int k = 0; k < kBlockSize; ++k) term(k);
  } else {
    for (int k = 0; k < m; ++k) term(k);
  }
  HH_UNROLL
  for (int i = 0; i < kRows; ++i) HH_UNROLL
  for (int c = 0; c < kVectors; ++c) {
    store(out + i * 2 * m + c * kWidth, sums[i][c]);
  }
}

template <int kRows, int kWidth, int kBlockSize, bool kConjA, bool kConjB>
HH_INLINE void complex_rows(int block_size, const float* a, const float* b, float* out) {
  const int floats = 2 * (kBlockSize ? kBlockSize : block_size);
  int c = 0;
  for (; c + 2 * kWidth <= floats; c += 2 * kWidth)
    complex_patch<kRows, 2, kWidth, kBlockSize, kConjA, kConjB>(block_size, a, b + c, out + c);
  for (; c + kWidth <= floats; c += kWidth)
    complex_patch<kRows, 1, kWidth, kBlockSize, kConjA, kConjB>(block_size, a, b + c, out + c);
}

template <int kWidth, int kBlockSize, bool kConjA, bool kConjB>
HH_INLINE void complex_block(int block_size, const float* a, const float* b, float* out) {
  const int m = kBlockSize ? kBlockSize : block_size;
  const int a_row = 2 * (kConjA ? 1 : m);
  constexpr int kRows = kBlockSize == 2 ? 2 : 4;
  int i = 0;
  for (; i + kRows <= m; i += kRows)
    complex_rows<kRows, kWidth, kBlockSize, kConjA, kConjB>(m, a + i * a_row, b, out + i * 2 * m);
  for (; i < m; ++i)
    complex_rows<1, kWidth, kBlockSize, kConjA, kConjB>(m, a + i * a_row, b, out + i * 2 * m);
}

HH_INLINE void transpose_block(int m, const float* from, float* HH_RESTRICT to) {
  for (int i = 0; i < m; i += 2)
    for (int j = 0; j < m; j += 2) {
      const F4 upper = load<F4>(from + 2 * (i * m + j)),
               lower = load<F4>(from + 2 * ((i + 1) * m + j));
      store(to + 2 * (j * m + i), shuffle<0, 1, 4, 5>(upper, lower));
      store(to + 2 * ((j + 1) * m + i), shuffle<2, 3, 6, 7>(upper, lower));
    }
}

// One hypervector, some blocks at a time: no load meets stores of a transpose that are still on
// their way, and what is written past the caches, to 64-byte aligned memory, leaves in one go.
template <int kWidth, int kBlockSize, bool kConjA, bool kConjB>
HH_INLINE void complex_product(const BlockShape& shape, bool stream, const float* x, const float* y,
                               float* out) {
  constexpr int kBatchFloats = 2048;
  alignas(64) float transposed[kConjB ? kBatchFloats : 1], made[kBatchFloats];
  const int64_t entries = shape.entries();
  const int m = kBlockSize ? kBlockSize : shape.block_size;
  const int64_t batch = kBatchFloats / entries / 2 * 2;  // two blocks fill whole cache lines
  for (int64_t first = 0; first < shape.blocks; first += batch) {
    const int64_t count = first + batch < shape.blocks ? batch : shape.blocks - first;
    const int64_t floats = count * entries;
    if constexpr (kConjB)
      for (int64_t i = 0; i < floats; i += entries) transpose_block(m, y + i, transposed + i);
    const float* b = kConjB ? transposed : y;
    float* to = stream ? made : out;
    for (int64_t i = 0; i < floats; i += entries)
      complex_block<kWidth, kBlockSize, kConjA, kConjB>(m, x + i, b + i, to + i);
    if (stream) stream_copy(out, made, floats);
    x += floats;
    y += floats;
    out += floats;
  }
}

}  // namespace hyperhop::HH_ISA
