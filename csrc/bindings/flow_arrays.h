// The arguments of hyperhop.flow at the door: float arrays in one dtype, the three shapes (a single
// flow, packed segments, lanes last), and the fixed blocks that sums are taken in.
#pragma once
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "../flow_graph.h"
#include "../kernels/check.h"

namespace hyperhop::bindings {

namespace py = pybind11;

struct NamedArray {
  const char* name;
  const py::array* array;  // null where the argument was not given
};

// Whether the widest of these is float64; float16 counts as float32. Refuses every other dtype.
bool is_double(const char* function, std::initializer_list<NamedArray> arrays);

// Calls run(T()) with the float type T that a call works in.
template <class Run>
auto with_float_type(bool is_double, const Run& run) {
  return is_double ? run(double()) : run(float());
}

template <class T>
using FloatArray = py::array_t<T, py::array::c_style | py::array::forcecast |
                                      py::detail::npy_api::NPY_ARRAY_ALIGNED_>;

// A contiguous array of T with exactly this shape.
template <class T>
FloatArray<T> read_floats(const Argument& arg, const py::array& array, const Shape& shape) {
  if (array.ndim() != static_cast<py::ssize_t>(shape.size()) ||
      !std::equal(shape.begin(), shape.end(), array.shape()))
    throw std::invalid_argument(arg.text() + " must have shape " + to_string(shape) + ", got " +
                                to_string(Shape(array.shape(), array.shape() + array.ndim())));
  // As it is, where it can be: the general way takes longer than a small flow.
  constexpr int kAligned = py::detail::npy_api::NPY_ARRAY_ALIGNED_;
  if ((array.flags() & kAligned) != 0 && FloatArray<T>::check_(array))
    return py::reinterpret_borrow<FloatArray<T>>(array);
  return FloatArray<T>::ensure(array);
}

// How many flows run over how many nodes, and where.
class FlowShape {
 public:
  // Lanes where `nodes` (a (V,) or (V, B) array) has two axes, packed where `segments` is given.
  FlowShape(const char* function, const NamedArray& nodes, const py::object& segments,
            int64_t num_nodes, const FlowGraph* graph);
  // The same for any number of nodes, without a graph.
  static FlowShape of_nodes(const char* function, const NamedArray& nodes,
                            const py::object& segments);
  // From rows of flows, (d,), (G, d) or (B, d).
  static FlowShape of_rows(const Argument& rows, const Shape& given, int64_t dim,
                           const py::object& segments, int64_t num_nodes);

  int64_t lanes() const { return lanes_; }
  int64_t num_segments() const { return static_cast<int64_t>(offsets_.size()) - 1; }
  int64_t begin(int64_t segment) const { return offsets_[static_cast<size_t>(segment)]; }
  int64_t end(int64_t segment) const { return offsets_[static_cast<size_t>(segment) + 1]; }
  bool is_lanes() const { return kind_ == Kind::lanes; }
  int64_t segment_of(int64_t node) const;  // the one that holds this node
  int64_t num_flows() const { return kind_ == Kind::lanes ? lanes_ : num_segments(); }

  Shape nodes() const;                  // (V,) or (V, B)
  Shape per_relation(int64_t R) const;  // (R,), (G, R) or (R, B)
  Shape per_flow() const;               // (), (G,) or (B,)
  Shape rows(int64_t dim) const;        // (d,), (G, d) or (B, d)

  using NodeBlock = hyperhop::NodeBlock;
  std::vector<NodeBlock> node_blocks() const { return node_blocks_of(offsets_); }
  const std::vector<int64_t>& offsets() const { return offsets_; }

 private:
  FlowShape() = default;
  void read_segments(const std::string& function, const py::object& segments,
                     const FlowGraph* graph);

  enum class Kind { single, packed, lanes } kind_ = Kind::single;
  int64_t num_nodes_ = 0, lanes_ = 1;
  std::vector<int64_t> offsets_;
};

// Refuses a smoothing constant that is negative or not finite.
void check_eps(const char* function, double eps);

// Items that make a chunk worth a thread of its own, for `items` of `work` edges or nodes in all.
inline int64_t flow_grain(int64_t items, int64_t work) {
  constexpr int64_t kWorkOfChunk = 1 << 16;
  return 1 + items * kWorkOfChunk / (work + 1);
}

// Uninitialised values of T.
template <class T>
std::unique_ptr<T[]> make_values(int64_t count) {
  return std::unique_ptr<T[]>(new T[static_cast<size_t>(count)]);
}

}  // namespace hyperhop::bindings
