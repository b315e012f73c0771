// SPDX-License-Identifier: MIT
// What it costs to hold a slot through the wait: callers in a closed loop share one bulkhead, on a fake clock. The
// engine decides, the bulkhead counts; what is here is only the order of events.
#pragma once

#include <vector>

#include "downstream.hpp"

namespace bulkheaded {

/// When a call gives its slot back.
enum class slot_is { held_through_the_wait, given_back_before_the_wait };

struct setting {
  slot_is slot = slot_is::given_back_before_the_wait;
  /// The share of the calls that fail, and at how many of their attempts.
  double failing = 0.3;
  int failures = 3;
  reprise::duration healthy_takes = 100ms;
  /// Longer than the attempt's timeout it is a timeout, else a 503.
  reprise::duration failing_takes = 100ms;
  int slots = 4;
  int callers = 16;
  /// Between two calls of one caller, on average: from none to twice as long.
  reprise::duration pause = 500ms;
  reprise::duration length = 1h;
};

struct measured {
  int healthy = 0;          ///< healthy calls that were answered
  int healthy_refused = 0;  ///< healthy calls that found no slot
  int failing = 0;          ///< failing calls that had every attempt that they needed
  int failing_refused = 0;  ///< failing calls that found no slot, at first or for a retry
  int most_at_once = 0;     ///< attempts at the downstream
};

class simulation {
 public:
  explicit simulation(const setting& with) : with_(with), slots_(with.slots) {
    for (int i = 0; i < with.callers; ++i) {
      callers_.emplace_back(static_cast<std::uint64_t>(i));
      rest(callers_.back());
    }
  }

  measured run() {
    const auto earlier = [](const caller& one, const caller& other) { return one.due < other.due; };
    for (;;) {
      caller& next = *std::min_element(callers_.begin(), callers_.end(), earlier);
      if (next.due >= time_point(with_.length)) return seen_;
      time_.advance(next.due - time_.now());
      go_on(next);
    }
  }

 private:
  using time_point = reprise::testing::fake_clock::time_point;
  using engine = reprise::engine<const decltype(policy)&, time_point>;

  struct caller {
    explicit caller(std::uint64_t seed) : random(seed) {}

    reprise::random_fraction random;
    std::optional<engine> call = {};
    std::optional<reprise::bulkhead::slot> slot = {};
    bool fails = false;
    bool attempt_fails = false;
    reprise::duration attempt_takes = {};
    /// What is over at `due`: an attempt, a wait, or (stop) the pause between two calls.
    reprise::step doing = reprise::step::stop;
    time_point due = {};
  };

  void go_on(caller& one) {
    const time_point now = time_.now();
    switch (one.doing) {
      case reprise::step::attempt:
        --at_once_;
        return follow(one, one.call->on_verdict(end_of_attempt(one), now, one.random));
      case reprise::step::wait: return follow(one, one.call->on_wait_over(now));
      case reprise::step::stop:
        one.fails = one.random() < with_.failing;
        one.call.emplace(policy);
        return follow(one, one.call->start(now));
    }
  }

  void follow(caller& one, const engine::action& next) {
    one.doing = next.kind;
    switch (next.kind) {
      case reprise::step::attempt:
        if (!one.slot) one.slot = slots_.try_acquire();
        if (!one.slot) return follow(one, one.call->on_verdict(full_, time_.now(), one.random));
        seen_.most_at_once = std::max(seen_.most_at_once, ++at_once_);
        one.attempt_fails = one.fails && next.attempt.number <= with_.failures;
        one.attempt_takes =
            std::min(one.attempt_fails ? with_.failing_takes : with_.healthy_takes, next.attempt.timeout);
        one.due = time_.now() + one.attempt_takes;
        break;
      case reprise::step::wait:
        if (with_.slot == slot_is::given_back_before_the_wait) one.slot.reset();
        one.due = next.due;
        break;
      case reprise::step::stop:
        one.slot.reset();
        count(one, next.reason);
        rest(one);
        break;
    }
  }

  void rest(caller& one) { one.due = time_.now() + reprise::jitter(2 * with_.pause, one.random()); }

  reprise::verdict end_of_attempt(const caller& one) const {
    if (!one.attempt_fails) return answered_;
    return one.attempt_takes < with_.failing_takes ? late_ : busy_;
  }

  void count(const caller& one, reprise::stop_reason reason) {
    if (reason == reprise::stop_reason::not_retryable) ++(one.fails ? seen_.failing_refused : seen_.healthy_refused);
    else ++(one.fails ? seen_.failing : seen_.healthy);
  }

  const reprise::verdict answered_ = policy.judge(answer{.status = 200});
  const reprise::verdict busy_ = policy.judge(answer{.status = 503});
  const reprise::verdict late_ = policy.judge(std::make_exception_ptr(timed_out{}));
  const reprise::verdict full_ = policy.judge(std::make_exception_ptr(reprise::bulkhead_full{}));

  setting with_;
  reprise::testing::fake_clock time_;
  reprise::bulkhead slots_;
  std::vector<caller> callers_;
  int at_once_ = 0;
  measured seen_;
};

inline measured measure(const setting& with) { return simulation(with).run(); }

}  // namespace bulkheaded
