#include "folded_names.h"

#include <algorithm>

namespace hyperhop::graph {
namespace {

// ASCII characters that str.split() splits at, and "_".
bool is_gap(unsigned char c) {
  return c == ' ' || c == '_' || (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x1F);
}

}  // namespace

bool fold_ascii(std::string_view name, std::string& folded) {
  folded.clear();
  bool gap = false;
  for (const char character : name) {
    const auto byte = static_cast<unsigned char>(character);
    if (byte >= 0x80) {
      folded.clear();
      return false;
    }
    if (is_gap(byte)) {
      gap = true;
      continue;
    }
    if (gap && !folded.empty()) folded.push_back(' ');
    gap = false;
    folded.push_back(byte >= 'A' && byte <= 'Z' ? static_cast<char>(byte + 32) : character);
  }
  if (folded.empty()) folded.assign(name);
  return true;
}

FoldedNames group_folded(const NameBlob& folded, const std::vector<std::int32_t>& ids) {
  FoldedNames groups;
  for (const std::int32_t place : sorted_places(folded)) {
    const std::string_view key = folded.name(place);
    const std::int64_t last = groups.keys.count() - 1;
    if (last < 0 || groups.keys.name(last) != key) {
      groups.keys.push_back(key);
      groups.id_offsets.push_back(groups.id_offsets.back());
    }
    groups.ids.push_back(ids[static_cast<std::size_t>(place)]);
    ++groups.id_offsets.back();
  }
  for (std::size_t i = 0; i + 1 < groups.id_offsets.size(); ++i) {
    std::sort(groups.ids.begin() + groups.id_offsets[i],
              groups.ids.begin() + groups.id_offsets[i + 1]);
  }
  return groups;
}

}  // namespace hyperhop::graph
