// All candidates of one step of a beam, in canonical order.
#pragma once

#include <cstdint>
#include <vector>

#include "expansion.h"

namespace hyperhop::graph {

// Rows of `width` triple ids, -1 behind the last; `width` is at least one more than a parent's
// size. O(C) for C candidates whose ranks fit 128 bits a row, else O(C log C).
std::vector<std::int64_t> candidates(const TripleIndex& index, const Expansion& expansion,
                                     std::int64_t width);

}  // namespace hyperhop::graph
