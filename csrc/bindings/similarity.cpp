#include <utility>

#include "../dispatch.h"
#include "../memory.h"
#include "../parallel.h"
#include "arrays.h"
#include "gil.h"
#include "module.h"

namespace hyperhop::bindings {

// How often the kernel would have to prepare another row.
static int64_t changes(const std::vector<int64_t>& rows) {
  int64_t count = 0;
  for (size_t i = 1; i < rows.size(); ++i) count += rows[i] != rows[i - 1];
  return count;
}

static py::object similarity(const py::array& x_in, const py::array& y_in, const py::object& out_in,
                             int threads) {
  const Argument arg{"similarity", "x"};
  const StoredArray x = read_stored(arg, x_in), y = read_stored({"similarity", "y"}, y_in);
  check_same_blocks(arg, x.vectors, "y", y.vectors);
  const Broadcast rows = broadcast_rows(arg, x.vectors.leading, "y", y.vectors.leading);
  const BlockShape& shape = x.vectors.shape;
  Output out("similarity", out_in, rows.leading, py::dtype::of<float>(), {x.array, y.array});
  SimilarityArgs args{shape,    x.rows(),           rows.x_rows.data(),
                      y.rows(), rows.y_rows.data(), out.data<float>(),
                      nullptr};
  {
    const GilReleased released;
    if (changes(rows.x_rows) > changes(rows.y_rows)) {
      std::swap(args.x, args.y);
      std::swap(args.x_rows, args.y_rows);
    }
    const SimilarityKernel* kernel = kernels().similarity;
    const int64_t grain = 1 + (1 << 18) / shape.floats();
    parallel_for(int64_t(rows.x_rows.size()), grain, threads, [&](int64_t begin, int64_t end) {
      const Scratch scratch = make_scratch(similarity_scratch(shape));
      SimilarityArgs own = args;
      own.scratch = scratch.get();
      kernel(own, begin, end);
    });
  }
  return out.finish();
}

void bind_similarity(py::module_& m) {
  m.def("similarity", &similarity, py::arg("x"), py::arg("y"), py::arg("out"), py::arg("threads"));
}

}  // namespace hyperhop::bindings
