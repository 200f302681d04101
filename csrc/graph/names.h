// Names as one UTF-8 blob with int64 offsets.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "huge_pages.h"

namespace hyperhop::graph {

// Names by id, possibly a mapped store: offsets and ids are checked as they are read.
//
// A name in use has a place: its rank in byte order among the names in use. In a graph built at
// once every id is in use and is its own place. A changed graph lists them in `order`: the ids in
// use by name, then ~id of each retired id, by name too. A retired id is kept for its name alone.
struct NameView {
  const char* blob;
  const std::int64_t* offsets;  // (count + 1,)
  std::int64_t count;           // ids, retired ones included
  std::int64_t blob_size;
  const std::int32_t* order = nullptr;  // (count,), or null: ids are places
  std::int64_t num_retired = 0;

  std::string_view name(std::int64_t id) const;
  std::int64_t num_used() const { return count - num_retired; }
  // Id at a place below num_used().
  std::int64_t id_at(std::int64_t place) const;
  // The first place whose name is not before `key`; num_used() if there is none.
  std::int64_t lower_bound(std::string_view key) const;
  // The same, known to be at least `from` and probably near it.
  std::int64_t lower_bound(std::string_view key, std::int64_t from) const;
  // -1 if no id in use has this name.
  std::int64_t find(std::string_view key) const;
  // The i-th retired id, by name.
  std::int64_t retired_at(std::int64_t i) const;
  // The first of them whose name is not before `key`; num_retired if there is none.
  std::int64_t lower_bound_retired(std::string_view key) const;
};

// Retired ids in an `order` of `count` ids.
std::int64_t count_retired(const std::int32_t* order, std::int64_t count);

struct NameBlob {
  std::vector<char> blob;
  std::vector<std::int64_t> offsets{0};

  std::int64_t count() const { return static_cast<std::int64_t>(offsets.size()) - 1; }
  std::string_view name(std::int64_t i) const {
    const auto begin = static_cast<std::size_t>(offsets[static_cast<std::size_t>(i)]);
    const auto end = static_cast<std::size_t>(offsets[static_cast<std::size_t>(i) + 1]);
    return {blob.data() + begin, end - begin};
  }
  void push_back(std::string_view name) {
    make_room(blob, name.size());
    make_room(offsets, 1);
    blob.insert(blob.end(), name.begin(), name.end());
    offsets.push_back(static_cast<std::int64_t>(blob.size()));
  }
};

// Gives each distinct name an id in order of first sight.
class NameTable {
 public:
  explicit NameTable(std::int64_t max_names) : max_names_(max_names), slots_(16, {0, -1}) {}

  // Throws std::length_error beyond `max_names`.
  std::int32_t intern(std::string_view name) {
    std::int32_t id;
    intern(&name, 1, &id);
    return id;
  }

  // The ids of `count` names, at most kBatch. In a large table every name is a few cache misses:
  // a batch lets them overlap.
  static constexpr std::size_t kBatch = 192;
  void intern(const std::string_view* names, std::size_t count, std::int32_t* ids);

  std::int64_t count() const { return names_.count(); }

  // Empties the table; returns the names in byte order and, for each id, its place among them.
  NameBlob take_sorted(std::vector<std::int32_t>& place_of);

 private:
  struct Slot {
    std::uint32_t hash;
    std::int32_t id;
  };
  void grow();
  std::int32_t intern(std::string_view name, std::uint32_t hash);

  std::int64_t max_names_;
  NameBlob names_;
  std::vector<Slot> slots_;  // open addressing, a power of two
};

// The places [0, count) ordered by name; equal names keep their order.
std::vector<std::int32_t> sorted_places(const NameBlob& names);

}  // namespace hyperhop::graph
