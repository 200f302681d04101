#include <algorithm>

#include "../dispatch.h"
#include "../parallel.h"
#include "../trie.h"
#include "arrays.h"
#include "module.h"
#include "scratch.h"

namespace hyperhop::bindings {

// Sorted paths encoded at a time, all tiles of them before the next: their rows of the output stay in
// cache until they are whole, and few enough products are repeated where a segment cuts a prefix.
constexpr int64_t kSegment = 16;

static void encode(const BlockArray& codebook, const PathsView& paths, Layout layout, float* out,
                   int threads) {
  const BlockShape& shape = codebook.vectors.shape;
  const int64_t num_symbols = codebook.vectors.rows;
  const EncodePathsKernel* kernel = kernels().encode_paths;
  const std::vector<int64_t> order = trie_order(paths, num_symbols);
  parallel_for(paths.count, kSegment, threads, [&](int64_t first, int64_t last) {
    TrieBuilder builder(paths, order, num_symbols);
    Scratch scratch;
    int64_t scratch_floats = 0;
    for (int64_t begin = first; begin < last; begin += kSegment) {
      const TrieProgram program = builder.build(begin, std::min(begin + kSegment, last));
      if (program.scratch_floats(shape) > scratch_floats) {
        scratch_floats = program.scratch_floats(shape);
        scratch = make_scratch(scratch_floats);
      }
      for (int64_t tile = 0; tile < shape.tiles(); ++tile)
        kernel({shape, layout, program.tile(codebook.data(), scratch.get()),
                program.leaf_offsets.data(), order.data() + begin, out},
               tile);
    }
  });
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
