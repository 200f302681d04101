// Which rows may be among the best of a query, told from their codes.
#pragma once
#include <cstdint>
#include <vector>

namespace hyperhop {

struct CodedRows {
  const int8_t* codes;  // (count, dim)
  const float* scales;  // (count,)
  const float* errors;  // (count,)
  int64_t count, dim;
};

// The score of a row is its product with the query plus `extra`; it lies within error + lost of
// what the codes say.
struct CodedQueries {
  const int16_t* codes;  // (count, dim)
  const float* scales;   // (count,)
  const float* lost;     // (count,): also what float32 rounds off
  const double* extra;   // (count, rows), or null
  int64_t count;
};

// For each query, ascending: rows whose upper bound reaches the k-th largest lower bound; all rows
// where fewer than k bounds are numbers. 1 <= k <= rows. Rows are read once for all queries; beside
// the result, memory is a tile of products for each thread.
std::vector<std::vector<int64_t>> near_rows(const CodedRows& rows, const CodedQueries& queries,
                                            int64_t k, int threads);

}  // namespace hyperhop
