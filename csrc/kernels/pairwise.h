// pairwise: blockwise cosine (PathHD eq. 4) of every row of one panel with every row of another,
// with the bits that similarity gives each pair. A panel is some rows packed as [tile][row][tile's
// entries][kTileLanes] with the inverse norms of their blocks as [tile][row][kTileLanes]; norms are
// computed once per packed row. Three by four pairs share their loads, so that many pairs run at
// the speed of a matrix product.
#pragma once
#include "blocks.h"

namespace hyperhop {

struct Panel {
  float *values, *inverse;
  int64_t rows;
};

inline int64_t panel_floats(const BlockShape& shape, int64_t rows) {
  return rows * shape.tiles() * (shape.tile_floats() + kTileLanes);
}
inline Panel panel_in(const BlockShape& shape, int64_t rows, float* memory) {
  return {memory, memory + rows * shape.tiles() * shape.tile_floats(), rows};
}

// Packs rows [first, first + to.rows) of `from`.
struct PackPanelArgs {
  BlockShape shape;
  StoredRows from;
  int64_t first;
  Panel to;
};
using PackPanelKernel = void(const PackPanelArgs&);

// At most this many rows in y, whose sums a kernel keeps.
constexpr int64_t kPanelRows = 12;

struct PairwiseArgs {
  BlockShape shape;
  Panel x, y;
  float* out;  // out[i * out_step + j] for row i of x and j of y
  int64_t out_step;
};
using PairwiseKernel = void(const PairwiseArgs&);

}  // namespace hyperhop
