#include "pairwise.h"

#include "cosine.h"

namespace hyperhop::HH_ISA {

// Planes are read in the order in which they lie: memory sees one long array.
template <class T>
static void load_row(const BlockShape& shape, const T* row, float* HH_RESTRICT to, int64_t step) {
  const int64_t entries = shape.entries();
  for (int64_t e = 0; e < entries; ++e)
    for (int64_t t = 0; t < shape.tiles(); ++t)
      load_lanes(row + e * shape.blocks + t * kTileLanes, lanes_in_tile(shape, t),
                 to + t * step + e * kTileLanes);
}

void pack_panel(const PackPanelArgs& args) {
  const BlockShape& shape = args.shape;
  const Layout layout = args.from.layout;
  const int64_t floats = shape.tile_floats(), pitch = floats + kTileLanes;
  const int64_t step = args.to.rows * pitch;
  for (int64_t r = 0; r < args.to.rows; ++r) {
    const void* row = args.from.row(shape, args.first + r);
    float* to = args.to.values + r * pitch;
    if (layout == Layout::planes)
      load_row(shape, static_cast<const float*>(row), to, step);
    else if (layout == Layout::half_planes)
      load_row(shape, static_cast<const uint16_t*>(row), to, step);
    for (int64_t t = 0; t < shape.tiles(); ++t, to += step) {
      if (layout == Layout::complex) load_tile(shape, layout, row, t, to);
      prepare_tile(int(shape.entries()), to, to + floats);
    }
  }
}

// One tile of kX rows of x with kY rows of y. A pair's own additions do not depend on kX and kY.
// Meanwhile two rows of x that come later are fetched.
template <int kX, int kY>
HH_INLINE void add_pairs(int entries, const float* x, const float* y, const float* x_ahead,
                         CosineSum* sums) {
  const int64_t floats = int64_t(entries) * kTileLanes, pitch = floats + kTileLanes;
  for (int v = 0; v < kTileLanes; v += kF32Lanes) {
    F32 dots[kX][kY] = {};
    for (int e = 0; e < entries; ++e) {
      const int64_t at = e * kTileLanes + v;
      if (v == 0) {
        __builtin_prefetch(x_ahead + at);
        __builtin_prefetch(x_ahead + pitch + at);
      }
      F32 b[kY];
      HH_UNROLL
      for (int j = 0; j < kY; ++j) b[j] = load<F32>(y + j * pitch + at);
      HH_UNROLL
      for (int i = 0; i < kX; ++i) {
        const F32 a = load<F32>(x + i * pitch + at);
        HH_UNROLL
        for (int j = 0; j < kY; ++j) dots[i][j] = fma(a, b[j], dots[i][j]);
      }
    }
    HH_UNROLL
    for (int i = 0; i < kX; ++i) HH_UNROLL
    for (int j = 0; j < kY; ++j)
      sums[i * kPanelRows + j].part += dots[i][j] * (load<F32>(x + i * pitch + floats + v) *
                                                     load<F32>(y + j * pitch + floats + v));
  }
}

// One tile of kX rows of x with those of the whole panel y, which stay in the first-level cache.
template <int kX>
HH_INLINE void add_rows(int entries, const float* x, const Panel& y, const float* y_tile,
                        CosineSum* sums) {
  const int64_t pitch = int64_t(entries + 1) * kTileLanes;
  const float* ahead = x + kX * pitch;
  int64_t j = 0;
  for (; j + 3 <= y.rows; j += 3, ahead += 2 * pitch)
    add_pairs<kX, 3>(entries, x, y_tile + j * pitch, ahead, sums + j);
  for (; j < y.rows; ++j) add_pairs<kX, 1>(entries, x, y_tile + j * pitch, ahead, sums + j);
}

void pairwise(const PairwiseArgs& args) {
  const BlockShape& shape = args.shape;
  const int entries = int(shape.entries());
  const int64_t pitch = shape.tile_floats() + kTileLanes;
  const Panel &x = args.x, &y = args.y;
  CosineSum sums[kManyRows * kPanelRows];
  for (int64_t t = 0; t < shape.tiles(); ++t) {
    const float *a = x.values + t * x.rows * pitch, *b = y.values + t * y.rows * pitch;
    int64_t i = 0;
    for (; i + 4 <= x.rows; i += 4)
      add_rows<4>(entries, a + i * pitch, y, b, sums + i * kPanelRows);
    for (; i < x.rows; ++i) add_rows<1>(entries, a + i * pitch, y, b, sums + i * kPanelRows);
    for (CosineSum& sum : sums) sum.end_tile(t);
  }
  for (int64_t i = 0; i < x.rows; ++i)
    for (int64_t j = 0; j < y.rows; ++j)
      args.out[i * args.out_step + j] = sums[i * kPanelRows + j].mean(shape.blocks);
}

}  // namespace hyperhop::HH_ISA
