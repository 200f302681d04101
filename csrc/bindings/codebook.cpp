#include <stdexcept>

#include "../dispatch.h"
#include "../parallel.h"
#include "arrays.h"
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

void bind_codebook(py::module_& m) {
  m.def("codebook", &codebook, py::arg("keys"), py::arg("blocks"), py::arg("block_size"),
        py::arg("family"), py::arg("threads"));
}

}  // namespace hyperhop::bindings
