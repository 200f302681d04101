#include "names.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>

#include "graph_view.h"

namespace hyperhop::graph {
namespace {

std::uint64_t hash_bytes(std::string_view text) {
  constexpr std::uint64_t kMultiplier = 0x9E3779B97F4A7C15u;
  std::uint64_t hash = text.size() * kMultiplier;
  while (!text.empty()) {
    std::uint64_t word = 0;
    const std::size_t bytes = std::min(text.size(), sizeof word);
    std::memcpy(&word, text.data(), bytes);
    hash = (hash ^ word) * kMultiplier;
    hash ^= hash >> 32;
    text.remove_prefix(bytes);
  }
  return hash;
}

// The first eight bytes as a number that sorts like them.
std::uint64_t leading_bytes(std::string_view text) {
  std::uint64_t key = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    key = key << 8 | (i < text.size() ? static_cast<unsigned char>(text[i]) : 0u);
  }
  return key;
}

// The first i of [low, high) whose name, of those in byte order, is not before `key`.
template <typename NameAt>
std::int64_t first_not_before(std::int64_t low, std::int64_t high, std::string_view key,
                              NameAt&& name_at) {
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (name_at(middle) < key) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

}  // namespace

std::string_view NameView::name(std::int64_t id) const {
  const std::int64_t begin = offsets[id];
  const std::int64_t end = offsets[id + 1];
  if (begin < 0 || begin > end || end > blob_size) {
    throw_damaged("name offsets", id, end, blob_size);
  }
  return {blob + begin, static_cast<std::size_t>(end - begin)};
}

std::int64_t NameView::id_at(std::int64_t place) const {
  if (order == nullptr) return place;
  const std::int64_t id = order[place];
  if (id < 0 || id >= count) throw_damaged("name order", place, id, count - 1);
  return id;
}

std::int64_t NameView::retired_at(std::int64_t i) const {
  const std::int64_t place = num_used() + i;
  const std::int64_t id = ~static_cast<std::int64_t>(order[place]);
  if (id < 0 || id >= count) throw_damaged("name order", place, order[place], -1);
  return id;
}

std::int64_t NameView::lower_bound(std::string_view key) const {
  return first_not_before(0, num_used(), key, [this](std::int64_t i) { return name(id_at(i)); });
}

std::int64_t NameView::lower_bound(std::string_view key, std::int64_t from) const {
  std::int64_t low = from;
  std::int64_t jump = 1;
  while (low + jump <= num_used() && name(id_at(low + jump - 1)) < key) {
    low += jump;
    jump *= 2;
  }
  return first_not_before(low, std::min(low + jump, num_used()), key,
                          [this](std::int64_t i) { return name(id_at(i)); });
}

std::int64_t NameView::find(std::string_view key) const {
  const std::int64_t place = lower_bound(key);
  if (place == num_used()) return -1;
  const std::int64_t id = id_at(place);
  return name(id) == key ? id : -1;
}

std::int64_t NameView::lower_bound_retired(std::string_view key) const {
  return first_not_before(0, num_retired, key,
                          [this](std::int64_t i) { return name(retired_at(i)); });
}

std::int64_t count_retired(const std::int32_t* order, std::int64_t count) {
  return order + count -
         std::partition_point(order, order + count, [](std::int32_t id) { return id >= 0; });
}

std::int32_t NameTable::intern(std::string_view name) {
  const auto hash = static_cast<std::uint32_t>(hash_bytes(name));
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash & mask;
  while (slots_[at].id >= 0) {
    if (slots_[at].hash == hash && names_.name(slots_[at].id) == name) return slots_[at].id;
    at = (at + 1) & mask;
  }
  if (count() >= max_names_) {
    throw std::length_error("more than " + std::to_string(max_names_) +
                            " distinct names: ids are 32-bit");
  }
  const auto id = static_cast<std::int32_t>(count());
  names_.push_back(name);
  slots_[at] = {hash, id};
  if (static_cast<std::size_t>(count()) * 3 > slots_.size() * 2) grow();
  return id;
}

void NameTable::grow() {
  std::vector<Slot> old(slots_.size() * 2, {0, -1});
  old.swap(slots_);
  const std::size_t mask = slots_.size() - 1;
  for (const Slot& slot : old) {
    if (slot.id < 0) continue;
    std::size_t at = slot.hash & mask;
    while (slots_[at].id >= 0) at = (at + 1) & mask;
    slots_[at] = slot;
  }
}

std::vector<std::int32_t> sorted_places(const NameBlob& names) {
  struct Key {
    std::uint64_t leading;
    std::int32_t place;
  };
  std::vector<Key> keys;
  keys.reserve(static_cast<std::size_t>(names.count()));
  for (std::int64_t i = 0; i < names.count(); ++i) {
    keys.push_back({leading_bytes(names.name(i)), static_cast<std::int32_t>(i)});
  }
  std::sort(keys.begin(), keys.end(), [&names](const Key& a, const Key& b) {
    if (a.leading != b.leading) return a.leading < b.leading;
    const int order = names.name(a.place).compare(names.name(b.place));
    return order != 0 ? order < 0 : a.place < b.place;
  });
  std::vector<std::int32_t> places;
  places.reserve(keys.size());
  for (const Key& key : keys) places.push_back(key.place);
  return places;
}

NameBlob NameTable::take_sorted(std::vector<std::int32_t>& place_of) {
  slots_.assign(16, {0, -1});
  slots_.shrink_to_fit();
  const std::vector<std::int32_t> order = sorted_places(names_);
  place_of.resize(order.size());
  NameBlob sorted;
  sorted.blob.reserve(names_.blob.size());
  sorted.offsets.reserve(names_.offsets.size());
  for (std::size_t place = 0; place < order.size(); ++place) {
    place_of[static_cast<std::size_t>(order[place])] = static_cast<std::int32_t>(place);
    sorted.push_back(names_.name(order[place]));
  }
  names_ = NameBlob();
  return sorted;
}

}  // namespace hyperhop::graph
