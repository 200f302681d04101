// Every argument rule of the kernels, once, for the CPU and any other device. A rule that is broken
// throws std::invalid_argument (ValueError in Python) with function, argument, rule and value.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "blocks.h"

namespace hyperhop {

using Shape = std::vector<int64_t>;

std::string to_string(const Shape& shape);

// An array of hypervectors: leading axes, then blocks in one of the layouts.
struct Hypervectors {
  Layout layout;
  BlockShape shape;
  Shape leading;
  int64_t rows;  // product of leading
};

// Where an argument stands, for messages: "bind: x".
struct Argument {
  std::string function, name;
  std::string text() const { return function + ": " + name; }
};

Hypervectors check_hypervectors(const Argument& arg, Layout layout, const Shape& shape);

// Both complex or both planes (of either width), with the same D and m.
void check_same_blocks(const Argument& arg, const Hypervectors& x, const std::string& other,
                       const Hypervectors& y);

// Full shape of an array with these leading axes and blocks.
Shape full_shape(const Shape& leading, Layout layout, const BlockShape& blocks);

// NumPy's broadcasting of two sets of leading axes: for each output row, the row of x and of y.
struct Broadcast {
  Shape leading;
  std::vector<int64_t> x_rows, y_rows;
};
Broadcast broadcast_rows(const Argument& arg, const Shape& x, const std::string& other,
                         const Shape& y);

// Offsets start at 0, never fall and end at the number of symbols; lengths are at most
// kMaxPathLength; symbols lie in [0, num_symbols).
constexpr int64_t kMaxPathLength = 1024;
struct PathsView {
  const int32_t* symbols;
  const int64_t* offsets;
  int64_t count;
  int64_t length(int64_t path) const { return offsets[path + 1] - offsets[path]; }
  const int32_t* begin(int64_t path) const { return symbols + offsets[path]; }
};
void check_paths(const std::string& function, const PathsView& paths, int64_t total,
                 int64_t num_symbols);

void check_k(const std::string& function, int64_t k);

}  // namespace hyperhop
