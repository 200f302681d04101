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

// How to score: constant block norms let prefixes move to the query's side.
struct Method {
  bool unitary;
  Grouping grouping;
};

// Scores of every query (rows) and path.
void score(const Inputs& in, Method method, float* out, int threads) {
  const BlockShape& shape = in.codebook.vectors.shape;
  const int64_t num_symbols = in.codebook.vectors.rows, queries = in.query.vectors.rows;
  const PathsView& paths = in.paths.view;
  if (queries == 0) return;
  const KernelTable& table = kernels();
  ScorePathsKernel* const kernel = method.unitary ? table.score_paths : table.score_general;

  std::vector<float> folded(size_t(queries * shape.floats()));
  table.normalize(
      {shape, in.query.vectors.layout, Layout::planes, in.query.data(), folded.data(), 1.0}, 0,
      queries);
  const double norm = method.unitary ? std::sqrt(double(shape.block_size)) : 1.0;
  const double scale = 1 / (double(shape.blocks) * norm);
  const std::vector<int64_t> order = trie_order(paths, num_symbols);
  TrieBuilder builder(paths, order, num_symbols);
  const int64_t stretch = std::max<int64_t>(kPartialFloats / shape.tiles(), 1024);
  for (int64_t begin = 0; begin < paths.count; begin += stretch) {
    TrieProgram program = builder.build(begin, std::min(begin + stretch, paths.count));
    program.group(method.grouping);
    const int64_t leaves = program.num_leaves(), per_query = (leaves + 1) * shape.tiles();
    const int64_t batch = std::clamp<int64_t>(kPartialFloats / per_query, 1, queries);
    const Scratch partial = make_scratch(batch * per_query);
    for (int64_t q = 0; q < queries; q += batch) {
      const int64_t count = std::min(batch, queries - q);
      parallel_for(shape.tiles(), 1, program.threads(shape, threads),
                   [&](int64_t first, int64_t last) {
                     const Scratch scratch = make_scratch(program.scratch_floats(shape));
                     for (int64_t tile = first; tile < last; ++tile)
                       kernel({shape, program.trie(in.codebook.rows(), scratch.get()),
                               folded.data() + q * shape.floats(), count, partial.get(), leaves},
                              tile);
                   });
      for (int64_t i = 0; i < count; ++i)
        add_tiles(program, partial.get() + i * per_query, shape.tiles(), scale,
                  order.data() + begin, out + (q + i) * paths.count);
    }
  }
}

Method read_method(const std::string& function, const std::string& algorithm, bool unitary) {
  if (algorithm == "dense" && !unitary)
    throw std::invalid_argument(function +
                                ": algorithm 'dense' needs a codebook of unitary blocks");
  if (algorithm == "auto") return {unitary, unitary ? Grouping::automatic : Grouping::walk};
  if (algorithm == "walk") return {unitary, Grouping::walk};
  if (algorithm == "dense") return {unitary, Grouping::dense};
  throw std::invalid_argument(function + ": algorithm must be 'auto', 'walk' or 'dense', got '" +
                              algorithm + "'");
}

Shape result_shape(const Inputs& in, int64_t last) {
  Shape shape = in.query.vectors.leading;
  shape.push_back(last);
  return shape;
}

// Prefixes with last symbols that "auto", "walk" or "dense" would score in tables, and one by one.
py::tuple path_groups(const py::array& symbols, const py::array& offsets, int64_t num_symbols,
                      const std::string& algorithm) {
  const Method method = read_method("path_groups", algorithm, true);
  const PathsArray paths = read_paths("path_groups", symbols, offsets, num_symbols);
  const std::vector<int64_t> order = trie_order(paths.view, num_symbols);
  TrieProgram program = TrieBuilder(paths.view, order, num_symbols).build(0, paths.view.count);
  program.group(method.grouping);
  int64_t dense = 0, walked = 0;
  for (const TrieGroup& group : program.groups)
    for (int64_t s = group.first_step; s < group.first_step + group.num_steps; ++s)
      if (program.steps[size_t(s)].num_leaves > 0) ++(group.num_symbols > 0 ? dense : walked);
  return py::make_tuple(dense, walked);
}

py::object score_paths(const py::array& planes, const py::array& query, const py::array& symbols,
                       const py::array& offsets, const std::string& algorithm, bool unitary,
                       const py::object& out_in, int threads) {
  const Method method = read_method("score_paths", algorithm, unitary);
  const Inputs in = read_inputs("score_paths", planes, query, symbols, offsets);
  Output out("score_paths", out_in, result_shape(in, in.paths.view.count), py::dtype::of<float>(),
             {in.codebook.array, in.query.array});
  auto* data = out.data<float>();
  {
    const GilReleased released;
    score(in, method, data, threads);
  }
  return out.finish();
}

py::tuple top_paths(const py::array& planes, const py::array& query, const py::array& symbols,
                    const py::array& offsets, int64_t k, const std::string& algorithm, bool unitary,
                    int threads) {
  const Method method = read_method("top_paths", algorithm, unitary);
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
    score(in, method, all.data(), threads);
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
        py::arg("offsets"), py::arg("algorithm"), py::arg("unitary"), py::arg("out"),
        py::arg("threads"));
  m.def("path_groups", &path_groups, py::arg("symbols"), py::arg("offsets"), py::arg("num_symbols"),
        py::arg("algorithm"),
        "How many prefixes of a list would be scored in dense tables, and how many walked.");
  m.def("top_paths", &top_paths, py::arg("planes"), py::arg("query"), py::arg("symbols"),
        py::arg("offsets"), py::arg("k"), py::arg("algorithm"), py::arg("unitary"),
        py::arg("threads"));
}

}  // namespace hyperhop::bindings
