#include <stdexcept>

#include "../dispatch.h"
#include "../parallel.h"
#include "arrays.h"
#include "columns.h"
#include "gil.h"
#include "module.h"

namespace hyperhop::bindings {

static Family family_named(const std::string& name) {
  if (name == "haar") return Family::haar;
  if (name == "householder") return Family::householder;
  if (name == "diagonal") return Family::diagonal;
  throw std::invalid_argument("Codebook: family must be haar, householder or diagonal, got '" +
                              name + "'");
}

static py::array codebook(const py::array_t<uint32_t, py::array::c_style>& keys, int64_t blocks,
                          int block_size, const std::string& family, int threads) {
  const Family kind = family_named(family);
  if (block_size < 1 || block_size > kMaxBlockSize)
    throw std::invalid_argument("Codebook: block_size must be 1 to " +
                                std::to_string(kMaxBlockSize) + ", got " +
                                std::to_string(block_size));
  if (blocks < 1 || blocks > int64_t(UINT32_MAX))
    throw std::invalid_argument("Codebook: blocks must be 1 to 4294967295, got " +
                                std::to_string(blocks));
  const BlockShape shape{blocks, block_size};
  const int64_t rows = keys.shape(0);
  py::array planes(py::dtype::of<float>(), full_shape({rows}, Layout::planes, shape));
  const CodebookArgs args{shape, kind, keys.data(), static_cast<float*>(planes.mutable_data())};
  {
    const GilReleased released;
    const CodebookKernel* kernel = kernels().codebook;
    parallel_for(rows, 4, threads, [&](int64_t b, int64_t e) { kernel(args, b, e); });
  }
  return planes;
}

// places[symbols], or None where one of these is -1, a row that was not made. IndexError for a
// symbol without a place.
static py::object rows_of(const py::object& places, const py::object& symbols) {
  const Column<int32_t> place("rows_of", "places", places);
  const Column<int32_t> symbol("rows_of", "symbols", symbols);
  std::vector<int32_t> rows(size_t(symbol.size()));
  bool all_made = true;
  for (int64_t i = 0; i < symbol.size(); ++i) {
    const int32_t asked = symbol.data()[i];
    if (asked < 0 || asked >= place.size())
      throw py::index_error("Codebook: symbol " + std::to_string(asked) + " of " +
                            std::to_string(place.size()));
    rows[size_t(i)] = place.data()[asked];
    all_made = all_made && rows[size_t(i)] >= 0;
  }
  if (!all_made) return py::none();
  return to_array(std::move(rows));
}

void bind_codebook(py::module_& m) {
  m.def("codebook", &codebook, py::arg("keys"), py::arg("blocks"), py::arg("block_size"),
        py::arg("family"), py::arg("threads"));
  m.def("rows_of", &rows_of, py::arg("places"), py::arg("symbols"));
}

}  // namespace hyperhop::bindings
