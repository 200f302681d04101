// Which compilation of the kernels runs: chosen once at import, selectable for tests.
#pragma once
#include <string>
#include <vector>

#include "kernels/table.h"

namespace hyperhop {

// ISAs built into this binary that this processor runs, best first.
std::vector<std::string> isas();

// The table in use. Starts as the best, or as HYPERHOP_ISA says.
const KernelTable& kernels();

// Throws std::invalid_argument naming the ISAs that exist.
void select_isa(const std::string& name);

}  // namespace hyperhop
