#include "arrays.h"

#include <stdexcept>

namespace hyperhop::bindings {
namespace {

Shape shape_of(const py::array& array) {
  return Shape(array.shape(), array.shape() + array.ndim());
}

std::string dtype_name(const py::array& array) {
  return py::str(array.dtype());
}

bool has_dtype(const py::array& array, const py::dtype& dtype) {
  return array.dtype().equal(dtype);
}

py::array contiguous(const py::array& array) {
  return py::array::ensure(array, py::array::c_style);
}

// A new array on a cache line boundary: NumPy's own large arrays start 16 bytes past one. Small
// ones may: making two objects takes longer than many kernels.
py::array new_array(const py::dtype& dtype, const Shape& shape) {
  constexpr uintptr_t kAlignment = 64;
  constexpr int64_t kSmall = 1 << 16;
  int64_t bytes = dtype.itemsize();
  for (const int64_t size : shape) bytes *= size;
  if (bytes <= kSmall) return py::array(dtype, shape);
  const py::array_t<uint8_t> memory(bytes + int64_t(kAlignment));
  const auto start = reinterpret_cast<uintptr_t>(memory.data());
  const uintptr_t skip = (kAlignment - start % kAlignment) % kAlignment;
  return py::array(dtype, shape, memory.data() + skip, memory);
}

bool overlap(const py::array& a, const py::array& b) {
  const auto* pa = static_cast<const char*>(a.data());
  const auto* pb = static_cast<const char*>(b.data());
  return pa < pb + b.nbytes() && pb < pa + a.nbytes();
}

}  // namespace

StoredArray read_stored(const Argument& arg, const py::array& array) {
  for (const Layout layout : {Layout::complex, Layout::planes, Layout::half_planes})
    if (has_dtype(array, dtype_of(layout)))
      return {contiguous(array), check_hypervectors(arg, layout, shape_of(array))};
  throw py::type_error(arg.text() +
                       " must be complex64 (..., D, m, m) or planes float32 or float16 "
                       "(..., m, m, 2, D), got dtype " +
                       dtype_name(array));
}

StoredArray read_codebook(const Argument& arg, const py::array& array) {
  if (has_dtype(array, dtype_of(Layout::complex)) || array.ndim() != 5)
    throw py::type_error(arg.text() + " must be planes (R, m, m, 2, D), got dtype " +
                         dtype_name(array) + " with shape " + to_string(shape_of(array)));
  return read_stored(arg, array);
}

BlockArray read_blocks(const Argument& arg, const py::array& array) {
  StoredArray stored = read_stored(arg, array);
  if (stored.vectors.layout == Layout::half_planes) {
    stored.array = stored.array.attr("astype")(dtype_of(Layout::planes));
    stored.vectors.layout = Layout::planes;
  }
  return {std::move(stored)};
}

PathsArray read_paths(const std::string& function, const py::array& symbols,
                      const py::array& offsets, int64_t num_symbols) {
  PathsArray paths{symbols, offsets, {}};
  if (paths.symbols.ndim() != 1 || paths.offsets.ndim() != 1 || paths.offsets.size() < 1)
    throw std::invalid_argument(function + ": paths must hold 1-D symbols and N + 1 offsets");
  paths.view = {paths.symbols.data(), paths.offsets.data(), paths.offsets.size() - 1};
  check_paths(function, paths.view, paths.symbols.size(), num_symbols);
  return paths;
}

Output::Output(const std::string& function, const py::object& out, const Shape& shape,
               py::dtype dtype, const std::vector<py::array>& inputs)
    : target_(out) {
  if (!out.is_none()) {
    if (!py::isinstance<py::array>(out))
      throw py::type_error(function + ": out must be a NumPy array, got " +
                           std::string(py::str(py::type::of(out).attr("__name__"))));
    const py::array array = py::cast<py::array>(out);
    if (!has_dtype(array, dtype))
      throw py::type_error(function + ": out must have dtype " + std::string(py::str(dtype)) +
                           ", got " + dtype_name(array));
    if (shape_of(array) != shape || !array.writeable())
      throw std::invalid_argument(
          function + ": out must be writeable with shape " + to_string(shape) + ", got " +
          (array.writeable() ? "" : "read-only ") + to_string(shape_of(array)));
    bool direct = (array.flags() & py::array::c_style) != 0;
    for (const py::array& input : inputs) direct = direct && !overlap(array, input);
    if (direct) work_ = array;
  }
  // A default-made array is empty and one-dimensional, which no checked `out` needs to be.
  if (out.is_none() || !work_.is(out)) work_ = new_array(dtype, shape);
}

py::object Output::finish() {
  if (target_.is_none()) return work_;
  if (!work_.is(target_)) target_[py::ellipsis()] = work_;
  return target_;
}

}  // namespace hyperhop::bindings
