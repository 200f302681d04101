#include "normalize.h"

#include "normalize_tile.h"
#include "tile.h"

namespace hyperhop::HH_ISA {

struct Complex {
  double re, im;
};

static double norm_squared(Complex z) {
  return z.re * z.re + z.im * z.im;
}

// One-sided Jacobi: rotate pairs of columns of A until all are orthogonal, applying the same
// rotations to V. Then A = U S column by column and the polar factor is sum_k (a_k / |a_k|) v_k^H.
static void polar_factor(int m, Complex* a, Complex* v) {
  const double tolerance = 1e-15;
  for (int i = 0; i < m * m; ++i) v[i] = {i % (m + 1) == 0 ? 1.0 : 0.0, 0.0};
  // Convergence is quadratic; m <= 16 needs well under ten sweeps.
  for (int sweep = 0; sweep < 30; ++sweep) {
    bool rotated = false;
    for (int p = 0; p < m; ++p)
      for (int q = p + 1; q < m; ++q) {
        double pp = 0, qq = 0;
        Complex pq = {0, 0};  // a_p^H a_q
        for (int i = 0; i < m; ++i) {
          const Complex x = a[i * m + p], y = a[i * m + q];
          pp += norm_squared(x);
          qq += norm_squared(y);
          pq.re += x.re * y.re + x.im * y.im;
          pq.im += x.re * y.im - x.im * y.re;
        }
        const double size = __builtin_sqrt(norm_squared(pq));
        if (!(size > tolerance * __builtin_sqrt(pp * qq)) || size == 0) continue;
        rotated = true;
        const double zeta = (qq - pp) / (2 * size);
        const double t =
            (zeta >= 0 ? 1.0 : -1.0) / (__builtin_fabs(zeta) + __builtin_sqrt(1 + zeta * zeta));
        const double c = 1 / __builtin_sqrt(1 + t * t), s = c * t;
        const Complex phase = {pq.re / size, pq.im / size};
        for (int i = 0; i < 2 * m; ++i) {
          Complex* row = i < m ? a + i * m : v + (i - m) * m;
          const Complex x = row[p], y = row[q];
          // y turned by the conjugate phase makes the pair's product real.
          const Complex w = {y.re * phase.re + y.im * phase.im, y.im * phase.re - y.re * phase.im};
          row[p] = {c * x.re - s * w.re, c * x.im - s * w.im};
          row[q] = {s * x.re + c * w.re, s * x.im + c * w.im};
        }
      }
    if (!rotated) break;
  }
}

static void unitarize_block(int m, int lane, const float* in, float* out) {
  Complex a[kMaxBlockSize * kMaxBlockSize], v[kMaxBlockSize * kMaxBlockSize];
  bool finite = true;
  for (int i = 0; i < m * m; ++i) {
    a[i] = {in[2 * i * kTileLanes + lane], in[(2 * i + 1) * kTileLanes + lane]};
    const double size = norm_squared(a[i]);
    finite = finite && size - size == 0;
  }
  polar_factor(finite ? m : 0, a, v);
  double norms[kMaxBlockSize], norm_max = 0;
  for (int k = 0; k < m; ++k) {
    norms[k] = 0;
    for (int i = 0; i < m; ++i) norms[k] += norm_squared(a[i * m + k]);
    norms[k] = __builtin_sqrt(norms[k]);
    norm_max = norms[k] > norm_max ? norms[k] : norm_max;
  }
  // float32 input: singular values below its rounding error are zeros.
  const double rank_limit = norm_max * 1e-7;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < m; ++j) {
      Complex sum = {0, 0};
      for (int k = 0; k < m; ++k) {
        if (!(norms[k] > rank_limit)) continue;
        const Complex x = a[i * m + k], y = v[j * m + k];
        sum.re += (x.re * y.re + x.im * y.im) / norms[k];
        sum.im += (x.im * y.re - x.re * y.im) / norms[k];
      }
      if (!finite) sum.re = sum.im = __builtin_nan("");
      out[(i * m + j) * 2 * kTileLanes + lane] = float(sum.re);
      out[((i * m + j) * 2 + 1) * kTileLanes + lane] = float(sum.im);
    }
}

template <class OneTile>
static void each_tile(const NormalizeArgs& args, int64_t row_begin, int64_t row_end,
                      const OneTile& one_tile) {
  alignas(64) float in[kMaxTileFloats], out[kMaxTileFloats];
  const BlockShape& shape = args.shape;
  for (int64_t row = row_begin; row < row_end; ++row)
    for (int64_t tile = 0; tile < shape.tiles(); ++tile) {
      load_tile(shape, args.layout, args.x + row * shape.floats(), tile, in);
      one_tile(tile, in, out);
      store_tile(shape, args.out_layout, out, tile, args.out + row * shape.floats());
    }
}

void normalize(const NormalizeArgs& args, int64_t row_begin, int64_t row_end) {
  const int entries = int(args.shape.entries());
  each_tile(args, row_begin, row_end, [&](int64_t, const float* in, float* out) {
    normalize_tile(entries, args.norm, in, out);
  });
}

void unitarize(const NormalizeArgs& args, int64_t row_begin, int64_t row_end) {
  const int m = args.shape.block_size;
  each_tile(args, row_begin, row_end, [&](int64_t tile, const float* in, float* out) {
    for (int l = 0; l < lanes_in_tile(args.shape, tile); ++l) unitarize_block(m, l, in, out);
  });
}

}  // namespace hyperhop::HH_ISA
