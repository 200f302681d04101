#include "near_rows.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <mutex>
#include <numeric>

#include "dispatch.h"
#include "parallel.h"

namespace hyperhop {
namespace {

constexpr int64_t kRowsAtLeast = 4096;  // for each thread
constexpr int64_t kProducts = 1 << 16;  // of a tile: they stay in the cache

struct Bounds {
  int64_t row;
  float below, above;
};

// The rows of one query that may be among its k best, of those seen so far.
class NearRows {
 public:
  explicit NearRows(int64_t k) : k_(size_t(k)) {}

  float least() const { return least_; }
  void add(const Bounds& row) {
    if (!(row.above >= least_)) return;
    found_.push_back(row);
    if (largest_.size() == k_ && row.below <= largest_.front()) return;
    largest_.push_back(row.below);
    std::push_heap(largest_.begin(), largest_.end(), std::greater<>());
    if (largest_.size() > k_) {
      std::pop_heap(largest_.begin(), largest_.end(), std::greater<>());
      largest_.pop_back();
    }
    if (largest_.size() == k_) least_ = largest_.front();
  }
  void add_all(const NearRows& others) {
    for (const Bounds& row : others.found_) add(row);
  }
  std::vector<int64_t> rows(int64_t count) const {
    std::vector<int64_t> rows;
    if (largest_.size() < k_) {
      rows.resize(size_t(count));
      std::iota(rows.begin(), rows.end(), 0);
      return rows;
    }
    for (const Bounds& row : found_)
      if (row.above >= least_) rows.push_back(row.row);
    std::sort(rows.begin(), rows.end());
    return rows;
  }

 private:
  size_t k_;
  std::vector<Bounds> found_;
  std::vector<float> largest_;  // the k largest lower bounds, the least in front
  float least_ = -std::numeric_limits<float>::infinity();
};

// Rows [first, until) of one query, given their products.
void look(const CodedRows& rows, const CodedQueries& queries, int64_t query, const float* products,
          int64_t first, int64_t until, NearRows& near) {
  const double* extra = queries.extra ? queries.extra + query * rows.count : nullptr;
  for (int64_t i = first; i < until; ++i) {
    float score = products[i - first];
    if (extra) score += float(extra[i]);
    const float slack = rows.errors[i] + queries.lost[query];
    if (score + slack >= near.least()) near.add({i, score - slack, score + slack});
  }
}

}  // namespace

std::vector<std::vector<int64_t>> near_rows(const CodedRows& rows, const CodedQueries& queries,
                                            int64_t k, int threads) {
  const auto count = size_t(queries.count);
  std::vector<NearRows> best(count, NearRows(k));
  const int64_t tile =
      std::clamp<int64_t>(kProducts / std::max<int64_t>(1, queries.count), 64, 4096);
  std::mutex mutex;
  parallel_for(rows.count, kRowsAtLeast, threads, [&](int64_t begin, int64_t end) {
    std::vector<NearRows> own(count, NearRows(k));
    std::vector<float> products(size_t(queries.count * tile));
    const CodeProductsArgs args{rows.codes,     rows.scales,   rows.dim,        queries.codes,
                                queries.scales, queries.count, products.data(), tile};
    for (int64_t first = begin; first < end; first += tile) {
      const int64_t until = std::min(first + tile, end);
      kernels().code_products(args, first, until);
      for (int64_t q = 0; q < queries.count; ++q)
        look(rows, queries, q, products.data() + q * tile, first, until, own[size_t(q)]);
    }
    const std::lock_guard<std::mutex> lock(mutex);
    for (size_t q = 0; q < count; ++q) best[q].add_all(own[q]);
  });
  std::vector<std::vector<int64_t>> found;
  for (const NearRows& near : best) found.push_back(near.rows(rows.count));
  return found;
}

}  // namespace hyperhop
