// SPDX-License-Identifier: MIT
// Eight threads on each retry budget: whatever they do at the same time, the totals add up. The argument is the number
// of operations of each thread.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
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

constexpr int thread_count = 8;
constexpr reprise::verdict unavailable{.kind = reprise::outcome::transient};

int operations = 0;
bool all_right = true;

template <class Value> void expect(const char* what, Value given, Value right) {
  const bool same = given == right;
  std::printf("%s %s: %.10g", same ? "ok   " : "WRONG", what, static_cast<double>(given));
  if (!same) std::printf(", must be %.10g", static_cast<double>(right));
  std::printf("\n");
  all_right = all_right && same;
}

/// Runs `work(thread) -> long` in each thread, from one moment on; gives the sum of what they return.
template <class Work> long in_threads(Work work) {
  std::atomic<bool> go = false;
  std::atomic<long> sum = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < thread_count; ++thread) {
    threads.emplace_back([&, thread] {
      while (!go) std::this_thread::yield();
      sum += work(thread);
    });
  }
  go = true;
  for (std::thread& thread : threads) thread.join();
  return sum;
}

template <class Budget> long drain(Budget& budget, duration now) {
  long granted = 0;
  while (budget.try_retry(unavailable, now)) ++granted;
  return granted;
}

void tokens_between_the_ends() {
  const int all = thread_count * operations;
  reprise::token_budget budget{{.max_tokens = 2 * all, .token_ratio = 0.25}};
  const auto fail = [&](int) {
    for (int i = 0; i < operations; ++i) budget.failed(unavailable);
    return 0L;
  };
  in_threads(fail);
  expect("token_budget, every failure costs one token", budget.tokens(), double(all));
  in_threads([&](int thread) {
    if (thread % 2 == 0) return fail(thread);
    for (int i = 0; i < operations; ++i) budget.call_ended(true, std::nullopt, 0s);
    return 0L;
  });
  expect("token_budget, failures and successes", budget.tokens(), all * (1.0 - 0.5 + 0.125));
}

void tokens_at_the_ends() {
  reprise::token_budget budget{{.max_tokens = 2, .token_ratio = 0.7}};
  const long outside = in_threads([&](int thread) {
    long seen = 0;
    for (int i = 0; i < operations; ++i) {
      if ((thread + i / 16) % 2 == 0) budget.failed(unavailable);
      else budget.call_ended(true, std::nullopt, 0s);
      seen += budget.tokens() < 0.0 || budget.tokens() > 2.0 ? 1 : 0;
    }
    return seen;
  });
  expect("token_budget, times outside its ends", outside, 0L);
}

void quota() {
  const int capacity = 3 * (thread_count * operations / 2) + 1;
  reprise::quota_budget budget{{.capacity = capacity, .cost = 3}};
  const long granted = in_threads([&](int) {
    long mine = 0;
    for (int i = 0; i < operations; ++i) {
      auto permit = budget.try_retry(unavailable, 0s);
      if (!permit.has_value()) continue;
      ++mine;
      budget.retry_started(*permit);
      budget.call_ended(false, std::move(permit), 0s);
    }
    return mine;
  });
  expect("quota_budget, retries granted", granted, long(capacity / 3));
  expect("quota_budget, tokens left", budget.tokens(), 1);

  in_threads([&](int) {
    for (int i = 0; i < operations; ++i) budget.call_ended(true, std::nullopt, 0s);
    return 0L;
  });
  const int refilled = std::min(capacity, 1 + thread_count * operations);
  expect("quota_budget, one token for each success", budget.tokens(), refilled);

  in_threads([&](int thread) {
    for (int i = 0; i < operations; ++i) {
      auto permit = budget.try_retry(unavailable, 0s);
      if (permit.has_value() && thread % 2 == 0) budget.retry_started(*permit);
      if (permit.has_value()) budget.call_ended(thread % 2 == 0, std::move(permit), 0s);
    }
    return 0L;
  });
  expect("quota_budget, all refunded", budget.tokens(), refilled);
}

void ratio_within_a_window() {
  reprise::ratio_budget budget{{.share = 0.3, .min_per_second = 10, .ttl = 60s}};
  const long granted = in_threads([&](int) {
    long mine = 0;
    for (int i = 0; i < operations; ++i) {
      const duration now = std::chrono::microseconds(i);
      budget.call_started(now);
      mine += budget.try_retry(unavailable, now) ? 1 : 0;
    }
    return mine;
  });
  expect("ratio_budget, retries granted within a window", granted + drain(budget, 1s),
         600 + 3L * thread_count * operations / 10);
}

/// While slices turn, at a pace and with jumps of each thread's own.
void ratio_over_windows(duration pace) {
  reprise::ratio_budget budget{{.share = 0.25, .min_per_second = 40, .ttl = 1s}};
  std::atomic<std::int64_t> latest = 0;
  const long granted = in_threads([&](int thread) {
    long mine = 0;
    for (int i = 0; i < operations; ++i) {
      const bool jumps = i % 10'007 == 0;
      const duration step = jumps ? 100ms * (i % 40) : pace * (1 + thread);
      const duration now(latest.fetch_add(step.count(), std::memory_order_relaxed) + step.count());
      budget.call_started(now);
      mine += budget.try_retry(unavailable, now) ? 1 : 0;
    }
    return mine;
  });
  // In any ten slices no more than was deposited there, and the reserve.
  const duration end(latest);
  const long most = 2L * thread_count * operations / 8 + 40 * (end / duration(1s) + 1);
  std::printf("      ratio_budget, over %.1f s: %ld retries of at most %ld\n", double(end.count()) / 1e9, granted,
              most);
  expect("ratio_budget, minted while slices turn", std::max(granted - most, 0L), 0L);
  expect("ratio_budget, its reserve when all has expired", budget.balance(end + 1s), 40.0);
  expect("ratio_budget, retries then", drain(budget, end + 1s), 40L);
}

void concurrent() {
  reprise::concurrent_retry_budget budget{{.share = 1.0 / thread_count, .min_retries = 1}};
  std::atomic<int> held = 0;
  const long outside = in_threads([&](int) {
    long seen = 0;
    for (int i = 0; i < operations; ++i) {
      budget.call_started(0s);
      auto permit = budget.try_retry(unavailable, 0s);
      if (permit.has_value()) {
        seen += ++held > 1 ? 1 : 0;
        --held;
      }
      seen += budget.retries() < 0 || budget.retries() > 1 ? 1 : 0;
      budget.call_ended(true, std::move(permit), 0s);
    }
    return seen;
  });
  expect("concurrent_retry_budget, times above its limit", outside, 0L);
  expect("concurrent_retry_budget, calls at the end", budget.calls(), 0);
  expect("concurrent_retry_budget, retries at the end", budget.retries(), 0);
}

void throttle() {
  reprise::adaptive_throttle throttle{[] { return 1.0; }, {.window = 1h}};
  in_threads([&](int thread) {
    for (int i = 0; i < operations; ++i) {
      const duration now = std::chrono::microseconds(i);
      (void)throttle.admit(now);
      throttle.ended(thread == 0 ? reprise::verdict{.kind = reprise::outcome::success} : unavailable, now);
    }
    return 0L;
  });
  const double requests = double(thread_count) * operations;
  expect("adaptive_throttle, refusal probability", throttle.refusal_probability(1s),
         (requests - 2.0 * operations) / (requests + 1.0));
}

}  // namespace

int main(int argc, char** argv) {
  operations = argc > 1 ? std::atoi(argv[1]) : 0;
  // A multiple of 10, so that shares come out whole; what 32 bits of tokens hold, with room.
  if (operations < 10 || operations > 10'000'000 || operations % 10 != 0) {
    std::fprintf(stderr, "usage: %s <operations of each thread: 10, 20, ... 10000000>\n", argv[0]);
    return 2;
  }
  tokens_between_the_ends();
  tokens_at_the_ends();
  quota();
  ratio_within_a_window();
  ratio_over_windows(1us);
  ratio_over_windows(30ms);  // most calls turn to a new slice
  concurrent();
  throttle();
  return all_right ? 0 : 1;
}
