#include "codes.h"

#include <string.h>

#include "../portability.h"

namespace hyperhop::HH_ISA {
namespace {

constexpr float kSmallest = 1e-30f;
constexpr int64_t kBlock = 16;  // partial sums, so that the compiler has lanes to add in

float largest(const float* row, int64_t dim) {
  float most[kBlock] = {}, not_finite[kBlock] = {};
  const auto take = [&](int64_t lane, float x) HH_INLINE_LAMBDA {
    const float size = x < 0 ? -x : x;
    most[lane] = size > most[lane] ? size : most[lane];
    not_finite[lane] += x - x;  // NaN for infinity and NaN
  };
  int64_t j = 0;
  for (; j + kBlock <= dim; j += kBlock)
    for (int64_t lane = 0; lane < kBlock; ++lane) take(lane, row[j + lane]);
  for (; j < dim; ++j) take(0, row[j]);
  float result = 0;
  for (int64_t lane = 0; lane < kBlock; ++lane) {
    result = most[lane] > result ? most[lane] : result;
    if (not_finite[lane] != 0) return not_finite[lane];
  }
  return result;
}

}  // namespace

void code_row(const float* row, int64_t dim, int8_t* codes, float* scale, float* error) {
  const float most = largest(row, dim);
  if (!(most >= kSmallest)) {
    memset(codes, 0, size_t(dim));
    *scale = most == most ? 0.0f : most;
    *error = most > 0 ? kSmallest * __builtin_sqrtf(float(dim)) : most;
    return;
  }
  const float step = most / 127, inverse = 1 / step;
  float squares[kBlock] = {};
  const auto round = [&](int64_t j, int64_t lane) HH_INLINE_LAMBDA {
    const float x = row[j] * inverse;
    const int32_t code = int32_t(x + (x < 0 ? -0.5f : 0.5f));
    codes[j] = int8_t(code);
    const float apart = row[j] - step * float(code);
    squares[lane] += apart * apart;
  };
  int64_t j = 0;
  for (; j + kBlock <= dim; j += kBlock)
    for (int64_t lane = 0; lane < kBlock; ++lane) round(j + lane, lane);
  for (; j < dim; ++j) round(j, 0);
  float total = 0;
  for (const float part : squares) total += part;
  *scale = step;
  *error = __builtin_sqrtf(total) * 1.001f + most * 1e-6f;  // beyond what these sums round off
}

void code_bounds(const CodeBoundsArgs& args, int64_t begin, int64_t end) {
  const int16_t* HH_RESTRICT query = args.query;
  for (int64_t row = begin; row < end; ++row) {
    const int8_t* HH_RESTRICT codes = args.codes + row * args.dim;
    int32_t sum = 0;  // compilers make multiply-and-add pairs of int16 of this loop
    for (int64_t j = 0; j < args.dim; ++j) sum += int32_t(int16_t(codes[j])) * int32_t(query[j]);
    float product = float(sum) * (args.scales[row] * args.query_scale);
    if (args.extra) product += float(args.extra[row]);
    const float slack = args.errors[row] + args.lost;
    args.below[row] = product - slack;
    args.above[row] = product + slack;
  }
}

}  // namespace hyperhop::HH_ISA
