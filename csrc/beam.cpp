#include "beam.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>

#include "dispatch.h"
#include "memory.h"
#include "parallel.h"

namespace hyperhop {
namespace {

using graph::AdjacentTriple;
using graph::as_size;
using graph::Expansion;
using graph::HyperNodeRow;
using graph::TripleIndex;

// Rows of embeddings by the rank of their triple, in float32: where they lie, or widened.
class FloatRows {
 public:
  FloatRows(const TripleIndex& index, const EmbeddingRows& embeddings, std::vector<int32_t>&& ranks)
      : ranks_(std::move(ranks)), embeddings_(embeddings) {
    std::sort(ranks_.begin(), ranks_.end());
    ranks_.erase(std::unique(ranks_.begin(), ranks_.end()), ranks_.end());
    if (embeddings.half) widened_.resize(ranks_.size() * as_size(embeddings.dim));
    for (size_t i = 0; i < ranks_.size(); ++i) {
      const int64_t triple = index.triple(ranks_[i]);
      if (embeddings.half) {
        float* to = widened_.data() + int64_t(i) * embeddings.dim;
        kernels().widen_row(embeddings, triple, to);
        rows_.push_back(to);
      } else {
        rows_.push_back(static_cast<const float*>(embeddings.data) + triple * embeddings.dim);
      }
    }
  }
  const float* row(int32_t rank) const {
    return rows_[size_t(std::lower_bound(ranks_.begin(), ranks_.end(), rank) - ranks_.begin())];
  }

 private:
  std::vector<int32_t> ranks_;
  std::vector<const float*> rows_;
  std::vector<float> widened_;
  EmbeddingRows embeddings_;
};

// Dot products of a tile's rows with themselves and with columns; memory for one thread.
class RowDots {
 public:
  RowDots(const TripleIndex& index, const EmbeddingRows& embeddings)
      : index_(index),
        embeddings_(embeddings),
        scratch_(make_scratch(row_dots_scratch(embeddings.dim))) {}

  // The rows are those of ranks(i), i < count <= kCompositionTile; up to `total` others come next.
  template <class Ranks>
  void run(const Ranks& ranks, int64_t count, int64_t total,
           const std::vector<const float*>& columns) {
    const auto num_columns = int64_t(columns.size());
    dots_.resize(as_size(num_columns * kCompositionTile));
    const int64_t ahead = std::min(kRowGroup, total - count);
    for (int64_t i = 0; i < count + ahead; ++i) rows_[i] = index_.triple(ranks(i));
    kernels().row_dots({embeddings_, rows_, count, ahead, columns.data(), num_columns, squares_,
                        dots_.data(), scratch_.get()});
  }
  const float* squares() const { return squares_; }
  const float* with(int64_t column) const { return dots_.data() + column * kCompositionTile; }

 private:
  const TripleIndex& index_;
  EmbeddingRows embeddings_;
  Scratch scratch_;
  int32_t rows_[kCompositionTile + kRowGroup];
  float squares_[kCompositionTile];
  std::vector<float> dots_;
};

// What composition needs of the rows of one set.
struct SetDots {
  std::vector<float> query, squares, pairs;

  SetDots(HyperNodeRow row, const FloatRows& rows, const CosineQuery& q, RowDots& dots) {
    std::vector<const float*> columns = {q.values()};
    for (const int32_t rank : row) columns.push_back(rows.row(rank));
    const auto size = as_size(row.size);
    std::vector<float> all(size * size);
    for (int64_t first = 0; first < row.size; first += kCompositionTile) {
      const int64_t count = std::min(kCompositionTile, row.size - first);
      dots.run([&](int64_t i) { return row.ranks[first + i]; }, count, row.size - first, columns);
      query.insert(query.end(), dots.with(0), dots.with(0) + count);
      squares.insert(squares.end(), dots.squares(), dots.squares() + count);
      for (int64_t i = 0; i < row.size; ++i)
        std::copy_n(dots.with(1 + i), count, all.begin() + i * row.size + first);
    }
    for (size_t i = 0; i < size; ++i)
      pairs.insert(pairs.end(), all.begin() + int64_t(i * size + i + 1),
                   all.begin() + int64_t((i + 1) * size));
  }
};

// The score from the rows themselves, in float64: for sums that cancel and sizes beyond float32.
float composition_exact(const TripleIndex& index, const EmbeddingRows& embeddings,
                        const CosineQuery& query, HyperNodeRow row) {
  const auto dim = as_size(embeddings.dim);
  std::vector<double> sum(dim);
  std::vector<float> one(dim);
  for (const int32_t rank : row) {
    kernels().widen_row(embeddings, index.triple(rank), one.data());
    for (size_t j = 0; j < dim; ++j) sum[j] += double(one[j]);
  }
  double numerator = 0, square = 0;
  for (size_t j = 0; j < dim; ++j) {
    numerator += double(query.values()[j]) * sum[j];
    square += sum[j] * sum[j];
  }
  if (square == 0) return 0;
  return float(std::clamp(numerator * query.factor() / std::sqrt(square), -1.0, 1.0));
}

// Whether a cosine ranks first: larger is better, 0 is NaN.
uint32_t key_of(float cosine) {
  if (std::isnan(cosine)) return 0;
  cosine += 0.0f;  // the two zeros are equal
  uint32_t bits;
  std::memcpy(&bits, &cosine, sizeof(bits));
  return bits >> 31 ? ~bits : bits | 0x80000000u;
}

// The best sets so far.
class BestSets {
 public:
  BestSets(const Expansion& expansion, int64_t k) : expansion_(expansion), k_(k) {}

  bool may_add(float cosine) const { return key_of(cosine) >= least_; }
  // No number below this may be added.
  float limit() const { return limit_; }
  void add(const ScoredSet& set) {
    sets_.push_back(set);
    if (int64_t(sets_.size()) >= 2 * k_ + 256) keep_best();
  }
  void add_all(const BestSets& others) {
    for (const ScoredSet& set : others.sets_)
      if (may_add(set.cosine)) add(set);
  }
  std::vector<ScoredSet> take() {
    keep_best();
    std::sort(sets_.begin(), sets_.end(),
              [this](const ScoredSet& a, const ScoredSet& b) { return is_before(a, b); });
    return std::move(sets_);
  }

 private:
  bool is_before(const ScoredSet& a, const ScoredSet& b) {
    const uint32_t key_a = key_of(a.cosine), key_b = key_of(b.cosine);
    return key_a != key_b ? key_a > key_b : write(a, first_) < write(b, second_);
  }
  HyperNodeRow write(const ScoredSet& set, std::vector<int32_t>& to) const {
    const HyperNodeRow parent = expansion_.parent(set.parent);
    to.resize(as_size(parent.size + 1));
    graph::write_set(parent, set.rank, to.data());
    return {to.data(), parent.size + (set.rank >= 0)};
  }
  void keep_best() {
    if (int64_t(sets_.size()) <= k_) return;
    std::nth_element(sets_.begin(), sets_.begin() + (k_ - 1), sets_.end(),
                     [this](const ScoredSet& a, const ScoredSet& b) { return is_before(a, b); });
    sets_.resize(as_size(k_));
    least_ = key_of(sets_.back().cosine);
    if (least_ > 0) limit_ = sets_.back().cosine;
  }

  const Expansion& expansion_;
  int64_t k_;
  std::vector<ScoredSet> sets_;
  uint32_t least_ = 0;
  float limit_ = -1;
  std::vector<int32_t> first_, second_;
};

// One query's candidates, scored and ranked place by place.
class Search {
 public:
  Search(const TripleIndex& index, const Expansion& expansion, const EmbeddingRows& embeddings,
         const CosineQuery& query, int64_t k)
      : index_(index),
        expansion_(expansion),
        embeddings_(embeddings),
        query_(query),
        k_(k),
        rows_(index, embeddings, beam_ranks(expansion)) {
    RowDots dots(index, embeddings);
    for (int64_t p = 0; p < expansion.num_parents(); ++p)
      parents_.emplace_back(expansion.parent(p), rows_, query, dots);
    for (const Expansion::Place& place : expansion.places())
      starts_.push_back(starts_.back() + index.at(place.entity).size());
  }

  std::vector<ScoredSet> run(int threads) {
    BestSets best(expansion_, k_);
    for (int64_t p = 0; p < expansion_.num_parents(); ++p)
      if (expansion_.is_kept(p))
        best.add({composition_score(index_, embeddings_, query_, expansion_.parent(p)), -1, p});
    std::mutex mutex;
    const int64_t grain = 1 + (1 << 19) / (embeddings_.dim + 1);
    parallel_for(starts_.back(), grain, threads, [&](int64_t begin, int64_t end) {
      BestSets own(expansion_, k_);
      RowDots dots(index_, embeddings_);
      size_t place =
          size_t(std::upper_bound(starts_.begin(), starts_.end(), begin) - starts_.begin() - 1);
      for (; begin < end; ++place) {
        const int64_t until = std::min(end, starts_[place + 1]);
        search_place(expansion_.places()[place], begin - starts_[place], until - starts_[place],
                     dots, own);
        begin = until;
      }
      const std::lock_guard<std::mutex> lock(mutex);
      best.add_all(own);
    });
    return best.take();
  }

 private:
  static std::vector<int32_t> beam_ranks(const Expansion& expansion) {
    std::vector<int32_t> ranks;
    for (int64_t p = 0; p < expansion.num_parents(); ++p)
      ranks.insert(ranks.end(), expansion.parent(p).begin(), expansion.parent(p).end());
    return ranks;
  }

  // Triples [begin, end) of a place with all of its parents.
  void search_place(const Expansion::Place& place, int64_t begin, int64_t end, RowDots& dots,
                    BestSets& best) const {
    std::vector<int32_t> ranks;
    for (const int64_t p : place.parents)
      ranks.insert(ranks.end(), expansion_.parent(p).begin(), expansion_.parent(p).end());
    std::sort(ranks.begin(), ranks.end());
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    std::vector<const float*> columns = {query_.values()};
    for (const int32_t rank : ranks) columns.push_back(rows_.row(rank));

    const AdjacentTriple* triples = index_.at(place.entity).first;
    std::vector<const float*> pair_dots;
    for (int64_t first = begin; first < end; first += kCompositionTile) {
      const int64_t count = std::min(kCompositionTile, end - first);
      const AdjacentTriple* tile = triples + first;
      dots.run([&](int64_t i) { return tile[i].rank; }, count, end - first, columns);
      for (const int64_t p : place.parents) {
        const HyperNodeRow parent = expansion_.parent(p);
        pair_dots.clear();
        for (const int32_t rank : parent)
          pair_dots.push_back(
              dots.with(1 + std::lower_bound(ranks.begin(), ranks.end(), rank) - ranks.begin()));
        join(p, place.entity, tile, count, dots, pair_dots, best);
      }
    }
  }

  // The sets of one parent with each triple of a tile.
  void join(int64_t p, int32_t entity, const AdjacentTriple* tile, int64_t count,
            const RowDots& dots, const std::vector<const float*>& pair_dots, BestSets& best) const {
    const HyperNodeRow parent = expansion_.parent(p);
    const SetDots& own = parents_[as_size(p)];
    float cosines[kCompositionTile];
    std::vector<const float*> part(pair_dots.size());
    int64_t begin = 0;
    for (int64_t place = 0; place <= parent.size; ++place) {
      // Tiles ascend, so the triples that come at one place of the set lie together.
      const int64_t end =
          place == parent.size
              ? count
              : std::partition_point(tile + begin, tile + count, [&](const AdjacentTriple& t) {
                  return t.rank < parent.ranks[place];
                }) - tile;
      if (begin == end) continue;
      for (size_t i = 0; i < part.size(); ++i) part[i] = pair_dots[i] + begin;
      kernels().composition({parent.size + 1, place, own.query.data(), own.squares.data(),
                             own.pairs.data(), query_.factor(), end - begin, dots.with(0) + begin,
                             dots.squares() + begin, part.data(), cosines + begin});
      begin = end;
    }
    for (int64_t i = 0; i < count; ++i)
      if (!(cosines[i] < best.limit())) offer(p, entity, tile[i], cosines[i], best);
  }

  void offer(int64_t p, int32_t entity, AdjacentTriple triple, float cosine, BestSets& best) const {
    const bool unsure = std::isnan(cosine) && query_.is_finite();
    if (!unsure && !best.may_add(cosine)) return;
    if (!expansion_.admits(p, entity, triple)) return;
    if (unsure) {
      const HyperNodeRow parent = expansion_.parent(p);
      std::vector<int32_t> set(as_size(parent.size + 1));
      graph::write_set(parent, triple.rank, set.data());
      cosine = composition_exact(index_, embeddings_, query_, {set.data(), parent.size + 1});
    }
    if (best.may_add(cosine)) best.add({cosine, triple.rank, p});
  }

  const TripleIndex& index_;
  const Expansion& expansion_;
  EmbeddingRows embeddings_;
  const CosineQuery& query_;
  int64_t k_;
  FloatRows rows_;
  std::vector<SetDots> parents_;
  std::vector<int64_t> starts_{0};  // of each place's triples, all in a row
};

}  // namespace

CosineQuery::CosineQuery(const float* query, int64_t dim) : values_(query, query + dim) {
  float largest = 0;
  double square = 0;
  for (const float value : values_) largest = std::max(largest, std::fabs(value));
  if (largest > 0 && largest <= std::numeric_limits<float>::max()) {
    const int exponent = std::ilogb(largest);
    for (float& value : values_) value = std::scalbn(value, -exponent);
  }
  for (const float value : values_) square += double(value) * double(value);
  finite_ = std::isfinite(square);
  if (square > 0) factor_ = 1 / std::sqrt(square);
  if (std::isnan(square)) factor_ = square;
}

float composition_score(const TripleIndex& index, const EmbeddingRows& embeddings,
                        const CosineQuery& query, HyperNodeRow row) {
  if (row.size == 0) return 0;
  const FloatRows rows(index, embeddings, {row.begin(), row.end()});
  RowDots dots(index, embeddings);
  const SetDots set(row, rows, query, dots);
  // The last row is the one that varies, over itself alone.
  const int64_t last = row.size - 1;
  std::vector<float> pairs;
  std::vector<const float*> own_pairs(as_size(last));
  const float* pair = set.pairs.data();
  for (int64_t i = 0; i < last; ++i) {
    pairs.insert(pairs.end(), pair, pair + (last - 1 - i));
    own_pairs[as_size(i)] = pair + (last - 1 - i);
    pair += last - i;
  }
  float cosine;
  kernels().composition({row.size, last, set.query.data(), set.squares.data(), pairs.data(),
                         query.factor(), 1, &set.query[as_size(last)], &set.squares[as_size(last)],
                         own_pairs.data(), &cosine});
  if (std::isnan(cosine) && query.is_finite())
    cosine = composition_exact(index, embeddings, query, row);
  return cosine;
}

std::vector<ScoredSet> best_candidates(const TripleIndex& index, const Expansion& expansion,
                                       const EmbeddingRows& embeddings, const CosineQuery& query,
                                       int64_t k, int threads) {
  if (k == 0) return {};
  return Search(index, expansion, embeddings, query, k).run(threads);
}

}  // namespace hyperhop
