// Names by id as Python hands them over, kept alive.
#pragma once
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../graph/names.h"
#include "columns.h"

namespace hyperhop::bindings {

class PyNames {
 public:
  // order: None or empty where ids are the ranks of names.
  PyNames(const py::object& blob, const py::object& offsets, const py::object& order)
      : blob_("NameIndex", "blob", blob), offsets_("NameIndex", "offsets", offsets) {
    require(offsets_.size() >= 1, "NameIndex: offsets must hold at least one value");
    const std::int64_t count = offsets_.size() - 1;
    view_ = {reinterpret_cast<const char*>(blob_.data()), offsets_.data(), count, blob_.size()};
    if (order.is_none()) return;
    order_.emplace("NameIndex", "order", order);
    if (order_->size() == 0) return;
    require(order_->size() == count, "NameIndex: order must be empty or hold one value an id");
    view_.order = order_->data();
    view_.num_retired = graph::count_retired(view_.order, count);
  }

  std::int64_t num_used() const { return view_.num_used(); }
  std::int64_t num_ids() const { return view_.count; }

  py::str name(std::int64_t i) const { return to_str(view_.name(checked(i))); }

  // ids: an int32 array, which is not copied, or a sequence of ints.
  py::list names(const py::object& ids) const {
    if (py::isinstance<py::array_t<std::int32_t>>(ids)) {
      const Column<std::int32_t> array("NameIndex", "ids", ids);
      return list(array.data(), static_cast<std::size_t>(array.size()));
    }
    const auto values = ids.cast<std::vector<std::int64_t>>();
    return list(values.data(), values.size());
  }

  std::int64_t find(const py::str& name) const {
    const std::string_view key = utf8(name.ptr());
    return key.data() == nullptr ? -1 : view_.find(key);
  }

  std::int64_t lower_bound(const py::str& name) const {
    const std::string_view key = utf8(name.ptr());
    return key.data() == nullptr ? view_.num_used() : view_.lower_bound(key);
  }

  // Ids at places [begin, end), by name.
  std::vector<std::int64_t> ids(std::int64_t begin, std::int64_t end) const {
    std::vector<std::int64_t> result;
    const std::int64_t last = std::min(end, view_.num_used());
    for (std::int64_t i = std::max<std::int64_t>(0, begin); i < last; ++i) {
      result.push_back(view_.id_at(i));
    }
    return result;
  }

  const graph::NameView& view() const { return view_; }

 private:
  // A run of one id shares one object.
  template <typename Id>
  py::list list(const Id* ids, std::size_t count) const {
    py::list result(count);
    py::object text;
    for (std::size_t i = 0; i < count; ++i) {
      if (i == 0 || ids[i] != ids[i - 1]) text = name(ids[i]);
      PyList_SET_ITEM(result.ptr(), static_cast<Py_ssize_t>(i), py::object(text).release().ptr());
    }
    return result;
  }

  std::int64_t checked(std::int64_t i) const {
    if (i < 0 || i >= view_.count) {
      throw py::index_error("no name " + std::to_string(i) + ": there are " +
                            std::to_string(view_.count));
    }
    return i;
  }

  Column<std::uint8_t> blob_;
  Column<std::int64_t> offsets_;
  std::optional<Column<std::int32_t>> order_;
  graph::NameView view_{};
};

}  // namespace hyperhop::bindings
