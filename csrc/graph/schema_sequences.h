// All symbol sequences in which every symbol can follow the one before it (PathHD Algorithm 1,
// line 3): a breadth-first search of the relation-schema graph, ordered by (length, symbols).
//
// The support of a sequence is the smallest count of its pairs of neighbours: no walk that follows
// it passes through more entities at its narrowest inner place. That of a single symbol is the
// number of entities it leaves.
//
// beam: at each depth only the `beam` sequences of the highest support are returned and extended;
// ties go to the smaller tuple of symbol ranks.
//
// truncated: there is a further sequence beyond `cap`, or a limit was reached. Then the result is a
// prefix of the full list (with `beam`: of the list at that depth, chosen from what was looked at).
#pragma once

#include <cstdint>
#include <vector>

#include "schema.h"
#include "sequences.h"

namespace hyperhop::graph {

struct SchemaSequenceOptions {
  std::int64_t max_hops;
  std::int64_t cap;
  std::int64_t beam;                 // 0: keep all
  bool inverse;                      // false: no symbol that walks backward
  const std::int32_t* symbol_ranks;  // (2 * num_relations,), read with a beam only
};

// `first`: checked symbols, ascending and distinct.
Sequences schema_sequences(const SchemaView& schema, const std::vector<std::int32_t>& first,
                           const SchemaSequenceOptions& options, const Limits& limits);

}  // namespace hyperhop::graph
