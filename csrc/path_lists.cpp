#include "path_lists.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "dispatch.h"
#include "memory.h"
#include "parallel.h"

namespace hyperhop {
namespace {

// Sorted paths encoded at a time: bounds the table of leaves.
constexpr int64_t kSegment = 1 << 16;

// Memory for the partial sums of a stretch of sorted paths, 4 bytes a leaf and tile.
constexpr int64_t kPartialFloats = 6 << 20;

// out[order[p]] of each leaf's paths: the sum of its tiles in order.
void add_tiles(const TrieProgram& program, const float* partial, int64_t tiles, double scale,
               const int64_t* order, float* out) {
  constexpr int64_t kBatch = 256;
  const int64_t leaves = program.num_leaves(), row = leaves + 1;
  for (int64_t first = 0; first < leaves; first += kBatch) {
    const int64_t count = std::min(kBatch, leaves - first);
    double sums[kBatch] = {};
    for (int64_t tile = 0; tile < tiles; ++tile)
      for (int64_t i = 0; i < count; ++i) sums[i] += double(partial[tile * row + first + i]);
    for (int64_t i = 0; i < count; ++i)
      for (int64_t p = program.leaf_offsets[size_t(first + i)];
           p < program.leaf_offsets[size_t(first + i) + 1]; ++p)
        out[order[p]] = float(sums[i] * scale);
  }
}

// Fills out[query][path]; `queries` and `bundle` as in ScorePathsArgs.
void score(const CodebookRows& codebook, const Bundle& bundle, const float* queries,
           int64_t num_queries, const PathsView& paths, ScoreMethod method, float* out,
           int threads) {
  const BlockShape& shape = codebook.shape;
  ScorePathsKernel* const kernel = method.unitary ? kernels().score_paths : kernels().score_general;
  const double norm = method.unitary ? std::sqrt(double(shape.block_size)) : 1.0;
  const double scale = 1 / (double(shape.blocks) * norm);
  const std::vector<int64_t> order = trie_order(paths, codebook.count);
  TrieBuilder builder(paths, order, codebook.count);
  const int64_t stretch = std::max<int64_t>(kPartialFloats / shape.tiles(), 1024);
  for (int64_t begin = 0; begin < paths.count; begin += stretch) {
    TrieProgram program = builder.build(begin, std::min(begin + stretch, paths.count));
    program.group(method.grouping);
    const int64_t leaves = program.num_leaves(), per_query = (leaves + 1) * shape.tiles();
    const int64_t batch = std::clamp<int64_t>(kPartialFloats / per_query, 1, num_queries);
    const Scratch partial = make_scratch(batch * per_query);
    for (int64_t q = 0; q < num_queries; q += batch) {
      const int64_t count = std::min(batch, num_queries - q);
      const float* some = bundle.count > 0 ? nullptr : queries + q * shape.floats();
      parallel_for(shape.tiles(), 1, program.threads(shape, threads),
                   [&](int64_t first, int64_t last) {
                     const Scratch scratch = make_scratch(program.scratch_floats(shape));
                     const ScorePathsArgs args{shape,  program.trie(codebook.rows, scratch.get()),
                                               bundle, some,
                                               count,  partial.get(),
                                               leaves};
                     for (int64_t tile = first; tile < last; ++tile) kernel(args, tile);
                   });
      for (int64_t i = 0; i < count; ++i)
        add_tiles(program, partial.get() + i * per_query, shape.tiles(), scale,
                  order.data() + begin, out + (q + i) * paths.count);
    }
  }
}

}  // namespace

void encode_list(const CodebookRows& codebook, const PathsView& paths, Layout layout, float* out,
                 int threads) {
  const BlockShape& shape = codebook.shape;
  EncodePathsKernel* const kernel = kernels().encode_paths;
  const std::vector<int64_t> order = trie_order(paths, codebook.count);
  const bool stream = shape.blocks % kTileLanes == 0 &&
                      worth_streaming(out, paths.count * shape.floats() * int64_t(sizeof(float)));
  TrieBuilder builder(paths, order, codebook.count);
  for (int64_t begin = 0; begin < paths.count; begin += kSegment) {
    const TrieProgram program = builder.build(begin, std::min(begin + kSegment, paths.count));
    parallel_for(
        shape.tiles(), 1, program.threads(shape, threads), [&](int64_t first, int64_t last) {
          const Scratch scratch = make_scratch(program.scratch_floats(shape));
          for (int64_t tile = first; tile < last; ++tile)
            kernel({shape, layout, program.trie(codebook.rows, scratch.get()), program.num_leaves(),
                    program.leaf_offsets.data(), order.data() + begin, out, stream},
                   tile);
        });
  }
}

void score_list(const CodebookRows& codebook, const QueryRows& queries, const PathsView& paths,
                ScoreMethod method, float* out, int threads) {
  if (queries.count == 0) return;
  const BlockShape& shape = codebook.shape;
  const Scratch folded = make_scratch(queries.count * shape.floats());
  kernels().normalize({shape, queries.layout, Layout::planes, queries.data, folded.get(), 1.0}, 0,
                      queries.count);
  score(codebook, Bundle{}, folded.get(), queries.count, paths, method, out, threads);
}

void score_list(const CodebookRows& codebook, const Bundle& query, const PathsView& paths,
                ScoreMethod method, float* out, int threads) {
  score(codebook, query, nullptr, 1, paths, method, out, threads);
}

}  // namespace hyperhop
