// Names by id and ids by name, exact and folded.
#include "graph_names.h"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "../graph/folded_names.h"
#include "../graph/names.h"
#include "columns.h"
#include "gil.h"
#include "module.h"

namespace hyperhop::bindings {
namespace {

class PyFoldedNames {
 public:
  // `fold` is asked for names that are not ASCII.
  PyFoldedNames(const PyNames& names, const py::function& fold) {
    graph::NameBlob folded;
    std::string text;
    std::vector<std::int32_t> ids;
    ids.reserve(static_cast<std::size_t>(names.num_used()));
    for (std::int64_t place = 0; place < names.num_used(); ++place) {
      const std::int64_t id = names.view().id_at(place);
      ids.push_back(static_cast<std::int32_t>(id));
      const std::string_view name = names.view().name(id);
      if (!graph::fold_ascii(name, text)) {
        const py::object answer = fold(to_str(name));
        text = utf8(answer.ptr());
      }
      folded.push_back(text);
    }
    const GilReleased released;
    groups_ = graph::group_folded(folded);
    for (std::int32_t& id : groups_.ids) id = ids[static_cast<std::size_t>(id)];
    view_ = {groups_.keys.blob.data(), groups_.keys.offsets.data(), groups_.keys.count(),
             static_cast<std::int64_t>(groups_.keys.blob.size())};
  }

  std::vector<std::int32_t> find(const py::str& folded) const {
    const std::string_view key = utf8(folded.ptr());
    const std::int64_t i = key.data() == nullptr ? -1 : view_.find(key);
    return i < 0 ? std::vector<std::int32_t>() : ids(i);
  }

  // Is `folded` the beginning of a folded name?
  bool has_prefix(const py::str& folded) const {
    const std::string_view key = utf8(folded.ptr());
    if (key.data() == nullptr) return false;
    const std::int64_t i = view_.lower_bound(key);
    return i < view_.count && view_.name(i).substr(0, key.size()) == key;
  }

  // Ids of at most `count` folded names on either side of where `folded` would stand.
  std::vector<std::int32_t> near(const py::str& folded, std::int64_t count) const {
    const std::string_view key = utf8(folded.ptr());
    const std::int64_t middle = key.data() == nullptr ? view_.count : view_.lower_bound(key);
    std::vector<std::int32_t> result;
    for (std::int64_t i = std::max<std::int64_t>(0, middle - count);
         i < std::min(view_.count, middle + count); ++i) {
      for (const std::int32_t id : ids(i)) result.push_back(id);
    }
    return result;
  }

 private:
  std::vector<std::int32_t> ids(std::int64_t i) const {
    const auto* offsets = groups_.id_offsets.data();
    return {groups_.ids.begin() + offsets[i], groups_.ids.begin() + offsets[i + 1]};
  }

  graph::FoldedNames groups_;
  graph::NameView view_{};
};

}  // namespace

void bind_graph_names(py::module_& m) {
  py::class_<PyNames>(m, "NameIndex")
      .def(py::init<const py::object&, const py::object&, const py::object&>(), py::arg("blob"),
           py::arg("offsets"), py::arg("order") = py::none())
      .def("__len__", &PyNames::num_used)
      .def_property_readonly("num_ids", &PyNames::num_ids)
      .def("name", &PyNames::name, py::arg("id"))
      .def("names", &PyNames::names, py::arg("ids"))
      .def("find", &PyNames::find, py::arg("name"))
      .def("ids", &PyNames::ids, py::arg("begin"), py::arg("end"))
      .def("lower_bound", &PyNames::lower_bound, py::arg("name"));

  py::class_<PyFoldedNames>(m, "FoldedNames")
      .def(py::init<const PyNames&, const py::function&>(), py::arg("names"), py::arg("fold"))
      .def("find", &PyFoldedNames::find, py::arg("folded"))
      .def("has_prefix", &PyFoldedNames::has_prefix, py::arg("folded"))
      .def("near", &PyFoldedNames::near, py::arg("folded"), py::arg("count"));
}

}  // namespace hyperhop::bindings
