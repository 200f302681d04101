#include <algorithm>
#include <stdexcept>

#include "../dispatch.h"
#include "../graph/sequence_list.h"
#include "../path_lists.h"
#include "../select.h"
#include "arrays.h"
#include "gil.h"
#include "module.h"

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

// Scores of every query (rows) and path.
void score(const Inputs& in, ScoreMethod method, float* out, int threads) {
  const QueryRows queries{in.query.vectors.layout, in.query.data(), in.query.vectors.rows};
  score_list(in.codebook.codebook(), queries, in.paths.view, method, out, threads);
}

ScoreMethod read_method(const std::string& function, const std::string& algorithm, bool unitary) {
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
  const ScoreMethod method = read_method("path_groups", algorithm, true);
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
  const ScoreMethod method = read_method("score_paths", algorithm, unitary);
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

// Scores of all paths for the bundle of some of them, which is made tile by tile and never stored.
py::array_t<double> score_bundle(const py::array& planes, const py::array& symbols,
                                 const py::array& offsets,
                                 const py::array_t<int64_t, py::array::c_style>& chosen,
                                 const py::array_t<float, py::array::c_style>& weights,
                                 bool unitary, int threads) {
  const StoredArray codebook = read_codebook({"score_bundle", "cb"}, planes);
  const PathsArray paths = read_paths("score_bundle", symbols, offsets, codebook.vectors.rows);
  const int64_t plans = chosen.size();
  if (chosen.ndim() != 1 || weights.ndim() != 1 || plans == 0 || weights.size() != plans)
    throw std::invalid_argument("score_bundle: expected a weight for each of at least one plan");
  for (int64_t i = 0; i < plans; ++i)
    if (chosen.at(i) < 0 || chosen.at(i) >= paths.view.count)
      throw std::invalid_argument("score_bundle: plan " + std::to_string(chosen.at(i)) + " of " +
                                  std::to_string(paths.view.count) + " paths");
  py::array_t<double> scores(paths.view.count);
  double* out = scores.mutable_data();
  {
    const GilReleased released;
    graph::OwnedSequences taken;
    for (int64_t i = 0; i < plans; ++i) {
      const int32_t* const begin = paths.view.begin(chosen.data()[i]);
      taken.append(begin, begin + paths.view.length(chosen.data()[i]));
    }
    const Bundle bundle{plans, taken.offsets.data(), taken.symbols.data(), weights.data()};
    std::vector<float> found(size_t(paths.view.count));
    score_list(codebook.codebook(), bundle, paths.view,
               read_method("score_bundle", "auto", unitary), found.data(), threads);
    std::copy(found.begin(), found.end(), out);
  }
  return scores;
}

py::tuple top_paths(const py::array& planes, const py::array& query, const py::array& symbols,
                    const py::array& offsets, int64_t k, const std::string& algorithm, bool unitary,
                    int threads) {
  const ScoreMethod method = read_method("top_paths", algorithm, unitary);
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
  m.def("score_bundle", &score_bundle, py::arg("planes"), py::arg("symbols"), py::arg("offsets"),
        py::arg("chosen"), py::arg("weights"), py::arg("unitary"), py::arg("threads"));
  m.def("path_groups", &path_groups, py::arg("symbols"), py::arg("offsets"), py::arg("num_symbols"),
        py::arg("algorithm"),
        "How many prefixes of a list would be scored in dense tables, and how many walked.");
  m.def("top_paths", &top_paths, py::arg("planes"), py::arg("query"), py::arg("symbols"),
        py::arg("offsets"), py::arg("k"), py::arg("algorithm"), py::arg("unitary"),
        py::arg("threads"));
}

}  // namespace hyperhop::bindings
