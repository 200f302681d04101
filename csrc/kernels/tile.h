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
  const F4 a = load<F4>(from), b = load<F4>(from + from_stride);
  const F4 c = load<F4>(from + 2 * from_stride), d = load<F4>(from + 3 * from_stride);
  const F4 ab_lo = shuffle<0, 4, 1, 5>(a, b), ab_hi = shuffle<2, 6, 3, 7>(a, b);
  const F4 cd_lo = shuffle<0, 4, 1, 5>(c, d), cd_hi = shuffle<2, 6, 3, 7>(c, d);
  store(to, shuffle<0, 1, 4, 5>(ab_lo, cd_lo));
  store(to + to_stride, shuffle<2, 3, 6, 7>(ab_lo, cd_lo));
  store(to + 2 * to_stride, shuffle<0, 1, 4, 5>(ab_hi, cd_hi));
  store(to + 3 * to_stride, shuffle<2, 3, 6, 7>(ab_hi, cd_hi));
}

#if HH_VECTOR_BYTES >= 32
// Four rows of eight floats, each the halves of two rows: two 4 x 4 transposes side by side.
HH_INLINE void transpose_halves(const F8* rows, float* to, int64_t to_stride) {
  const F8 ab_lo = shuffle<0, 8, 1, 9, 4, 12, 5, 13>(rows[0], rows[1]);
  const F8 ab_hi = shuffle<2, 10, 3, 11, 6, 14, 7, 15>(rows[0], rows[1]);
  const F8 cd_lo = shuffle<0, 8, 1, 9, 4, 12, 5, 13>(rows[2], rows[3]);
  const F8 cd_hi = shuffle<2, 10, 3, 11, 6, 14, 7, 15>(rows[2], rows[3]);
  store(to, shuffle<0, 1, 8, 9, 4, 5, 12, 13>(ab_lo, cd_lo));
  store(to + to_stride, shuffle<2, 3, 10, 11, 6, 7, 14, 15>(ab_lo, cd_lo));
  store(to + 2 * to_stride, shuffle<0, 1, 8, 9, 4, 5, 12, 13>(ab_hi, cd_hi));
  store(to + 3 * to_stride, shuffle<2, 3, 10, 11, 6, 7, 14, 15>(ab_hi, cd_hi));
}

HH_INLINE void transpose_8x8(const float* from, int64_t from_stride, float* to, int64_t to_stride) {
  F8 low[4], high[4];
  HH_UNROLL
  for (int i = 0; i < 4; ++i) {
    const F8 upper = load<F8>(from + i * from_stride),
             lower = load<F8>(from + (i + 4) * from_stride);
    low[i] = shuffle<0, 1, 2, 3, 8, 9, 10, 11>(upper, lower);
    high[i] = shuffle<4, 5, 6, 7, 12, 13, 14, 15>(upper, lower);
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

// The identity's tile, compact.
HH_INLINE void identity_tile(const BlockShape& shape, int64_t tile, float* out) {
  const int lanes = lanes_in_tile(shape, tile);
  const int m = shape.block_size;
  memset(out, 0, size_t(shape.tile_floats()) * sizeof(float));
  for (int i = 0; i < m; ++i)
    for (int l = 0; l < lanes; ++l) out[(i * m + i) * 2 * kTileLanes + l] = 1.0f;
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

// Planes: entry e of lanes l.. starts at e * stride + l, where a hypervector lies (stride D) as in
// a compact tile (stride kTileLanes). The patch with corner (i, j), for one vector of lanes.
template <int kRows, int kCols, int kBlockSize, bool kConjA, bool kConjB>
HH_INLINE void planes_patch(int block_size, int i, int j, const float* a, int64_t a_stride,
                            const float* b, float* HH_RESTRICT out, int64_t out_stride) {
  const int m = kBlockSize ? kBlockSize : block_size;
  const int64_t a_row = (kConjA ? 1 : m) * 2 * a_stride, a_step = (kConjA ? m : 1) * 2 * a_stride;
  constexpr int64_t kEntry = 2 * kTileLanes;
  const int64_t b_column = (kConjB ? m : 1) * kEntry, b_step = (kConjB ? 1 : m) * kEntry;
  F32 re[kRows][kCols] = {}, im[kRows][kCols] = {};
  a += i * a_row;
  b += j * b_column;
  out += (i * m + j) * 2 * out_stride;
  const auto term = [&]() HH_INLINE_LAMBDA {
    F32 b_re[kCols], b_im[kCols];
    HH_UNROLL
    for (int c = 0; c < kCols; ++c) {
      b_re[c] = load<F32>(b + c * b_column);
      b_im[c] = load<F32>(b + c * b_column + kTileLanes);
    }
    HH_UNROLL
    for (int r = 0; r < kRows; ++r) {
      const F32 a_re = load<F32>(a + r * a_row), a_im = load<F32>(a + r * a_row + a_stride);
      HH_UNROLL
      for (int c = 0; c < kCols; ++c) {
        re[r][c] = fma(a_re, b_re[c], re[r][c]);
        im[r][c] = kConjB ? fnma(a_re, b_im[c], im[r][c]) : fma(a_re, b_im[c], im[r][c]);
        re[r][c] = kConjA != kConjB ? fma(a_im, b_im[c], re[r][c]) : fnma(a_im, b_im[c], re[r][c]);
        im[r][c] = kConjA ? fnma(a_im, b_re[c], im[r][c]) : fma(a_im, b_re[c], im[r][c]);
      }
    }
    a += a_step;
    b += b_step;
  };
  if (kBlockSize > 0 && kBlockSize <= 4) {
    HH_UNROLL
    for (int k = 0; k < kBlockSize; ++k) term();
  } else {
    for (int k = 0; k < m; ++k) term();
  }
  HH_UNROLL
  for (int r = 0; r < kRows; ++r) HH_UNROLL
  for (int c = 0; c < kCols; ++c) {
    store(out + (r * m + c) * 2 * out_stride, re[r][c]);
    store(out + ((r * m + c) * 2 + 1) * out_stride, im[r][c]);
  }
}

// One tile. A and out are used where they lie; B is compact, since every row of A meets all of it,
// and planes whose distance is a power of two would chase each other out of the first-level cache.
template <int kBlockSize, bool kConjA, bool kConjB>
HH_INLINE void planes_tile(int block_size, const float* a, int64_t a_stride, const float* b,
                           float* out, int64_t out_stride, const Ahead& ahead) {
  const int m = kBlockSize ? kBlockSize : block_size;
  int patch = 0;
  for (int i = 0; i < m; i += 2)
    for (int j = 0; j < m; j += 2)
      for (int v = 0; v < kTileLanes; v += kF32Lanes) {
        const auto part = [&](auto rows, auto columns, int r, int c) HH_INLINE_LAMBDA {
          planes_patch<rows.value, columns.value, kBlockSize, kConjA, kConjB>(
              m, r, c, a + v, a_stride, b + v, out + v, out_stride);
        };
        using One = BlockSizeTag<1>;
        using Two = BlockSizeTag<2>;
        if (i + 1 < m && j + 1 < m) {
          ahead.fetch(patch++);
          part(Two{}, Two{}, i, j);
        } else if (i + 1 < m) {
          part(Two{}, One{}, i, j);
        } else {
          part(One{}, One{}, i, j);
          if (j + 1 < m) part(One{}, One{}, i, j + 1);
        }
      }
}

// The same out of line, for those who call it in several places: the code is long to compile, and
// in line it is only a twentieth faster.
template <int kBlockSize, bool kConjA, bool kConjB>
HH_NOINLINE static void planes_tile_apart(int block_size, const float* a, int64_t a_stride,
                                          const float* b, float* out, int64_t out_stride,
                                          const Ahead& ahead) {
  planes_tile<kBlockSize, kConjA, kConjB>(block_size, a, a_stride, b, out, out_stride, ahead);
}

}  // namespace hyperhop::HH_ISA
