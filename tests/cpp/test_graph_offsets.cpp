// Offsets and edge numbers of graphs beyond 2^31 edges: fake sizes, no edges behind them.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "../../csrc/graph/hubs.h"
#include "../../csrc/graph/offsets.h"

using hyperhop::graph::changed_offsets;
using hyperhop::graph::DamagedStore;
using hyperhop::graph::Stretch;

static const std::vector<std::int64_t> kSizes{7, (std::int64_t{1} << 31) - 1, std::int64_t{1} << 31,
                                              std::int64_t{1} << 33};

static void expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "FAILED: %s\n", what);
  std::exit(1);
}

static std::vector<std::int64_t> changed(const std::vector<std::int64_t>& offsets,
                                         std::int64_t num_rows, int sign,
                                         const std::vector<std::int32_t>& rows) {
  return changed_offsets(offsets.data(), static_cast<std::int64_t>(offsets.size()) - 1,
                         offsets.back(), num_rows, static_cast<std::int64_t>(rows.size()), sign,
                         [&rows](std::int64_t i) { return rows[static_cast<std::size_t>(i)]; });
}

static void test_added_and_taken_edges() {
  for (const std::int64_t size : kSizes) {
    const std::vector<std::int64_t> offsets{0, size - 5, size - 2, size};
    using Offsets = std::vector<std::int64_t>;
    expect(changed(offsets, 5, 1, {0, 2, 2, 4}) ==
               Offsets{0, size - 4, size - 1, size + 3, size + 3, size + 4},
           "edges added to old and new rows");
    expect(changed(offsets, 3, -1, {1, 1, 2}) == Offsets{0, size - 5, size - 4, size - 3},
           "edges taken away");
    expect(changed(offsets, 3, 1, {}) == offsets, "nothing changed");
  }
}

static void test_damaged_offsets() {
  for (const std::int64_t size : kSizes) {
    for (const std::vector<std::int64_t>& offsets :
         {std::vector<std::int64_t>{1, 2, size}, {0, size + 1, size}, {0, -1, size}}) {
      bool refused = false;
      try {
        changed(offsets, 2, 1, {0});
      } catch (const DamagedStore&) {
        refused = true;
      }
      expect(refused, "offsets that do not ascend are refused");
    }
  }
}

static void test_evenly_spaced_edges() {
  for (const std::int64_t begin : kSizes) {
    for (const std::int64_t size : kSizes) {
      for (const std::int64_t count : {std::int64_t{1}, size / 2, size - 1, size}) {
        const Stretch stretch{begin, size, count};
        expect(stretch.edge(0) == begin, "the first edge is followed");
        const std::int64_t last = stretch.edge(count - 1);
        expect(last < begin + size && last >= begin + size - 1 - size / count,
               "the last edge is in the last part");
        if (count > 1) expect(stretch.edge(count - 2) < last, "no edge twice");
      }
    }
  }
}

int main() {
  test_added_and_taken_edges();
  test_damaged_offsets();
  test_evenly_spaced_edges();
  std::puts("graph offsets: 3 passed, 0 failed");
  return 0;
}
