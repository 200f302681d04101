// Names by their folded form: lower case, single spaces, "_" read as a space. Finds entities in
// running text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "names.h"

namespace hyperhop::graph {

// Folds an ASCII name; false (and no output) if it holds another byte. A name that folds to nothing
// stays as it is.
bool fold_ascii(std::string_view name, std::string& folded);

struct FoldedNames {
  NameBlob keys;                            // distinct, in byte order
  std::vector<std::int64_t> id_offsets{0};  // (keys + 1,)
  std::vector<std::int32_t> ids;            // ids with each key, ascending
};

// `folded`: folded names in any order; `ids`: whose they are.
FoldedNames group_folded(const NameBlob& folded, const std::vector<std::int32_t>& ids);

}  // namespace hyperhop::graph
