#include "parallel.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <exception>
#include <fstream>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

namespace hyperhop {
namespace {

constexpr int kMaxThreads = 256;

int cgroup_limit() {
  // cgroup v2: "QUOTA PERIOD" or "max PERIOD"; v1: two files, -1 for no quota.
  std::string quota, period;
  if (std::ifstream v2("/sys/fs/cgroup/cpu.max"); v2) {
    v2 >> quota >> period;
  } else {
    std::ifstream("/sys/fs/cgroup/cpu/cpu.cfs_quota_us") >> quota;
    std::ifstream("/sys/fs/cgroup/cpu/cpu.cfs_period_us") >> period;
  }
  const double q = std::strtod(quota.c_str(), nullptr), p = std::strtod(period.c_str(), nullptr);
  if (!(q > 0 && p > 0)) return kMaxThreads;
  return std::max(1, int(std::min(double(kMaxThreads), q / p + 0.5)));
}

int available_processors() {
  int count = int(std::thread::hardware_concurrency());
#if defined(__linux__)
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) count = CPU_COUNT(&set);
#endif
  return std::clamp(std::min(count, cgroup_limit()), 1, kMaxThreads);
}

struct Job {
  const std::function<void(int64_t, int64_t)>& body;
  const int64_t count, chunk;
  std::atomic<int64_t> next{0};
  int helpers_wanted;  // guarded by the pool's mutex, like the two below
  int helpers_running = 0;
  std::exception_ptr error;

  void run(std::mutex& mutex) {
    for (;;) {
      const int64_t begin = next.fetch_add(chunk, std::memory_order_relaxed);
      if (begin >= count) return;
      try {
        body(begin, std::min(begin + chunk, count));
      } catch (...) {
        next.store(count, std::memory_order_relaxed);
        const std::lock_guard<std::mutex> lock(mutex);
        if (!error) error = std::current_exception();
        return;
      }
    }
  }
};

thread_local bool inside_job = false;

class Pool {
 public:
  void run(Job& job) {
    std::unique_lock<std::mutex> lock(mutex_);
    while (num_workers_ < job.helpers_wanted) {
      std::thread(&Pool::work, this).detach();
      ++num_workers_;
    }
    jobs_.push_back(&job);
    lock.unlock();
    wake_.notify_all();

    inside_job = true;
    job.run(mutex_);
    inside_job = false;

    lock.lock();
    jobs_.erase(std::remove(jobs_.begin(), jobs_.end(), &job), jobs_.end());
    done_.wait(lock, [&] { return job.helpers_running == 0; });
  }

 private:
  void work() {
    inside_job = true;
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      wake_.wait(lock, [&] { return !jobs_.empty(); });
      Job* job = jobs_.front();
      // The last helper a job wants takes it off the list, so that no worker circles round it.
      if (--job->helpers_wanted <= 0) jobs_.pop_front();
      ++job->helpers_running;
      lock.unlock();
      job->run(mutex_);
      lock.lock();
      if (--job->helpers_running == 0) done_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_, done_;
  std::deque<Job*> jobs_;
  int num_workers_ = 0;
};

// Never destroyed: detached workers may wait in it while the interpreter exits. After a fork the
// child has none of its threads, so it leaves the old pool alone and starts a new one.
std::atomic<Pool*> current_pool{nullptr};

void new_pool() {
  current_pool.store(new Pool);
  inside_job = false;
}

Pool& pool() {
  static std::once_flag once;
  std::call_once(once, [] {
    new_pool();
    pthread_atfork(nullptr, nullptr, new_pool);
  });
  return *current_pool.load();
}

}  // namespace

int default_threads() {
  if (const char* text = std::getenv("HYPERHOP_NUM_THREADS")) {
    char* end = nullptr;
    const long threads = std::strtol(text, &end, 10);
    if (end == text || *end != '\0' || threads < 1)
      throw std::invalid_argument("HYPERHOP_NUM_THREADS must be a positive integer, got '" +
                                  std::string(text) + "'");
    return int(std::min(threads, long(kMaxThreads)));
  }
  static const int processors = available_processors();
  return processors;
}

void parallel_for(int64_t count, int64_t grain, int threads,
                  const std::function<void(int64_t, int64_t)>& body) {
  if (count <= 0) return;
  const int64_t pieces = (count + grain - 1) / std::max<int64_t>(grain, 1);
  if (pieces <= 1) return body(0, count);
  if (threads <= 0) threads = default_threads();
  threads = int(std::min<int64_t>({int64_t(threads), pieces, int64_t(kMaxThreads)}));
  if (threads <= 1 || inside_job) return body(0, count);
  // A few chunks per thread let a slow core take fewer of them.
  const int64_t chunk = std::max<int64_t>(grain, count / (int64_t(threads) * 4));
  Job job{body, count, chunk, {0}, threads - 1, 0, nullptr};
  pool().run(job);
  if (job.error) std::rethrow_exception(job.error);
}

}  // namespace hyperhop
