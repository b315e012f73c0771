// SPDX-License-Identifier: MIT
// How many calls a second a shared retry budget bears at 1, 2, 4 and 8 threads, beside a counter that a mutex guards
// and a plain atomic counter, which is the limit: nothing shared that every call writes can be faster.
// The argument is the time for each figure, in milliseconds.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <reprise/core.hpp>
#include <reprise/policy/adaptive_throttle.hpp>
#include <reprise/policy/concurrent_retry_budget.hpp>
#include <reprise/policy/quota_budget.hpp>
#include <reprise/policy/ratio_budget.hpp>
#include <reprise/policy/token_budget.hpp>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;
using reprise::duration;
using std::chrono::steady_clock;

constexpr int thread_counts[] = {1, 2, 4, 8};
constexpr reprise::verdict success{.kind = reprise::outcome::success};
constexpr reprise::verdict unavailable{.kind = reprise::outcome::transient, .label = "http", .code = 503};

duration time_for_each = 200ms;

/// Millions of `operation(now)` a second, all threads together. The time that the operations are told goes on by a
/// microsecond each.
template <class Operation> double throughput(int thread_count, Operation operation) {
  std::atomic<bool> go = false;
  std::atomic<bool> stop = false;
  std::atomic<long> done = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < thread_count; ++thread) {
    threads.emplace_back([&] {
      while (!go) std::this_thread::yield();
      long mine = 0;
      while (!stop.load(std::memory_order_relaxed))
        for (int i = 0; i < 256; ++i) operation(std::chrono::microseconds(mine++));
      done += mine;
    });
  }
  const auto began = steady_clock::now();
  go = true;
  std::this_thread::sleep_for(time_for_each);
  stop = true;
  for (std::thread& thread : threads) thread.join();
  const std::chrono::duration<double, std::micro> took = steady_clock::now() - began;
  return static_cast<double>(done.load()) / took.count();
}

template <class Operation> void row(const char* name, Operation operation) {
  std::printf("%-44s", name);
  for (const int threads : thread_counts) std::printf("%9.1f", throughput(threads, operation));
  std::printf("\n");
  std::fflush(stdout);
}

template <class Budget> void succeed(Budget& budget, duration now) {
  budget.call_started(now);
  budget.call_ended(true, std::nullopt, now);
}

/// A call whose first attempt fails and whose retry, where it is granted, succeeds.
template <class Budget> void retry(Budget& budget, duration now) {
  budget.call_started(now);
  budget.failed(unavailable);
  auto permit = budget.try_retry(unavailable, now);
  const bool granted = permit.has_value();
  if constexpr (requires { budget.retry_started(*permit); }) {
    if (granted) budget.retry_started(*permit);
  }
  budget.call_ended(granted, std::move(permit), now);
}

template <class Budget, class Settings>
void rows(const char* success_name, const char* retry_name, const Settings& settings) {
  Budget budget(settings);
  row(success_name, [&](duration now) { succeed(budget, now); });
  row(retry_name, [&](duration now) { retry(budget, now); });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) time_for_each = std::chrono::milliseconds(std::atoi(argv[1]));
  std::printf("%u processors; million calls a second, at\n%-44s", std::thread::hardware_concurrency(), "");
  for (const int threads : thread_counts) std::printf("%3d thr. ", threads);
  std::printf("\n");

  std::mutex mutex;
  volatile long guarded = 0;
  row("counter guarded by a mutex, one increment", [&](duration) {
    const std::lock_guard lock(mutex);
    guarded = guarded + 1;
  });
  std::atomic<long> counter = 0;
  row("atomic counter, one increment", [&](duration) { counter.fetch_add(1, std::memory_order_relaxed); });

  // Settings with which every retry is granted: one that is refused writes less.
  rows<reprise::token_budget>("token_budget, success at the first try", "token_budget, success after a retry",
                              reprise::token_budget_settings{.token_ratio = 1.0});
  rows<reprise::quota_budget>("quota_budget, success at the first try", "quota_budget, success after a retry",
                              reprise::quota_budget_settings{});
  rows<reprise::ratio_budget>("ratio_budget, success at the first try", "ratio_budget, success after a retry",
                              reprise::ratio_budget_settings{.share = 1.0});
  rows<reprise::concurrent_retry_budget>("concurrent_retry_budget, first try", "concurrent_retry_budget, after a retry",
                                         reprise::concurrent_retry_budget_settings{.min_retries = 100});
  reprise::adaptive_throttle throttle{[] { return 1.0; }};
  row("adaptive_throttle, success", [&](duration now) {
    if (throttle.admit(now)) throttle.ended(success, now);
  });
}
