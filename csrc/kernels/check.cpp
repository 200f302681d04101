#include "check.h"

#include <algorithm>
#include <stdexcept>

namespace hyperhop {

std::string to_string(const Shape& shape) {
  std::string text = "(";
  for (size_t i = 0; i < shape.size(); ++i) text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

static int64_t product_of(const Shape& shape) {
  int64_t product = 1;
  for (const int64_t size : shape) product *= size;
  return product;
}

static bool is_planes(Layout layout) {
  return layout != Layout::complex;
}

static std::string name_of(Layout layout) {
  if (layout == Layout::complex) return "complex64";
  return layout == Layout::planes ? "planes (float32)" : "planes (float16)";
}

Hypervectors check_hypervectors(const Argument& arg, Layout layout, const Shape& shape) {
  const bool planes = is_planes(layout);
  const std::string rule =
      name_of(layout) + " must have shape " + (planes ? "(..., m, m, 2, D)" : "(..., D, m, m)");
  const size_t own = planes ? 4 : 3;
  const auto refuse = [&](const std::string& what) {
    throw std::invalid_argument(arg.text() + ": " + rule + what + ", got " + to_string(shape));
  };
  if (shape.size() < own) refuse("");
  const size_t lead = shape.size() - own;
  const int64_t rows = shape[lead + (planes ? 0 : 1)], columns = shape[lead + (planes ? 1 : 2)];
  const int64_t blocks = shape[lead + (planes ? 3 : 0)];
  if (rows != columns || (planes && shape[lead + 2] != 2)) refuse("");
  if (rows < 1 || rows > kMaxBlockSize)
    refuse(" with m from 1 to " + std::to_string(kMaxBlockSize));
  if (blocks < 1) refuse(" with D at least 1");
  Hypervectors vectors{
      layout, {blocks, int(rows)}, Shape(shape.begin(), shape.end() - int(own)), 0};
  vectors.rows = product_of(vectors.leading);
  return vectors;
}

void check_same_blocks(const Argument& arg, const Hypervectors& x, const std::string& other,
                       const Hypervectors& y) {
  const auto describe = [](const Hypervectors& v) {
    return name_of(v.layout) + " D = " + std::to_string(v.shape.blocks) +
           ", m = " + std::to_string(v.shape.block_size);
  };
  if (is_planes(x.layout) != is_planes(y.layout) || x.shape.blocks != y.shape.blocks ||
      x.shape.block_size != y.shape.block_size)
    throw std::invalid_argument(arg.text() + " and " + other +
                                " must have the same layout, D and m, got " + describe(x) +
                                " and " + describe(y));
}

Shape full_shape(const Shape& leading, Layout layout, const BlockShape& blocks) {
  Shape shape = leading;
  const int64_t m = blocks.block_size;
  if (is_planes(layout))
    shape.insert(shape.end(), {m, m, 2, blocks.blocks});
  else
    shape.insert(shape.end(), {blocks.blocks, m, m});
  return shape;
}

Broadcast broadcast_rows(const Argument& arg, const Shape& x, const std::string& other,
                         const Shape& y) {
  const size_t axes = std::max(x.size(), y.size());
  const auto padded = [axes](const Shape& shape) {
    Shape result(axes - shape.size(), 1);
    result.insert(result.end(), shape.begin(), shape.end());
    return result;
  };
  const Shape xs = padded(x), ys = padded(y);
  Broadcast out;
  for (size_t a = 0; a < axes; ++a) {
    if (xs[a] != ys[a] && xs[a] != 1 && ys[a] != 1)
      throw std::invalid_argument(arg.text() + " and " + other + " have leading shapes " +
                                  to_string(x) + " and " + to_string(y) +
                                  ", which do not broadcast");
    out.leading.push_back(xs[a] == 1 ? ys[a] : xs[a]);
  }
  const int64_t rows = product_of(out.leading);
  const auto row_map = [&](const Shape& shape) {
    std::vector<int64_t> map(static_cast<size_t>(rows), 0);
    int64_t stride = 1, inner = 1;
    for (size_t a = axes; a-- > 0;) {
      if (shape[a] != 1)
        for (int64_t r = 0; r < rows; ++r) map[size_t(r)] += r / inner % out.leading[a] * stride;
      stride *= shape[a];
      inner *= out.leading[a];
    }
    return map;
  };
  out.x_rows = row_map(xs);
  out.y_rows = row_map(ys);
  return out;
}

void check_paths(const std::string& function, const PathsView& paths, int64_t total,
                 int64_t num_symbols) {
  const auto refuse = [&](int64_t path, const std::string& what) {
    throw std::invalid_argument(function + ": path " + std::to_string(path) + " " + what);
  };
  if (paths.offsets[0] != 0 || paths.offsets[paths.count] != total)
    throw std::invalid_argument(function + ": offsets must run from 0 to " + std::to_string(total) +
                                ", the number of symbols, got " + std::to_string(paths.offsets[0]) +
                                " to " + std::to_string(paths.offsets[paths.count]));
  for (int64_t p = 0; p < paths.count; ++p) {
    const int64_t length = paths.length(p);
    if (length < 0 || paths.offsets[p + 1] > total) refuse(p, "has offsets that fall");
    if (length > kMaxPathLength)
      refuse(p, "has " + std::to_string(length) + " symbols, at most " +
                    std::to_string(kMaxPathLength) + " are allowed");
    for (int64_t i = 0; i < length; ++i) {
      const int64_t symbol = paths.begin(p)[i];
      if (symbol < 0 || symbol >= num_symbols)
        refuse(p, "holds symbol " + std::to_string(symbol) + ", the codebook has symbols 0 to " +
                      std::to_string(num_symbols - 1));
    }
  }
}

void check_k(const std::string& function, int64_t k) {
  if (k < 0)
    throw std::invalid_argument(function + ": k must be at least 0, got " + std::to_string(k));
}

}  // namespace hyperhop
