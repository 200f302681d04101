// Names of many ids at once, in the shapes that exports want.
#include <pybind11/pybind11.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../graph/names.h"
#include "columns.h"
#include "gil.h"
#include "module.h"

namespace hyperhop::bindings {
namespace {

// Ids and the names they stand for; both may come from a store that nobody verified.
class NamedIds {
 public:
  NamedIds(const char* function, const py::object& blob, const py::object& offsets,
           const py::object& ids)
      : blob_(function, "blob", blob),
        offsets_(function, "offsets", offsets),
        ids_(function, "ids", ids) {
    require(offsets_.size() >= 1, std::string(function) + ": offsets must hold at least one value");
    view_ = {reinterpret_cast<const char*>(blob_.data()), offsets_.data(), offsets_.size() - 1,
             blob_.size()};
  }

  std::int64_t size() const { return ids_.size(); }
  std::int32_t id(std::int64_t i) const { return ids_.data()[i]; }

  std::string_view name(std::int64_t i) const {
    if (id(i) < 0 || id(i) >= view_.count) graph::throw_damaged("ids", i, id(i), view_.count - 1);
    return view_.name(id(i));
  }

 private:
  Column<std::uint8_t> blob_;
  Column<std::int64_t> offsets_;
  Column<std::int32_t> ids_;
  graph::NameView view_{};
};

// The names of ids, one after another, as Arrow's large strings are.
py::tuple gather_names(const py::object& blob, const py::object& offsets, const py::object& ids) {
  const NamedIds named("gather_names", blob, offsets, ids);
  std::vector<char> text;
  std::vector<std::int64_t> ends{0};
  {
    const GilReleased released;
    ends.reserve(static_cast<std::size_t>(named.size()) + 1);
    for (std::int64_t i = 0; i < named.size(); ++i) {
      const std::string_view name = named.name(i);
      text.insert(text.end(), name.begin(), name.end());
      ends.push_back(static_cast<std::int64_t>(text.size()));
    }
  }
  return py::make_tuple(to_array<std::uint8_t>(std::move(text)), to_array(std::move(ends)));
}

// The names of ids as str; a run of one id shares one object.
py::list list_names(const py::object& blob, const py::object& offsets, const py::object& ids) {
  const NamedIds named("list_names", blob, offsets, ids);
  py::list result(static_cast<std::size_t>(named.size()));
  py::object text;
  for (std::int64_t i = 0; i < named.size(); ++i) {
    if (i == 0 || named.id(i) != named.id(i - 1)) text = to_str(named.name(i));
    PyList_SET_ITEM(result.ptr(), i, py::object(text).release().ptr());
  }
  return result;
}

// Lines of "head TAB relation TAB tail".
py::bytes join_lines(const py::object& entity_blob, const py::object& entity_offsets,
                     const py::object& relation_blob, const py::object& relation_offsets,
                     const py::object& heads, const py::object& relations,
                     const py::object& tails) {
  const NamedIds head("join_lines", entity_blob, entity_offsets, heads);
  const NamedIds relation("join_lines", relation_blob, relation_offsets, relations);
  const NamedIds tail("join_lines", entity_blob, entity_offsets, tails);
  require(head.size() == relation.size() && head.size() == tail.size(),
          "join_lines: heads, relations and tails must be of one length");
  std::string lines;
  {
    const GilReleased released;
    for (std::int64_t i = 0; i < head.size(); ++i) {
      lines.append(head.name(i)).push_back('\t');
      lines.append(relation.name(i)).push_back('\t');
      lines.append(tail.name(i)).push_back('\n');
    }
  }
  return py::bytes(lines);
}

}  // namespace

void bind_graph_export(py::module_& m) {
  m.def("gather_names", &gather_names, py::arg("blob"), py::arg("offsets"), py::arg("ids"));
  m.def("list_names", &list_names, py::arg("blob"), py::arg("offsets"), py::arg("ids"));
  m.def("join_lines", &join_lines, py::arg("entity_blob"), py::arg("entity_offsets"),
        py::arg("relation_blob"), py::arg("relation_offsets"), py::arg("heads"),
        py::arg("relations"), py::arg("tails"));
}

}  // namespace hyperhop::bindings
