// The knowledge graph: building, names, sequences and paths.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../graph/builder.h"
#include "../graph/folded_names.h"
#include "../graph/graph_view.h"
#include "../graph/names.h"
#include "../graph/paths.h"
#include "../graph/sequences.h"
#include "gil.h"
#include "module.h"

namespace hyperhop::bindings {
namespace {

using graph::DamagedStore;

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

void require(bool holds, const std::string& message) {
  if (!holds) throw py::value_error(message);
}

// The UTF-8 bytes of a str, or a null view if it holds a lone surrogate.
std::string_view utf8(PyObject* text) {
  Py_ssize_t size = 0;
  const char* bytes = PyUnicode_AsUTF8AndSize(text, &size);
  if (bytes == nullptr) {
    PyErr_Clear();
    return {};
  }
  return {bytes, static_cast<std::size_t>(size)};
}

py::str to_str(std::string_view name) {
  PyObject* text = PyUnicode_DecodeUTF8(name.data(), static_cast<Py_ssize_t>(name.size()), nullptr);
  if (text == nullptr) {
    PyErr_Clear();
    throw DamagedStore("the graph is damaged: a name is not valid UTF-8");
  }
  return py::reinterpret_steal<py::str>(text);
}

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
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const py::object row = rows[i];
      if (!add_row(row, numbers[i])) return false;
    }
    return true;
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
    return true;
  }

  static std::string ascii(const py::object& row) {
    return py::reinterpret_steal<py::str>(PyObject_ASCII(row.ptr())).cast<std::string>();
  }

  graph::TripleBuilder builder_;
  std::vector<std::string_view> fields_;
  std::int64_t num_duplicates_ = 0;
};

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

class PyFoldedNames {
 public:
  // `fold` is asked for names that are not ASCII.
  PyFoldedNames(const PyNames& names, const py::function& fold) {
    graph::NameBlob folded;
    std::string text;
    for (std::int64_t i = 0; i < names.count(); ++i) {
      const std::string_view name = names.view().name(i);
      if (!graph::fold_ascii(name, text)) {
        const py::object answer = fold(to_str(name));
        text = utf8(answer.ptr());
      }
      folded.push_back(text);
    }
    const GilReleased released;
    groups_ = graph::group_folded(folded);
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

class PyGraphIndex {
 public:
  PyGraphIndex(const py::object& out_offsets, const py::object& out_relations,
               const py::object& out_tails, const py::object& in_offsets,
               const py::object& in_relations, const py::object& in_heads,
               std::int32_t num_relations)
      : out_offsets_("GraphIndex", "out_offsets", out_offsets),
        in_offsets_("GraphIndex", "in_offsets", in_offsets),
        out_relations_("GraphIndex", "out_relations", out_relations),
        out_tails_("GraphIndex", "out_tails", out_tails),
        in_relations_("GraphIndex", "in_relations", in_relations),
        in_heads_("GraphIndex", "in_heads", in_heads) {
    const std::int64_t edges = out_tails_.size();
    require(out_offsets_.size() >= 1 && out_offsets_.size() == in_offsets_.size() &&
                out_offsets_.size() - 1 <= graph::TripleBuilder::kMaxEntities,
            "GraphIndex: both offsets must have one length, at most 2**31");
    require(out_relations_.size() == edges && in_relations_.size() == edges &&
                in_heads_.size() == edges,
            "GraphIndex: relations, tails and heads must have one length");
    require(num_relations >= 0 && num_relations <= graph::TripleBuilder::kMaxRelations,
            "GraphIndex: num_relations is out of range");
    const auto entities = static_cast<std::int32_t>(out_offsets_.size() - 1);
    view_ = {{out_offsets_.data(), out_relations_.data(), out_tails_.data(), entities,
              num_relations, edges},
             {in_offsets_.data(), in_relations_.data(), in_heads_.data(), entities, num_relations,
              edges},
             entities,
             num_relations,
             edges};
  }

  bool has_triple(std::int32_t head, std::int32_t relation, std::int32_t tail) const {
    check_entity("has_triple", head);
    return view_.has_triple(head, relation, tail);
  }

  py::tuple sequences(std::int32_t topic, std::int64_t max_hops, std::int64_t cap,
                      std::int64_t beam, bool inverse, bool return_to_topic,
                      const py::object& symbol_ranks, const graph::Limits& limits) const {
    check_entity("sequences", topic);
    const Column<std::int32_t> ranks("sequences", "symbol_ranks", symbol_ranks);
    require(beam == 0 || ranks.size() == 2 * static_cast<std::int64_t>(view_.num_relations),
            "sequences: symbol_ranks must hold one rank a symbol");
    graph::Sequences found;
    {
      const GilReleased released;
      found = graph::find_sequences(
          view_, topic, {max_hops, cap, beam, inverse, return_to_topic, ranks.data()}, limits);
    }
    return py::make_tuple(to_array(std::move(found.symbols)), to_array(std::move(found.offsets)),
                          found.truncated);
  }

  py::tuple paths(std::int32_t topic, const py::object& symbols, const py::object& offsets,
                  std::int64_t cap, bool simple, bool return_to_topic,
                  const graph::Limits& limits) const {
    check_entity("paths", topic);
    const Column<std::int32_t> symbol("paths", "symbols", symbols);
    const Column<std::int64_t> offset("paths", "offsets", offsets);
    check_sequences(symbol, offset);
    graph::EntityPaths found;
    {
      const GilReleased released;
      found = graph::expand_paths(view_, topic, {symbol.data(), offset.data(), offset.size() - 1},
                                  {cap, simple, return_to_topic}, limits);
    }
    return py::make_tuple(to_array(std::move(found.entities)), to_array(std::move(found.offsets)),
                          to_array(std::move(found.ends)), to_array(std::move(found.end_offsets)),
                          found.truncated, found.ends_truncated);
  }

 private:
  void check_entity(const char* function, std::int32_t id) const {
    require(id >= 0 && id < view_.num_entities, std::string(function) + ": no entity with id " +
                                                    std::to_string(id) + ": there are " +
                                                    std::to_string(view_.num_entities));
  }

  void check_sequences(const Column<std::int32_t>& symbols,
                       const Column<std::int64_t>& offsets) const {
    bool ascending = offsets.size() >= 1 && offsets.data()[0] == 0 &&
                     offsets.data()[offsets.size() - 1] == symbols.size();
    for (std::int64_t i = 1; ascending && i < offsets.size(); ++i) {
      ascending = offsets.data()[i - 1] <= offsets.data()[i];
    }
    require(ascending, "paths: sequence offsets must ascend from 0 to the number of symbols");
    const std::int64_t bound = 2 * static_cast<std::int64_t>(view_.num_relations);
    for (std::int64_t i = 0; i < symbols.size(); ++i) {
      const std::int32_t symbol = symbols.data()[i];
      if (symbol < 0 || symbol >= bound) {
        throw py::value_error("paths: sequences hold the symbol " + std::to_string(symbol) +
                              ", expected 0 <= symbol < " + std::to_string(bound));
      }
    }
  }

  Column<std::int64_t> out_offsets_, in_offsets_;
  Column<std::int32_t> out_relations_, out_tails_, in_relations_, in_heads_;
  graph::GraphView view_{};
};

}  // namespace

void bind_graph(py::module_& m) {
  py::register_local_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const DamagedStore& error) {
      const py::object type = py::module_::import("hyperhop.graph.errors").attr("DamagedStore");
      PyErr_SetString(type.ptr(), error.what());
    }
  });

  py::class_<graph::Limits>(m, "GraphLimits")
      .def(py::init<std::int64_t, std::int64_t, std::int64_t>(), py::arg("edge_visits"),
           py::arg("entries"), py::arg("simple_steps"));

  py::class_<PyBuilder>(m, "TripleBuilder")
      .def(py::init<bool, std::int64_t>(), py::arg("skip_bad"),
           py::arg("max_entities") = graph::TripleBuilder::kMaxEntities)
      .def("feed", &PyBuilder::feed, py::arg("chunk"), py::arg("delimiter"), py::arg("last"))
      .def("skip_header", &PyBuilder::skip_header)
      .def("add_rows", &PyBuilder::add_rows, py::arg("rows"), py::arg("numbers"))
      .def("reject", &PyBuilder::reject, py::arg("number"), py::arg("found"))
      .def("build", &PyBuilder::build)
      .def_property_readonly("num_read", &PyBuilder::num_read)
      .def_property_readonly("num_bad", &PyBuilder::num_bad)
      .def_property_readonly("num_duplicates", &PyBuilder::num_duplicates)
      .def_property_readonly("bad_lines", &PyBuilder::bad_lines);

  py::class_<PyNames>(m, "NameIndex")
      .def(py::init<const py::object&, const py::object&>(), py::arg("blob"), py::arg("offsets"))
      .def("__len__", &PyNames::count)
      .def("name", &PyNames::name, py::arg("id"))
      .def("names", &PyNames::names, py::arg("ids"))
      .def("find", &PyNames::find, py::arg("name"))
      .def("lower_bound", &PyNames::lower_bound, py::arg("name"));

  py::class_<PyFoldedNames>(m, "FoldedNames")
      .def(py::init<const PyNames&, const py::function&>(), py::arg("names"), py::arg("fold"))
      .def("find", &PyFoldedNames::find, py::arg("folded"))
      .def("has_prefix", &PyFoldedNames::has_prefix, py::arg("folded"))
      .def("near", &PyFoldedNames::near, py::arg("folded"), py::arg("count"));

  py::class_<PyGraphIndex>(m, "GraphIndex")
      .def(py::init<const py::object&, const py::object&, const py::object&, const py::object&,
                    const py::object&, const py::object&, std::int32_t>(),
           py::arg("out_offsets"), py::arg("out_relations"), py::arg("out_tails"),
           py::arg("in_offsets"), py::arg("in_relations"), py::arg("in_heads"),
           py::arg("num_relations"))
      .def("has_triple", &PyGraphIndex::has_triple, py::arg("head"), py::arg("relation"),
           py::arg("tail"))
      .def("sequences", &PyGraphIndex::sequences, py::arg("topic"), py::arg("max_hops"),
           py::arg("cap"), py::arg("beam"), py::arg("inverse"), py::arg("return_to_topic"),
           py::arg("symbol_ranks"), py::arg("limits"))
      .def("paths", &PyGraphIndex::paths, py::arg("topic"), py::arg("symbols"), py::arg("offsets"),
           py::arg("cap"), py::arg("simple"), py::arg("return_to_topic"), py::arg("limits"));
}

}  // namespace hyperhop::bindings
