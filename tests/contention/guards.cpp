// SPDX-License-Identifier: MIT
// Guards under threads: never more holders than slots, none lost, and totals that add up to the last unit.
// Ends with the number of faults; meant to be run with ThreadSanitizer too.
#include <array>
#include <atomic>
#include <cstdio>
#include <reprise/reprise.hpp>
#include <stdexcept>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

namespace {

constexpr int thread_count = 8;
constexpr int slot_count = 3;
constexpr int rounds = 2'000;

std::atomic<int> faults = 0;

void expect(bool holds, const char* what) {
  if (holds) return;
  if (faults.fetch_add(1) < 20) std::fprintf(stderr, "fault: %s\n", what);
}

/// How many hold a slot at this moment, and the most that ever did.
class holders {
 public:
  void enter() {
    const int now = count_.fetch_add(1) + 1;
    int most = most_.load();
    while (now > most && !most_.compare_exchange_weak(most, now)) {
    }
    expect(now <= slot_count, "more holders than slots");
  }
  void leave() { count_.fetch_sub(1); }
  int most() const { return most_.load(); }
  int count() const { return count_.load(); }

 private:
  std::atomic<int> count_ = 0;
  std::atomic<int> most_ = 0;
};

/// Inside a slot.
struct stay {
  holders& all;
  explicit stay(holders& entered) : all(entered) {
    all.enter();
    std::this_thread::yield();
  }
  stay(const stay&) = delete;
  stay& operator=(const stay&) = delete;
  ~stay() { all.leave(); }
};

template <class Work> void on_all_threads(Work work) {
  std::vector<std::thread> threads;
  for (int number = 0; number < thread_count; ++number) threads.emplace_back([&work, number] { work(number); });
  for (std::thread& thread : threads) thread.join();
}

/// What one thread did, to be added up.
struct tally {
  int granted = 0;
  int refused = 0;
  int thrown = 0;
};

void hammer_bulkhead() {
  reprise::bulkhead pool(slot_count);
  holders inside;
  std::array<tally, thread_count> tallies;
  const auto clock = [] { return std::chrono::steady_clock::now(); };

  on_all_threads([&](int number) {
    tally& own = tallies[static_cast<std::size_t>(number)];
    const auto send = [&](const reprise::attempt& current) {
      const stay here(inside);
      expect(current.timeout > 0ns, "a send without time");
      if (current.number % 5 == 0) throw std::runtime_error("reset");
      return current.number;
    };
    auto refusing = pool.guard(send);
    auto queueing = pool.guard(send, clock);
    const auto sent = [&](auto& guarded, int round, reprise::duration timeout) {
      try {
        guarded(reprise::attempt{.number = round + 1, .maximum = rounds, .timeout = timeout});
        ++own.granted;
      } catch (const reprise::bulkhead_full&) {
        ++own.refused;
      } catch (const std::runtime_error&) {
        ++own.thrown;
      }
    };
    const auto held = [&](std::optional<reprise::bulkhead::slot> slot) {
      if (!slot.has_value()) return void(++own.refused);
      ++own.granted;
      const stay here(inside);
    };

    for (int round = 0; round < rounds; ++round) {
      switch ((round + number) % 8) {
        case 0: held(pool.try_acquire()); break;
        case 1: held(pool.acquire_until(clock() + std::chrono::microseconds(round % 50))); break;
        case 2: held(pool.acquire_until(clock())); break;
        case 3: sent(refusing, round, 1s); break;
        case 4: sent(queueing, round, std::chrono::microseconds(1 + round % 50)); break;
        case 5: sent(queueing, round, reprise::unlimited); break;
        case 6: {  // given back before its holder goes, and then held by another variable
          auto slot = pool.acquire_until(clock() + 20us);
          if (!slot.has_value()) break;
          {
            const stay here(inside);
          }
          slot->release();
          if (auto again = pool.try_acquire()) {
            *slot = std::move(*again);
            const stay here(inside);
            again->release();
          }
          break;
        }
        default: {  // moved about while it is held
          auto slot = pool.acquire_until(clock() + 20us);
          if (!slot.has_value()) break;
          reprise::bulkhead::slot moved(std::move(*slot));
          slot.reset();
          const stay here(inside);
          slot.emplace(std::move(moved));
        }
      }
    }
  });

  tally sum;
  for (const tally& own : tallies) {
    sum.granted += own.granted;
    sum.refused += own.refused;
    sum.thrown += own.thrown;
  }
  // Cases 0 to 5 each count once; each thread meets them equally often.
  expect(sum.granted + sum.refused + sum.thrown == thread_count * rounds / 8 * 6, "an answer was lost");
  expect(sum.thrown > 0, "no send threw: nothing was tried");
  expect(pool.free() == slot_count, "a slot was lost or doubled");
  expect(inside.count() == 0, "somebody is still inside");
  expect(inside.most() >= 1 && inside.most() <= slot_count, "the most holders");
  std::vector<reprise::bulkhead::slot> all;
  while (auto slot = pool.try_acquire()) all.push_back(std::move(*slot));
  expect(all.size() == slot_count, "not every slot can be taken again");
  std::printf("bulkhead: %d granted, %d refused, %d threw, most holders %d of %d\n", sum.granted, sum.refused,
              sum.thrown, inside.most(), slot_count);
}

/// Nobody sleeps past a slot that is free: without a limit everybody gets one in the end.
void queue_without_limit() {
  reprise::bulkhead pool(1);
  holders inside;
  int unguarded = 0;  // the slot is what keeps the threads apart
  on_all_threads([&](int) {
    for (int round = 0; round < rounds; ++round) {
      const auto slot = pool.acquire_until((std::chrono::steady_clock::time_point::max)());
      expect(slot.has_value(), "a waiter without a limit was refused");
      const stay here(inside);
      ++unguarded;
    }
  });
  expect(unguarded == thread_count * rounds, "two held the one slot");
  expect(inside.most() == 1, "the most holders of one slot");
  expect(pool.free() == 1, "the slot was lost");
  std::printf("queue: %d passes, most holders %d of 1\n", unguarded, inside.most());
}

/// Waiters whose time runs out as the slot is given back.
void give_back_as_time_runs_out() {
  reprise::bulkhead pool(1);
  std::atomic<int> got = 0;
  on_all_threads([&](int number) {
    for (int round = 0; round < rounds / 4; ++round) {
      if (number == 0) {
        auto slot = pool.acquire_until((std::chrono::steady_clock::time_point::max)());
        const auto until = std::chrono::steady_clock::now() + 30us;
        while (std::chrono::steady_clock::now() < until) {
        }
        slot->release();
      } else if (pool.acquire_until(std::chrono::steady_clock::now() + 30us).has_value()) {
        got.fetch_add(1);
      }
    }
  });
  expect(pool.free() == 1, "a slot was lost to a waiter whose time had run out");
  std::printf("time runs out: %d of %d waiters in time\n", got.load(), (thread_count - 1) * (rounds / 4));
}

void hammer_spend_budget() {
  constexpr std::int64_t per_session = 20'000;  // less than all of it would cost
  reprise::memory_counter session;
  reprise::spend_budget budget(session, 50, per_session);
  std::array<std::int64_t, thread_count> settled{};
  std::array<tally, thread_count> tallies;
  std::atomic<std::int64_t> highest = 0;
  on_all_threads([&](int number) {
    const auto at = static_cast<std::size_t>(number);
    for (int round = 0; round < rounds; ++round) {
      auto reserved = budget.reserve(10 + round % 40);
      const std::int64_t seen = budget.spent();
      std::int64_t before = highest.load();
      while (seen > before && !highest.compare_exchange_weak(before, seen)) {
      }
      if (!reserved.granted()) {
        ++tallies[at].refused;
        continue;
      }
      ++tallies[at].granted;
      auto moved = std::move(reserved);
      if (round % 3 == 0) {
        moved.settle(round % 10);
        settled[at] += round % 10;
      } else if (round % 3 == 1) {
        moved.give_back();
      }  // else it goes by itself
    }
  });
  std::int64_t sum = 0;
  int granted = 0;
  int refused = 0;
  for (std::size_t at = 0; at < thread_count; ++at) {
    sum += settled[at];
    granted += tallies[at].granted;
    refused += tallies[at].refused;
  }
  expect(granted + refused == thread_count * rounds, "an answer was lost");
  expect(granted > 0 && refused > 0, "the limit was never met: nothing was tried");
  expect(session.total() == sum, "the total is not the sum of the costs");
  expect(highest.load() <= per_session, "the session was over its limit");
  std::printf("spend budget: %d granted, %d refused, spent %lld\n", granted, refused, static_cast<long long>(sum));
}

/// Everybody reserves until nothing is left: exactly the limit goes out.
void drain_spend_budget() {
  constexpr std::int64_t per_session = 10'007;
  reprise::memory_counter session;
  std::atomic<std::int64_t> taken = 0;
  on_all_threads([&](int number) {
    const std::int64_t estimate = 1 + number;
    reprise::spend_budget budget(session, estimate, per_session);  // each thread its own, the session is shared
    for (;;) {
      auto reserved = budget.reserve(estimate);
      if (!reserved.granted()) break;
      reserved.settle(estimate);
      taken.fetch_add(estimate);
    }
  });
  // The thread that asks for one unit stops only when none is left.
  expect(taken.load() == per_session, "not exactly the limit went out");
  expect(session.total() == per_session, "the total is not the limit");
  std::printf("drained: %lld of %lld\n", static_cast<long long>(taken.load()), static_cast<long long>(per_session));
}

}  // namespace

int main() {
  hammer_bulkhead();
  queue_without_limit();
  give_back_as_time_runs_out();
  hammer_spend_budget();
  drain_spend_budget();
  return faults.load() == 0 ? 0 : 1;
}
