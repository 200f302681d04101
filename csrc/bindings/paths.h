// Lists of sequences, taken apart.
#pragma once
#include <cstdint>

#include "../graph/sequence_list.h"
#include "columns.h"

namespace hyperhop::bindings {

// The sequences at `indices`, in that order; negative ones count from the end.
graph::OwnedSequences take_sequences(const Column<std::int32_t>& symbols,
                                     const Column<std::int64_t>& offsets,
                                     const Column<std::int64_t>& indices);

}  // namespace hyperhop::bindings
