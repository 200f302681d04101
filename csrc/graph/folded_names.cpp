#include "folded_names.h"

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

FoldedNames group_folded(const NameBlob& folded) {
  FoldedNames groups;
  groups.ids = sorted_places(folded);
  for (std::size_t i = 0; i < groups.ids.size(); ++i) {
    const std::string_view key = folded.name(groups.ids[i]);
    const std::int64_t last = groups.keys.count() - 1;
    if (last < 0 || groups.keys.name(last) != key) {
      groups.keys.push_back(key);
      groups.id_offsets.push_back(static_cast<std::int64_t>(i));
    }
    groups.id_offsets.back() = static_cast<std::int64_t>(i) + 1;
  }
  return groups;
}

}  // namespace hyperhop::graph
