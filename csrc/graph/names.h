// Names as one UTF-8 blob with int64 offsets.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "huge_pages.h"

namespace hyperhop::graph {

// Names in byte order, possibly a mapped store: offsets are checked as they are read.
struct NameView {
  const char* blob;
  const std::int64_t* offsets;  // (count + 1,)
  std::int64_t count;
  std::int64_t blob_size;

  std::string_view name(std::int64_t i) const;
  std::int64_t num_used() const { return count; }
  // Id at a place in byte order below num_used().
  std::int64_t id_at(std::int64_t place) const { return place; }
  // The first id whose name is not before `key`; `count` if there is none.
  std::int64_t lower_bound(std::string_view key) const;
  // -1 if there is no such name.
  std::int64_t find(std::string_view key) const;
};

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
