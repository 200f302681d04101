// Building a graph from lines, rows and columns of names.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../graph/builder.h"
#include "../graph/utf8.h"
#include "columns.h"
#include "gil.h"
#include "module.h"

namespace hyperhop::bindings {
namespace {

// Names as one UTF-8 blob with offsets, as Arrow's large strings are; non-empty and valid UTF-8.
class Names {
 public:
  Names(const char* function, const py::object& blob, const py::object& offsets)
      : blob_(function, "blob", blob), offsets_(function, "offsets", offsets) {
    require(offsets_.size() >= 1, std::string(function) + ": offsets must hold at least one value");
    view_ = {reinterpret_cast<const char*>(blob_.data()), offsets_.data(), offsets_.size() - 1,
             blob_.size()};
    for (std::int64_t i = 0; i < view_.count; ++i) {
      const std::int64_t begin = offsets_.data()[i];
      const std::int64_t end = offsets_.data()[i + 1];
      if (begin < 0 || end <= begin || end > blob_.size())
        refuse(function, i, "empty or outside blob");
      const std::string_view name = view_.name(i);
      if (graph::find_invalid_utf8(name) != name.size()) refuse(function, i, "not valid UTF-8");
    }
  }

  const graph::NameView& view() const { return view_; }

 private:
  [[noreturn]] static void refuse(const char* function, std::int64_t i, const char* what) {
    throw py::value_error(std::string(function) + ": name " + std::to_string(i) + " is " + what);
  }

  Column<std::uint8_t> blob_;
  Column<std::int64_t> offsets_;
  graph::NameView view_{};
};

class PyBuilder {
 public:
  PyBuilder(bool skip_bad, std::int64_t max_entities) : builder_(skip_bad, max_entities) {}

  bool feed(const py::bytes& chunk, char delimiter, bool last) {
    const std::string_view bytes = chunk;
    const GilReleased released;
    return builder_.feed(bytes, delimiter, last);
  }

  void skip_header() { builder_.skip_header(); }

  bool add_rows(const py::list& rows, const std::vector<std::int64_t>& numbers) {
    require(rows.size() == numbers.size(), "add_rows: rows and numbers must be of one length");
    bool good = true;
    try {
      for (std::size_t i = 0; good && i < rows.size(); ++i) {
        const py::object row = rows[i];
        good = add_row(row, numbers[i]);
      }
    } catch (...) {
      builder_.flush();
      throw;
    }
    builder_.flush();
    return good;
  }

  py::array_t<std::int32_t> intern_entities(const py::object& blob, const py::object& offsets) {
    const Names names("intern_entities", blob, offsets);
    std::vector<std::int32_t> ids;
    {
      const GilReleased released;
      ids = builder_.intern_entities(names.view());
    }
    return to_array(std::move(ids));
  }

  py::array_t<std::int32_t> intern_relations(const py::object& blob, const py::object& offsets) {
    const Names names("intern_relations", blob, offsets);
    return to_array(builder_.intern_relations(names.view()));
  }

  void add_ids(const py::object& heads, const py::object& relations, const py::object& tails) {
    const Column<std::int32_t> head("add_ids", "heads", heads);
    const Column<std::int32_t> relation("add_ids", "relations", relations);
    const Column<std::int32_t> tail("add_ids", "tails", tails);
    require(head.size() == relation.size() && head.size() == tail.size(),
            "add_ids: heads, relations and tails must be of one length");
    const GilReleased released;
    builder_.add_ids(head.data(), relation.data(), tail.data(), head.size());
  }

  bool reject(std::int64_t number, const std::string& found) {
    return builder_.reject(number, found, "");
  }

  // Arrays by name. May be called once.
  py::dict build() {
    graph::BuiltGraph built;
    {
      const GilReleased released;
      built = builder_.build();
    }
    num_duplicates_ = built.orders.num_duplicates;
    py::dict arrays;
    arrays["entity_names"] = to_array<std::uint8_t>(std::move(built.entities.blob));
    arrays["entity_name_offsets"] = to_array(std::move(built.entities.offsets));
    arrays["relation_names"] = to_array<std::uint8_t>(std::move(built.relations.blob));
    arrays["relation_name_offsets"] = to_array(std::move(built.relations.offsets));
    arrays["out_offsets"] = to_array(std::move(built.orders.out.offsets));
    arrays["out_relations"] = to_array(std::move(built.orders.out.relations));
    arrays["out_tails"] = to_array(std::move(built.orders.out.neighbours));
    arrays["in_offsets"] = to_array(std::move(built.orders.in.offsets));
    arrays["in_relations"] = to_array(std::move(built.orders.in.relations));
    arrays["in_heads"] = to_array(std::move(built.orders.in.neighbours));
    return arrays;
  }

  std::int64_t num_read() const { return builder_.num_read(); }
  std::int64_t num_bad() const { return builder_.num_bad(); }
  std::int64_t num_duplicates() const { return num_duplicates_; }

  py::list bad_lines() const {
    py::list lines;
    for (const graph::BadLine& line : builder_.bad_lines()) {
      lines.append(py::make_tuple(line.number, line.found, py::bytes(line.excerpt)));
    }
    return lines;
  }

 private:
  bool add_row(const py::object& row, std::int64_t number) {
    const auto item = [number] { return "item " + std::to_string(number); };
    if (PyUnicode_Check(row.ptr()) || PyBytes_Check(row.ptr())) {
      throw py::type_error(item() + " must be a tuple of three str, got one " +
                           Py_TYPE(row.ptr())->tp_name);
    }
    const py::object sequence =
        py::reinterpret_steal<py::object>(PySequence_Fast(row.ptr(), "not a sequence"));
    if (!sequence) {
      PyErr_Clear();
      throw py::type_error(item() + " must be a tuple of three str, got " +
                           Py_TYPE(row.ptr())->tp_name);
    }
    const Py_ssize_t size = PySequence_Fast_GET_SIZE(sequence.ptr());
    PyObject** values = PySequence_Fast_ITEMS(sequence.ptr());
    fields_.clear();
    for (Py_ssize_t i = 0; i < size; ++i) {
      if (!PyUnicode_Check(values[i])) {
        throw py::type_error(item() + ": field " + std::to_string(i + 1) + " must be str, got " +
                             Py_TYPE(values[i])->tp_name);
      }
      const std::string_view field = utf8(values[i]);
      if (field.data() == nullptr) {
        return builder_.reject(number, "invalid UTF-8 in field " + std::to_string(i + 1),
                               ascii(row));
      }
      fields_.push_back(field);
    }
    std::string found = graph::TripleBuilder::fault(fields_);
    if (!found.empty()) return builder_.reject(number, std::move(found), ascii(row));
    builder_.add(fields_);
    if (sequence.ptr() != row.ptr()) builder_.flush();  // its str may live no longer than this
    return true;
  }

  static std::string ascii(const py::object& row) {
    return py::reinterpret_steal<py::str>(PyObject_ASCII(row.ptr())).cast<std::string>();
  }

  graph::TripleBuilder builder_;
  std::vector<std::string_view> fields_;
  std::int64_t num_duplicates_ = 0;
};

}  // namespace

void bind_graph_builder(py::module_& m) {
  py::class_<PyBuilder>(m, "TripleBuilder")
      .def(py::init<bool, std::int64_t>(), py::arg("skip_bad"),
           py::arg("max_entities") = graph::TripleBuilder::kMaxEntities)
      .def("feed", &PyBuilder::feed, py::arg("chunk"), py::arg("delimiter"), py::arg("last"))
      .def("skip_header", &PyBuilder::skip_header)
      .def("add_rows", &PyBuilder::add_rows, py::arg("rows"), py::arg("numbers"))
      .def("intern_entities", &PyBuilder::intern_entities, py::arg("blob"), py::arg("offsets"))
      .def("intern_relations", &PyBuilder::intern_relations, py::arg("blob"), py::arg("offsets"))
      .def("add_ids", &PyBuilder::add_ids, py::arg("heads"), py::arg("relations"), py::arg("tails"))
      .def("reject", &PyBuilder::reject, py::arg("number"), py::arg("found"))
      .def("build", &PyBuilder::build)
      .def_property_readonly("num_read", &PyBuilder::num_read)
      .def_property_readonly("num_bad", &PyBuilder::num_bad)
      .def_property_readonly("num_duplicates", &PyBuilder::num_duplicates)
      .def_property_readonly("bad_lines", &PyBuilder::bad_lines);
}

}  // namespace hyperhop::bindings
