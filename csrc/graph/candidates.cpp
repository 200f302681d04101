#include "candidates.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace hyperhop::graph {
namespace {

using Wide = unsigned __int128;

// Calls use(parent, triple) for each set {parent, triple}, a parent's triples at a place ascending,
// after start(parent) of each parent at each place.
template <typename Start, typename Use>
void each_set(const TripleIndex& index, const Expansion& expansion, Start&& start, Use&& use) {
  for (const Expansion::Place& place : expansion.places()) {
    const Range<AdjacentTriple> triples = index.at(place.entity);
    for (const std::int64_t parent : place.parents) {
      start(parent);
      for (const AdjacentTriple& triple : triples) {
        if (expansion.admits(parent, place.entity, triple)) use(parent, triple.rank);
      }
    }
  }
}

// Ascending rows packed into one number each, so that numbers order as rows do: a rank counts from
// 1, 0 stands behind the last.
template <typename Key>
class PackedRows {
 public:
  PackedRows(std::int64_t rank_bits, std::int64_t width) : bits_(rank_bits), width_(width) {}

  Key pack(std::int32_t rank, std::int64_t place) const {
    return static_cast<Key>(rank + 1) << (bits_ * (width_ - 1 - place));
  }
  Key pack(HyperNodeRow row) const {
    Key key = 0;
    for (std::int64_t i = 0; i < row.size; ++i) key |= pack(row.ranks[i], i);
    return key;
  }
  void unpack(Key key, const TripleIndex& index, std::int64_t* to) const {
    const Key mask = (Key(1) << bits_) - 1;
    for (std::int64_t i = width_ - 1; i >= 0; --i) {
      const auto number = static_cast<std::int32_t>(key & mask);
      to[i] = number == 0 ? -1 : index.triple(number - 1);
      key >>= bits_;
    }
  }

  // For each place, the row with a gap there.
  std::vector<Key> with_gap(HyperNodeRow row) const {
    std::vector<Key> keys;
    for (std::int64_t gap = 0; gap <= row.size; ++gap) {
      Key key = 0;
      for (std::int64_t i = 0; i < row.size; ++i) key |= pack(row.ranks[i], i < gap ? i : i + 1);
      keys.push_back(key);
    }
    return keys;
  }

  // Stable counting passes over digits, the last first.
  void sort(std::vector<Key>& keys) const {
    constexpr int kDigitBits = 11;
    constexpr std::size_t kDigits = std::size_t(1) << kDigitBits;
    std::vector<Key> sorted(keys.size());
    for (std::int64_t shift = 0; shift < bits_ * width_; shift += kDigitBits) {
      const auto digit = [&](Key key) {
        return static_cast<std::size_t>(key >> shift) & (kDigits - 1);
      };
      std::array<std::size_t, kDigits> next{};
      for (const Key key : keys) ++next[digit(key)];
      std::size_t start = 0;
      for (std::size_t& count : next) start += std::exchange(count, start);
      for (const Key key : keys) sorted[next[digit(key)]++] = key;
      keys.swap(sorted);
    }
  }

 private:
  std::int64_t bits_, width_;
};

template <typename Key>
std::vector<std::int64_t> by_number(const TripleIndex& index, const Expansion& expansion,
                                    std::int64_t rank_bits, std::int64_t width) {
  const PackedRows<Key> rows(rank_bits, width);
  std::vector<Key> keys;
  keys.reserve(as_size(expansion.most_candidates()));
  for (std::int64_t p = 0; p < expansion.num_parents(); ++p) {
    if (expansion.is_kept(p)) keys.push_back(rows.pack(expansion.parent(p)));
  }
  std::vector<Key> with_gap;
  HyperNodeRow parent{};
  std::int64_t gap = 0;
  each_set(
      index, expansion,
      [&](std::int64_t p) {
        parent = expansion.parent(p);
        with_gap = rows.with_gap(parent);
        gap = 0;
      },
      [&](std::int64_t, std::int32_t rank) {
        while (gap < parent.size && parent.ranks[gap] < rank) ++gap;
        keys.push_back(with_gap[as_size(gap)] | rows.pack(rank, gap));
      });
  rows.sort(keys);
  std::vector<std::int64_t> result(keys.size() * as_size(width));
  std::int64_t* to = result.data();
  for (const Key key : keys) {
    rows.unpack(key, index, to);
    to += width;
  }
  return result;
}

// For rows of any width.
std::vector<std::int64_t> by_comparison(const TripleIndex& index, const Expansion& expansion,
                                        std::int64_t width) {
  HyperNodeRows sets;
  std::vector<std::int32_t> set(as_size(width));
  for (std::int64_t p = 0; p < expansion.num_parents(); ++p) {
    if (expansion.is_kept(p)) sets.push(expansion.parent(p));
  }
  each_set(
      index, expansion, [](std::int64_t) {},
      [&](std::int64_t p, std::int32_t rank) {
        const HyperNodeRow parent = expansion.parent(p);
        write_set(parent, rank, set.data());
        sets.push({set.data(), parent.size + 1});
      });
  std::vector<std::int64_t> order(as_size(sets.count()));
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](std::int64_t a, std::int64_t b) { return sets.row(a) < sets.row(b); });
  std::vector<std::int64_t> result(order.size() * as_size(width), -1);
  std::int64_t* to = result.data();
  for (const std::int64_t i : order) {
    const HyperNodeRow row = sets.row(i);
    std::transform(row.begin(), row.end(), to,
                   [&](std::int32_t rank) { return index.triple(rank); });
    to += width;
  }
  return result;
}

}  // namespace

std::vector<std::int64_t> candidates(const TripleIndex& index, const Expansion& expansion,
                                     std::int64_t width) {
  std::int64_t rank_bits = 1;
  while (index.num_triples() >> rank_bits) ++rank_bits;
  if (rank_bits * width <= 64) return by_number<std::uint64_t>(index, expansion, rank_bits, width);
  if (rank_bits * width <= 128) return by_number<Wide>(index, expansion, rank_bits, width);
  return by_comparison(index, expansion, width);
}

}  // namespace hyperhop::graph
