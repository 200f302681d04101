// Names by folded form, and keys close to a mistyped one.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../graph/folded_names.h"
#include "../graph/gram_index.h"
#include "../graph/names.h"
#include "columns.h"
#include "gil.h"
#include "graph_names.h"
#include "module.h"

namespace hyperhop::bindings {
namespace {

// The key of a name; `fold` must answer with str.
std::string key_of(const py::function& fold, const py::object& name) {
  const py::object key = fold(name);
  if (!py::isinstance<py::str>(key)) {
    throw py::type_error("EntityLinker: normalize must return str, got " +
                         py::str(py::type::of(key).attr("__name__")).cast<std::string>());
  }
  const std::string_view bytes = utf8(key.ptr());
  if (bytes.data() == nullptr) {
    throw py::value_error("EntityLinker: normalize returned a lone surrogate for " +
                          py::repr(name).cast<std::string>());
  }
  return std::string(bytes);
}

// Only names that differ from their folded form are held; one that does not is found as it is.
class PyFoldedNames {
 public:
  // With `ascii`, ASCII names are folded here as graph.names.fold would.
  PyFoldedNames(const py::object& names, const py::function& fold, bool ascii)
      : owner_(names), names_(names.cast<const PyNames&>().view()), fold_(fold), ascii_(ascii) {
    graph::NameBlob folded;
    std::vector<std::int32_t> ids;
    std::vector<std::int32_t> others;
    {
      const GilReleased released;
      std::string text;
      for (std::int64_t place = 0; place < names_.num_used(); ++place) {
        const auto id = static_cast<std::int32_t>(names_.id_at(place));
        const std::string_view name = names_.name(id);
        if (!ascii || !graph::fold_ascii(name, text)) {
          others.push_back(id);
        } else if (text != name) {
          folded.push_back(text);
          ids.push_back(id);
        }
      }
    }
    for (const std::int32_t id : others) {
      const std::string_view name = names_.name(id);
      const std::string key = key_of(fold, to_str(name));
      if (key == name) continue;
      folded.push_back(key);
      ids.push_back(id);
    }
    const GilReleased released;
    groups_ = graph::group_folded(folded, ids);
    keys_ = {groups_.keys.blob.data(), groups_.keys.offsets.data(), groups_.keys.count(),
             static_cast<std::int64_t>(groups_.keys.blob.size())};
  }

  // Ids whose names have this key, ascending; none for an empty one.
  std::vector<std::int32_t> find(const py::str& key) const {
    const std::string_view bytes = utf8(key.ptr());
    if (bytes.empty()) return {};
    std::vector<std::int32_t> found;
    if (const std::int64_t i = keys_.find(bytes); i >= 0) found = ids(i);
    const auto id = static_cast<std::int32_t>(names_.find(bytes));
    if (id >= 0 && is_own_key(bytes)) {
      found.insert(std::lower_bound(found.begin(), found.end(), id), id);
    }
    return found;
  }

  // False: no name has a key that begins so.
  bool has_prefix(const py::str& prefix) const {
    const std::string_view bytes = utf8(prefix.ptr());
    if (bytes.data() == nullptr) return false;
    return begins(keys_, bytes) || begins(names_, bytes);
  }

  // Ids of at most `count` keys on either side of where `key` would stand, and of as many names.
  std::vector<std::int32_t> near(const py::str& key, std::int64_t count) const {
    const std::string_view bytes = utf8(key.ptr());
    std::vector<std::int32_t> result;
    if (bytes.data() == nullptr) return result;
    const auto [first, last] = around(keys_, bytes, count);
    for (std::int64_t i = first; i < last; ++i) {
      for (const std::int32_t id : ids(i)) result.push_back(id);
    }
    const auto [first_name, last_name] = around(names_, bytes, count);
    for (std::int64_t i = first_name; i < last_name; ++i) {
      result.push_back(static_cast<std::int32_t>(names_.id_at(i)));
    }
    return result;
  }

  // Places of names, then the keys of those that differ from their name.
  std::int64_t num_keys() const { return names_.num_used() + keys_.count; }
  std::string_view key(std::int64_t i) const {
    return i < names_.num_used() ? names_.name(names_.id_at(i)) : keys_.name(i - names_.num_used());
  }

  // Which ids have a name that is not its own key.
  std::vector<bool> changed() const {
    std::vector<bool> flags(static_cast<std::size_t>(names_.count));
    for (const std::int32_t id : groups_.ids) flags[static_cast<std::size_t>(id)] = true;
    return flags;
  }

  // key(i), or nothing for a name that is not its own key.
  std::string_view own_key(std::int64_t i, const std::vector<bool>& changed) const {
    const bool other = i < names_.num_used() && changed[static_cast<std::size_t>(names_.id_at(i))];
    return other ? std::string_view() : key(i);
  }

  // Distinct keys that are not empty.
  py::list keys() const {
    const std::vector<bool> changed = this->changed();
    std::vector<std::string_view> distinct;
    for (std::int64_t i = 0; i < num_keys(); ++i) {
      if (const std::string_view key = own_key(i, changed); !key.empty()) distinct.push_back(key);
    }
    std::sort(distinct.begin(), distinct.end());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    py::list result;
    for (const std::string_view key : distinct) result.append(to_str(key));
    return result;
  }

 private:
  static bool begins(const graph::NameView& names, std::string_view prefix) {
    const std::int64_t place = names.lower_bound(prefix);
    return place < names.num_used() &&
           names.name(names.id_at(place)).substr(0, prefix.size()) == prefix;
  }

  static std::pair<std::int64_t, std::int64_t> around(const graph::NameView& names,
                                                      std::string_view key, std::int64_t count) {
    const std::int64_t middle = names.lower_bound(key);
    return {std::max<std::int64_t>(0, middle - count), std::min(names.num_used(), middle + count)};
  }

  // Folding twice may differ from folding once, so a key need not be the key of itself.
  bool is_own_key(std::string_view name) const {
    std::string text;
    if (ascii_ && graph::fold_ascii(name, text)) return text == name;
    return key_of(fold_, to_str(name)) == name;
  }

  std::vector<std::int32_t> ids(std::int64_t i) const {
    const auto* offsets = groups_.id_offsets.data();
    return {groups_.ids.begin() + offsets[i], groups_.ids.begin() + offsets[i + 1]};
  }

  py::object owner_;  // of the names
  graph::NameView names_;
  py::function fold_;
  bool ascii_;
  graph::FoldedNames groups_;
  graph::NameView keys_{};
};

class PyGramIndex {
 public:
  explicit PyGramIndex(const py::object& folded)
      : owner_(folded), keys_(folded.cast<const PyFoldedNames&>()) {
    const GilReleased released;
    const std::vector<bool> changed = keys_.changed();
    grams_ = graph::index_grams(keys_.num_keys(),
                                [&](std::int64_t i) { return keys_.own_key(i, changed); });
  }

  // For each text, the keys that share most trigrams with it; see graph/gram_index.h.
  py::list closest(const py::list& texts, double cutoff, std::int64_t count) {
    std::vector<std::string> queries;
    for (const py::handle text : texts) queries.emplace_back(utf8(text.ptr()));
    std::vector<std::vector<std::uint32_t>> found;
    // The GIL is the lock: a call that meets another finds no spare counts and makes its own.
    std::vector<std::uint16_t> shared = std::move(spare_);
    spare_.clear();
    shared.resize(grams_.lengths.size());
    {
      const GilReleased released;
      for (const std::string& text : queries) {
        found.push_back(graph::closest_keys(grams_, {text, cutoff, count}, shared));
      }
    }
    spare_ = std::move(shared);
    py::list result;
    for (const std::vector<std::uint32_t>& keys : found) {
      py::list names;
      for (const std::uint32_t key : keys) names.append(to_str(keys_.key(key)));
      result.append(names);
    }
    return result;
  }

 private:
  py::object owner_;  // of the keys
  const PyFoldedNames& keys_;
  graph::GramIndex grams_;
  std::vector<std::uint16_t> spare_;  // zeros, or empty
};

}  // namespace

void bind_graph_folded(py::module_& m) {
  py::class_<PyFoldedNames>(m, "FoldedNames")
      .def(py::init<const py::object&, const py::function&, bool>(), py::arg("names"),
           py::arg("fold"), py::arg("ascii") = true)
      .def("find", &PyFoldedNames::find, py::arg("key"))
      .def("has_prefix", &PyFoldedNames::has_prefix, py::arg("prefix"))
      .def("near", &PyFoldedNames::near, py::arg("key"), py::arg("count"))
      .def("keys", &PyFoldedNames::keys);

  py::class_<PyGramIndex>(m, "GramIndex")
      .def(py::init<const py::object&>(), py::arg("folded"))
      .def("closest", &PyGramIndex::closest, py::arg("texts"), py::arg("cutoff"), py::arg("count"));
}

}  // namespace hyperhop::bindings
