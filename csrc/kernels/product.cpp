#include "product.h"

#include "tile.h"

namespace hyperhop::HH_ISA {

template <int kBlockSize>
static void product_rows(const ProductArgs& args, int64_t row_begin, int64_t row_end) {
  TileBuffers<3> buffers;
  float *x = buffers.tile(0), *y = buffers.tile(1), *z = buffers.tile(2);
  const BlockShape& shape = args.shape;
  for (int64_t row = row_begin; row < row_end; ++row) {
    const float* x_row = args.x + args.x_rows[row] * shape.floats();
    const float* y_row = args.y + args.y_rows[row] * shape.floats();
    for (int64_t tile = 0; tile < shape.tiles(); ++tile) {
      load_tile(shape, args.layout, x_row, tile, x);
      load_tile(shape, args.layout, y_row, tile, y);
      const int m = shape.block_size;
      switch (args.kind) {
        case Product::bind:
          product_tile<kBlockSize, false, false>(m, x, y, z);
          break;
        case Product::unbind_left:
          product_tile<kBlockSize, true, false>(m, x, y, z);
          break;
        case Product::unbind_right:
          product_tile<kBlockSize, false, true>(m, x, y, z);
          break;
      }
      store_tile(shape, args.layout, z, tile, args.out + row * shape.floats());
    }
  }
}

void product(const ProductArgs& args, int64_t row_begin, int64_t row_end) {
  with_block_size(args.shape.block_size,
                  [&](auto m) { product_rows<m.value>(args, row_begin, row_end); });
}

}  // namespace hyperhop::HH_ISA
