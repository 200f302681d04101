// Keys that share pieces with a mistyped one: an inverted index of trigrams.
//
// A key of n code points has n trigrams (its ends are padded by one), each hashed to one of 2^18
// lists; a shared list only adds candidates. 4 bytes a trigram and 2 a key.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace hyperhop::graph {

struct GramIndex {
  std::vector<std::int64_t> offsets;    // (lists + 1,)
  std::vector<std::uint32_t> postings;  // keys with a trigram of the list, by (length, key)
  std::vector<std::uint16_t> lengths;   // code points of each key, at most 65535
};

using TextOf = std::function<std::string_view(std::int64_t)>;

// An empty key is left out. O(bytes).
GramIndex index_grams(std::int64_t count, const TextOf& text_of);

struct GramQuery {
  std::string_view text;
  double cutoff;  // least ratio: indels / (length + length) of a candidate is at most 1 - cutoff
  std::int64_t count;  // candidates wanted
};

// The `count` keys of a length the cutoff allows that share most trigrams with `text`, by the Dice
// coefficient, then by number. Of the query's lists the rarest are read, until they hold 16,384
// entries (the rarest is always read whole), so that a query's cost does not grow with frequent
// trigrams. `shared`: one zero a key; zero again on return.
std::vector<std::uint32_t> closest_keys(const GramIndex& grams, const GramQuery& query,
                                        std::vector<std::uint16_t>& shared);

}  // namespace hyperhop::graph
