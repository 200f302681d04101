#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "../dispatch.h"
#include "../parallel.h"
#include "../select.h"
#include "../trie.h"
#include "arrays.h"
#include "gil.h"
#include "module.h"
#include "scratch.h"

namespace hyperhop::bindings {
namespace {

struct Inputs {
  StoredArray codebook;
  BlockArray query;
  PathsArray paths;
};

Inputs read_inputs(const std::string& function, const py::array& planes, const py::array& query,
                   const py::array& symbols, const py::array& offsets) {
  Inputs in{read_codebook({function, "cb"}, planes), read_blocks({function, "query"}, query), {}};
  const BlockShape &a = in.query.vectors.shape, &b = in.codebook.vectors.shape;
  if (in.query.vectors.leading.size() > 1 || a.blocks != b.blocks || a.block_size != b.block_size)
    throw std::invalid_argument(
        function + ": query must be one hypervector or a list of them with D = " +
        std::to_string(b.blocks) + ", m = " + std::to_string(b.block_size) + ", got " +
        std::to_string(in.query.vectors.leading.size()) +
        " leading axes, D = " + std::to_string(a.blocks) + ", m = " + std::to_string(a.block_size));
  in.paths = read_paths(function, symbols, offsets, in.codebook.vectors.rows);
  return in;
}

// Sorted paths scored at a time: bounds the partial sums kept per tile.
constexpr int64_t kSegment = 1 << 16;
// Scores of every query (rows) and path, each the sum of its tiles in order.
void score(const Inputs& in, float* out, int threads) {
  const BlockShape& shape = in.codebook.vectors.shape;
  const int64_t num_symbols = in.codebook.vectors.rows, queries = in.query.vectors.rows;
  const PathsView& paths = in.paths.view;
  const KernelTable& table = kernels();

  std::vector<float> folded(size_t(queries * shape.floats()));
  table.normalize(
      {shape, in.query.vectors.layout, Layout::planes, in.query.data(), folded.data(), 1.0}, 0,
      queries);
  const double scale = 1 / (double(shape.blocks) * std::sqrt(double(shape.block_size)));
  const std::vector<int64_t> order = trie_order(paths, num_symbols);
  TrieBuilder builder(paths, order, num_symbols);
  std::vector<float> partial;
  for (int64_t begin = 0; begin < paths.count; begin += kSegment) {
    const int64_t end = std::min(begin + kSegment, paths.count);
    const TrieProgram program = builder.build(begin, end);
    const int64_t leaves = program.num_leaves();
    partial.resize(size_t(leaves * shape.tiles()));
    for (int64_t q = 0; q < queries; ++q) {
      parallel_for(shape.tiles(), 1, program.threads(shape, threads),
                   [&](int64_t first, int64_t last) {
                     const Scratch scratch = make_scratch(program.scratch_floats(shape));
                     for (int64_t tile = first; tile < last; ++tile)
                       table.score_paths(
                           {shape, program.trie(in.codebook.rows(), scratch.get()),
                            folded.data() + q * shape.floats(), partial.data() + tile * leaves},
                           tile);
                   });
      for (int64_t leaf = 0; leaf < leaves; ++leaf) {
        double sum = 0;
        for (int64_t tile = 0; tile < shape.tiles(); ++tile)
          sum += double(partial[size_t(tile * leaves + leaf)]);
        for (int64_t p = program.leaf_offsets[size_t(leaf)];
             p < program.leaf_offsets[size_t(leaf) + 1]; ++p)
          out[q * paths.count + order[size_t(begin + p)]] = float(sum * scale);
      }
    }
  }
}

Shape result_shape(const Inputs& in, int64_t last) {
  Shape shape = in.query.vectors.leading;
  shape.push_back(last);
  return shape;
}

py::object score_paths(const py::array& planes, const py::array& query, const py::array& symbols,
                       const py::array& offsets, const py::object& out_in, int threads) {
  const Inputs in = read_inputs("score_paths", planes, query, symbols, offsets);
  Output out("score_paths", out_in, result_shape(in, in.paths.view.count), py::dtype::of<float>(),
             {in.codebook.array, in.query.array});
  auto* data = out.data<float>();
  {
    const GilReleased released;
    score(in, data, threads);
  }
  return out.finish();
}

py::tuple top_paths(const py::array& planes, const py::array& query, const py::array& symbols,
                    const py::array& offsets, int64_t k, int threads) {
  const Inputs in = read_inputs("top_paths", planes, query, symbols, offsets);
  check_k("top_paths", k);
  const int64_t n = in.paths.view.count, queries = in.query.vectors.rows;
  k = std::min(k, n);
  py::array_t<int64_t> indices(result_shape(in, k));
  py::array_t<float> scores(result_shape(in, k));
  int64_t* index_out = indices.mutable_data();
  float* score_out = scores.mutable_data();
  {
    const GilReleased released;
    std::vector<float> all(size_t(queries * n));
    score(in, all.data(), threads);
    for (int64_t q = 0; q < queries; ++q) {
      const float* row = all.data() + q * n;
      for (const int64_t i : select_top(row, n, k, 1.0f)) {
        *index_out++ = i;
        *score_out++ = row[i];
      }
    }
  }
  return py::make_tuple(indices, scores);
}

}  // namespace

void bind_score_paths(py::module_& m) {
  m.def("score_paths", &score_paths, py::arg("planes"), py::arg("query"), py::arg("symbols"),
        py::arg("offsets"), py::arg("out"), py::arg("threads"));
  m.def("top_paths", &top_paths, py::arg("planes"), py::arg("query"), py::arg("symbols"),
        py::arg("offsets"), py::arg("k"), py::arg("threads"));
}

}  // namespace hyperhop::bindings
