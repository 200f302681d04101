// pairwise: blockwise cosine (PathHD eq. 4) of every row of one panel with every row of another,
// with the bits that similarity gives each pair. A panel is some rows packed as
// [tile][row][2 m^2 + 1][kTileLanes]: the entries of a tile, then the inverse norms of its blocks,
// which are computed once per packed row. Three by four pairs share their loads, so that many pairs
// run like a matrix product.
#pragma once
#include "blocks.h"

namespace hyperhop {

struct Panel {
  float* values;
  int64_t rows;
};

inline int64_t panel_floats(const BlockShape& shape, int64_t rows) {
  return rows * shape.tiles() * (shape.tile_floats() + kTileLanes);
}

// Packs rows [first, first + to.rows) of `from`.
struct PackPanelArgs {
  BlockShape shape;
  StoredRows from;
  int64_t first;
  Panel to;
};
using PackPanelKernel = void(const PackPanelArgs&);

// At most this many rows in x and in y: a tile of y stays in the first-level cache.
constexpr int64_t kManyRows = 64, kPanelRows = 6;

struct PairwiseArgs {
  BlockShape shape;
  Panel x, y;
  float* out;  // out[i * out_step + j] for row i of x and j of y
  int64_t out_step;
};
using PairwiseKernel = void(const PairwiseArgs&);

}  // namespace hyperhop
