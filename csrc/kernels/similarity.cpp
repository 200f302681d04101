#include "similarity.h"

#include "tile.h"

namespace hyperhop::HH_ISA {

// Squared norms inside this range neither overflow nor lose digits to underflow in float32.
constexpr float kSmallestSquare = 1e-30f, kLargestSquare = 1e30f;

static float careful_cosine(int entries, const float* x, const float* y, int lane) {
  double dot = 0, xx = 0, yy = 0;
  for (int e = 0; e < entries; ++e) {
    const double a = x[e * kTileLanes + lane], b = y[e * kTileLanes + lane];
    dot += a * b;
    xx += a * a;
    yy += b * b;
  }
  if (xx == 0 || yy == 0) return float(dot);  // 0, or NaN where the other block holds NaN or inf
  return float(dot / (__builtin_sqrt(xx) * __builtin_sqrt(yy)));
}

static float similarity_row(const BlockShape& shape, Layout x_layout, const void* x_row,
                            Layout y_layout, const void* y_row) {
  alignas(64) float x[kMaxTileFloats], y[kMaxTileFloats], cosine[kTileLanes];
  const int entries = int(shape.entries());
  double total = 0;
  for (int64_t tile = 0; tile < shape.tiles(); ++tile) {
    load_tile(shape, x_layout, x_row, tile, x);
    load_tile(shape, y_layout, y_row, tile, y);
    for (int v = 0; v < kTileVectors; ++v) {
      const int l = v * kF32Lanes;
      F32 dot{}, xx{}, yy{};
      for (int e = 0; e < entries; ++e) {
        const F32 a = load<F32>(x + e * kTileLanes + l), b = load<F32>(y + e * kTileLanes + l);
        dot = fma(a, b, dot);
        xx = fma(a, a, xx);
        yy = fma(b, b, yy);
      }
      for (int i = 0; i < kF32Lanes; ++i) {
        const float a = xx[i], b = yy[i];
        const bool usual =
            a > kSmallestSquare && a < kLargestSquare && b > kSmallestSquare && b < kLargestSquare;
        cosine[l + i] = usual ? dot[i] / (__builtin_sqrtf(a) * __builtin_sqrtf(b))
                              : careful_cosine(entries, x, y, l + i);
      }
    }
    const int lanes = lanes_in_tile(shape, tile);
    for (int l = 0; l < lanes; ++l) total += double(cosine[l]);
  }
  return float(total / double(shape.blocks));
}

void similarity(const SimilarityArgs& args, int64_t row_begin, int64_t row_end) {
  for (int64_t row = row_begin; row < row_end; ++row)
    args.out[row] =
        similarity_row(args.shape, args.x.layout, args.x.row(args.shape, args.x_rows[row]),
                       args.y.layout, args.y.row(args.shape, args.y_rows[row]));
}

}  // namespace hyperhop::HH_ISA
