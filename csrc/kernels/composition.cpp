#include "composition.h"

#include "rows.h"

namespace hyperhop::HH_ISA {
namespace {

// Columns at a time, beside four rows, as registers allow: with the squares of the rows, and
// without.
constexpr int kFirst = 2, kWide = HH_VECTOR_BYTES == 64 ? 4 : 3;

// Fetches what comes `bytes` into the rows of the next group: rows lie anywhere, and waiting for
// each would take longer than its products.
template <int kRows>
HH_INLINE void fetch_ahead(const void* const* ahead, int64_t bytes) {
  constexpr int64_t kLine = 64;
  if (bytes % kLine) return;
  HH_UNROLL
  for (int r = 0; r < kRows; ++r)
    __builtin_prefetch(static_cast<const char*>(ahead[r]) + bytes, 0, 2);
}

void widen(const uint16_t* row, int64_t dim, float* to, const void* ahead) {
  int64_t j = 0;
  for (; j + kF32Lanes <= dim; j += kF32Lanes) {
    fetch_ahead<1>(&ahead, j * int64_t(sizeof(uint16_t)));
    store(to + j, load_half(row + j));
  }
  if (j == dim) return;
  uint16_t lanes[kF32Lanes] = {};
  memcpy(lanes, row + j, size_t(dim - j) * sizeof(uint16_t));
  const F32 tail = load_half(lanes);
  memcpy(to + j, &tail, size_t(dim - j) * sizeof(float));
}

// Rows of a group, and those of the next where they are to be fetched.
template <int kRows>
struct RowGroup {
  const float* rows[kRows];
  const void* ahead[kRows];
};

// dots[c][r] = row r . column c, and with kIsFirst squares[r] = row r . row r too.
template <int kRows, int kColumns, bool kIsFirst>
HH_NOINLINE void dot_gathered(const RowShape<float>& shape, const RowGroup<kRows>& group,
                              const float* const* columns, float* squares, float* dots) {
  constexpr int kSums = kColumns + kIsFirst;
  F32 sums[kRows][kSums];
  HH_UNROLL
  for (int r = 0; r < kRows; ++r) HH_UNROLL
  for (int c = 0; c < kSums; ++c) sums[r][c] = F32{};
  shape.each_vector([&](int64_t at, auto read) HH_INLINE_LAMBDA {
    if constexpr (kIsFirst) fetch_ahead<kRows>(group.ahead, at * int64_t(sizeof(float)));
    F32 column[kColumns + 1];
    HH_UNROLL
    for (int c = 0; c < kColumns; ++c) column[c] = read(columns[c]);
    HH_UNROLL
    for (int r = 0; r < kRows; ++r) {
      const F32 row = read(group.rows[r]);
      HH_UNROLL
      for (int c = 0; c < kColumns; ++c) sums[r][c] = fma(row, column[c], sums[r][c]);
      if constexpr (kIsFirst) sums[r][kColumns] = fma(row, row, sums[r][kColumns]);
    }
  });
  HH_UNROLL
  for (int r = 0; r < kRows; ++r) {
    HH_UNROLL
    for (int c = 0; c < kColumns; ++c) dots[c * kCompositionTile + r] = sum_lanes(sums[r][c]);
    if constexpr (kIsFirst) squares[r] = sum_lanes(sums[r][kColumns]);
  }
}

// A group of rows with themselves and all columns.
template <int kRows>
HH_INLINE void dot_group(const RowShape<float>& shape, const RowGroup<kRows>& group,
                         const float* const* columns, int64_t num_columns, float* squares,
                         float* dots) {
  const auto some = [&](int64_t c, auto count, auto is_first) HH_INLINE_LAMBDA {
    dot_gathered<kRows, count.value, is_first.value>(shape, group, columns + c, squares,
                                                     dots + c * kCompositionTile);
  };
  int64_t c = num_columns < kFirst ? num_columns : kFirst;
  if (c == kFirst)
    some(0, Count<kFirst>(), Count<true>());
  else
    some(0, Count<1>(), Count<true>());
  for (; c + kWide <= num_columns; c += kWide) some(c, Count<kWide>(), Count<false>());
  for (; c < num_columns; ++c) some(c, Count<1>(), Count<false>());
}

}  // namespace

void widen_row(const EmbeddingRows& embeddings, int64_t row, float* to) {
  const int64_t dim = embeddings.dim;
  if (dim == 0) return;  // the pointers may be null
  if (embeddings.half)
    widen(static_cast<const uint16_t*>(embeddings.data) + row * dim, dim, to, to);
  else
    memcpy(to, static_cast<const float*>(embeddings.data) + row * dim, size_t(dim) * sizeof(float));
}

void row_dots(const RowDotsArgs& args) {
  const EmbeddingRows& embeddings = args.embeddings;
  const int64_t dim = embeddings.dim, row_bytes = dim * (embeddings.half ? 2 : 4);
  const RowShape<float> shape(dim);
  const auto row_at = [&](int64_t i) HH_INLINE_LAMBDA {
    return static_cast<const char*>(embeddings.data) + args.rows[i] * row_bytes;
  };
  const auto run = [&](int64_t first, auto count) HH_INLINE_LAMBDA {
    constexpr int kRows = decltype(count)::value;
    RowGroup<kRows> group;
    for (int r = 0; r < kRows; ++r) {
      const char* row = row_at(first + r);
      const int64_t next = first + r + kRows;
      const char* ahead = next < args.num_rows + args.num_ahead ? row_at(next) : row;
      if (embeddings.half) {
        float* to = args.scratch + r * (row_dots_scratch(dim) / kRowGroup);
        widen(reinterpret_cast<const uint16_t*>(row), dim, to, ahead);
        group.rows[r] = to;
        group.ahead[r] = to;
      } else {
        group.rows[r] = reinterpret_cast<const float*>(row);
        group.ahead[r] = ahead;
      }
    }
    dot_group<kRows>(shape, group, args.columns, args.num_columns, args.squares + first,
                     args.dots + first);
  };
  int64_t r = 0;
  for (; r + kRowGroup <= args.num_rows; r += kRowGroup) run(r, Count<int(kRowGroup)>());
  for (; r < args.num_rows; ++r) run(r, Count<1>());
}

void composition(const CompositionArgs& args) {
  using Half = Vec<float, kF64Lanes>;
  for (int64_t first = 0; first < args.count; first += kF64Lanes) {
    const int64_t left = args.count - first, lanes = left < kF64Lanes ? left : kF64Lanes;
    const auto varying = [&](const float* values) HH_INLINE_LAMBDA {
      Half some{};
      if (lanes == kF64Lanes)
        some = load<Half>(values + first);
      else
        memcpy(&some, values + first, size_t(lanes) * sizeof(float));
      return __builtin_convertvector(some, F64);
    };
    F64 numerators{}, squares{}, pairs{};
    for (int64_t i = 0, other = 0; i < args.size; ++i) {
      if (i == args.place) {
        numerators += varying(args.own_query_dots);
        squares += varying(args.own_squares);
      } else {
        numerators += double(args.query_dots[other]);
        squares += double(args.squares[other]);
        ++other;
      }
    }
    const float* pair = args.pair_dots;
    for (int64_t i = 0; i < args.size; ++i)
      for (int64_t j = i + 1; j < args.size; ++j)
        if (i == args.place)
          pairs += varying(args.own_pair_dots[j - 1]);
        else if (j == args.place)
          pairs += varying(args.own_pair_dots[i]);
        else
          pairs += double(*pair++);

    constexpr double kSmallest = 1e-30, kLargest = 1e30, kSmallPart = 1.0 / 64;
    const F64 whole = squares + 2.0 * pairs;
    const F64 one = F64{} + 1.0, nan = F64{} + __builtin_nan("");
    F64 cosines = numerators * args.query_factor / sqrt(whole);
    cosines = select(cosines > one, one, cosines);
    cosines = select(cosines < -one, -one, cosines);
    const auto sound =
        (squares > kSmallest) & (squares < kLargest) & (whole > kSmallPart * squares);
    const Half result = __builtin_convertvector(select(sound, cosines, nan), Half);
    memcpy(args.cosines + first, &result, size_t(lanes) * sizeof(float));
  }
}

}  // namespace hyperhop::HH_ISA
