#include "product.h"

#include "product_complex.h"
#include "tile.h"

namespace hyperhop::HH_ISA {

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
template <int kBlockSize, bool kConjA, bool kConjB, class Fetch = NothingAhead>
HH_INLINE void planes_tile(int block_size, const float* a, int64_t a_stride, const float* b,
                           float* out, int64_t out_stride, const Fetch& ahead = {}) {
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

// Also for complex blocks of odd m, which fill no vector.
template <int kBlockSize, bool kConjA, bool kConjB>
static void tile_rows(const ProductArgs& args, int64_t row_begin, int64_t row_end) {
  TileBuffers<3> buffers;
  float *a = buffers.tile(0), *b = buffers.tile(1), *product = buffers.tile(2);
  const BlockShape& shape = args.shape;
  const int m = shape.block_size;
  for (int64_t row = row_begin; row < row_end; ++row) {
    const float* x = args.x + args.x_rows[row] * shape.floats();
    const float* y = args.y + args.y_rows[row] * shape.floats();
    float* out = args.out + row * shape.floats();
    for (int64_t tile = 0; tile < shape.tiles(); ++tile) {
      load_tile(shape, args.layout, y, tile, b);
      if (args.layout == Layout::planes && lanes_in_tile(shape, tile) == kTileLanes) {
        const int64_t first = tile * kTileLanes;
        planes_tile<kBlockSize, kConjA, kConjB>(m, x + first, shape.blocks, b, out + first,
                                                shape.blocks);
      } else {
        load_tile(shape, args.layout, x, tile, a);
        planes_tile<kBlockSize, kConjA, kConjB>(m, a, kTileLanes, b, product, kTileLanes);
        store_tile(shape, args.layout, product, tile, out);
      }
    }
  }
}

// Outputs too large for the caches. A row is made in the cache and leaves it in one go, while the
// next rows of x and y are fetched in the order they lie in, not in that of use.
template <int kBlockSize, bool kConjA, bool kConjB>
static void planes_rows_streamed(const ProductArgs& args, int64_t row_begin, int64_t row_end) {
  TileBuffers<1> buffers;
  float* b = buffers.tile(0);
  alignas(64) float product[kStreamedRowFloats + kMaxTileFloats];
  const BlockShape& shape = args.shape;
  const int64_t stride = shape.blocks + kTileLanes;
  Ahead ahead(shape.block_size, (row_end - row_begin) * shape.tiles());
  for (int64_t row = row_begin; row < row_end; ++row) {
    const float* x = args.x + args.x_rows[row] * shape.floats();
    const float* y = args.y + args.y_rows[row] * shape.floats();
    for (int64_t tile = 0; tile < shape.tiles(); ++tile) {
      ahead.clear();
      if (row + 1 < row_end) {
        const int64_t part = tile * shape.tile_floats();
        ahead.add(args.x + args.x_rows[row + 1] * shape.floats() + part);
        ahead.add(args.y + args.y_rows[row + 1] * shape.floats() + part);
      }
      const int64_t first = tile * kTileLanes;
      load_tile(shape, Layout::planes, y, tile, b);
      planes_tile<kBlockSize, kConjA, kConjB>(shape.block_size, x + first, shape.blocks, b,
                                              product + first, stride, ahead);
    }
    float* out = args.out + row * shape.floats();
    for (int64_t e = 0; e < shape.entries(); ++e)
      stream_copy(out + e * shape.blocks, product + e * stride, shape.blocks);
  }
  stream_fence();
}

template <int kWidth, int kBlockSize, bool kConjA, bool kConjB>
static void complex_rows_of(const ProductArgs& args, int64_t row_begin, int64_t row_end) {
  const BlockShape& shape = args.shape;
  for (int64_t row = row_begin; row < row_end; ++row) {
    const float* x = args.x + args.x_rows[row] * shape.floats();
    const float* y = args.y + args.y_rows[row] * shape.floats();
    float* out = args.out + row * shape.floats();
    if (args.stream)
      complex_product<kWidth, kBlockSize, kConjA, kConjB, true>(shape, x, y, out);
    else
      complex_product<kWidth, kBlockSize, kConjA, kConjB, false>(shape, x, y, out);
  }
  if (args.stream) stream_fence();
}

template <int kBlockSize, bool kConjA, bool kConjB>
static void product_rows(const ProductArgs& args, int64_t row_begin, int64_t row_end) {
  const int m = kBlockSize ? kBlockSize : args.shape.block_size;
  if (args.layout == Layout::complex && m % 2 == 0) {
    if (m % (kWideRow / 2) == 0)
      complex_rows_of<kWideRow, kBlockSize, kConjA, kConjB>(args, row_begin, row_end);
    else
      complex_rows_of<kNarrowRow, kBlockSize, kConjA, kConjB>(args, row_begin, row_end);
  } else if (args.stream) {
    planes_rows_streamed<kBlockSize, kConjA, kConjB>(args, row_begin, row_end);
  } else {
    tile_rows<kBlockSize, kConjA, kConjB>(args, row_begin, row_end);
  }
}

void product(const ProductArgs& args, int64_t row_begin, int64_t row_end) {
  with_block_size(args.shape.block_size, [&](auto m) {
    switch (args.kind) {
      case Product::bind:
        return product_rows<m.value, false, false>(args, row_begin, row_end);
      case Product::unbind_left:
        return product_rows<m.value, true, false>(args, row_begin, row_end);
      case Product::unbind_right:
        return product_rows<m.value, false, true>(args, row_begin, row_end);
    }
  });
}

}  // namespace hyperhop::HH_ISA
