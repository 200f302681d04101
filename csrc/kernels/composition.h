// Composition scores of HyperNodes, from the dot products of their rows.
//
// For rows e_1 .. e_m of a set in canonical order and a query q:
//   cos(q, e_1 + .. + e_m) = sum_i q.e_i / (|q| sqrt(sum_i e_i.e_i + 2 sum_{i<j} e_i.e_j))
// Every dot product is one chain of fused additions in each lane of one vector, lanes added by
// halves (float32), so that its bits depend on its two rows alone, in either order. The sums of
// them run in canonical order, pairs by (i, j), in float64, and so does the rest: a score depends
// on the set and the query alone. With c = dim / lanes + 5 roundings of a dot product, it differs
// from the exact one by at most 2^-24 (c m (r + r^2 / 2) + 1), where r is sum |e_i| / |e_1 + .. +
// e_m|. Where the square is a small part of sum_i e_i.e_i (rows cancel), or a size leaves what
// float32 holds, the result is NaN, and the caller takes composition_exact.
#pragma once
#include <stdint.h>

#include "../portability.h"

namespace hyperhop {

// Rows of float32 or float16 (as uint16_t), gathered by number.
struct EmbeddingRows {
  const void* data;
  int64_t dim;
  bool half;
};

// Rows of a tile, a multiple of what registers hold.
constexpr int64_t kCompositionTile = 64;

// Dot products of up to kCompositionTile rows with themselves and with each of `columns` (float32).
struct RowDotsArgs {
  EmbeddingRows embeddings;
  const int32_t* rows;  // numbers of the rows, then of some that come next
  int64_t num_rows, num_ahead;
  const float* const* columns;
  int64_t num_columns;  // at least 1
  float* squares;       // (num_rows,)
  float* dots;          // (num_columns, kCompositionTile)
  float* scratch;       // row_dots_scratch(dim) floats, used for float16
};
using RowDotsKernel = void(const RowDotsArgs&);

constexpr int64_t kRowGroup = 4;
HH_INLINE int64_t row_dots_scratch(int64_t dim) {
  return kRowGroup * ((dim + 15) / 16 * 16);
}

// Row number `row` widened to float32.
using WidenRowKernel = void(const EmbeddingRows&, int64_t row, float* to);

// A set of `size` rows, of which the one at `place` (0 .. size - 1) varies over `count` rows.
struct CompositionArgs {
  int64_t size, place;
  // Of the other rows, in canonical order: with the query, with themselves, and of pairs (i, j) by
  // i, then j.
  const float* query_dots;
  const float* squares;
  const float* pair_dots;
  double query_factor;  // 1 / |q|, or 0
  // Of the varying row, `count` each: with the query, with itself, and with each other row.
  int64_t count;  // at most kCompositionTile
  const float* own_query_dots;
  const float* own_squares;
  const float* const* own_pair_dots;  // (size - 1,)
  float* cosines;                     // (count,)
};
using CompositionKernel = void(const CompositionArgs&);

}  // namespace hyperhop
