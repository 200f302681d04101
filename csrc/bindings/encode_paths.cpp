#include <algorithm>

#include "../dispatch.h"
#include "../parallel.h"
#include "../trie.h"
#include "arrays.h"
#include "gil.h"
#include "module.h"
#include "scratch.h"

namespace hyperhop::bindings {

// Sorted paths encoded at a time: bounds the table of leaves.
constexpr int64_t kSegment = 1 << 16;

static void encode(const StoredArray& codebook, const PathsView& paths, Layout layout, float* out,
                   int threads) {
  const BlockShape& shape = codebook.vectors.shape;
  const int64_t num_symbols = codebook.vectors.rows;
  const EncodePathsKernel* kernel = kernels().encode_paths;
  const std::vector<int64_t> order = trie_order(paths, num_symbols);
  const bool stream = shape.blocks % kTileLanes == 0 &&
                      worth_streaming(out, paths.count * shape.floats() * int64_t(sizeof(float)));
  TrieBuilder builder(paths, order, num_symbols);
  for (int64_t begin = 0; begin < paths.count; begin += kSegment) {
    const TrieProgram program = builder.build(begin, std::min(begin + kSegment, paths.count));
    parallel_for(
        shape.tiles(), 1, program.threads(shape, threads), [&](int64_t first, int64_t last) {
          const Scratch scratch = make_scratch(program.scratch_floats(shape));
          for (int64_t tile = first; tile < last; ++tile)
            kernel(
                {shape, layout, program.trie(codebook.rows(), scratch.get()), program.num_leaves(),
                 program.leaf_offsets.data(), order.data() + begin, out, stream},
                tile);
        });
  }
}

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
    encode(codebook, paths.view, layout, data, threads);
  }
  return out.finish();
}

void bind_encode_paths(py::module_& m) {
  m.def("encode_paths", &encode_paths, py::arg("planes"), py::arg("symbols"), py::arg("offsets"),
        py::arg("as_planes"), py::arg("out"), py::arg("threads"));
}

}  // namespace hyperhop::bindings
