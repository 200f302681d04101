#include "similarity.h"

#include "cosine.h"

namespace hyperhop::HH_ISA {

// A row that many others are compared with: tile t of entry e is at
// values + t * tile_step + e * entry_step.
struct Prepared {
  float *values, *inverse;
  int64_t tile_step, entry_step;
};

// Planes streamed end to end keep x the same way, tiles keep it as tiles.
static Prepared prepared_in(const SimilarityArgs& args) {
  const int64_t floats = args.shape.tiles() * args.shape.tile_floats();
  if (args.y.layout == Layout::complex)
    return {args.scratch, args.scratch + floats, args.shape.tile_floats(), kTileLanes};
  return {args.scratch, args.scratch + floats, kTileLanes, args.shape.tiles() * kTileLanes};
}

static void prepare(const BlockShape& shape, const StoredRows& x, int64_t row, const Prepared& to) {
  alignas(64) float tile[kMaxTileFloats];
  const int entries = int(shape.entries());
  for (int64_t t = 0; t < shape.tiles(); ++t) {
    load_tile(shape, x.layout, x.row(shape, row), t, tile);
    prepare_tile(entries, tile, to.inverse + t * kTileLanes);
    for (int e = 0; e < entries; ++e)
      memcpy(to.values + t * to.tile_step + e * to.entry_step, tile + e * kTileLanes,
             kTileLanes * sizeof(float));
  }
}

// Dot products and squared norms of the blocks of one tile, all chains side by side.
HH_INLINE void dots_of(int entries, const float* x, int64_t x_step, const float* y,
                       F32 (&dots)[kTileVectors], F32 (&squares)[kTileVectors]) {
  HH_UNROLL
  for (int v = 0; v < kTileVectors; ++v) dots[v] = squares[v] = F32{};
  for (int e = 0; e < entries; ++e) HH_UNROLL
  for (int v = 0; v < kTileVectors; ++v) {
    const F32 value = load<F32>(y + e * kTileLanes + v * kF32Lanes);
    dots[v] = fma(load<F32>(x + e * x_step + v * kF32Lanes), value, dots[v]);
    squares[v] = fma(value, value, squares[v]);
  }
}

// One tile by itself, whatever its layout, lanes and norms.
static void add_tile(const BlockShape& shape, const Prepared& x, const StoredRows& y, int64_t row,
                     int64_t tile, CosineSum& sum) {
  alignas(64) float values[kMaxTileFloats];
  const int entries = int(shape.entries());
  const float* a = x.values + tile * x.tile_step;
  F32 dots[kTileVectors], squares[kTileVectors];
  if (y.layout == Layout::complex) {
    // Blocks are read in an order that hides from the hardware how plain it is.
    const float* next =
        static_cast<const float*>(y.row(shape, row)) + (tile + 1) * shape.tile_floats();
    for (int64_t i = 0; i < shape.tile_floats(); i += kTileLanes) __builtin_prefetch(next + i);
  }
  load_tile(shape, y.layout, y.row(shape, row), tile, values);
  dots_of(entries, a, x.entry_step, values, dots, squares);
  if (rescale_tile(entries, values, squares))
    dots_of(entries, a, x.entry_step, values, dots, squares);
  for (int v = 0; v < kTileVectors; ++v)
    sum.part += dots[v] * (load<F32>(x.inverse + tile * kTileLanes + v * kF32Lanes) *
                           inverse_norm(squares[v]));
  sum.end_tile(tile);
}

// Whole tiles of planes at a time, whose sums stay in the first-level cache.
constexpr int64_t kChunkTiles = 32;
// Rows read side by side: each is one stream that the hardware foresees, and x is loaded once.
constexpr int kRowsAtOnce = 4;

HH_INLINE F32 load_wide(const float* p) {
  return load<F32>(p);
}
HH_INLINE F32 load_wide(const uint16_t* p) {
  return load_half(p);
}

template <int kRows>
struct ChunkSums {
  alignas(64) float dots[kRows][kChunkTiles * kTileLanes];
  alignas(64) float squares[kRows][kChunkTiles * kTileLanes];
};

// The next kPlanes planes of kRows rows. `y` moves on with the planes.
template <int kPlanes, int kRows, class T>
HH_INLINE void add_planes(const float* x, int64_t x_step, const T** y, int64_t y_step,
                          int64_t lanes, ChunkSums<kRows>& sums) {
  constexpr int64_t kAheadBytes = 2048, kLineBytes = 64;
  for (int64_t l = 0; l < lanes; l += kF32Lanes) {
    F32 dot[kRows], square[kRows];
    HH_UNROLL
    for (int r = 0; r < kRows; ++r) {
      dot[r] = load<F32>(sums.dots[r] + l);
      square[r] = load<F32>(sums.squares[r] + l);
      // In the order of memory, although the planes are read side by side.
      const char* at = reinterpret_cast<const char*>(y[r] + l * kPlanes);
      for (int64_t b = 0; b < kPlanes * kF32Lanes * int64_t(sizeof(T)); b += kLineBytes)
        __builtin_prefetch(at + kAheadBytes + b);
    }
    HH_UNROLL
    for (int p = 0; p < kPlanes; ++p) {
      const F32 a = load<F32>(x + p * x_step + l);
      HH_UNROLL
      for (int r = 0; r < kRows; ++r) {
        const F32 b = load_wide(y[r] + p * y_step + l);
        dot[r] = fma(a, b, dot[r]);
        square[r] = fma(b, b, square[r]);
      }
    }
    HH_UNROLL
    for (int r = 0; r < kRows; ++r) {
      store(sums.dots[r] + l, dot[r]);
      store(sums.squares[r] + l, square[r]);
    }
  }
  for (int r = 0; r < kRows; ++r) y[r] += kPlanes * y_step;
}

// Tiles [first, first + tiles) of kRows rows of planes, in the order in which they lie.
template <int kRows, class T>
static void add_chunk(const BlockShape& shape, const Prepared& x, const StoredRows& y,
                      const int64_t* rows, int64_t first, int64_t tiles, CosineSum* sums) {
  constexpr int kPlanes = 4 / int(sizeof(T));  // of float16 two, so that a piece is as long
  ChunkSums<kRows> chunk;
  memset(&chunk, 0, sizeof(chunk));
  const T* at[kRows];
  for (int r = 0; r < kRows; ++r)
    at[r] = static_cast<const T*>(y.row(shape, rows[r])) + first * kTileLanes;
  const float* a = x.values + first * x.tile_step;
  for (int64_t e = 0; e < shape.entries(); e += kPlanes, a += kPlanes * x.entry_step)
    add_planes<kPlanes>(a, x.entry_step, at, shape.blocks, tiles * kTileLanes, chunk);
  for (int r = 0; r < kRows; ++r)
    for (int64_t t = 0; t < tiles; ++t) {
      F32 part = sums[r].part;
      bool usual = true;
      for (int64_t l = t * kTileLanes; l < (t + 1) * kTileLanes; l += kF32Lanes) {
        const F32 square = load<F32>(chunk.squares[r] + l);
        usual = usual && comfortable(square);
        part += load<F32>(chunk.dots[r] + l) *
                (load<F32>(x.inverse + first * kTileLanes + l) * inverse_norm(square));
      }
      if (!usual) {
        add_tile(shape, x, y, rows[r], first + t, sums[r]);
        continue;
      }
      sums[r].part = part;
      sums[r].end_tile(first + t);
    }
}

template <int kRows>
static void similarity_rows(const BlockShape& shape, const Prepared& x, const StoredRows& y,
                            const int64_t* rows, float* out) {
  CosineSum sums[kRows];
  int64_t tile = 0;
  const int64_t whole = y.layout == Layout::complex ? 0 : shape.blocks / kTileLanes;
  while (tile < whole) {
    const int64_t tiles = whole - tile < kChunkTiles ? whole - tile : kChunkTiles;
    if (y.layout == Layout::planes)
      add_chunk<kRows, float>(shape, x, y, rows, tile, tiles, sums);
    else
      add_chunk<kRows, uint16_t>(shape, x, y, rows, tile, tiles, sums);
    tile += tiles;
  }
  for (int r = 0; r < kRows; ++r) {
    for (int64_t t = tile; t < shape.tiles(); ++t) add_tile(shape, x, y, rows[r], t, sums[r]);
    out[r] = sums[r].mean(shape.blocks);
  }
}

void similarity(const SimilarityArgs& args, int64_t row_begin, int64_t row_end) {
  const Prepared x = prepared_in(args);
  for (int64_t i = row_begin; i < row_end;) {
    const int64_t x_row = args.x_rows[i];
    if (i == row_begin || x_row != args.x_rows[i - 1]) prepare(args.shape, args.x, x_row, x);
    int64_t same = 1;
    while (same < kRowsAtOnce && i + same < row_end && args.x_rows[i + same] == x_row) ++same;
    if (same == kRowsAtOnce) {
      similarity_rows<kRowsAtOnce>(args.shape, x, args.y, args.y_rows + i, args.out + i);
      i += same;
    } else {
      similarity_rows<1>(args.shape, x, args.y, args.y_rows + i, args.out + i);
      ++i;
    }
  }
}

}  // namespace hyperhop::HH_ISA
