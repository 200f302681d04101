// Sums over the nodes of a segment in one fixed shape: kNodePartials partial sums, node i (counted
// from the segment's start) adding to number i modulo that, inside blocks of kNodeBlock nodes whose
// sums are added in order.
#pragma once
#include <stdint.h>

namespace hyperhop {

constexpr int64_t kNodeBlock = 1024;
template <class T>
constexpr int kNodePartials = 64 / int(sizeof(T));

}  // namespace hyperhop
