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
  const int64_t floats = shape.tile_floats();
  for (int64_t r = 0; r < args.to.rows; ++r) {
    const void* row = args.from.row(shape, args.first + r);
    float* to = args.to.values + r * floats;
    const int64_t step = args.to.rows * floats;
    if (args.from.layout == Layout::planes)
      load_row(shape, static_cast<const float*>(row), to, step);
    else if (args.from.layout == Layout::half_planes)
      load_row(shape, static_cast<const uint16_t*>(row), to, step);
    for (int64_t t = 0; t < shape.tiles(); ++t) {
      if (args.from.layout == Layout::complex)
        load_tile(shape, args.from.layout, row, t, to + t * step);
      prepare_tile(int(shape.entries()), to + t * step,
                   args.to.inverse + (t * args.to.rows + r) * kTileLanes);
    }
  }
}

// One tile of kX rows of x with kY rows of y. A pair's own additions do not depend on kX and kY.
template <int kX, int kY>
HH_INLINE void add_pairs(int entries, const float* x, const float* x_inverse, const float* y,
                         const float* y_inverse, CosineSum* sums) {
  const int64_t floats = int64_t(entries) * kTileLanes;
  F32 cosines[kX][kY] = {};
  for (int v = 0; v < kTileLanes; v += kF32Lanes) {
    F32 dots[kX][kY] = {};
    for (int e = 0; e < entries; ++e) {
      const int64_t at = e * kTileLanes + v;
      F32 b[kY];
      HH_UNROLL
      for (int j = 0; j < kY; ++j) b[j] = load<F32>(y + j * floats + at);
      HH_UNROLL
      for (int i = 0; i < kX; ++i) {
        const F32 a = load<F32>(x + i * floats + at);
        HH_UNROLL
        for (int j = 0; j < kY; ++j) dots[i][j] = fma(a, b[j], dots[i][j]);
      }
    }
    HH_UNROLL
    for (int i = 0; i < kX; ++i) HH_UNROLL
    for (int j = 0; j < kY; ++j)
      cosines[i][j] += dots[i][j] * (load<F32>(x_inverse + i * kTileLanes + v) *
                                     load<F32>(y_inverse + j * kTileLanes + v));
  }
  HH_UNROLL
  for (int i = 0; i < kX; ++i) HH_UNROLL
  for (int j = 0; j < kY; ++j) sums[i * kPanelRows + j].add(cosines[i][j]);
}

// kX rows of x with the whole panel y, which stays in the second-level cache.
template <int kX>
static void rows_with_panel(const PairwiseArgs& args, int64_t first) {
  const BlockShape& shape = args.shape;
  const int entries = int(shape.entries());
  const int64_t floats = shape.tile_floats();
  const Panel &x = args.x, &y = args.y;
  CosineSum sums[kX * kPanelRows];
  for (int64_t t = 0; t < shape.tiles(); ++t) {
    const int64_t x_at = t * x.rows + first, y_at = t * y.rows;
    const float *a = x.values + x_at * floats, *a_inverse = x.inverse + x_at * kTileLanes;
    const float *b = y.values + y_at * floats, *b_inverse = y.inverse + y_at * kTileLanes;
    int64_t j = 0;
    for (; j + 3 <= y.rows; j += 3)
      add_pairs<kX, 3>(entries, a, a_inverse, b + j * floats, b_inverse + j * kTileLanes, sums + j);
    for (; j < y.rows; ++j)
      add_pairs<kX, 1>(entries, a, a_inverse, b + j * floats, b_inverse + j * kTileLanes, sums + j);
  }
  for (int64_t i = 0; i < kX; ++i)
    for (int64_t j = 0; j < y.rows; ++j)
      args.out[(first + i) * args.out_step + j] = sums[i * kPanelRows + j].mean(shape.blocks);
}

void pairwise(const PairwiseArgs& args) {
  int64_t i = 0;
  for (; i + 4 <= args.x.rows; i += 4) rows_with_panel<4>(args, i);
  for (; i + 2 <= args.x.rows; i += 2) rows_with_panel<2>(args, i);
  if (i < args.x.rows) rows_with_panel<1>(args, i);
}

}  // namespace hyperhop::HH_ISA
