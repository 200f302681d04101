// NumPy arrays at the door: reading hypervectors and paths, and making or filling outputs.
#pragma once
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <complex>
#include <string>
#include <vector>

#include "../kernels/check.h"
#include "../path_lists.h"

namespace hyperhop::bindings {

namespace py = pybind11;

// A contiguous view (copied where the strides demand it) of an array of hypervectors, which may be
// float16: for kernels that read that natively.
struct StoredArray {
  py::array array;
  Hypervectors vectors;
  StoredRows rows() const { return {vectors.layout, array.data()}; }
  CodebookRows codebook() const { return {vectors.shape, rows(), vectors.rows}; }
};
StoredArray read_stored(const Argument& arg, const py::array& array);

// The codebook's planes: float32 or float16 (R, m, m, 2, D).
StoredArray read_codebook(const Argument& arg, const py::array& array);

// The same for kernels that know float32 alone: float16 planes are widened here.
struct BlockArray : StoredArray {
  const float* data() const { return static_cast<const float*>(array.data()); }
};
BlockArray read_blocks(const Argument& arg, const py::array& array);

// int32 symbols and int64 offsets, checked against the codebook.
struct PathsArray {
  py::array_t<int32_t, py::array::c_style> symbols;
  py::array_t<int64_t, py::array::c_style> offsets;
  PathsView view;
};
PathsArray read_paths(const std::string& function, const py::array& symbols,
                      const py::array& offsets, int64_t num_symbols);

// An output: a new array, or the caller's `out`. Kernels write to data(); finish() copies into
// `out` where it could not be written directly (strides, or memory shared with an input).
class Output {
 public:
  Output(const std::string& function, const py::object& out, const Shape& shape, py::dtype dtype,
         const std::vector<py::array>& inputs);
  template <class T>
  T* data() {
    return static_cast<T*>(work_.mutable_data());
  }
  py::object finish();

 private:
  py::array work_;
  py::object target_;
};

inline py::dtype dtype_of(Layout layout) {
  switch (layout) {
    case Layout::complex:
      return py::dtype::of<std::complex<float>>();
    case Layout::half_planes:
      return py::dtype("e");
    default:
      return py::dtype::of<float>();
  }
}

}  // namespace hyperhop::bindings
