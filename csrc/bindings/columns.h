// One-dimensional NumPy arrays and str for the graph's bindings.
#pragma once
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../graph/graph_view.h"

namespace hyperhop::bindings {

namespace py = pybind11;

// Hands a vector to NumPy without a copy.
template <typename Out, typename T>
py::array_t<Out> to_array(std::vector<T>&& values) {
  static_assert(sizeof(Out) == sizeof(T));
  auto owner = std::make_unique<std::vector<T>>(std::move(values));
  auto* data = reinterpret_cast<Out*>(owner->data());
  const auto size = static_cast<py::ssize_t>(owner->size());
  py::capsule base(owner.get(), [](void* p) { delete static_cast<std::vector<T>*>(p); });
  owner.release();
  return py::array_t<Out>(size, data, base);
}

template <typename T>
py::array_t<T> to_array(std::vector<T>&& values) {
  return to_array<T, T>(std::move(values));
}

// A 1-D contiguous array of exactly this type, kept alive by the reference.
template <typename T>
class Column {
 public:
  Column(const char* function, const char* name, const py::object& values) {
    if (!py::isinstance<py::array_t<T>>(values)) {
      throw py::type_error(std::string(function) + ": " + name + " must be a NumPy array of " +
                           py::str(py::dtype::of<T>()).cast<std::string>());
    }
    array_ = py::reinterpret_borrow<py::array_t<T>>(values);
    if (array_.ndim() != 1 || !(array_.flags() & py::array::c_style)) {
      throw py::value_error(std::string(function) + ": " + name +
                            " must be one-dimensional and contiguous");
    }
  }
  const T* data() const { return array_.data(); }
  std::int64_t size() const { return array_.size(); }

 private:
  py::array_t<T> array_;
};

inline void require(bool holds, const std::string& message) {
  if (!holds) throw py::value_error(message);
}

// The UTF-8 bytes of a str, or a null view if it holds a lone surrogate.
inline std::string_view utf8(PyObject* text) {
  Py_ssize_t size = 0;
  const char* bytes = PyUnicode_AsUTF8AndSize(text, &size);
  if (bytes == nullptr) {
    PyErr_Clear();
    return {};
  }
  return {bytes, static_cast<std::size_t>(size)};
}

inline py::str to_str(std::string_view name) {
  PyObject* text = PyUnicode_DecodeUTF8(name.data(), static_cast<Py_ssize_t>(name.size()), nullptr);
  if (text == nullptr) {
    PyErr_Clear();
    throw graph::DamagedStore("the graph is damaged: a name is not valid UTF-8");
  }
  return py::reinterpret_steal<py::str>(text);
}

}  // namespace hyperhop::bindings
