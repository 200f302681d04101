// HyperNodes: what is adjacent to what, one step of expansion, and scores.
#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "../beam.h"
#include "../graph/candidates.h"
#include "../parallel.h"
#include "arrays.h"
#include "columns.h"
#include "gil.h"
#include "module.h"

namespace hyperhop::bindings {
namespace {

using graph::as_size;
using graph::Expansion;
using graph::HyperNodeRow;
using graph::HyperNodeRows;
using graph::TripleIndex;
using Ids = py::array_t<std::int64_t, py::array::c_style>;
using Floats = py::array_t<float, py::array::c_style>;

std::unique_ptr<TripleIndex> make_index(const Ids& head, const Ids& tail, std::int64_t num_entities,
                                        const py::object& order, const Ids& links) {
  const auto ranks = order.is_none() ? Ids() : py::cast<Ids>(order);
  const std::int64_t* ranks_data = order.is_none() ? nullptr : ranks.data();
  const GilReleased released;
  return std::make_unique<TripleIndex>(head.data(), tail.data(), head.size(), num_entities,
                                       ranks_data, links.data(), links.size() / 2);
}

// HyperNodes of several queries, as they come: `offsets` cut their rows.
struct Beams {
  Beams(std::string name, const TripleIndex& triple_index, const Ids& hypernodes,
        const Ids& offset_array)
      : function(std::move(name)),
        index(triple_index),
        ids(hypernodes.data()),
        width(hypernodes.shape(1)),
        offsets(offset_array.data()),
        count(offset_array.size() - 1) {
    const std::int64_t rows = hypernodes.shape(0);
    bool ascending = offsets[0] == 0 && offsets[count] == rows;
    for (std::int64_t q = 0; q < count; ++q) ascending &= offsets[q] <= offsets[q + 1];
    require(ascending, function + ": offsets must ascend from 0 to the number of HyperNodes, " +
                           std::to_string(rows));
  }

  HyperNodeRows rows(std::int64_t query) const {
    HyperNodeRows rows;
    for (std::int64_t i = offsets[query]; i < offsets[query + 1]; ++i) {
      const std::vector<std::int32_t> ranks = row(i);
      rows.push({ranks.data(), static_cast<std::int64_t>(ranks.size())});
    }
    return rows;
  }

  // The ranks of HyperNode i, ascending.
  std::vector<std::int32_t> row(std::int64_t i) const {
    const std::int64_t* from = ids + i * width;
    std::vector<std::int32_t> ranks;
    for (std::int64_t j = 0; j < width; ++j) {
      const bool is_triple = from[j] >= 0 && from[j] < index.num_triples();
      const bool follows_end = j > 0 && from[j - 1] == -1;
      if (is_triple ? follows_end : from[j] != -1) refuse(i, "ids", from[j]);
      if (is_triple) ranks.push_back(index.rank(from[j]));
    }
    std::sort(ranks.begin(), ranks.end());
    const auto twice = std::adjacent_find(ranks.begin(), ranks.end());
    if (twice != ranks.end()) refuse(i, "distinct ids", index.triple(*twice));
    return ranks;
  }

  [[noreturn]] void refuse(std::int64_t row, const std::string& what, std::int64_t got) const {
    throw std::invalid_argument(function + ": hypernodes must hold " + what + " of " +
                                std::to_string(index.num_triples()) +
                                " triples, padded with -1 at the end, got " + std::to_string(got) +
                                " in row " + std::to_string(row));
  }

  std::string function;
  const TripleIndex& index;
  const std::int64_t* ids;
  std::int64_t width;
  const std::int64_t* offsets;
  std::int64_t count;
};

EmbeddingRows read_embeddings(const py::array& embeddings) {
  return {embeddings.data(), embeddings.shape(1), embeddings.dtype().itemsize() == 2};
}

template <typename Part>
Ids offsets_of(const std::vector<std::vector<Part>>& parts, std::int64_t width) {
  Ids offsets(static_cast<py::ssize_t>(parts.size()) + 1);
  std::int64_t* to = offsets.mutable_data();
  *to = 0;
  for (const auto& part : parts) {
    to[1] = to[0] + static_cast<std::int64_t>(part.size()) / width;
    ++to;
  }
  return offsets;
}

// (candidates (C, n + 1), offsets (Q + 1,))
py::tuple expand(const TripleIndex& index, const Ids& hypernodes, const Ids& offset_array,
                 bool keep_parents, int threads) {
  const Beams beams("expand", index, hypernodes, offset_array);
  const std::int64_t width = beams.width + 1;
  std::vector<std::vector<std::int64_t>> parts(as_size(beams.count));
  {
    const GilReleased released;
    parallel_for(beams.count, 1, threads, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t q = begin; q < end; ++q) {
        const Expansion expansion(index, beams.rows(q), keep_parents);
        parts[as_size(q)] = graph::candidates(index, expansion, width);
      }
    });
  }
  const Ids offsets = offsets_of(parts, width);
  if (parts.size() == 1)
    return py::make_tuple(to_array(std::move(parts[0])).reshape({py::ssize_t(-1), width}), offsets);
  Ids rows({offsets.at(beams.count), width});
  std::int64_t* to = rows.mutable_data();
  for (const auto& part : parts) to = std::copy(part.begin(), part.end(), to);
  return py::make_tuple(rows, offsets);
}

void write_row(const TripleIndex& index, const Expansion& expansion, const ScoredSet& set,
               std::int64_t* to) {
  const HyperNodeRow parent = expansion.parent(set.parent);
  std::vector<std::int32_t> ranks(as_size(parent.size + (set.rank >= 0)));
  graph::write_set(parent, set.rank, ranks.data());
  std::transform(ranks.begin(), ranks.end(), to,
                 [&](std::int32_t rank) { return index.triple(rank); });
}

// (HyperNodes (M, n + 1), cosines (M,), offsets (Q + 1,))
py::tuple beam_step(const TripleIndex& index, const Ids& hypernodes, const py::array& embeddings_in,
                    const Floats& queries, const Ids& offset_array, std::int64_t k,
                    bool keep_parents, int threads) {
  check_k("beam_step", k);
  const Beams beams("beam_step", index, hypernodes, offset_array);
  const EmbeddingRows embeddings = read_embeddings(embeddings_in);
  const float* query_rows = queries.data();
  const std::int64_t width = beams.width + 1;
  std::vector<std::vector<std::int64_t>> rows(as_size(beams.count));
  std::vector<std::vector<float>> cosines(as_size(beams.count));
  {
    const GilReleased released;
    parallel_for(beams.count, 1, threads, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t q = begin; q < end; ++q) {
        const Expansion expansion(index, beams.rows(q), keep_parents);
        const CosineQuery query(query_rows + q * embeddings.dim, embeddings.dim);
        const std::vector<ScoredSet> best =
            best_candidates(index, expansion, embeddings, query, k, threads);
        auto& own = rows[as_size(q)];
        own.assign(best.size() * as_size(width), -1);
        for (std::size_t i = 0; i < best.size(); ++i) {
          write_row(index, expansion, best[i], own.data() + i * as_size(width));
          cosines[as_size(q)].push_back(best[i].cosine);
        }
      }
    });
  }
  const Ids offsets = offsets_of(cosines, 1);
  Ids all_rows({offsets.at(beams.count), width});
  Floats all_cosines(offsets.at(beams.count));
  std::int64_t* row_to = all_rows.mutable_data();
  float* cosine_to = all_cosines.mutable_data();
  for (const auto& part : rows) row_to = std::copy(part.begin(), part.end(), row_to);
  for (const auto& part : cosines) cosine_to = std::copy(part.begin(), part.end(), cosine_to);
  return py::make_tuple(all_rows, all_cosines, offsets);
}

// cosines (B,)
py::object score(const TripleIndex& index, const Ids& hypernodes, const py::array& embeddings_in,
                 const Floats& queries, const Ids& offset_array, const py::object& out_in,
                 int threads) {
  const Beams beams("score", index, hypernodes, offset_array);
  const EmbeddingRows embeddings = read_embeddings(embeddings_in);
  const float* query_rows = queries.data();
  Output out("score", out_in, {hypernodes.shape(0)}, py::dtype::of<float>(),
             {embeddings_in, queries});
  auto* cosines = out.data<float>();
  {
    const GilReleased released;
    for (std::int64_t q = 0; q < beams.count; ++q) {
      const CosineQuery query(query_rows + q * embeddings.dim, embeddings.dim);
      const std::int64_t first = beams.offsets[q];
      const std::int64_t grain = 1 + (1 << 17) / (embeddings.dim + 1);
      parallel_for(
          beams.offsets[q + 1] - first, grain, threads, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = first + begin; i < first + end; ++i) {
              const std::vector<std::int32_t> ranks = beams.row(i);
              cosines[i] =
                  composition_score(index, embeddings, query,
                                    {ranks.data(), static_cast<std::int64_t>(ranks.size())});
            }
          });
    }
  }
  return out.finish();
}

}  // namespace

void bind_hypernode(py::module_& m) {
  py::class_<TripleIndex>(m, "TripleAdjacency")
      .def(py::init(&make_index), py::arg("head"), py::arg("tail"), py::arg("num_entities"),
           py::arg("order"), py::arg("links"));
  m.def("expand", &expand, py::arg("index"), py::arg("hypernodes"), py::arg("offsets"),
        py::arg("keep_parents"), py::arg("threads"));
  m.def("beam_step", &beam_step, py::arg("index"), py::arg("hypernodes"), py::arg("embeddings"),
        py::arg("queries"), py::arg("offsets"), py::arg("k"), py::arg("keep_parents"),
        py::arg("threads"));
  m.def("score", &score, py::arg("index"), py::arg("hypernodes"), py::arg("embeddings"),
        py::arg("queries"), py::arg("offsets"), py::arg("out"), py::arg("threads"));
}

}  // namespace hyperhop::bindings
