#include "product.h"

#include "product_complex.h"
#include "tile.h"

namespace hyperhop::HH_ISA {

// Also for complex blocks of odd m, which fill no vector.
template <int kBlockSize, bool kConjA, bool kConjB>
static void tile_rows(const ProductArgs& args, int64_t row_begin, int64_t row_end) {
  TileBuffers<3> buffers;
  float *a = buffers.tile(0), *b = buffers.tile(1), *product = buffers.tile(2);
  const BlockShape& shape = args.shape;
  const int m = shape.block_size;
  const Ahead nothing(m, 0);
  for (int64_t row = row_begin; row < row_end; ++row) {
    const float* x = args.x + args.x_rows[row] * shape.floats();
    const float* y = args.y + args.y_rows[row] * shape.floats();
    float* out = args.out + row * shape.floats();
    for (int64_t tile = 0; tile < shape.tiles(); ++tile) {
      load_tile(shape, args.layout, y, tile, b);
      if (args.layout == Layout::planes && lanes_in_tile(shape, tile) == kTileLanes) {
        const int64_t first = tile * kTileLanes;
        planes_tile_apart<kBlockSize, kConjA, kConjB>(m, x + first, shape.blocks, b, out + first,
                                                      shape.blocks, nothing);
      } else {
        load_tile(shape, args.layout, x, tile, a);
        planes_tile_apart<kBlockSize, kConjA, kConjB>(m, a, kTileLanes, b, product, kTileLanes,
                                                      nothing);
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
      planes_tile_apart<kBlockSize, kConjA, kConjB>(shape.block_size, x + first, shape.blocks, b,
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
    complex_product<kWidth, kBlockSize, kConjA, kConjB>(shape, args.stream, x, y, out);
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
