// The thread pool, meant to run under ThreadSanitizer: every item once, from many callers at once,
// nested, with exceptions, and in a forked child.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <thread>
#include <vector>

#include "../../csrc/parallel.h"

using hyperhop::parallel_for;

static void expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "FAILED: %s\n", what);
  std::exit(1);
}

static bool covers_each_item_once(int64_t count, int64_t grain, int threads) {
  std::vector<int> seen(size_t(count), 0);
  parallel_for(count, grain, threads, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) ++seen[size_t(i)];
  });
  for (const int times : seen)
    if (times != 1) return false;
  return true;
}

static void test_coverage() {
  for (const int64_t count : {0, 1, 2, 7, 64, 1000})
    for (const int64_t grain : {1, 3, 100})
      for (const int threads : {0, 1, 2, 5})
        expect(covers_each_item_once(count, grain, threads), "every item runs once");
}

static void test_small_work_stays_on_the_caller() {
  const auto caller = std::this_thread::get_id();
  parallel_for(10, 10, 8, [&](int64_t, int64_t) {
    expect(std::this_thread::get_id() == caller, "one chunk runs inline");
  });
}

static void test_many_callers() {
  std::vector<std::jthread> callers;
  for (int c = 0; c < 8; ++c)
    callers.emplace_back([c] {
      for (int repeat = 0; repeat < 50; ++repeat)
        expect(covers_each_item_once(200 + c, 1, 1 + repeat % 4), "callers do not mix");
    });
}

static void test_nested_calls_run_inline() {
  std::atomic<int64_t> sum{0};
  parallel_for(8, 1, 4, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      parallel_for(10, 1, 4, [&](int64_t b, int64_t e) { sum += e - b; });
  });
  expect(sum == 80, "nested loops finish");
}

static void test_exceptions() {
  for (int repeat = 0; repeat < 20; ++repeat) {
    bool caught = false;
    try {
      parallel_for(100, 1, 4, [](int64_t begin, int64_t) {
        if (begin >= 50) throw std::runtime_error("chunk");
      });
    } catch (const std::runtime_error&) {
      caught = true;
    }
    expect(caught, "an exception reaches the caller");
    expect(covers_each_item_once(100, 1, 4), "the pool works on after an exception");
  }
}

static void test_fork() {
  const pid_t child = fork();
  if (child == 0) _exit(covers_each_item_once(1000, 1, 3) ? 0 : 1);
  int status = 0;
  waitpid(child, &status, 0);
  expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "a forked child has a pool of its own");
}

int main() {
  test_coverage();
  test_small_work_stays_on_the_caller();
  test_many_callers();
  test_nested_calls_run_inline();
  test_exceptions();
  test_fork();
  std::puts("parallel: 6 passed, 0 failed");
  return 0;
}
