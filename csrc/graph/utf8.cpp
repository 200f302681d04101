#include "utf8.h"

#include <cstdint>
#include <cstring>

namespace hyperhop::graph {
namespace {

bool is_continuation(unsigned char byte) {
  return (byte & 0xC0u) == 0x80u;
}

// Length of the character at `at`, 0 if it is invalid.
std::size_t character_length(const unsigned char* at, std::size_t left) {
  const unsigned char lead = at[0];
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return left >= 2 && is_continuation(at[1]) ? 2 : 0;
  if (lead >= 0xE0 && lead <= 0xEF) {
    if (left < 3 || !is_continuation(at[1]) || !is_continuation(at[2])) return 0;
    if (lead == 0xE0 && at[1] < 0xA0) return 0;   // overlong
    if (lead == 0xED && at[1] >= 0xA0) return 0;  // surrogate
    return 3;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    if (left < 4 || !is_continuation(at[1]) || !is_continuation(at[2]) || !is_continuation(at[3])) {
      return 0;
    }
    if (lead == 0xF0 && at[1] < 0x90) return 0;   // overlong
    if (lead == 0xF4 && at[1] >= 0x90) return 0;  // beyond U+10FFFF
    return 4;
  }
  return 0;
}

}  // namespace

std::size_t find_invalid_utf8(std::string_view text) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  std::size_t i = 0;
  while (i < text.size()) {
    std::uint64_t word;
    if (text.size() - i >= sizeof word) {
      std::memcpy(&word, bytes + i, sizeof word);
      if ((word & 0x8080808080808080u) == 0) {
        i += sizeof word;
        continue;
      }
    }
    const std::size_t length = character_length(bytes + i, text.size() - i);
    if (length == 0) return i;
    i += length;
  }
  return i;
}

}  // namespace hyperhop::graph
