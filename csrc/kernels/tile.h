// Per-ISA pieces shared by the GHRR kernels: moving a tile between memory and its compact form
// [m][m][2][kTileLanes], and the three block products on compact tiles.
#pragma once
#include "../math/simd.h"
#include "blocks.h"

namespace hyperhop::HH_ISA {

constexpr int kTileVectors = kTileLanes / kF32Lanes;
constexpr int kMaxTileFloats = kMaxBlockSize * kMaxBlockSize * 2 * kTileLanes;

// Compact tiles on the stack. Their distance is no multiple of 4 KiB: a load is held up by an
// earlier store whose address agrees in the last 12 bits.
template <int kTiles>
class TileBuffers {
 public:
  HH_INLINE float* tile(int i) { return memory_ + i * (kMaxTileFloats + kSkew); }

 private:
  static constexpr int kSkew = 21 * kTileLanes;
  alignas(64) float memory_[kTiles * (kMaxTileFloats + kSkew)];
};

HH_INLINE int lanes_in_tile(const BlockShape& shape, int64_t tile) {
  const int64_t left = shape.blocks - tile * kTileLanes;
  return left < kTileLanes ? int(left) : kTileLanes;
}

// Four rows of four floats become columns: wide loads and stores instead of single floats.
HH_INLINE void transpose_4x4(const float* from, int64_t from_stride, float* to, int64_t to_stride) {
  using F4 = Vec<float, 4>;
  const F4 a = load<F4>(from), b = load<F4>(from + from_stride);
  const F4 c = load<F4>(from + 2 * from_stride), d = load<F4>(from + 3 * from_stride);
  const F4 ab_lo = HH_SHUFFLE(a, b, 0, 4, 1, 5), ab_hi = HH_SHUFFLE(a, b, 2, 6, 3, 7);
  const F4 cd_lo = HH_SHUFFLE(c, d, 0, 4, 1, 5), cd_hi = HH_SHUFFLE(c, d, 2, 6, 3, 7);
  store(to, HH_SHUFFLE(ab_lo, cd_lo, 0, 1, 4, 5));
  store(to + to_stride, HH_SHUFFLE(ab_lo, cd_lo, 2, 3, 6, 7));
  store(to + 2 * to_stride, HH_SHUFFLE(ab_hi, cd_hi, 0, 1, 4, 5));
  store(to + 3 * to_stride, HH_SHUFFLE(ab_hi, cd_hi, 2, 3, 6, 7));
}

#if HH_VECTOR_BYTES >= 32
// Four rows of eight floats, each the halves of two rows: two 4 x 4 transposes side by side.
HH_INLINE void transpose_halves(const Vec<float, 8>* rows, float* to, int64_t to_stride) {
  using F8 = Vec<float, 8>;
  const F8 ab_lo = HH_SHUFFLE(rows[0], rows[1], 0, 8, 1, 9, 4, 12, 5, 13);
  const F8 ab_hi = HH_SHUFFLE(rows[0], rows[1], 2, 10, 3, 11, 6, 14, 7, 15);
  const F8 cd_lo = HH_SHUFFLE(rows[2], rows[3], 0, 8, 1, 9, 4, 12, 5, 13);
  const F8 cd_hi = HH_SHUFFLE(rows[2], rows[3], 2, 10, 3, 11, 6, 14, 7, 15);
  store(to, HH_SHUFFLE(ab_lo, cd_lo, 0, 1, 8, 9, 4, 5, 12, 13));
  store(to + to_stride, HH_SHUFFLE(ab_lo, cd_lo, 2, 3, 10, 11, 6, 7, 14, 15));
  store(to + 2 * to_stride, HH_SHUFFLE(ab_hi, cd_hi, 0, 1, 8, 9, 4, 5, 12, 13));
  store(to + 3 * to_stride, HH_SHUFFLE(ab_hi, cd_hi, 2, 3, 10, 11, 6, 7, 14, 15));
}

HH_INLINE void transpose_8x8(const float* from, int64_t from_stride, float* to, int64_t to_stride) {
  using F8 = Vec<float, 8>;
  F8 low[4], high[4];
  HH_UNROLL
  for (int i = 0; i < 4; ++i) {
    const F8 upper = load<F8>(from + i * from_stride),
             lower = load<F8>(from + (i + 4) * from_stride);
    low[i] = HH_SHUFFLE(upper, lower, 0, 1, 2, 3, 8, 9, 10, 11);
    high[i] = HH_SHUFFLE(upper, lower, 4, 5, 6, 7, 12, 13, 14, 15);
  }
  transpose_halves(low, to, to_stride);
  transpose_halves(high, to + 4 * to_stride, to_stride);
}
#endif

// kTileLanes rows of `floats` floats become columns, or the other way round; the number of floats
// done, a multiple of four.
template <bool kToColumns>
HH_INLINE int transpose_tile(const float* from, int64_t from_stride, int floats, float* to,
                             int64_t to_stride) {
  const int64_t from_lane = kToColumns ? from_stride : 1, from_entry = kToColumns ? 1 : from_stride;
  const int64_t to_lane = kToColumns ? 1 : to_stride, to_entry = kToColumns ? to_stride : 1;
  int e = 0;
#if HH_VECTOR_BYTES >= 32
  for (; e + 8 <= floats; e += 8)
    for (int l = 0; l < kTileLanes; l += 8)
      transpose_8x8(from + l * from_lane + e * from_entry, from_stride,
                    to + l * to_lane + e * to_entry, to_stride);
#endif
  for (; e + 4 <= floats; e += 4)
    for (int l = 0; l < kTileLanes; l += 4)
      transpose_4x4(from + l * from_lane + e * from_entry, from_stride,
                    to + l * to_lane + e * to_entry, to_stride);
  return e;
}

// Moving tiles into their compact form. Lanes past D are zero, so they add nothing to any sum.
HH_INLINE void load_lanes(const float* from, int lanes, float* HH_RESTRICT to) {
  if (lanes == kTileLanes)
    memcpy(to, from, kTileLanes * sizeof(float));
  else
    for (int l = 0; l < kTileLanes; ++l) to[l] = l < lanes ? from[l] : 0.0f;
}

HH_INLINE void load_lanes(const uint16_t* from, int lanes, float* HH_RESTRICT to) {
  uint16_t padded[kTileLanes];
  if (lanes < kTileLanes) {
    for (int l = 0; l < kTileLanes; ++l) padded[l] = l < lanes ? from[l] : uint16_t(0);
    from = padded;
  }
  for (int l = 0; l < kTileLanes; l += kF32Lanes) store(to + l, load_half(from + l));
}

template <class T>
HH_INLINE void load_planes_tile(const BlockShape& shape, const T* row, int64_t tile,
                                float* HH_RESTRICT out) {
  const int lanes = lanes_in_tile(shape, tile);
  const int entries = int(shape.entries());
  const T* from = row + tile * kTileLanes;
  for (int e = 0; e < entries; ++e, from += shape.blocks) {
    // Planes lie too far apart for the hardware to foresee the next tile.
    if (lanes == kTileLanes) __builtin_prefetch(from + kTileLanes);
    load_lanes(from, lanes, out + e * kTileLanes);
  }
}

HH_INLINE void load_tile(const BlockShape& shape, Layout layout, const void* row, int64_t tile,
                         float* HH_RESTRICT out) {
  if (layout == Layout::planes)
    return load_planes_tile(shape, static_cast<const float*>(row), tile, out);
  if (layout == Layout::half_planes)
    return load_planes_tile(shape, static_cast<const uint16_t*>(row), tile, out);
  const int64_t first = tile * kTileLanes;
  const int lanes = lanes_in_tile(shape, tile);
  const int entries = int(shape.entries());
  const float* from = static_cast<const float*>(row) + first * entries;
  const int transposed =
      lanes == kTileLanes ? transpose_tile<true>(from, entries, entries, out, kTileLanes) : 0;
  for (int l = 0; l < lanes; ++l)
    for (int e = transposed; e < entries; ++e) out[e * kTileLanes + l] = from[l * entries + e];
  for (int l = lanes; l < kTileLanes; ++l)
    for (int e = 0; e < entries; ++e) out[e * kTileLanes + l] = 0.0f;
}

HH_INLINE void store_tile(const BlockShape& shape, Layout layout, const float* HH_RESTRICT in,
                          int64_t tile, float* row) {
  const int64_t first = tile * kTileLanes;
  const int lanes = lanes_in_tile(shape, tile);
  const int entries = int(shape.entries());
  if (layout == Layout::planes) {
    for (int e = 0; e < entries; ++e) {
      const size_t bytes = size_t(lanes) * sizeof(float);
      memcpy(row + e * shape.blocks + first, in + e * kTileLanes, bytes);
    }
    return;
  }
  float* to = row + first * entries;
  const int transposed =
      lanes == kTileLanes ? transpose_tile<false>(in, kTileLanes, entries, to, entries) : 0;
  for (int l = 0; l < lanes; ++l)
    for (int e = transposed; e < entries; ++e) to[l * entries + e] = in[e * kTileLanes + l];
}

// Where op(A)[i][k] starts in a compact tile; op is the identity or the conjugate transpose.
template <bool kConjTranspose>
HH_INLINE int entry_at(int m, int i, int k) {
  return (kConjTranspose ? k * m + i : i * m + k) * 2 * kTileLanes;
}

// One term k of a kRows x kCols patch of op(A) op(B): re += ar br -/+ ai bi, im += ar bi +/- ai br,
// where conjugation only flips signs.
template <int kRows, int kCols, bool kConjA, bool kConjB>
HH_INLINE void product_term(int m, int k, const float* a, const float* b, F32 (&re)[kRows][kCols],
                            F32 (&im)[kRows][kCols]) {
  F32 b_re[kCols], b_im[kCols];
  HH_UNROLL
  for (int j = 0; j < kCols; ++j) {
    const float* p = b + entry_at<kConjB>(m, k, j);
    b_re[j] = load<F32>(p);
    b_im[j] = load<F32>(p + kTileLanes);
  }
  HH_UNROLL
  for (int i = 0; i < kRows; ++i) {
    const float* p = a + entry_at<kConjA>(m, i, k);
    const F32 a_re = load<F32>(p), a_im = load<F32>(p + kTileLanes);
    HH_UNROLL
    for (int j = 0; j < kCols; ++j) {
      re[i][j] = fma(a_re, b_re[j], re[i][j]);
      im[i][j] = kConjB ? fnma(a_re, b_im[j], im[i][j]) : fma(a_re, b_im[j], im[i][j]);
      re[i][j] = kConjA != kConjB ? fma(a_im, b_im[j], re[i][j]) : fnma(a_im, b_im[j], re[i][j]);
      im[i][j] = kConjA ? fnma(a_im, b_re[j], im[i][j]) : fma(a_im, b_re[j], im[i][j]);
    }
  }
}

// The patch with corner (i, j), for one vector of lanes: small enough that its sums and operands
// stay in registers.
template <int kRows, int kCols, int kBlockSize, bool kConjA, bool kConjB>
HH_INLINE void product_patch(int block_size, int i, int j, const float* a, const float* b,
                             float* HH_RESTRICT out) {
  const int m = kBlockSize ? kBlockSize : block_size;
  F32 re[kRows][kCols] = {}, im[kRows][kCols] = {};
  a += entry_at<kConjA>(m, i, 0);
  b += entry_at<kConjB>(m, 0, j);
  out += entry_at<false>(m, i, j);
  if (kBlockSize > 0 && kBlockSize <= 4) {
    HH_UNROLL
    for (int k = 0; k < kBlockSize; ++k)
      product_term<kRows, kCols, kConjA, kConjB>(m, k, a, b, re, im);
  } else {
    for (int k = 0; k < m; ++k) product_term<kRows, kCols, kConjA, kConjB>(m, k, a, b, re, im);
  }
  HH_UNROLL
  for (int r = 0; r < kRows; ++r) HH_UNROLL
  for (int c = 0; c < kCols; ++c) {
    store(out + entry_at<false>(m, r, c), re[r][c]);
    store(out + entry_at<false>(m, r, c) + kTileLanes, im[r][c]);
  }
}

// Tiles that are needed next. Fetching a few of their cache lines between the patches of a product
// hides the way from the outer caches: symbols come in an order no hardware foresees. Where all
// tiles to choose from fit the inner caches there is nothing to hide.
class Ahead {
 public:
  HH_INLINE Ahead(int m, int64_t choices)
      : far_(choices * 2 * m * m * kTileLanes * int64_t(sizeof(float)) > kNearBytes),
        lines_(m > 1 ? (2 * m * m - 1) / (kTileVectors * (m / 2) * (m / 2)) + 1 : 0) {}
  HH_INLINE void clear() { count_ = 0; }
  HH_INLINE void add(const float* tile) {
    if (far_ && count_ < kTiles) tiles_[count_++] = tile;
  }
  HH_INLINE void fetch(int patch) const {
    for (int t = 0; t < count_; ++t) {
      const float* line = tiles_[t] + int64_t(patch) * lines_ * kTileLanes;
      for (int i = 0; i < lines_; ++i) __builtin_prefetch(line + i * kTileLanes);
    }
  }

 private:
  static constexpr int kTiles = 4;
  static constexpr int64_t kNearBytes = 256 << 10;
  const float* tiles_[kTiles] = {};
  int count_ = 0;
  bool far_;
  int lines_;  // a patch
};
struct NothingAhead {
  HH_INLINE void fetch(int) const {}
};

// out = op(A) op(B) on compact tiles; kBlockSize 0 means any m. out may not overlap a or b.
template <int kBlockSize, bool kConjA, bool kConjB, class Fetch = NothingAhead>
HH_INLINE void product_tile(int block_size, const float* a, const float* b, float* HH_RESTRICT out,
                            const Fetch& ahead = {}) {
  const int m = kBlockSize ? kBlockSize : block_size;
  int patch = 0;
  for (int v = 0; v < kTileVectors; ++v, a += kF32Lanes, b += kF32Lanes, out += kF32Lanes) {
    int i = 0;
    for (; i + 1 < m; i += 2) {
      int j = 0;
      for (; j + 1 < m; j += 2) {
        ahead.fetch(patch++);
        product_patch<2, 2, kBlockSize, kConjA, kConjB>(m, i, j, a, b, out);
      }
      if (j < m) product_patch<2, 1, kBlockSize, kConjA, kConjB>(m, i, j, a, b, out);
    }
    if (i < m)
      for (int j = 0; j < m; ++j)
        product_patch<1, 1, kBlockSize, kConjA, kConjB>(m, i, j, a, b, out);
  }
}

// Calls f with the block size as a compile-time constant where it pays (2, 3, 4, 8), else 0.
template <int kBlockSize>
struct BlockSizeTag {
  static constexpr int value = kBlockSize;
};
template <class F>
HH_INLINE void with_block_size(int m, const F& f) {
  switch (m) {
    case 2:
      return f(BlockSizeTag<2>{});
    case 3:
      return f(BlockSizeTag<3>{});
    case 4:
      return f(BlockSizeTag<4>{});
    case 8:
      return f(BlockSizeTag<8>{});
    default:
      return f(BlockSizeTag<0>{});
  }
}

}  // namespace hyperhop::HH_ISA
