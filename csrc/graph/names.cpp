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
  const auto mix = [&hash](std::uint64_t word) {
    hash = (hash ^ word) * kMultiplier;
    hash ^= hash >> 32;
  };
  std::uint64_t word = 0;
  if (text.size() < sizeof word) {
    for (const char c : text) word = word << 8 | static_cast<unsigned char>(c);
    mix(word);
    return hash;
  }
  const char* last = text.data() + text.size() - sizeof word;
  for (const char* at = text.data(); at < last; at += sizeof word) {
    std::memcpy(&word, at, sizeof word);
    mix(word);
  }
  std::memcpy(&word, last, sizeof word);  // overlaps the word before where the size asks for it
  mix(word);
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

void NameTable::intern(const std::string_view* names, std::size_t count, std::int32_t* ids) {
  while (static_cast<std::size_t>(this->count()) + count > slots_.size() * 2 / 3) grow();
  const std::size_t mask = slots_.size() - 1;
  std::uint32_t hashes[kBatch];
  for (std::size_t i = 0; i < count; ++i) {
    hashes[i] = static_cast<std::uint32_t>(hash_bytes(names[i]));
    __builtin_prefetch(&slots_[hashes[i] & mask]);
  }
  // Most names are found where their hash says, so that is whose bytes will be compared.
  for (std::size_t i = 0; i < count; ++i) {
    const Slot slot = slots_[hashes[i] & mask];
    ids[i] = slot.hash == hashes[i] ? slot.id : -1;
    if (ids[i] >= 0) __builtin_prefetch(&names_.offsets[static_cast<std::size_t>(ids[i])]);
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (ids[i] >= 0) __builtin_prefetch(names_.name(ids[i]).data());
  }
  for (std::size_t i = 0; i < count; ++i) ids[i] = intern(names[i], hashes[i]);
}

// There is a free slot.
std::int32_t NameTable::intern(std::string_view name, std::uint32_t hash) {
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
  return id;
}

void NameTable::grow() {
  std::vector<Slot> old;
  reserve_huge(old, slots_.size() * 2);
  old.resize(slots_.size() * 2, {0, -1});
  old.swap(slots_);
  const std::size_t mask = slots_.size() - 1;
  constexpr std::size_t kAhead = 32;
  for (std::size_t i = 0; i < old.size(); ++i) {
    if (i + kAhead < old.size()) __builtin_prefetch(&slots_[old[i + kAhead].hash & mask], 1);
    if (old[i].id < 0) continue;
    std::size_t at = old[i].hash & mask;
    while (slots_[at].id >= 0) at = (at + 1) & mask;
    slots_[at] = old[i];
  }
}

namespace {

struct Key {
  std::uint64_t leading;  // eight bytes of the name, from the depth at hand
  std::int32_t place;
};

std::size_t common_prefix(const NameBlob& names) {
  if (names.count() == 0) return 0;
  const std::string_view first = names.name(0);
  std::size_t common = first.size();
  for (std::int64_t i = 1; i < names.count() && common > 0; ++i) {
    const std::string_view name = names.name(i);
    common = std::min(common, name.size());
    while (std::memcmp(first.data(), name.data(), common) != 0) --common;
  }
  return common;
}

// Sorts keys whose names agree in the first `depth` bytes. Whole names are only read to fill in the
// next eight bytes, or for a few names that agree in those too.
void sort_from(const NameBlob& names, std::size_t depth, Key* begin, Key* end) {
  constexpr std::ptrdiff_t kFew = 16;
  constexpr std::int64_t kAhead = 16;
  const auto by_name = [&names](const Key& a, const Key& b) {
    const int order = names.name(a.place).compare(names.name(b.place));
    return order != 0 ? order < 0 : a.place < b.place;
  };
  for (Key* key = begin; key != end; ++key) {
    if (end - key > 2 * kAhead) {
      __builtin_prefetch(&names.offsets[static_cast<std::size_t>(key[2 * kAhead].place)]);
      __builtin_prefetch(names.name(key[kAhead].place).data());
    }
    const std::string_view name = names.name(key->place);
    key->leading = leading_bytes(name.substr(std::min(depth, name.size())));
  }
  std::sort(begin, end, [](const Key& a, const Key& b) {
    return a.leading != b.leading ? a.leading < b.leading : a.place < b.place;
  });
  while (begin != end) {
    Key* next = begin + 1;
    while (next != end && next->leading == begin->leading) ++next;
    // A zero byte: names may end here, or hold zeros, or be equal.
    if (next - begin > kFew && (begin->leading & 0xFF) != 0) {
      sort_from(names, depth + 8, begin, next);
    } else if (next - begin > 1) {
      std::sort(begin, next, by_name);
    }
    begin = next;
  }
}

}  // namespace

std::vector<std::int32_t> sorted_places(const NameBlob& names) {
  std::vector<Key> keys;
  reserve_huge(keys, static_cast<std::size_t>(names.count()));
  for (std::int64_t i = 0; i < names.count(); ++i) {
    keys.push_back({0, static_cast<std::int32_t>(i)});
  }
  sort_from(names, common_prefix(names), keys.data(), keys.data() + keys.size());
  std::vector<std::int32_t> places;
  places.reserve(keys.size());
  for (const Key& key : keys) places.push_back(key.place);
  return places;
}

NameBlob NameTable::take_sorted(std::vector<std::int32_t>& place_of) {
  slots_.assign(16, {0, -1});
  slots_.shrink_to_fit();
  const std::vector<std::int32_t> order = sorted_places(names_);
  reserve_huge(place_of, order.size());
  place_of.resize(order.size());
  NameBlob sorted;
  reserve_huge(sorted.blob, names_.blob.size());
  reserve_huge(sorted.offsets, names_.offsets.size());
  constexpr std::size_t kAhead = 16;
  for (std::size_t place = 0; place < order.size(); ++place) {
    if (place + 2 * kAhead < order.size()) {
      __builtin_prefetch(&names_.offsets[static_cast<std::size_t>(order[place + 2 * kAhead])]);
      __builtin_prefetch(names_.name(order[place + kAhead]).data());
    }
    place_of[static_cast<std::size_t>(order[place])] = static_cast<std::int32_t>(place);
    sorted.push_back(names_.name(order[place]));
  }
  names_ = NameBlob();
  return sorted;
}

}  // namespace hyperhop::graph
