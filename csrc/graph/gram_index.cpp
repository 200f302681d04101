#include "gram_index.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace hyperhop::graph {
namespace {

constexpr int kListBits = 18;
constexpr std::int64_t kEntriesRead = 16'384;
constexpr std::size_t kLongest = 0xFFFF;

// Code points of UTF-8; a byte that begins none stands for itself.
void decode(std::string_view text, std::vector<std::uint32_t>& points) {
  points.clear();
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const std::size_t length = lead < 0xC0 ? 1u : lead < 0xE0 ? 2u : lead < 0xF0 ? 3u : 4u;
    std::uint32_t point = lead;
    const std::size_t end = std::min(i + length, text.size());
    while (++i < end) point = point << 8 | static_cast<unsigned char>(text[i]);
    points.push_back(point);
  }
}

// The lists of a text's trigrams, distinct, ascending.
void lists_of(const std::vector<std::uint32_t>& points, std::vector<std::uint32_t>& lists) {
  lists.clear();
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::uint64_t before = i == 0 ? 0 : points[i - 1];
    const std::uint64_t after = i + 1 == points.size() ? 0 : points[i + 1];
    std::uint64_t hash = before * 0x9E3779B97F4A7C15u;
    hash = (hash ^ points[i]) * 0xBF58476D1CE4E5B9u;
    hash = (hash ^ hash >> 31 ^ after) * 0x94D049BB133111EBu;
    lists.push_back(static_cast<std::uint32_t>(hash >> (64 - kListBits)));
  }
  std::sort(lists.begin(), lists.end());
  lists.erase(std::unique(lists.begin(), lists.end()), lists.end());
}

}  // namespace

GramIndex index_grams(std::int64_t count, const TextOf& text_of) {
  GramIndex grams;
  grams.offsets.assign((std::size_t{1} << kListBits) + 1, 0);
  grams.lengths.assign(static_cast<std::size_t>(count), 0);
  std::vector<std::uint32_t> points;
  std::vector<std::uint32_t> lists;
  std::vector<std::int64_t> of_length(kLongest + 2, 0);
  for (std::int64_t key = 0; key < count; ++key) {
    decode(text_of(key), points);
    lists_of(points, lists);
    const std::size_t length = std::min(points.size(), kLongest);
    grams.lengths[static_cast<std::size_t>(key)] = static_cast<std::uint16_t>(length);
    ++of_length[length + 1];
    for (const std::uint32_t list : lists) ++grams.offsets[list + 1];
  }
  std::partial_sum(grams.offsets.begin(), grams.offsets.end(), grams.offsets.begin());
  std::partial_sum(of_length.begin(), of_length.end(), of_length.begin());

  std::vector<std::uint32_t> by_length(static_cast<std::size_t>(count));
  for (std::int64_t key = 0; key < count; ++key) {
    const std::size_t length = grams.lengths[static_cast<std::size_t>(key)];
    by_length[static_cast<std::size_t>(of_length[length]++)] = static_cast<std::uint32_t>(key);
  }
  grams.postings.resize(static_cast<std::size_t>(grams.offsets.back()));
  std::vector<std::int64_t> next(grams.offsets.begin(), grams.offsets.end() - 1);
  for (const std::uint32_t key : by_length) {
    decode(text_of(key), points);
    lists_of(points, lists);
    for (const std::uint32_t list : lists) {
      grams.postings[static_cast<std::size_t>(next[list]++)] = key;
    }
  }
  return grams;
}

std::vector<std::uint32_t> closest_keys(const GramIndex& grams, const GramQuery& query,
                                        std::vector<std::uint16_t>& shared) {
  std::vector<std::uint32_t> points;
  std::vector<std::uint32_t> lists;
  decode(query.text, points);
  lists_of(points, lists);
  // ratio <= 2 min / (sum of lengths)
  const auto length = static_cast<double>(points.size());
  const double odds = query.cutoff / (2 - query.cutoff);
  const double shortest = std::floor(length * odds);
  const double longest = std::ceil(length / odds);

  struct Range {
    const std::uint32_t* begin;
    const std::uint32_t* end;
  };
  std::vector<Range> ranges;
  for (const std::uint32_t list : lists) {
    const std::uint32_t* first = grams.postings.data() + grams.offsets[list];
    const std::uint32_t* last = grams.postings.data() + grams.offsets[list + 1];
    first = std::partition_point(first, last,
                                 [&](std::uint32_t key) { return grams.lengths[key] < shortest; });
    last = std::partition_point(first, last,
                                [&](std::uint32_t key) { return grams.lengths[key] <= longest; });
    ranges.push_back({first, last});
  }
  std::stable_sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) {
    return a.end - a.begin < b.end - b.begin;
  });

  std::vector<std::uint32_t> seen;
  std::int64_t entries = 0;
  for (const Range& range : ranges) {
    const std::int64_t size = range.end - range.begin;
    if (entries > 0 && entries + size > kEntriesRead) break;
    entries += size;
    for (const std::uint32_t* key = range.begin; key < range.end; ++key) {
      if (shared[*key]++ == 0) seen.push_back(*key);
    }
  }

  struct Candidate {
    double dice;
    std::uint32_t key;
  };
  std::vector<Candidate> found;
  found.reserve(seen.size());
  for (const std::uint32_t key : seen) {
    found.push_back({shared[key] / (length + grams.lengths[key]), key});
    shared[key] = 0;
  }
  const auto better = [](const Candidate& a, const Candidate& b) {
    return a.dice != b.dice ? a.dice > b.dice : a.key < b.key;
  };
  const auto wanted = static_cast<std::size_t>(std::max<std::int64_t>(query.count, 0));
  if (wanted < found.size()) {
    std::nth_element(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(wanted),
                     found.end(), better);
    found.resize(wanted);
  }
  std::sort(found.begin(), found.end(), better);
  std::vector<std::uint32_t> keys;
  keys.reserve(found.size());
  for (const Candidate& candidate : found) keys.push_back(candidate.key);
  return keys;
}

}  // namespace hyperhop::graph
