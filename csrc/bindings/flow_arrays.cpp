#include "flow_arrays.h"

#include <algorithm>
#include <stdexcept>

namespace hyperhop::bindings {

bool is_double(const char* function, std::initializer_list<NamedArray> arrays) {
  bool any = false;
  for (const NamedArray& named : arrays) {
    if (named.array == nullptr) continue;
    const py::dtype dtype = named.array->dtype();
    if (dtype.kind() != 'f' || dtype.itemsize() > 8)
      throw py::type_error(std::string(function) + ": " + named.name +
                           " must be float32, float64 or float16, got dtype " +
                           std::string(py::str(dtype)));
    any = any || dtype.itemsize() == 8;
  }
  return any;
}

void check_eps(const char* function, double eps) {
  if (!(eps >= 0 && eps - eps == 0))
    throw std::invalid_argument(std::string(function) +
                                ": eps must be a finite number of at least 0, got " +
                                std::string(py::str(py::float_(eps))));
}

FlowShape::FlowShape(const char* function, const NamedArray& nodes, const py::object& segments,
                     int64_t num_nodes, const FlowGraph* graph)
    : num_nodes_(num_nodes) {
  const py::array& array = *nodes.array;
  const auto refuse = [&](const std::string& what) {
    throw std::invalid_argument(std::string(function) + ": " + what);
  };
  if (array.ndim() < 1 || array.ndim() > 2 || array.shape(0) != num_nodes)
    refuse(std::string(nodes.name) +
           " must have shape (V,) or (V, B) with V = " + std::to_string(num_nodes) + ", got " +
           to_string(Shape(array.shape(), array.shape() + array.ndim())));
  if (array.ndim() == 2) {
    kind_ = Kind::lanes;
    lanes_ = array.shape(1);
    if (!segments.is_none())
      refuse("segments go with " + std::string(nodes.name) + " of shape (V,), got " +
             to_string({array.shape(0), array.shape(1)}));
  }
  read_segments(function, segments, graph);
}

FlowShape FlowShape::of_nodes(const char* function, const NamedArray& nodes,
                              const py::object& segments) {
  const py::array& array = *nodes.array;
  return FlowShape(function, nodes, segments, array.ndim() > 0 ? array.shape(0) : 0, nullptr);
}

FlowShape FlowShape::of_rows(const Argument& rows, const Shape& given, int64_t dim,
                             const py::object& segments, int64_t num_nodes) {
  FlowShape shape;
  shape.num_nodes_ = num_nodes;
  if (segments.is_none() && given.size() == 2) {
    shape.kind_ = Kind::lanes;
    shape.lanes_ = given[0];
  }
  shape.read_segments(rows.function, segments, nullptr);
  if (given != shape.rows(dim))
    throw std::invalid_argument(rows.text() + " must have shape " +
                                (shape.kind_ == Kind::packed
                                     ? to_string(shape.rows(dim))
                                     : to_string({dim}) + " or (B, " + std::to_string(dim) + ")") +
                                ", got " + to_string(given));
  return shape;
}

void FlowShape::read_segments(const std::string& function, const py::object& segments,
                              const FlowGraph* graph) {
  const auto refuse = [&](const std::string& what) {
    throw std::invalid_argument(function + ": " + what);
  };
  if (segments.is_none()) {
    offsets_ = {0, num_nodes_};
    return;
  }
  kind_ = Kind::packed;
  const auto given = py::array::ensure(segments);
  if (!given || (given.dtype().kind() != 'i' && given.dtype().kind() != 'u'))
    throw py::type_error(function + ": segments must be an array of integers, got " +
                         (given ? "dtype " + std::string(py::str(given.dtype()))
                                : std::string(py::str(py::type::of(segments).attr("__name__")))));
  if (given.ndim() != 1 || given.size() < 1)
    refuse("segments must be the G + 1 node offsets of G segments, got shape " +
           to_string(Shape(given.shape(), given.shape() + given.ndim())));
  const py::array_t<int64_t, py::array::c_style> offsets(given);
  offsets_.assign(offsets.data(), offsets.data() + offsets.size());
  if (offsets_.front() != 0 || offsets_.back() != num_nodes_)
    refuse("segments must run from 0 to " + std::to_string(num_nodes_) +
           ", the number of nodes, got " + std::to_string(offsets_.front()) + " to " +
           std::to_string(offsets_.back()));
  for (size_t g = 1; g < offsets_.size(); ++g)
    if (offsets_[g] < offsets_[g - 1]) refuse("segments fall after entry " + std::to_string(g - 1));
  if (graph == nullptr) return;
  for (const int64_t cut : offsets_)
    if (graph->is_crossed(cut))
      refuse("segments must not cut an edge, got a cut before node " + std::to_string(cut));
}

int64_t FlowShape::segment_of(int64_t node) const {
  return std::upper_bound(offsets_.begin() + 1, offsets_.end(), node) - offsets_.begin() - 1;
}

Shape FlowShape::nodes() const {
  return kind_ == Kind::lanes ? Shape{num_nodes_, lanes_} : Shape{num_nodes_};
}

Shape FlowShape::per_relation(int64_t R) const {
  if (kind_ == Kind::single) return {R};
  return kind_ == Kind::lanes ? Shape{R, lanes_} : Shape{num_segments(), R};
}

Shape FlowShape::per_flow() const {
  return kind_ == Kind::single ? Shape{} : Shape{num_flows()};
}

Shape FlowShape::rows(int64_t dim) const {
  Shape shape = per_flow();
  shape.push_back(dim);
  return shape;
}

}  // namespace hyperhop::bindings
