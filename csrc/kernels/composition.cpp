#include "composition.h"

#include "rows.h"

namespace hyperhop::HH_ISA {
namespace {

constexpr int kWide = HH_VECTOR_BYTES == 64 ? 4 : 2;  // columns at a time, as registers allow

void widen(const uint16_t* row, int64_t dim, float* to) {
  int64_t j = 0;
  for (; j + kF32Lanes <= dim; j += kF32Lanes) store(to + j, load_half(row + j));
  if (j == dim) return;
  uint16_t lanes[kF32Lanes] = {};
  memcpy(lanes, row + j, size_t(dim - j) * sizeof(uint16_t));
  const F32 tail = load_half(lanes);
  memcpy(to + j, &tail, size_t(dim - j) * sizeof(float));
}

// squares[r] = row r . row r and dots[c][r] = row r . column c.
template <int kRows, int kColumns, bool kSquares>
HH_NOINLINE void dot_gathered(const RowShape<float>& shape, const float* const* rows,
                              const float* const* columns, float* squares, float* dots) {
  F32 sums[kRows][kColumns + kSquares];
  HH_UNROLL
  for (int r = 0; r < kRows; ++r) HH_UNROLL
  for (int c = 0; c < kColumns + kSquares; ++c) sums[r][c] = F32{};
  shape.each_vector([&](int64_t, auto read) HH_INLINE_LAMBDA {
    F32 column[kColumns + 1];
    HH_UNROLL
    for (int c = 0; c < kColumns; ++c) column[c] = read(columns[c]);
    HH_UNROLL
    for (int r = 0; r < kRows; ++r) {
      const F32 row = read(rows[r]);
      HH_UNROLL
      for (int c = 0; c < kColumns; ++c) sums[r][c] = fma(row, column[c], sums[r][c]);
      if constexpr (kSquares) sums[r][kColumns] = fma(row, row, sums[r][kColumns]);
    }
  });
  HH_UNROLL
  for (int r = 0; r < kRows; ++r) {
    HH_UNROLL
    for (int c = 0; c < kColumns; ++c) dots[c * kCompositionTile + r] = sum_lanes(sums[r][c]);
    if constexpr (kSquares) squares[r] = sum_lanes(sums[r][kColumns]);
  }
}

// A group of rows with themselves and all columns.
template <int kRows>
HH_INLINE void dot_group(const RowShape<float>& shape, const float* const* rows,
                         const float* const* columns, int64_t num_columns, float* squares,
                         float* dots) {
  int64_t c = 0;
  if (num_columns == 0) {
    dot_gathered<kRows, 0, true>(shape, rows, columns, squares, dots);
  } else {
    dot_gathered<kRows, 1, true>(shape, rows, columns, squares, dots);
    c = 1;
  }
  for (; c + kWide <= num_columns; c += kWide)
    dot_gathered<kRows, kWide, false>(shape, rows, columns + c, squares,
                                      dots + c * kCompositionTile);
  for (; c < num_columns; ++c)
    dot_gathered<kRows, 1, false>(shape, rows, columns + c, squares, dots + c * kCompositionTile);
}

}  // namespace

void widen_row(const EmbeddingRows& embeddings, int64_t row, float* to) {
  const int64_t dim = embeddings.dim;
  if (embeddings.half)
    widen(static_cast<const uint16_t*>(embeddings.data) + row * dim, dim, to);
  else
    memcpy(to, static_cast<const float*>(embeddings.data) + row * dim, size_t(dim) * sizeof(float));
}

void row_dots(const RowDotsArgs& args) {
  const int64_t dim = args.embeddings.dim;
  const RowShape<float> shape(dim);
  const auto group = [&](int64_t first, auto count) HH_INLINE_LAMBDA {
    constexpr int kRows = decltype(count)::value;
    const float* rows[kRows];
    for (int r = 0; r < kRows; ++r) {
      const int64_t row = args.rows[first + r];
      if (args.embeddings.half) {
        float* to = args.scratch + r * (row_dots_scratch(dim) / kRowGroup);
        widen(static_cast<const uint16_t*>(args.embeddings.data) + row * dim, dim, to);
        rows[r] = to;
      } else {
        rows[r] = static_cast<const float*>(args.embeddings.data) + row * dim;
      }
    }
    dot_group<kRows>(shape, rows, args.columns, args.num_columns, args.squares + first,
                     args.dots + first);
  };
  int64_t r = 0;
  for (; r + kRowGroup <= args.num_rows; r += kRowGroup) group(r, Count<int(kRowGroup)>());
  for (; r < args.num_rows; ++r) group(r, Count<1>());
}

void composition(const CompositionArgs& args) {
  double numerators[kCompositionTile] = {}, squares[kCompositionTile] = {};
  double pairs[kCompositionTile] = {};
  const auto add_each = [&](double* sums, const float* values) HH_INLINE_LAMBDA {
    for (int64_t l = 0; l < args.count; ++l) sums[l] += double(values[l]);
  };
  const auto add_one = [&](double* sums, double value) HH_INLINE_LAMBDA {
    for (int64_t l = 0; l < args.count; ++l) sums[l] += value;
  };
  for (int64_t i = 0, other = 0; i < args.size; ++i) {
    if (i == args.place) {
      add_each(numerators, args.own_query_dots);
      add_each(squares, args.own_squares);
    } else {
      add_one(numerators, double(args.query_dots[other]));
      add_one(squares, double(args.squares[other]));
      ++other;
    }
  }
  const float* pair = args.pair_dots;
  for (int64_t i = 0; i < args.size; ++i)
    for (int64_t j = i + 1; j < args.size; ++j)
      if (i == args.place)
        add_each(pairs, args.own_pair_dots[j - 1]);
      else if (j == args.place)
        add_each(pairs, args.own_pair_dots[i]);
      else
        add_one(pairs, double(*pair++));
  constexpr double kSmallest = 1e-30, kLargest = 1e30, kSmallPart = 1.0 / 64;
  for (int64_t l = 0; l < args.count; ++l) {
    const double whole = squares[l] + 2 * pairs[l];
    const bool sound =
        squares[l] > kSmallest && squares[l] < kLargest && whole > kSmallPart * squares[l];
    double cosine = numerators[l] * args.query_factor / __builtin_sqrt(whole);
    cosine = cosine > 1 ? 1 : cosine < -1 ? -1 : cosine;
    args.cosines[l] = sound ? float(cosine) : __builtin_nanf("");
  }
}

}  // namespace hyperhop::HH_ISA
