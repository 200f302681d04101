#include "codebook.h"

#include "../math/complex.h"
#include "../math/philox.h"
#include "../math/portable.h"
#include "tile.h"

namespace hyperhop::HH_ISA {

// The stream of random numbers of one symbol for kF64Lanes neighbouring blocks: the counter is
// (block, draw, key[2], key[3]).
class Draws {
 public:
  HH_INLINE Draws(const uint32_t* key, int64_t first_block) : key_(key) {
    uint64_t blocks[kF64Lanes];
    for (int l = 0; l < kF64Lanes; ++l) blocks[l] = uint32_t(first_block + l);
    block_ = load<U64>(blocks);
  }

  HH_INLINE ComplexF64 phase() {
    const SinCos angle = portable_sincos_turn(unit_interval(next()));
    return {angle.cos, angle.sin};
  }

  // Complex normal with E|z|^2 = 1 (Box-Muller): its square modulus is exponential.
  HH_INLINE ComplexF64 normal() {
    const F64 radius = sqrt(-portable_log(unit_interval(next())));
    return scale(radius, phase());
  }

 private:
  HH_INLINE U64 next() {
    if (used_ == 4) {
      const U64 zero{};
      const Philox4 counter = {
          {block_, zero + uint64_t(draw_++), zero + uint64_t(key_[2]), zero + uint64_t(key_[3])}};
      words_ = philox(counter, key_[0], key_[1]);
      used_ = 0;
    }
    return words_.word[used_++];
  }

  const uint32_t* key_;
  U64 block_;
  uint32_t draw_ = 0;
  int used_ = 4;
  Philox4 words_ = {};
};

using Matrix = ComplexF64[kMaxBlockSize][kMaxBlockSize];

// M <- (I - 2 v v^H / |v|^2) M on rows first .. m - 1 and columns first_column .. m - 1.
HH_INLINE void reflect(int m, int first, int first_column, const ComplexF64* v, F64 factor,
                       Matrix& matrix) {
  for (int j = first_column; j < m; ++j) {
    ComplexF64 dot = {F64{}, F64{}};
    for (int i = first; i < m; ++i) dot = add(dot, multiply(conj(v[i]), matrix[i][j]));
    dot = scale(factor, dot);
    for (int i = first; i < m; ++i) matrix[i][j] = subtract(matrix[i][j], multiply(v[i], dot));
  }
}

HH_INLINE void identity(int m, Matrix& matrix) {
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < m; ++j) matrix[i][j] = {F64{} + (i == j ? 1.0 : 0.0), F64{}};
}

// Stewart's method: U_k = H_k (1 + U_{k-1}) (direct sum), where H_k e_1 = u is uniform on the
// sphere. H_k = -e^{i a} (I - v v^H / (1 + |u_1|)) with v = u + e^{i a} e_1 and a the angle of u_1.
HH_INLINE void haar(int m, Draws& draws, Matrix& matrix) {
  identity(m, matrix);
  matrix[m - 1][m - 1] = draws.phase();
  for (int first = m - 2; first >= 0; --first) {
    ComplexF64 v[kMaxBlockSize];
    F64 square{};
    for (int i = first; i < m; ++i) {
      v[i] = draws.normal();
      square += norm_squared(v[i]);
    }
    const F64 inverse_norm = 1.0 / sqrt(square);
    for (int i = first; i < m; ++i) v[i] = scale(inverse_norm, v[i]);
    const F64 size = sqrt(norm_squared(v[first]));
    const ComplexF64 angle = scale(1.0 / size, v[first]);
    v[first] = add(v[first], angle);
    reflect(m, first, first, v, 1.0 / (1.0 + size), matrix);
    const ComplexF64 turn = {-angle.re, -angle.im};
    for (int i = first; i < m; ++i)
      for (int j = first; j < m; ++j) matrix[i][j] = multiply(turn, matrix[i][j]);
  }
}

HH_INLINE void diagonal(int m, Draws& draws, Matrix& matrix) {
  identity(m, matrix);
  for (int i = 0; i < m; ++i) matrix[i][i] = draws.phase();
}

HH_INLINE void householder(int m, Draws& draws, Matrix& matrix) {
  diagonal(m, draws, matrix);
  for (int k = 0; k < m; ++k) {
    ComplexF64 v[kMaxBlockSize];
    F64 square{};
    for (int i = 0; i < m; ++i) {
      v[i] = draws.normal();
      square += norm_squared(v[i]);
    }
    reflect(m, 0, 0, v, 2.0 / square, matrix);
  }
}

template <int kBlockSize>
static void codebook_rows(const CodebookArgs& args, int64_t row_begin, int64_t row_end) {
  alignas(64) float tile_values[kMaxTileFloats];
  const BlockShape& shape = args.shape;
  const int m = kBlockSize ? kBlockSize : shape.block_size;
  for (int64_t row = row_begin; row < row_end; ++row)
    for (int64_t tile = 0; tile < shape.tiles(); ++tile) {
      for (int l = 0; l < kTileLanes; l += kF64Lanes) {
        Draws draws(args.keys + 4 * row, tile * kTileLanes + l);
        Matrix matrix;
        switch (args.family) {
          case Family::haar:
            haar(m, draws, matrix);
            break;
          case Family::householder:
            householder(m, draws, matrix);
            break;
          case Family::diagonal:
            diagonal(m, draws, matrix);
            break;
        }
        for (int i = 0; i < m; ++i)
          for (int j = 0; j < m; ++j) {
            float* out = tile_values + (i * m + j) * 2 * kTileLanes + l;
            for (int n = 0; n < kF64Lanes; ++n) {
              out[n] = float(matrix[i][j].re[n]);
              out[n + kTileLanes] = float(matrix[i][j].im[n]);
            }
          }
      }
      store_tile(shape, Layout::planes, tile_values, tile, args.planes + row * shape.floats());
    }
}

void codebook(const CodebookArgs& args, int64_t row_begin, int64_t row_end) {
  with_block_size(args.shape.block_size,
                  [&](auto m) { codebook_rows<m.value>(args, row_begin, row_end); });
}

}  // namespace hyperhop::HH_ISA
