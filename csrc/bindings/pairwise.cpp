#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "../dispatch.h"
#include "../memory.h"
#include "../parallel.h"
#include "arrays.h"
#include "gil.h"
#include "module.h"

namespace hyperhop::bindings {
namespace {

void check_list(const Argument& arg, const StoredArray& array) {
  if (array.vectors.leading.size() != 1)
    throw std::invalid_argument(arg.text() + " must be a list of hypervectors, got " +
                                std::to_string(array.vectors.leading.size()) + " leading axes");
}

void all_pairs(const BlockShape& shape, const StoredRows& x, int64_t x_count, const StoredRows& y,
               int64_t y_count, float* out, int threads) {
  const KernelTable& table = kernels();
  const Scratch packed = make_scratch(panel_floats(shape, std::min(x_count, kManyRows)));
  const int64_t panels = (y_count + kPanelRows - 1) / kPanelRows;
  // Every panel of ys is packed again for each panel of xs, which is long for that.
  for (int64_t first = 0; first < x_count; first += kManyRows) {
    const Panel xs{packed.get(), std::min(kManyRows, x_count - first)};
    table.pack_panel({shape, x, first, xs});
    parallel_for(panels, 1, threads, [&](int64_t begin, int64_t end) {
      const Scratch memory = make_scratch(panel_floats(shape, kPanelRows));
      for (int64_t panel = begin; panel < end; ++panel) {
        const int64_t row = panel * kPanelRows;
        const Panel ys{memory.get(), std::min(kPanelRows, y_count - row)};
        table.pack_panel({shape, y, row, ys});
        table.pairwise({shape, xs, ys, out + first * y_count + row, y_count});
      }
    });
  }
}

// One row of x with all of y, each read once where it lies: packing pays from three rows on.
constexpr int64_t kFewRows = 2;
void one_with_all(const BlockShape& shape, const StoredRows& x, int64_t row, const StoredRows& y,
                  int64_t y_count, float* out, int threads) {
  const std::vector<int64_t> x_rows(size_t(y_count), row);
  std::vector<int64_t> y_rows(static_cast<size_t>(y_count));
  std::iota(y_rows.begin(), y_rows.end(), 0);
  const SimilarityKernel* kernel = kernels().similarity;
  const int64_t grain = 1 + (1 << 18) / shape.floats();
  parallel_for(y_count, grain, threads, [&](int64_t begin, int64_t end) {
    const Scratch scratch = make_scratch(similarity_scratch(shape));
    kernel({shape, x, x_rows.data(), y, y_rows.data(), out, scratch.get()}, begin, end);
  });
}

py::object pairwise(const py::array& xs_in, const py::array& ys_in, const py::object& out_in,
                    int threads) {
  const Argument x_arg{"pairwise", "xs"}, y_arg{"pairwise", "ys"};
  const StoredArray xs = read_stored(x_arg, xs_in), ys = read_stored(y_arg, ys_in);
  check_list(x_arg, xs);
  check_list(y_arg, ys);
  check_same_blocks(x_arg, xs.vectors, "ys", ys.vectors);
  const int64_t x_count = xs.vectors.rows, y_count = ys.vectors.rows;
  Output out("pairwise", out_in, {x_count, y_count}, py::dtype::of<float>(), {xs.array, ys.array});
  auto* data = out.data<float>();
  {
    const GilReleased released;
    const BlockShape& shape = xs.vectors.shape;
    if (x_count > kFewRows)
      all_pairs(shape, xs.rows(), x_count, ys.rows(), y_count, data, threads);
    else
      for (int64_t i = 0; i < x_count; ++i)
        one_with_all(shape, xs.rows(), i, ys.rows(), y_count, data + i * y_count, threads);
  }
  return out.finish();
}

}  // namespace

void bind_pairwise(py::module_& m) {
  m.def("pairwise", &pairwise, py::arg("xs"), py::arg("ys"), py::arg("out"), py::arg("threads"));
}

}  // namespace hyperhop::bindings
