// The only threading code: a pool of std::threads that never spins, runs small work on the calling
// thread, and starts afresh in a forked child.
#pragma once
#include <cstdint>
#include <functional>

namespace hyperhop {

// Threads used where the caller asks for none: HYPERHOP_NUM_THREADS, else the processors this
// process may run on (affinity mask and cgroup quota).
int default_threads();

// Calls body(begin, end) over chunks of [0, count) of at least `grain` items, on up to `threads`
// threads (0 means default_threads()), the caller included. Runs inline where one chunk is enough,
// and inside another parallel_for. Which thread runs which chunk is not fixed: bodies write only to
// their own items. The first exception is rethrown once all running chunks have returned.
void parallel_for(int64_t count, int64_t grain, int threads,
                  const std::function<void(int64_t, int64_t)>& body);

}  // namespace hyperhop
