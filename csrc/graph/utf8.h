#pragma once

#include <cstddef>
#include <string_view>

namespace hyperhop::graph {

// The place of the first byte that is not valid UTF-8 (RFC 3629: no surrogates, no overlong forms),
// or text.size().
std::size_t find_invalid_utf8(std::string_view text);

}  // namespace hyperhop::graph
