#include "expansion.h"

#include <algorithm>
#include <numeric>

namespace hyperhop::graph {

Expansion::Expansion(const TripleIndex& index, const HyperNodeRows& rows, bool keep_parents)
    : index_(index) {
  std::vector<std::int64_t> order(as_size(rows.count()));
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](std::int64_t a, std::int64_t b) { return rows.row(a) < rows.row(b); });
  for (const std::int64_t i : order) {
    const HyperNodeRow row = rows.row(i);
    if (num_parents() > 0 && parents_.row(num_parents() - 1) == row) continue;
    parents_.push(row);
    entities_.push_back(index.entities_of(row));
    entity_bits_.push_back(0);
    for (const std::int32_t entity : entities_.back()) entity_bits_.back() |= bit_of_word(entity);
    for (const std::int32_t rank : row) {
      held_[place_of(rank) / 64] |= std::uint64_t(1) << (place_of(rank) % 64);
    }
  }
  for (std::int64_t p = 0; p < num_parents(); ++p) {
    kept_.push_back(keep_parents || !has_neighbour(p));
  }
  find_places();
}

void Expansion::find_places() {
  std::vector<std::pair<std::int32_t, std::int64_t>> pairs;
  for (std::int64_t p = 0; p < num_parents(); ++p) {
    for (const std::int32_t entity : entities_[as_size(p)]) pairs.emplace_back(entity, p);
  }
  std::sort(pairs.begin(), pairs.end());
  for (const auto& [entity, parent] : pairs) {
    if (index_.at(entity).size() == 0) continue;
    if (places_.empty() || places_.back().entity != entity) places_.push_back({entity, {}});
    places_.back().parents.push_back(parent);
  }
}

std::int64_t Expansion::most_candidates() const {
  std::int64_t count = num_parents();
  for (const Place& place : places_) {
    count += index_.at(place.entity).size() * static_cast<std::int64_t>(place.parents.size());
  }
  return count;
}

bool Expansion::has_neighbour(std::int64_t parent) const {
  const HyperNodeRow row = parents_.row(parent);
  for (const std::int32_t entity : entities_[as_size(parent)]) {
    const Range<AdjacentTriple> triples = index_.at(entity);
    if (triples.size() > row.size) return true;
    for (const AdjacentTriple& triple : triples) {
      if (!row.holds(triple.rank)) return true;
    }
  }
  return false;
}

bool Expansion::is_repeated(std::int64_t parent, std::int32_t rank) const {
  const HyperNodeRow row = parents_.row(parent);
  if (row.holds(rank)) return true;
  std::vector<std::int32_t> set(as_size(row.size + 1)), other(as_size(row.size));
  write_set(row, rank, set.data());
  const std::int64_t same = find({set.data(), row.size + 1});
  if (same >= 0 && is_kept(same)) return true;
  for (const std::int32_t left_out : row) {
    std::copy_if(set.begin(), set.end(), other.begin(),
                 [&](std::int32_t member) { return member != left_out; });
    const std::int64_t earlier = find({other.data(), row.size});
    if (earlier < 0 || earlier >= parent) continue;
    if (is_adjacent(earlier, index_.head(left_out)) || is_adjacent(earlier, index_.tail(left_out)))
      return true;
  }
  return false;
}

std::int64_t Expansion::find(HyperNodeRow row) const {
  std::int64_t low = 0, high = num_parents();
  while (low < high) {
    const std::int64_t middle = (low + high) / 2;
    if (parents_.row(middle) < row) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < num_parents() && parents_.row(low) == row ? low : -1;
}

void write_set(HyperNodeRow row, std::int32_t rank, std::int32_t* to) {
  if (rank < 0) {
    std::copy(row.begin(), row.end(), to);
    return;
  }
  const std::int32_t* place = std::lower_bound(row.begin(), row.end(), rank);
  to = std::copy(row.begin(), place, to);
  *to++ = rank;
  std::copy(place, row.end(), to);
}

}  // namespace hyperhop::graph
