// Lists of sequences, taken apart.
#include "paths.h"

#include <pybind11/pybind11.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "module.h"

namespace hyperhop::bindings {

graph::OwnedSequences take_sequences(const Column<std::int32_t>& symbols,
                                     const Column<std::int64_t>& offsets,
                                     const Column<std::int64_t>& indices) {
  require(offsets.size() >= 1, "take_paths: offsets must hold at least one value");
  const std::int64_t count = offsets.size() - 1;
  graph::OwnedSequences taken;
  taken.offsets.reserve(static_cast<std::size_t>(indices.size()) + 1);
  for (std::int64_t i = 0; i < indices.size(); ++i) {
    const std::int64_t asked = indices.data()[i];
    const std::int64_t path = asked < 0 ? asked + count : asked;
    if (path < 0 || path >= count) {
      throw py::index_error("Paths: index " + std::to_string(asked) + " of a list of " +
                            std::to_string(count));
    }
    const std::int64_t begin = offsets.data()[path], end = offsets.data()[path + 1];
    require(0 <= begin && begin <= end && end <= symbols.size(),
            "take_paths: offsets must ascend within the symbols");
    taken.append(symbols.data() + begin, symbols.data() + end);
  }
  return taken;
}

static py::tuple take_paths(const py::object& symbols, const py::object& offsets,
                            const py::object& indices) {
  graph::OwnedSequences taken =
      take_sequences({"take_paths", "symbols", symbols}, {"take_paths", "offsets", offsets},
                     {"take_paths", "indices", indices});
  return py::make_tuple(to_array(std::move(taken.symbols)), to_array(std::move(taken.offsets)));
}

// The first `count` paths in the order of their scores, equal ones by the ranks of their symbols, a
// NaN last.
static py::array_t<std::int64_t> best_paths(const py::object& scores, const py::object& symbols,
                                            const py::object& offsets, const py::object& ranks,
                                            std::int64_t count) {
  const Column<double> score("best_paths", "scores", scores);
  const Column<std::int32_t> symbol("best_paths", "symbols", symbols);
  const Column<std::int64_t> offset("best_paths", "offsets", offsets);
  const Column<std::int64_t> rank("best_paths", "ranks", ranks);
  require(offset.size() == score.size() + 1, "best_paths: expected one score a path");
  for (std::int64_t i = 0; i < score.size(); ++i) {
    require(0 <= offset.data()[i] && offset.data()[i] <= offset.data()[i + 1] &&
                offset.data()[i + 1] <= symbol.size(),
            "best_paths: offsets must ascend within the symbols");
  }
  for (std::int64_t i = 0; i < symbol.size(); ++i) {
    require(0 <= symbol.data()[i] && symbol.data()[i] < rank.size(),
            "best_paths: ranks must hold one rank a symbol");
  }
  require(count >= 0, "best_paths: count must not be negative");
  const auto by_rank = [&](std::int32_t a, std::int32_t b) {
    return rank.data()[a] < rank.data()[b];
  };
  const auto comes_before = [&](std::int64_t a, std::int64_t b) {
    const double x = score.data()[a], y = score.data()[b];
    if (x > y || x < y) return x > y;
    const bool x_is_number = x == x, y_is_number = y == y;
    if (x_is_number != y_is_number) return x_is_number;
    const std::int32_t* all = symbol.data();
    return std::lexicographical_compare(all + offset.data()[a], all + offset.data()[a + 1],
                                        all + offset.data()[b], all + offset.data()[b + 1],
                                        by_rank);
  };
  std::vector<std::int64_t> order(static_cast<std::size_t>(score.size()));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  if (count >= score.size()) {
    std::sort(order.begin(), order.end(), comes_before);
  } else {
    std::partial_sort(order.begin(), order.begin() + count, order.end(), comes_before);
    order.resize(static_cast<std::size_t>(count));
  }
  return to_array(std::move(order));
}

void bind_paths(py::module_& m) {
  m.def("take_paths", &take_paths, py::arg("symbols"), py::arg("offsets"), py::arg("indices"));
  m.def("best_paths", &best_paths, py::arg("scores"), py::arg("symbols"), py::arg("offsets"),
        py::arg("ranks"), py::arg("count"));
}

}  // namespace hyperhop::bindings
