// Lists of sequences, taken apart.
#include <pybind11/pybind11.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "columns.h"
#include "module.h"

namespace hyperhop::bindings {
namespace {

// Symbols and offsets of the sequences at `indices`, in that order; negative ones from the end.
py::tuple take_paths(const py::object& symbols, const py::object& offsets,
                     const py::object& indices) {
  const Column<std::int32_t> symbol("take_paths", "symbols", symbols);
  const Column<std::int64_t> offset("take_paths", "offsets", offsets);
  const Column<std::int64_t> index("take_paths", "indices", indices);
  require(offset.size() >= 1, "take_paths: offsets must hold at least one value");
  const std::int64_t count = offset.size() - 1;
  std::vector<std::int32_t> taken;
  std::vector<std::int64_t> ends{0};
  ends.reserve(static_cast<std::size_t>(index.size()) + 1);
  for (std::int64_t i = 0; i < index.size(); ++i) {
    const std::int64_t asked = index.data()[i];
    const std::int64_t path = asked < 0 ? asked + count : asked;
    if (path < 0 || path >= count) {
      throw py::index_error("Paths: index " + std::to_string(asked) + " of a list of " +
                            std::to_string(count));
    }
    const std::int64_t begin = offset.data()[path], end = offset.data()[path + 1];
    require(0 <= begin && begin <= end && end <= symbol.size(),
            "take_paths: offsets must ascend within the symbols");
    taken.insert(taken.end(), symbol.data() + begin, symbol.data() + end);
    ends.push_back(static_cast<std::int64_t>(taken.size()));
  }
  return py::make_tuple(to_array(std::move(taken)), to_array(std::move(ends)));
}

}  // namespace

void bind_paths(py::module_& m) {
  m.def("take_paths", &take_paths, py::arg("symbols"), py::arg("offsets"), py::arg("indices"));
}

}  // namespace hyperhop::bindings
