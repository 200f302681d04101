#include <algorithm>

#include "../dispatch.h"
#include "arrays.h"
#include "module.h"
#include "walk.h"

namespace hyperhop::bindings {

static void encode(const BlockArray& codebook, const PathsView& paths, Layout layout, float* out,
                   int threads) {
  const BlockShape& shape = codebook.vectors.shape;
  const int64_t num_symbols = codebook.vectors.rows;
  const EncodePathsKernel* kernel = kernels().encode_paths;
  const std::vector<int64_t> order = trie_order(paths, num_symbols);
  for (int64_t begin = 0; begin < paths.count; begin += kSegmentPaths) {
    const int64_t end = std::min(begin + kSegmentPaths, paths.count);
    const TrieProgram program = build_trie(paths, order, begin, end, num_symbols);
    for_each_tile(program, shape, threads, [&](int64_t tile, float* scratch) {
      kernel({shape, layout, program.tile(codebook.data(), scratch), program.leaf_offsets.data(),
              order.data() + begin, out},
             tile);
    });
  }
}

static py::object encode_paths(const py::array& planes, const py::array& symbols,
                               const py::array& offsets, bool as_planes, const py::object& out_in,
                               int threads) {
  const BlockArray codebook = read_planes({"encode_paths", "cb"}, planes);
  const PathsArray paths = read_paths("encode_paths", symbols, offsets, codebook.vectors.rows);
  const Layout layout = as_planes ? Layout::planes : Layout::complex;
  Output out("encode_paths", out_in,
             full_shape({paths.view.count}, layout, codebook.vectors.shape), dtype_of(layout),
             {codebook.array});
  auto* data = out.data<float>();
  {
    const py::gil_scoped_release release;
    encode(codebook, paths.view, layout, data, threads);
  }
  return out.finish();
}

void bind_encode_paths(py::module_& m) {
  m.def("encode_paths", &encode_paths, py::arg("planes"), py::arg("symbols"), py::arg("offsets"),
        py::arg("as_planes"), py::arg("out"), py::arg("threads"));
}

}  // namespace hyperhop::bindings
