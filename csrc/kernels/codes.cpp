#include "codes.h"

#include <string.h>

#include "../portability.h"

namespace hyperhop::HH_ISA {
namespace {

constexpr float kSmallest = 1e-30f;
constexpr int64_t kRowsAtOnce = 256;  // stay in the cache while all queries pass
constexpr int64_t kQueriesAtOnce = 4;
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

// Compilers make multiply-and-add pairs of int16 of these loops.
int32_t one_sum(const int8_t* HH_RESTRICT codes, const int16_t* HH_RESTRICT query, int64_t dim) {
  int32_t sum = 0;
  for (int64_t j = 0; j < dim; ++j) sum += int32_t(int16_t(codes[j])) * int32_t(query[j]);
  return sum;
}

void four_sums(const int8_t* HH_RESTRICT codes, const int16_t* HH_RESTRICT queries, int64_t dim,
               int32_t* HH_RESTRICT sums) {
  const int16_t *HH_RESTRICT q1 = queries + dim, *HH_RESTRICT q2 = q1 + dim,
                             *HH_RESTRICT q3 = q2 + dim;
  int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  for (int64_t j = 0; j < dim; ++j) {
    const int32_t code = int16_t(codes[j]);
    s0 += code * int32_t(queries[j]);
    s1 += code * int32_t(q1[j]);
    s2 += code * int32_t(q2[j]);
    s3 += code * int32_t(q3[j]);
  }
  sums[0] = s0, sums[1] = s1, sums[2] = s2, sums[3] = s3;
}

void put(const CodeProductsArgs& args, int64_t begin, int64_t row, int64_t query, int32_t sum) {
  args.out[query * args.step + row - begin] =
      float(sum) * args.scales[row] * args.query_scales[query];
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

void code_products(const CodeProductsArgs& args, int64_t begin, int64_t end) {
  const int64_t dim = args.dim;
  for (int64_t first = begin; first < end; first += kRowsAtOnce) {
    const int64_t last = first + kRowsAtOnce < end ? first + kRowsAtOnce : end;
    int64_t query = 0;
    for (; query + kQueriesAtOnce <= args.num_queries; query += kQueriesAtOnce)
      for (int64_t row = first; row < last; ++row) {
        int32_t sums[kQueriesAtOnce];
        four_sums(args.codes + row * dim, args.queries + query * dim, dim, sums);
        for (int64_t i = 0; i < kQueriesAtOnce; ++i) put(args, begin, row, query + i, sums[i]);
      }
    for (; query < args.num_queries; ++query)
      for (int64_t row = first; row < last; ++row)
        put(args, begin, row, query,
            one_sum(args.codes + row * dim, args.queries + query * dim, dim));
  }
}

}  // namespace hyperhop::HH_ISA
