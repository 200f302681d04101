#include "dispatch.h"

#include <atomic>
#include <cstdlib>
#include <stdexcept>

namespace hyperhop {

namespace baseline {
extern const KernelTable kernel_table;
}
#if defined(HH_WITH_avx2)
namespace avx2 {
extern const KernelTable kernel_table;
}
#endif
#if defined(HH_WITH_avx512)
namespace avx512 {
extern const KernelTable kernel_table;
}
#endif

namespace {

std::vector<const KernelTable*> runnable_tables() {
  std::vector<const KernelTable*> tables;
#if defined(HH_WITH_avx512)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("fma"))
    tables.push_back(&avx512::kernel_table);
#endif
#if defined(HH_WITH_avx2)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
      __builtin_cpu_supports("f16c"))
    tables.push_back(&avx2::kernel_table);
#endif
  tables.push_back(&baseline::kernel_table);
  return tables;
}

const KernelTable* find_table(const std::string& name) {
  std::string known;
  for (const KernelTable* table : runnable_tables()) {
    if (name == table->isa) return table;
    known += (known.empty() ? "" : ", ") + std::string(table->isa);
  }
  throw std::invalid_argument("select_isa: no ISA '" + name + "' here; this machine runs " + known);
}

std::atomic<const KernelTable*> selected{nullptr};

}  // namespace

std::vector<std::string> isas() {
  std::vector<std::string> names;
  for (const KernelTable* table : runnable_tables()) names.push_back(table->isa);
  return names;
}

const KernelTable& kernels() {
  const KernelTable* table = selected.load(std::memory_order_relaxed);
  if (!table) {
    const char* wanted = std::getenv("HYPERHOP_ISA");
    table = wanted && *wanted ? find_table(wanted) : runnable_tables().front();
    selected.store(table, std::memory_order_relaxed);
  }
  return *table;
}

void select_isa(const std::string& name) {
  selected.store(find_table(name));
}

}  // namespace hyperhop
