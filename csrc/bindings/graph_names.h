// Names by id as Python hands them over, kept alive.
#pragma once
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "../graph/names.h"
#include "columns.h"

namespace hyperhop::bindings {

class PyNames {
 public:
  PyNames(const py::object& blob, const py::object& offsets)
      : blob_("NameIndex", "blob", blob), offsets_("NameIndex", "offsets", offsets) {
    require(offsets_.size() >= 1, "NameIndex: offsets must hold at least one value");
    view_ = {reinterpret_cast<const char*>(blob_.data()), offsets_.data(), offsets_.size() - 1,
             blob_.size()};
  }

  std::int64_t count() const { return view_.count; }

  py::str name(std::int64_t i) const { return to_str(view_.name(checked(i))); }

  py::list names(const std::vector<std::int64_t>& ids) const {
    py::list result(ids.size());
    for (std::size_t i = 0; i < ids.size(); ++i) result[i] = name(ids[i]);
    return result;
  }

  std::int64_t find(const py::str& name) const {
    const std::string_view key = utf8(name.ptr());
    return key.data() == nullptr ? -1 : view_.find(key);
  }

  std::int64_t lower_bound(const py::str& name) const {
    const std::string_view key = utf8(name.ptr());
    return key.data() == nullptr ? view_.count : view_.lower_bound(key);
  }

  const graph::NameView& view() const { return view_; }

 private:
  std::int64_t checked(std::int64_t i) const {
    if (i < 0 || i >= view_.count) {
      throw py::index_error("no name " + std::to_string(i) + ": there are " +
                            std::to_string(view_.count));
    }
    return i;
  }

  Column<std::uint8_t> blob_;
  Column<std::int64_t> offsets_;
  graph::NameView view_{};
};

}  // namespace hyperhop::bindings
