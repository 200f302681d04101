#include "../path_lists.h"
#include "arrays.h"
#include "gil.h"
#include "module.h"

namespace hyperhop::bindings {

static py::object encode_paths(const py::array& planes, const py::array& symbols,
                               const py::array& offsets, bool as_planes, const py::object& out_in,
                               int threads) {
  const StoredArray codebook = read_codebook({"encode_paths", "cb"}, planes);
  const PathsArray paths = read_paths("encode_paths", symbols, offsets, codebook.vectors.rows);
  const Layout layout = as_planes ? Layout::planes : Layout::complex;
  Output out("encode_paths", out_in, full_shape({paths.view.count}, layout, codebook.vectors.shape),
             dtype_of(layout), {codebook.array});
  auto* data = out.data<float>();
  {
    const GilReleased released;
    encode_list(codebook.codebook(), paths.view, layout, data, threads);
  }
  return out.finish();
}

void bind_encode_paths(py::module_& m) {
  m.def("encode_paths", &encode_paths, py::arg("planes"), py::arg("symbols"), py::arg("offsets"),
        py::arg("as_planes"), py::arg("out"), py::arg("threads"));
}

}  // namespace hyperhop::bindings
