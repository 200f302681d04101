#include "unitary_map.h"

#include "../math/complex.h"
#include "tile.h"

namespace hyperhop::HH_ISA {

using Matrix = ComplexF64[kMaxBlockSize][kMaxBlockSize];

HH_INLINE void multiply(int m, const Matrix& a, const Matrix& b, Matrix& out) {
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < m; ++j) {
      ComplexF64 sum = multiply(a[i][0], b[0][j]);
      for (int k = 1; k < m; ++k) sum = add(sum, multiply(a[i][k], b[k][j]));
      out[i][j] = sum;
    }
}

// The s of each lane: halvings that bring a norm to at most 1/4.
HH_INLINE I64 halvings(F64 norm) {
  const I64 exponent = (bit_cast<I64>(norm) >> 52) - 1023;  // norm < 2^(exponent + 1)
  const I64 needed = exponent + 3;
  return select(needed > 0, needed, I64{});
}

HH_INLINE F64 power_of_two(I64 exponent) {
  return bit_cast<F64>((exponent + 1023) << 52);
}

// sum_k A^k / k! to k = 8, as (terms to 3) + A^4 (terms 4 to 8).
HH_INLINE void taylor(int m, const Matrix& a, Matrix& out) {
  Matrix a2, a3, a4, high;
  multiply(m, a, a, a2);
  multiply(m, a2, a, a3);
  multiply(m, a2, a2, a4);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < m; ++j) {
      const F64 one = F64{} + (i == j ? 1.0 : 0.0);
      ComplexF64 sum = scale(F64{} + 1.0 / 40320, a4[i][j]);
      sum = add(sum, scale(F64{} + 1.0 / 5040, a3[i][j]));
      sum = add(sum, scale(F64{} + 1.0 / 720, a2[i][j]));
      sum = add(sum, scale(F64{} + 1.0 / 120, a[i][j]));
      high[i][j] = {sum.re + one * (1.0 / 24), sum.im};
    }
  multiply(m, a4, high, out);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < m; ++j) {
      ComplexF64 sum = add(out[i][j], scale(F64{} + 1.0 / 6, a3[i][j]));
      sum = add(sum, scale(F64{} + 0.5, a2[i][j]));
      sum = add(sum, a[i][j]);
      out[i][j] = {sum.re + (i == j ? 1.0 : 0.0), sum.im};
    }
}

// out = exp(a), a anti-Hermitian; a is overwritten.
HH_INLINE void exponential(int m, Matrix& a, Matrix& out) {
  F64 square{};
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < m; ++j) square += norm_squared(a[i][j]);
  const I64 count = halvings(sqrt(square));
  const F64 shrink = power_of_two(-count);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < m; ++j) a[i][j] = scale(shrink, a[i][j]);
  taylor(m, a, out);
  int64_t most = 0;
  for (int l = 0; l < kF64Lanes; ++l) most = count[l] > most ? count[l] : most;
  for (int64_t n = 0; n < most; ++n) {
    multiply(m, out, out, a);
    // Each lane takes its own number of squarings, so that neighbours do not change its bits.
    const I64 wanted = count > n;
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < m; ++j)
        out[i][j] = {select(wanted, a[i][j].re, out[i][j].re),
                     select(wanted, a[i][j].im, out[i][j].im)};
  }
}

// out = 2 (I - a)^-1 - I, a anti-Hermitian. The Hermitian part of I - a is I, so no pivot is
// smaller than 1 and rows stay where they are.
HH_INLINE void cayley(int m, const Matrix& a, Matrix& out) {
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < m; ++j) out[i][j] = {(i == j ? 1.0 : 0.0) - a[i][j].re, -a[i][j].im};
  for (int k = 0; k < m; ++k) {
    const ComplexF64 inverse = scale(1.0 / norm_squared(out[k][k]), conj(out[k][k]));
    out[k][k] = {F64{} + 1.0, F64{}};
    for (int j = 0; j < m; ++j) out[k][j] = multiply(inverse, out[k][j]);
    for (int i = 0; i < m; ++i) {
      if (i == k) continue;
      const ComplexF64 factor = out[i][k];
      out[i][k] = {F64{}, F64{}};
      for (int j = 0; j < m; ++j) out[i][j] = subtract(out[i][j], multiply(factor, out[k][j]));
    }
  }
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < m; ++j)
      out[i][j] = {2.0 * out[i][j].re - (i == j ? 1.0 : 0.0), 2.0 * out[i][j].im};
}

HH_INLINE F64 load_lanes(const float* from, int lanes) {
  double values[kF64Lanes];
  for (int l = 0; l < kF64Lanes; ++l) values[l] = l < lanes ? double(from[l]) : 0.0;
  return load<F64>(values);
}

// iH of up to kF64Lanes neighbouring blocks; lanes past D are zero.
HH_INLINE void load_hermitian(int m, int64_t blocks, const float* from, int lanes, Matrix& out) {
  for (int i = 0; i < m; ++i) {
    out[i][i] = {F64{}, load_lanes(from + (i * m + i) * blocks, lanes)};
    for (int j = i + 1; j < m; ++j) {
      const F64 re = load_lanes(from + (i * m + j) * blocks, lanes);
      const F64 im = load_lanes(from + (j * m + i) * blocks, lanes);
      out[i][j] = {-im, re};
      out[j][i] = {im, re};
    }
  }
}

template <int kBlockSize>
static void unitary_map_rows(const UnitaryMapArgs& args, int64_t row_begin, int64_t row_end) {
  const BlockShape& shape = args.shape;
  const int m = kBlockSize ? kBlockSize : shape.block_size;
  for (int64_t row = row_begin; row < row_end; ++row) {
    const float* hermitian = args.hermitian + row * m * m * shape.blocks;
    float* planes = args.planes + row * shape.floats();
    for (int64_t first = 0; first < shape.blocks; first += kF64Lanes) {
      const int64_t left = shape.blocks - first;
      const int lanes = left < kF64Lanes ? int(left) : kF64Lanes;
      Matrix a, unitary;
      load_hermitian(m, shape.blocks, hermitian + first, lanes, a);
      if (args.map == UnitaryMap::exp)
        exponential(m, a, unitary);
      else
        cayley(m, a, unitary);
      for (int i = 0; i < m; ++i)
        for (int j = 0; j < m; ++j) {
          float* out = planes + (i * m + j) * 2 * shape.blocks + first;
          for (int l = 0; l < lanes; ++l) {
            out[l] = float(unitary[i][j].re[l]);
            out[l + shape.blocks] = float(unitary[i][j].im[l]);
          }
        }
    }
  }
}

void unitary_map(const UnitaryMapArgs& args, int64_t row_begin, int64_t row_end) {
  with_block_size(args.shape.block_size,
                  [&](auto m) { unitary_map_rows<m.value>(args, row_begin, row_end); });
}

}  // namespace hyperhop::HH_ISA
