// SPDX-License-Identifier: MIT
#include <reprise/core.hpp>
#include <reprise/testing/fake_clock.hpp>

#include "catch.hpp"

using namespace std::chrono_literals;
using reprise::outcome;
using reprise::step;
using reprise::stop_reason;
using reprise::verdict;

namespace {

using time_point = reprise::testing::fake_clock::time_point;

constexpr time_point at(reprise::time_span since_zero) { return time_point(since_zero); }

constexpr verdict succeeded{.kind = outcome::success};
constexpr verdict unavailable{.kind = outcome::transient, .label = "http", .code = 503};
constexpr verdict missing{.kind = outcome::permanent, .label = "http", .code = 404};
constexpr verdict given_up{.kind = outcome::cancelled, .label = "caller"};
constexpr verdict never_sent{.kind = outcome::transient, .label = "refused", .not_applied = true};

constexpr verdict asks_for(reprise::duration wait) {
  verdict asked = unavailable;
  asked.retry_after = wait;
  return asked;
}

// Waits of 100 ms without a draw, three attempts, ten seconds: far from every limit.
constexpr reprise::retry_policy roomy{reprise::http::retry_statuses{}, reprise::idempotent{},
                                      reprise::constant_backoff{.delay = 100ms}, reprise::attempt_budget{.maximum = 3},
                                      reprise::time_limit{.total = 10s}};

template <class Policy> using engine_of = reprise::engine<Policy, time_point>;
using action = reprise::action<time_point>;

/// The action after a first attempt that took no time.
template <class Policy> constexpr action after_first(const Policy& policy, const verdict& ended, bool cancelled = false,
                                                     double fraction = 0.5) {
  engine_of<Policy> engine(policy);
  engine.start(at(0s));
  return engine.on_verdict(ended, at(0s), fraction, cancelled);
}

constexpr bool stops(const action& next, stop_reason reason) {
  return next.kind == step::stop && next.reason == reason;
}
constexpr bool waits(const action& next, reprise::duration wait) {
  return next.kind == step::wait && next.wait == wait;
}
constexpr bool attempts(const action& next, int number) {
  return next.kind == step::attempt && next.attempt.number == number;
}

template <class Policy> constexpr bool ends_with(const Policy& policy, const verdict& ended, stop_reason reason) {
  return stops(after_first(policy, ended), reason);
}

/// A budget that counts the questions and grants or refuses all; its permit has nothing to give back.
struct counted_budget {
  bool grants = true;
  int started = 0;
  int failures = 0;
  int asked = 0;
  int retried = 0;
  int ended = 0;
  bool success = false;
  bool had_permit = false;
  reprise::duration latest = {};

  constexpr void call_started(reprise::duration now) {
    ++started;
    latest = now;
  }
  constexpr void failed(const verdict&) { ++failures; }
  constexpr std::optional<int> try_retry(const verdict&, reprise::duration now) {
    ++asked;
    latest = now;
    return grants ? std::optional<int>(asked) : std::nullopt;
  }
  constexpr void retry_started(int) { ++retried; }
  constexpr void call_ended(bool succeeded_at_last, std::optional<int> permit, reprise::duration now) {
    ++ended;
    success = succeeded_at_last;
    had_permit = permit.has_value();
    latest = now;
  }
};

/// Lets out that many attempts and counts how often it is asked.
struct throttle {
  static constexpr auto part_role = reprise::role::admission;

  int* asked = nullptr;
  int admitted = 0;
  reprise::duration* latest = nullptr;

  constexpr bool admit(reprise::duration now) const {
    if (latest != nullptr) *latest = now;
    return ++*asked <= admitted;
  }
};

/// A clock of another unit.
template <class Duration> struct clock_in {
  using duration = Duration;
  using rep = typename Duration::rep;
  using period = typename Duration::period;
  using time_point = std::chrono::time_point<clock_in>;
  static constexpr bool is_steady = true;
};

template <class Duration, class Policy> constexpr auto engine_in(const Policy& policy) {
  return reprise::engine<Policy, typename clock_in<Duration>::time_point>(policy);
}
template <class Duration> constexpr auto point(typename Duration::rep count) {
  return typename clock_in<Duration>::time_point(Duration(count));
}

}  // namespace

// --- the rules after an attempt, one by one
// ---------------------------------------------------------------------------

TEST_CASE("rule 1: a success ends the call as succeeded") {
  STATIC_REQUIRE(ends_with(roomy, succeeded, stop_reason::succeeded));
}

TEST_CASE("rule 1 before rule 2: a success that was received counts although a cancellation arrived meanwhile") {
  STATIC_REQUIRE(stops(after_first(roomy, succeeded, true), stop_reason::succeeded));
}

TEST_CASE("rule 2: a cancelled attempt ends the call as cancelled") {
  STATIC_REQUIRE(ends_with(roomy, given_up, stop_reason::cancelled));
}

TEST_CASE("rule 2: a failure does not go on after a cancellation arrived") {
  STATIC_REQUIRE(stops(after_first(roomy, unavailable, true), stop_reason::cancelled));
}

TEST_CASE("rule 2 before rule 3: a permanent failure after a cancellation is cancelled") {
  STATIC_REQUIRE(stops(after_first(roomy, missing, true), stop_reason::cancelled));
}

TEST_CASE("rule 3: a permanent failure is not retryable") {
  STATIC_REQUIRE(ends_with(roomy, missing, stop_reason::not_retryable));
}

TEST_CASE("rule 3: a hint does not make a permanent failure retryable") {
  constexpr verdict quota_used_up{.kind = outcome::permanent, .label = "http", .code = 429, .retry_after = 1s};
  STATIC_REQUIRE(ends_with(roomy, quota_used_up, stop_reason::not_retryable));
}

TEST_CASE("rule 3: what was not applied is still not retryable when it is permanent") {
  constexpr verdict refused_for_good{.kind = outcome::permanent, .not_applied = true};
  STATIC_REQUIRE(ends_with(roomy, refused_for_good, stop_reason::not_retryable));
}

TEST_CASE("rule 3 before rule 4: a permanent failure of an unsafe operation is not retryable") {
  STATIC_REQUIRE(ends_with(roomy.with(reprise::not_idempotent{}), missing, stop_reason::not_retryable));
}

TEST_CASE("rule 4: a transient failure of an unsafe operation is not repeated") {
  STATIC_REQUIRE(ends_with(roomy.with(reprise::not_idempotent{}), unavailable, stop_reason::not_replay_safe));
}

TEST_CASE("rule 4: proof that nothing was applied repeats an unsafe operation") {
  STATIC_REQUIRE(waits(after_first(roomy.with(reprise::not_idempotent{}), never_sent), 100ms));
}

TEST_CASE("rule 4: a hint says nothing about replay safety") {
  STATIC_REQUIRE(ends_with(roomy.with(reprise::not_idempotent{}), asks_for(1s), stop_reason::not_replay_safe));
}

TEST_CASE("rule 4 asks for the proof of each attempt anew") {
  constexpr auto second_may_have_been_applied = [] {
    engine_of<decltype(roomy.with(reprise::not_idempotent{}))> engine(roomy.with(reprise::not_idempotent{}));
    engine.start(at(0s));
    engine.on_verdict(never_sent, at(0s), 0.5);
    engine.on_wait_over(at(100ms));
    return engine.on_verdict(unavailable, at(100ms), 0.5);
  };
  STATIC_REQUIRE(stops(second_may_have_been_applied(), stop_reason::not_replay_safe));
}

TEST_CASE("rule 4 before rule 5: an unsafe operation on its last attempt is not replay-safe") {
  STATIC_REQUIRE(ends_with(roomy.with(reprise::not_idempotent{}, reprise::attempt_budget{.maximum = 1}), unavailable,
                           stop_reason::not_replay_safe));
}

TEST_CASE("rule 5: used up attempts end the call") {
  STATIC_REQUIRE(
      ends_with(roomy.with(reprise::attempt_budget{.maximum = 1}), unavailable, stop_reason::attempts_exhausted));
}

TEST_CASE("rule 5 counts the first attempt, and those that were not applied") {
  constexpr auto after = [](int number) {
    engine_of<decltype(roomy)> engine(roomy);
    auto next = engine.start(at(0s));
    for (int made = 1; made <= number; ++made) {
      next = engine.on_verdict(never_sent, at(0s), 0.5);
      if (made < number) next = engine.on_slept(at(0s));
    }
    return next;
  };
  STATIC_REQUIRE(waits(after(2), 100ms));
  STATIC_REQUIRE(stops(after(3), stop_reason::attempts_exhausted));
}

TEST_CASE("rule 5 before rule 6: on the last attempt a hint over its limit does not count") {
  STATIC_REQUIRE(ends_with(roomy.with(reprise::attempt_budget{.maximum = 1}, reprise::retry_after_limit{.longest = 1s}),
                           asks_for(2s), stop_reason::attempts_exhausted));
}

TEST_CASE("rule 6: a hint over its limit ends the call") {
  STATIC_REQUIRE(ends_with(roomy.with(reprise::retry_after_limit{.longest = 1s}), asks_for(1s + 1ns),
                           stop_reason::retry_after_too_long));
}

TEST_CASE("rule 6: a hint at its limit is waited") {
  STATIC_REQUIRE(waits(after_first(roomy.with(reprise::retry_after_limit{.longest = 1s}), asks_for(1s)), 1s));
}

TEST_CASE("rule 6: a clamped hint is waited up to its limit") {
  constexpr reprise::retry_after_limit clamps{.longest = 1s, .beyond = reprise::too_long::clamp};
  STATIC_REQUIRE(waits(after_first(roomy.with(clamps), asks_for(1h)), 1s));
  STATIC_REQUIRE(waits(after_first(roomy.with(clamps), asks_for(700ms)), 700ms));
}

TEST_CASE("rule 6: an ignored hint leaves the own wait") {
  constexpr reprise::retry_after_limit ignores{.longest = 1s, .beyond = reprise::too_long::ignore};
  STATIC_REQUIRE(waits(after_first(roomy.with(ignores), asks_for(1h)), 100ms));
  STATIC_REQUIRE(waits(after_first(roomy.with(ignores), asks_for(700ms)), 700ms));
}

TEST_CASE("rule 6 before rule 7: a hint over its limit is told before the wait limit") {
  STATIC_REQUIRE(ends_with(roomy.with(reprise::retry_after_limit{.longest = 1s}, reprise::wait_limit{.total = 50ms}),
                           asks_for(2s), stop_reason::retry_after_too_long));
}

TEST_CASE("rule 7: the longer of own wait and hint is waited") {
  STATIC_REQUIRE(waits(after_first(roomy, asks_for(2s)), 2s));
  STATIC_REQUIRE(waits(after_first(roomy, asks_for(20ms)), 100ms));
  STATIC_REQUIRE(waits(after_first(roomy, asks_for(0s)), 100ms));
  STATIC_REQUIRE(waits(after_first(roomy, asks_for(-5s)), 100ms));
}

TEST_CASE("rule 7: the spread is added on top of the hint, times the fraction") {
  constexpr reprise::retry_after_limit spreads{.longest = 2s, .spread = 400ms};
  STATIC_REQUIRE(waits(after_first(roomy.with(spreads), asks_for(2s), false, 0.0), 2s));
  STATIC_REQUIRE(waits(after_first(roomy.with(spreads), asks_for(2s), false, 0.25), 2100ms));
  STATIC_REQUIRE(waits(after_first(roomy.with(spreads), asks_for(2s), false, 1.0), 2400ms));
  // Without a hint there is nothing to spread.
  STATIC_REQUIRE(waits(after_first(roomy.with(spreads), unavailable, false, 1.0), 100ms));
}

TEST_CASE("rule 7: a wait past the wait limit ends the call, one at the limit does not") {
  STATIC_REQUIRE(
      ends_with(roomy.with(reprise::wait_limit{.total = 100ms - 1ns}), unavailable, stop_reason::wait_limit_reached));
  STATIC_REQUIRE(waits(after_first(roomy.with(reprise::wait_limit{.total = 100ms}), unavailable), 100ms));
}

TEST_CASE("rule 7: the wait limit is for all waits together, hints included") {
  constexpr auto second = [](reprise::duration limit) {
    const auto policy = roomy.with(reprise::wait_limit{.total = limit});
    engine_of<decltype(policy)> engine(policy);
    engine.start(at(0s));
    engine.on_verdict(asks_for(300ms), at(0s), 0.5);
    engine.on_wait_over(at(300ms));
    return engine.on_verdict(unavailable, at(300ms), 0.5);
  };
  STATIC_REQUIRE(waits(second(400ms), 100ms));
  STATIC_REQUIRE(stops(second(399ms), stop_reason::wait_limit_reached));
}

TEST_CASE("rule 7 before rule 8: the wait limit is told before the deadline") {
  STATIC_REQUIRE(ends_with(roomy.with(reprise::wait_limit{.total = 50ms}, reprise::time_limit{.total = 50ms}),
                           unavailable, stop_reason::wait_limit_reached));
}

TEST_CASE("rule 8: a wait that takes all that remains ends the call, a shorter one does not") {
  STATIC_REQUIRE(
      ends_with(roomy.with(reprise::time_limit{.total = 100ms}), unavailable, stop_reason::deadline_reached));
  STATIC_REQUIRE(waits(after_first(roomy.with(reprise::time_limit{.total = 100ms + 1ns}), unavailable), 100ms));
}

TEST_CASE("rule 8: what would be slept is what is checked, the hint included") {
  STATIC_REQUIRE(ends_with(roomy, asks_for(10s), stop_reason::deadline_reached));
}

TEST_CASE("rule 8: a zero wait needs time left") {
  constexpr auto at_the_end = [](reprise::duration now) {
    const auto policy = roomy.with(reprise::constant_backoff{.delay = 0s});
    engine_of<decltype(policy)> engine(policy);
    engine.start(at(0s));
    return engine.on_verdict(unavailable, at(now), 0.5);
  };
  STATIC_REQUIRE(waits(at_the_end(10s - 1ns), 0s));
  STATIC_REQUIRE(stops(at_the_end(10s), stop_reason::deadline_reached));
  STATIC_REQUIRE(stops(at_the_end(1h), stop_reason::deadline_reached));
}

TEST_CASE("rule 8 refuses a saturated wait although there is no limit in time") {
  constexpr auto unlimited = roomy.with(reprise::no_time_limit{}, reprise::retry_after_limit{});
  STATIC_REQUIRE(ends_with(unlimited, asks_for(reprise::duration::max()), stop_reason::deadline_reached));
  STATIC_REQUIRE(ends_with(unlimited.with(reprise::constant_backoff{.delay = std::chrono::hours::max()}), unavailable,
                           stop_reason::deadline_reached));
}

TEST_CASE("rule 8 before rule 9: nothing is spent on a retry for which there is no time") {
  constexpr auto budget_after = [] {
    counted_budget budget{.grants = false};
    const auto policy = roomy.with(reprise::time_limit{.total = 50ms}, reprise::shared_budget(budget));
    const bool by_deadline = ends_with(policy, unavailable, stop_reason::deadline_reached);
    return by_deadline && budget.asked == 0 && budget.failures == 1 && budget.ended == 1;
  };
  STATIC_REQUIRE(budget_after());
}

TEST_CASE("rule 9: a refusing budget ends the call before any wait") {
  constexpr auto budget_after = [] {
    counted_budget budget{.grants = false};
    const bool refused =
        ends_with(roomy.with(reprise::shared_budget(budget)), unavailable, stop_reason::budget_exhausted);
    return refused && budget.asked == 1 && budget.ended == 1 && !budget.success && !budget.had_permit;
  };
  STATIC_REQUIRE(budget_after());
}

TEST_CASE("the budget hears of a transient failure even when rule 4 stops, and of no other end") {
  constexpr auto failures = [](const verdict& ended, bool cancelled) {
    counted_budget budget;
    after_first(roomy.with(reprise::not_idempotent{}, reprise::shared_budget(budget)), ended, cancelled);
    return budget.failures;
  };
  STATIC_REQUIRE(failures(unavailable, false) == 1);
  STATIC_REQUIRE(failures(unavailable, true) == 0);
  STATIC_REQUIRE(failures(missing, false) == 0);
  STATIC_REQUIRE(failures(succeeded, false) == 0);
  STATIC_REQUIRE(failures(given_up, false) == 0);
}

TEST_CASE("rule 10: otherwise it waits, with a due time on the caller's clock") {
  constexpr auto next = [] {
    engine_of<decltype(roomy)> engine(roomy);
    engine.start(at(1s));
    return engine.on_verdict(unavailable, at(1500ms), 0.5);
  };
  STATIC_REQUIRE(waits(next(), 100ms));
  STATIC_REQUIRE(next().due == at(1600ms));
}

// --- before an attempt
// ------------------------------------------------------------------------------------------------

TEST_CASE("the first attempt begins at once") {
  constexpr auto next = [] { return engine_of<decltype(roomy)>(roomy).start(at(3s)); };
  STATIC_REQUIRE(attempts(next(), 1));
  STATIC_REQUIRE(next().attempt.maximum == 3);
  STATIC_REQUIRE(next().attempt.timeout == 10s);
  STATIC_REQUIRE(next().attempt.deadline == at(13s));
  STATIC_REQUIRE(next().attempt.call_deadline == at(13s));
}

TEST_CASE("a wait that lasted past the deadline is followed by no attempt") {
  constexpr auto after_oversleep = [](reprise::duration now) {
    engine_of<decltype(roomy)> engine(roomy);
    engine.start(at(0s));
    engine.on_verdict(unavailable, at(0s), 0.5);
    return engine.on_wait_over(at(now));
  };
  STATIC_REQUIRE(attempts(after_oversleep(10s - 1ns), 2));
  STATIC_REQUIRE(stops(after_oversleep(10s), stop_reason::deadline_reached));
}

TEST_CASE("a throttle may refuse the first attempt, and then the budget never hears of the call") {
  constexpr auto refused = [] {
    int asked = 0;
    counted_budget budget;
    const auto policy = roomy.with(throttle{.asked = &asked}, reprise::shared_budget(budget));
    engine_of<decltype(policy)> engine(policy);
    return stops(engine.start(at(0s)), stop_reason::admission_refused) && engine.attempts() == 0 && asked == 1 &&
           budget.started == 0 && budget.ended == 0;
  };
  STATIC_REQUIRE(refused());
}

TEST_CASE("a throttle is asked before every attempt, with the time since the clock's epoch") {
  constexpr auto refuses_third = [] {
    int asked = 0;
    reprise::duration latest{};
    const auto policy = roomy.with(throttle{.asked = &asked, .admitted = 2, .latest = &latest});
    engine_of<decltype(policy)> engine(policy);
    engine.start(at(7s));
    const bool first = asked == 1 && latest == 7s;
    engine.on_verdict(unavailable, at(7s), 0.5);
    const bool second = attempts(engine.on_wait_over(at(7100ms)), 2) && asked == 2 && latest == 7100ms;
    engine.on_verdict(unavailable, at(8s), 0.5);
    return first && second && stops(engine.on_wait_over(at(8100ms)), stop_reason::admission_refused) &&
           engine.attempts() == 2;
  };
  STATIC_REQUIRE(refuses_third());
}

TEST_CASE("time up is told before the throttle is asked") {
  constexpr auto not_asked = [] {
    int asked = 0;
    const auto policy = roomy.with(throttle{.asked = &asked, .admitted = 1});
    engine_of<decltype(policy)> engine(policy);
    engine.start(at(0s));
    engine.on_verdict(unavailable, at(0s), 0.5);
    return stops(engine.on_wait_over(at(10s)), stop_reason::deadline_reached) && asked == 1;
  };
  STATIC_REQUIRE(not_asked());
}

TEST_CASE("a throttle that refuses a retry leaves the granted permit unused, for the budget to take back") {
  constexpr auto handed_back = [] {
    int asked = 0;
    counted_budget budget;
    const auto policy = roomy.with(throttle{.asked = &asked, .admitted = 1}, reprise::shared_budget(budget));
    engine_of<decltype(policy)> engine(policy);
    engine.start(at(0s));
    engine.on_verdict(unavailable, at(0s), 0.5);
    return stops(engine.on_wait_over(at(1s)), stop_reason::admission_refused) && budget.asked == 1 &&
           budget.retried == 0 && budget.ended == 1 && budget.had_permit;
  };
  STATIC_REQUIRE(handed_back());
}

// --- the budget's five moments
// ----------------------------------------------------------------------------------------

TEST_CASE("a budget is told the five moments once each, with the time since the clock's epoch") {
  constexpr auto told = [] {
    counted_budget budget;
    const auto policy = roomy.with(reprise::shared_budget(budget));
    engine_of<decltype(policy)> engine(policy);
    engine.start(at(5s));
    const bool started = budget.started == 1 && budget.latest == 5s;
    engine.on_verdict(unavailable, at(6s), 0.5);
    const bool asked = budget.failures == 1 && budget.asked == 1 && budget.latest == 6s && budget.retried == 0;
    engine.on_wait_over(at(6100ms));
    const bool retried = budget.retried == 1 && budget.ended == 0;
    engine.on_verdict(succeeded, at(7s), 0.5);
    return started && asked && retried && budget.ended == 1 && budget.success && budget.had_permit &&
           budget.latest == 7s && budget.started == 1;
  };
  STATIC_REQUIRE(told());
}

TEST_CASE("an engine that is dropped in the middle of a call ends it with its budget") {
  constexpr auto dropped = [] {
    counted_budget budget;
    const auto policy = roomy.with(reprise::shared_budget(budget));
    {
      engine_of<decltype(policy)> engine(policy);
      engine.start(at(0s));
      engine.on_verdict(unavailable, at(0s), 0.5);
    }
    return budget.ended == 1 && !budget.success && budget.had_permit;
  };
  STATIC_REQUIRE(dropped());
}

TEST_CASE("an engine that never started owes its budget nothing") {
  constexpr auto dropped = [] {
    counted_budget budget;
    const auto policy = roomy.with(reprise::shared_budget(budget));
    {
      engine_of<decltype(policy)> engine(policy);
    }
    return budget.started == 0 && budget.ended == 0;
  };
  STATIC_REQUIRE(dropped());
}

// --- driven by hand
// ---------------------------------------------------------------------------------------------------

TEST_CASE("an engine goes from attempt to wait to attempt to stop") {
  constexpr auto walks = [] {
    engine_of<decltype(roomy)> engine(roomy);
    bool right = attempts(engine.start(at(0s)), 1) && engine.attempts() == 1;
    right = right && waits(engine.on_verdict(unavailable, at(1s), 0.5), 100ms);
    right = right && engine.last_verdict() == unavailable && engine.total_wait() == 100ms;
    right = right && attempts(engine.on_wait_over(at(1100ms)), 2) && engine.attempts() == 2;
    right = right && stops(engine.on_verdict(succeeded, at(2s), 0.5), stop_reason::succeeded);
    return right && engine.attempts() == 2 && engine.total_wait() == 100ms && engine.last_verdict() == succeeded;
  };
  STATIC_REQUIRE(walks());
}

TEST_CASE("before any attempt the last verdict is permanent with the label none") {
  constexpr auto fresh = [] { return engine_of<decltype(roomy)>(roomy).last_verdict(); };
  STATIC_REQUIRE(fresh() == verdict{.kind = outcome::permanent, .label = "none"});
}

TEST_CASE("on_wait_over before the due time gives what is left of the wait and the same due time") {
  constexpr auto early = [](reprise::duration now) {
    engine_of<decltype(roomy)> engine(roomy);
    engine.start(at(0s));
    engine.on_verdict(unavailable, at(1s), 0.5);
    return engine.on_wait_over(at(now));
  };
  STATIC_REQUIRE(waits(early(1s), 100ms));
  STATIC_REQUIRE(waits(early(1040ms), 60ms));
  STATIC_REQUIRE(early(1040ms).due == at(1100ms));
  STATIC_REQUIRE(waits(early(1100ms - 1ns), 1ns));
  STATIC_REQUIRE(early(1100ms - 1ns).due == at(1100ms));
  STATIC_REQUIRE(attempts(early(1100ms), 2));
}

TEST_CASE("an early timer neither draws, nor spends, nor counts the wait again") {
  constexpr auto early = [] {
    counted_budget budget;
    const auto policy = roomy.with(reprise::shared_budget(budget));
    engine_of<decltype(policy)> engine(policy);
    engine.start(at(0s));
    engine.on_verdict(unavailable, at(0s), 0.5);
    for (int i = 0; i < 5; ++i) engine.on_wait_over(at(10ms));
    return budget.asked == 1 && budget.retried == 0 && engine.total_wait() == 100ms && engine.attempts() == 1;
  };
  STATIC_REQUIRE(early());
}

TEST_CASE("on_slept trusts the sleep: a clock that stands still does not hold the call") {
  constexpr auto slept = [] {
    engine_of<decltype(roomy)> engine(roomy);
    engine.start(at(0s));
    engine.on_verdict(unavailable, at(0s), 0.5);
    return engine.on_slept(at(0s));
  };
  STATIC_REQUIRE(attempts(slept(), 2));
}

TEST_CASE("on_slept still sees that the time is up") {
  constexpr auto overslept = [] {
    engine_of<decltype(roomy)> engine(roomy);
    engine.start(at(0s));
    engine.on_verdict(unavailable, at(0s), 0.5);
    return engine.on_slept(at(10s));
  };
  STATIC_REQUIRE(stops(overslept(), stop_reason::deadline_reached));
}

TEST_CASE("calls that do not fit change nothing and return the action that stands") {
  constexpr auto stray = [] {
    counted_budget budget;
    const auto policy = roomy.with(reprise::shared_budget(budget));
    engine_of<decltype(policy)> engine(policy);
    bool right = engine.on_verdict(unavailable, at(1s), 0.5).kind == step::stop;
    right = right && engine.on_wait_over(at(1s)).kind == step::stop && engine.on_slept(at(1s)).kind == step::stop;
    right = right && engine.attempts() == 0 && budget.failures == 0;

    right = right && attempts(engine.start(at(1s)), 1) && attempts(engine.start(at(2s)), 1);
    right = right && attempts(engine.on_wait_over(at(2s)), 1) && attempts(engine.on_slept(at(2s)), 1);
    right = right && engine.attempts() == 1 && budget.started == 1;

    right = right && waits(engine.on_verdict(unavailable, at(1s), 0.5), 100ms);
    right = right && waits(engine.on_verdict(succeeded, at(1s), 0.5), 100ms) && waits(engine.start(at(1s)), 100ms);
    right = right && engine.last_verdict() == unavailable && budget.asked == 1;

    right = right && attempts(engine.on_wait_over(at(2s)), 2);
    right = right && stops(engine.on_verdict(missing, at(2s), 0.5), stop_reason::not_retryable);
    right = right && stops(engine.on_verdict(succeeded, at(2s), 0.5), stop_reason::not_retryable);
    right = right && stops(engine.on_wait_over(at(9s)), stop_reason::not_retryable);
    right = right && stops(engine.on_slept(at(9s)), stop_reason::not_retryable);
    right = right && stops(engine.start(at(9s)), stop_reason::not_retryable);
    right = right && stops(engine.cancel(), stop_reason::not_retryable);
    return right && engine.last_verdict() == missing && engine.attempts() == 2 && budget.ended == 1;
  };
  STATIC_REQUIRE(stray());
}

TEST_CASE("cancel before the start ends the call without an attempt") {
  constexpr auto cancelled = [] {
    engine_of<decltype(roomy)> engine(roomy);
    return stops(engine.cancel(), stop_reason::cancelled) && stops(engine.start(at(0s)), stop_reason::cancelled) &&
           engine.attempts() == 0;
  };
  STATIC_REQUIRE(cancelled());
}

TEST_CASE("cancel during an attempt ends the call, and the attempt's verdict changes nothing any more") {
  constexpr auto cancelled = [] {
    engine_of<decltype(roomy)> engine(roomy);
    engine.start(at(0s));
    return stops(engine.cancel(), stop_reason::cancelled) &&
           stops(engine.on_verdict(succeeded, at(1s), 0.5), stop_reason::cancelled) && engine.attempts() == 1 &&
           engine.last_verdict().label == reprise::label("none");
  };
  STATIC_REQUIRE(cancelled());
}

TEST_CASE("cancel during a wait ends the call and counts of that wait only what was waited") {
  constexpr auto total = [](reprise::duration now) {
    engine_of<decltype(roomy)> engine(roomy);
    engine.start(at(0s));
    engine.on_verdict(unavailable, at(0s), 0.5);
    engine.on_wait_over(at(100ms));
    engine.on_verdict(unavailable, at(100ms), 0.5);
    const bool stopped = stops(engine.cancel(at(now)), stop_reason::cancelled);
    return stopped && engine.attempts() == 2 ? engine.total_wait() : reprise::duration::min();
  };
  STATIC_REQUIRE(total(130ms) == 130ms);
  STATIC_REQUIRE(total(100ms) == 100ms);
  STATIC_REQUIRE(total(0ms) == 100ms);
  STATIC_REQUIRE(total(200ms) == 200ms);
  STATIC_REQUIRE(total(900ms) == 200ms);
}

TEST_CASE("two interleaved engines on one policy do not disturb each other") {
  constexpr auto interleaved = [] {
    constexpr auto policy = roomy.with(reprise::decorrelated_backoff{.base = 100ms, .cap = 1s});
    reprise::engine<const decltype(policy)&, time_point> one(policy);
    reprise::engine<const decltype(policy)&, time_point> other(policy);
    one.start(at(0s));
    one.on_verdict(unavailable, at(0s), 1.0);  // 300 ms
    other.start(at(5s));
    const bool other_first = waits(other.on_verdict(unavailable, at(5s), 0.0), 100ms);
    one.on_wait_over(at(5s));
    const bool one_second = waits(one.on_verdict(unavailable, at(5s), 1.0), 900ms);
    other.on_wait_over(at(6s));
    const bool other_second = waits(other.on_verdict(unavailable, at(6s), 1.0), 300ms);
    return other_first && one_second && other_second && one.total_wait() == 1200ms && other.total_wait() == 400ms;
  };
  STATIC_REQUIRE(interleaved());
}

TEST_CASE("an engine moves with its call: the budget hears of one call and one end") {
  constexpr auto moved = [] {
    counted_budget budget;
    const auto policy = roomy.with(reprise::shared_budget(budget));
    bool right = true;
    {
      engine_of<decltype(policy)> first(policy);
      first.start(at(0s));
      first.on_verdict(unavailable, at(0s), 0.5);
      engine_of<decltype(policy)> second(std::move(first));
      right = attempts(second.on_wait_over(at(100ms)), 2) && budget.ended == 0;
      right = right && stops(second.on_verdict(succeeded, at(1s), 0.5), stop_reason::succeeded);
    }
    return right && budget.started == 1 && budget.ended == 1 && budget.success;
  };
  STATIC_REQUIRE(moved());
  STATIC_REQUIRE(!std::is_copy_constructible_v<engine_of<decltype(roomy)>>);
  STATIC_REQUIRE(std::is_move_constructible_v<engine_of<decltype(roomy)>>);
}

TEST_CASE("an engine copies its policy unless it is told to refer to it") {
  constexpr auto outlives = [] {
    std::optional<decltype(roomy.with(reprise::attempt_budget{.maximum = 2}))> policy(
        roomy.with(reprise::attempt_budget{.maximum = 2}));
    engine_of<decltype(roomy.with(reprise::attempt_budget{.maximum = 2}))> engine(*policy);
    policy.reset();
    return engine.start(at(0s)).attempt.maximum;
  };
  STATIC_REQUIRE(outlives() == 2);
}

// --- values and callables
// ---------------------------------------------------------------------------------------------

namespace {

struct questions {
  int now = 0;
  int fraction = 0;
  int cancelled = 0;

  friend constexpr bool operator==(const questions&, const questions&) = default;
};

/// What the end of the first attempt asks for.
template <class Policy> constexpr questions asked_for(const Policy& policy, const verdict& ended) {
  questions asked;
  engine_of<Policy> engine(policy);
  engine.start(at(0s));
  engine.on_verdict(
      ended, [&] { return ++asked.now, at(0s); }, [&] { return ++asked.fraction, 0.5; },
      [&] { return ++asked.cancelled, false; });
  return asked;
}

constexpr auto spread_out = roomy.with(reprise::full_jitter{});

}  // namespace

TEST_CASE("callables give what values give") {
  constexpr auto next = [] {
    engine_of<decltype(spread_out)> engine(spread_out);
    engine.start([] { return at(1s); });
    return engine.on_verdict(unavailable, [] { return at(2s); }, [] { return 0.25; }, [] { return false; });
  };
  STATIC_REQUIRE(waits(next(), 25ms));
  STATIC_REQUIRE(next().due == at(2025ms));
}

TEST_CASE("a retry asks the time, the fraction and the cancellation once each") {
  STATIC_REQUIRE(asked_for(spread_out, unavailable) == questions{1, 1, 1});
}

TEST_CASE("no fraction is drawn where both ends of the range are equal") {
  STATIC_REQUIRE(asked_for(roomy, unavailable) == questions{1, 0, 1});
  STATIC_REQUIRE(asked_for(spread_out.with(reprise::constant_backoff{.delay = 0s}), unavailable).fraction == 0);
}

TEST_CASE("a hint alone draws no fraction, a spread of it does") {
  STATIC_REQUIRE(asked_for(roomy.with(reprise::retry_after_limit{.longest = 2s}), asks_for(1s)).fraction == 0);
  STATIC_REQUIRE(
      asked_for(roomy.with(reprise::retry_after_limit{.longest = 2s, .spread = 1s}), asks_for(1s)).fraction == 1);
  STATIC_REQUIRE(asked_for(spread_out.with(reprise::retry_after_limit{.longest = 2s, .spread = 1s}), asks_for(1s)) ==
                 questions{1, 1, 1});
  constexpr reprise::retry_after_limit ignores{.longest = 0s, .beyond = reprise::too_long::ignore, .spread = 1s};
  STATIC_REQUIRE(asked_for(roomy.with(ignores), asks_for(1s)).fraction == 0);
}

TEST_CASE("a success asks nothing") { STATIC_REQUIRE(asked_for(spread_out, succeeded) == questions{0, 0, 0}); }

TEST_CASE("a cancelled attempt asks nothing") { STATIC_REQUIRE(asked_for(spread_out, given_up) == questions{}); }

TEST_CASE("a stop before the waits asks neither time nor fraction") {
  STATIC_REQUIRE(asked_for(spread_out, missing) == questions{0, 0, 1});
  STATIC_REQUIRE(asked_for(spread_out.with(reprise::not_idempotent{}), unavailable) == questions{0, 0, 1});
  STATIC_REQUIRE(asked_for(spread_out.with(reprise::attempt_budget{.maximum = 1}), unavailable) == questions{0, 0, 1});
  STATIC_REQUIRE(asked_for(spread_out.with(reprise::retry_after_limit{.longest = 1s}), asks_for(2s)) ==
                 questions{0, 0, 1});
}

TEST_CASE("a stop at the wait limit asks no time, a stop at the deadline asks for one fraction") {
  STATIC_REQUIRE(asked_for(spread_out.with(reprise::wait_limit{.total = 0s}), unavailable) == questions{0, 1, 1});
  STATIC_REQUIRE(asked_for(spread_out.with(reprise::time_limit{.total = 1ms}), unavailable) == questions{1, 1, 1});
}

TEST_CASE("a part that is told of every end has the time asked once, a success included") {
  constexpr auto told = spread_out.with(reprise::on_event([](const reprise::event&) {}));
  STATIC_REQUIRE(asked_for(told, succeeded) == questions{1, 0, 0});
  STATIC_REQUIRE(asked_for(told, unavailable) == questions{1, 1, 1});
  STATIC_REQUIRE(asked_for(spread_out.with(reprise::attempt_log<2>{}), missing) == questions{1, 0, 1});
}

TEST_CASE("a time callable is asked once by a step that fits and never by one that does not") {
  constexpr auto holds = [] {
    int asked = 0;
    const auto now = [&] { return ++asked, at(1s); };
    engine_of<decltype(roomy)> engine(roomy);
    engine.on_wait_over(now);
    engine.on_slept(now);
    engine.on_verdict(unavailable, now, 0.5);
    bool right = asked == 0;
    engine.start(now);
    right = right && asked == 1;
    engine.start(now);
    engine.on_wait_over(now);
    right = right && asked == 1;
    engine.on_verdict(unavailable, now, 0.5);
    engine.on_wait_over(now);
    right = right && asked == 3;
    engine.cancel(now);
    right = right && asked == 4;
    engine.cancel(now);
    return right && asked == 4;
  };
  STATIC_REQUIRE(holds());
}

TEST_CASE("cancelling an attempt needs no time") {
  constexpr auto asked = [] {
    int times = 0;
    engine_of<decltype(roomy)> engine(roomy);
    engine.start(at(0s));
    engine.cancel([&] { return ++times, at(1s); });
    return times;
  };
  STATIC_REQUIRE(asked() == 0);
}

TEST_CASE("a fraction that misbehaves is clamped, and NaN counts as 1") {
  constexpr auto wait = [](double fraction) { return after_first(spread_out, unavailable, false, fraction).wait; };
  STATIC_REQUIRE(wait(-1.0) == 0ms);
  STATIC_REQUIRE(wait(0.0) == 0ms);
  STATIC_REQUIRE(wait(1.0) == 100ms);
  STATIC_REQUIRE(wait(7.0) == 100ms);
  STATIC_REQUIRE(wait(std::numeric_limits<double>::infinity()) == 100ms);
  STATIC_REQUIRE(wait(-std::numeric_limits<double>::infinity()) == 0ms);
  STATIC_REQUIRE(wait(std::numeric_limits<double>::quiet_NaN()) == 100ms);
}

TEST_CASE("a fraction that misbehaves does not shorten a hint, and lengthens it by the spread at most") {
  constexpr auto wait = [](double fraction) {
    return after_first(roomy.with(reprise::retry_after_limit{.longest = 2s, .spread = 1s}), asks_for(2s), false,
                       fraction)
        .wait;
  };
  STATIC_REQUIRE(wait(-1.0) == 2s);
  STATIC_REQUIRE(wait(7.0) == 3s);
  STATIC_REQUIRE(wait(std::numeric_limits<double>::quiet_NaN()) == 3s);
}

// --- timeouts and deadlines
// -------------------------------------------------------------------------------------------

TEST_CASE("an attempt's timeout is the shorter of its own and what remains") {
  constexpr auto timeout = [](reprise::duration longest, reprise::duration total) {
    const auto policy = roomy.with(reprise::attempt_timeout{.longest = longest}, reprise::time_limit{.total = total});
    return engine_of<decltype(policy)>(policy).start(at(0s)).attempt.timeout;
  };
  STATIC_REQUIRE(timeout(2s, 10s) == 2s);
  STATIC_REQUIRE(timeout(20s, 10s) == 10s);
  STATIC_REQUIRE(timeout(reprise::unlimited, 10s) == 10s);
  STATIC_REQUIRE(timeout(1ns, 10s) == 1ns);
}

TEST_CASE("an attempt's deadline is its own end, the call's deadline that of the call") {
  constexpr auto next = [] {
    const auto policy = roomy.with(reprise::attempt_timeout{.longest = 2s});
    engine_of<decltype(policy)> engine(policy);
    engine.start(at(1s));
    engine.on_verdict(unavailable, at(3s), 0.5);
    return engine.on_wait_over(at(3100ms));
  };
  STATIC_REQUIRE(next().attempt.deadline == at(5100ms));
  STATIC_REQUIRE(next().attempt.call_deadline == at(11s));
  STATIC_REQUIRE(next().attempt.timeout == 2s);
}

TEST_CASE("the timeout of a later attempt is what remains") {
  constexpr auto next = [] {
    engine_of<decltype(roomy)> engine(roomy);
    engine.start(at(1s));
    engine.on_verdict(unavailable, at(3s), 0.5);
    return engine.on_wait_over(at(11s - 1ns));
  };
  STATIC_REQUIRE(next().attempt.timeout == 1ns);
  STATIC_REQUIRE(next().attempt.timeout_ms() == 1);
}

TEST_CASE("without any limit an attempt has no timeout and no deadline") {
  constexpr auto next = [] {
    const auto policy = roomy.with(reprise::no_time_limit{}, reprise::retry_after_limit{});
    return engine_of<decltype(policy)>(policy).start(at(1s));
  };
  STATIC_REQUIRE(next().attempt.timeout == reprise::unlimited);
  STATIC_REQUIRE(next().attempt.deadline == time_point::max());
  STATIC_REQUIRE(next().attempt.call_deadline == time_point::max());
}

TEST_CASE("a divided timeout shares what remains among the attempts left") {
  constexpr auto timeouts = [](reprise::divided_timeout divided) {
    const auto policy = roomy.with(divided, reprise::time_limit{.total = 9s}, reprise::constant_backoff{.delay = 0s});
    engine_of<decltype(policy)> engine(policy);
    reprise::testing::recorded<reprise::duration> seen;
    auto now = at(0s);
    for (auto next = engine.start(now); next.kind == step::attempt;) {
      seen.add(next.attempt.timeout);
      now += next.attempt.timeout;
      next = engine.on_verdict(unavailable, now, 0.5);
      if (next.kind == step::wait) next = engine.on_wait_over(now);
    }
    return seen;
  };
  STATIC_REQUIRE(timeouts({}).are({3s, 3s, 3s}));
  STATIC_REQUIRE(timeouts({.longest = 2s}).are({2s, 2s, 2s}));
  STATIC_REQUIRE(timeouts({.longest = 4s}).are({3s, 3s, 3s}));
  STATIC_REQUIRE(timeouts({.shortest = 5s}).are({5s, 4s}));
}

TEST_CASE("a divided timeout has nothing to share out without a limit in time") {
  constexpr auto timeout = [](reprise::divided_timeout divided) {
    const auto policy = roomy.with(divided, reprise::no_time_limit{}, reprise::retry_after_limit{});
    return engine_of<decltype(policy)>(policy).start(at(1s)).attempt.timeout;
  };
  STATIC_REQUIRE(timeout({}) == reprise::unlimited);
  STATIC_REQUIRE(timeout({.longest = 2s}) == 2s);
}

TEST_CASE("a divided timeout has nothing to share out among unlimited attempts: it is the longest, or the floor") {
  constexpr auto timeout = [](reprise::divided_timeout divided) {
    const auto policy = roomy.with(divided, reprise::unlimited_attempts{});
    return engine_of<decltype(policy)>(policy).start(at(1s)).attempt.timeout;
  };
  STATIC_REQUIRE(timeout({.shortest = 1s}) == 1s);
  CHECK(timeout({.longest = 2s}) == 2s);
  CHECK(timeout({}) == 10s);
}

TEST_CASE("a deadline in the past allows no attempt") {
  constexpr auto next = [](time_point end) {
    const auto policy = roomy.with(reprise::deadline{end});
    return engine_of<decltype(policy)>(policy).start(at(5s));
  };
  STATIC_REQUIRE(stops(next(at(4s)), stop_reason::deadline_reached));
  STATIC_REQUIRE(stops(next(at(5s)), stop_reason::deadline_reached));
  STATIC_REQUIRE(stops(next(time_point::min()), stop_reason::deadline_reached));
  STATIC_REQUIRE(attempts(next(at(5s + 1ns)), 1));
  STATIC_REQUIRE(next(at(5s + 1ns)).attempt.timeout == 1ns);
}

TEST_CASE("of a deadline and a time limit the earlier counts") {
  constexpr auto call_deadline = [](time_point end) {
    const auto policy = roomy.with(reprise::deadline{end});
    return engine_of<decltype(policy)>(policy).start(at(5s)).attempt.call_deadline;
  };
  STATIC_REQUIRE(call_deadline(at(7s)) == at(7s));
  STATIC_REQUIRE(call_deadline(at(20s)) == at(15s));
  STATIC_REQUIRE(call_deadline(time_point::max()) == at(15s));
}

TEST_CASE("a deadline alone limits the call") {
  constexpr auto next = [](time_point end) {
    const auto policy = roomy.with(reprise::deadline{end}, reprise::no_time_limit{});
    engine_of<decltype(policy)> engine(policy);
    engine.start(at(5s));
    return engine.on_verdict(unavailable, at(6s), 0.5);
  };
  STATIC_REQUIRE(waits(next(at(6100ms + 1ns)), 100ms));
  STATIC_REQUIRE(stops(next(at(6100ms)), stop_reason::deadline_reached));
  STATIC_REQUIRE(waits(next(time_point::max()), 100ms));
}

TEST_CASE("a deadline may have another duration of the same clock") {
  using clock = reprise::testing::fake_clock;
  constexpr auto first = [](auto end) {
    const auto policy = roomy.with(reprise::deadline{end});
    return engine_of<decltype(policy)>(policy).start(at(5s)).attempt;
  };
  STATIC_REQUIRE(first(std::chrono::time_point<clock, std::chrono::seconds>(8s)).timeout == 3s);
  STATIC_REQUIRE(first(std::chrono::time_point<clock, std::chrono::duration<double>>(5.5s)).timeout == 500ms);
  STATIC_REQUIRE(first(std::chrono::time_point<clock, std::chrono::seconds>::max()).timeout == 10s);
}

TEST_CASE("a deadline of a coarser duration that nanoseconds cannot express is far away") {
  using clock = reprise::testing::fake_clock;
  const std::chrono::time_point<clock, std::chrono::hours> far(std::chrono::hours(4'000'000'000));
  const auto policy = roomy.with(reprise::deadline{far});
  CHECK(attempts(engine_of<decltype(policy)>(policy).start(at(5s)), 1));
  CHECK(engine_of<decltype(policy)>(policy).start(at(5s)).attempt.call_deadline == at(15s));
}

// --- clocks
// -----------------------------------------------------------------------------------------------------------

TEST_CASE("on a clock of whole seconds deadlines are rounded down and due times up") {
  using whole = std::chrono::duration<int>;
  constexpr auto holds = [] {
    auto engine = engine_in<whole>(roomy.with(reprise::time_limit{.total = 2500ms}));
    auto next = engine.start(point<whole>(10));
    bool right = next.attempt.timeout == 2500ms && next.attempt.deadline == point<whole>(12) &&
                 next.attempt.call_deadline == point<whole>(12);
    next = engine.on_verdict(unavailable, point<whole>(10), 0.5);
    right = right && next.wait == 100ms && next.due == point<whole>(11);
    next = engine.on_wait_over(point<whole>(10));
    right = right && next.kind == step::wait && next.due == point<whole>(11);
    next = engine.on_wait_over(point<whole>(11));
    right = right && next.kind == step::attempt && next.attempt.timeout == 1500ms;
    next = engine.on_verdict(unavailable, point<whole>(12), 0.5);
    right = right && next.due == point<whole>(13);
    next = engine.on_wait_over(point<whole>(13));
    return right && next.kind == step::stop && next.reason == stop_reason::deadline_reached;
  };
  STATIC_REQUIRE(holds());
}

TEST_CASE("a timeout below a clock's unit has a deadline that has come") {
  using whole = std::chrono::duration<int>;
  constexpr auto next = [] {
    return engine_in<whole>(roomy.with(reprise::attempt_timeout{.longest = 500ms})).start(point<whole>(10));
  };
  STATIC_REQUIRE(next().attempt.timeout == 500ms);
  STATIC_REQUIRE(next().attempt.deadline == point<whole>(10));
}

TEST_CASE("a clock of seconds as double works") {
  using real = std::chrono::duration<double>;
  constexpr auto holds = [] {
    auto engine = engine_in<real>(roomy.with(reprise::time_limit{.total = 2500ms}));
    auto next = engine.start(point<real>(0.25));
    bool right = next.attempt.timeout == 2500ms && next.attempt.deadline == point<real>(2.75);
    next = engine.on_verdict(asks_for(250ms), point<real>(0.5), 0.5);
    right = right && next.wait == 250ms && next.due == point<real>(0.75);
    next = engine.on_wait_over(point<real>(0.75));
    return right && next.kind == step::attempt && next.attempt.timeout == 2s;
  };
  STATIC_REQUIRE(holds());
}

TEST_CASE("a clock of floating milliseconds works") {
  using real = std::chrono::duration<double, std::milli>;
  constexpr auto holds = [] {
    auto engine = engine_in<real>(roomy);
    auto next = engine.start(point<real>(0.5));
    bool right = next.attempt.timeout == 10s && next.attempt.deadline == point<real>(10000.5);
    next = engine.on_verdict(unavailable, point<real>(1.75), 0.5);
    right = right && next.wait == 100ms && next.due == point<real>(101.75);
    return right && engine.on_wait_over(point<real>(101.75)).kind == step::attempt;
  };
  STATIC_REQUIRE(holds());
}

TEST_CASE("on a floating clock the due time that was given out is late enough for the next attempt") {
  using real = std::chrono::duration<double>;
  const double start = GENERATE(0.1, 0.3, 0.7, 1.1, 2.3, 12345.678, 1e9 + 0.3);
  CAPTURE(start);
  auto engine = engine_in<real>(roomy);
  engine.start(point<real>(start));
  const auto next = engine.on_verdict(unavailable, point<real>(start), 0.5);
  REQUIRE(next.kind == step::wait);
  CHECK(engine.on_wait_over(next.due).kind == step::attempt);
}

TEST_CASE("on a floating clock the deadline that was given out is no later than the timeout allows") {
  using real = std::chrono::duration<double>;
  const double start = GENERATE(0.1, 0.3, 0.7, 1.1, 2.3, 12345.678, 1e9 + 0.3);
  CAPTURE(start);
  auto engine = engine_in<real>(roomy.with(reprise::attempt_timeout{.longest = 100ms}));
  const auto next = engine.start(point<real>(start));
  // Exact: both are near each other, so that the difference of the doubles has no rounding of its own.
  CHECK((next.attempt.deadline - point<real>(start)).count() <= 0.1);
}

TEST_CASE("a clock with a 32-bit count gives its last point where a deadline does not fit") {
  using narrow = std::chrono::duration<std::int32_t, std::milli>;
  constexpr auto holds = [] {
    constexpr std::int32_t last = std::numeric_limits<std::int32_t>::max();
    auto engine = engine_in<narrow>(roomy);
    auto next = engine.start(point<narrow>(last - 1000));
    bool right = next.attempt.timeout == 10s && next.attempt.deadline == point<narrow>(last);
    next = engine.on_verdict(unavailable, point<narrow>(last - 50), 0.5);
    right = right && next.wait == 100ms && next.due == point<narrow>(last);
    return right;
  };
  STATIC_REQUIRE(holds());
}

TEST_CASE("a clock with an unsigned 32-bit count of milliseconds works") {
  using narrow = std::chrono::duration<std::uint32_t, std::milli>;
  constexpr auto holds = [] {
    auto engine = engine_in<narrow>(roomy);
    auto next = engine.start(point<narrow>(4294000000U));
    bool right = next.attempt.deadline == point<narrow>(4294010000U);
    next = engine.on_verdict(unavailable, point<narrow>(4294000001U), 0.5);
    right = right && next.due == point<narrow>(4294000101U);
    next = engine.on_wait_over(point<narrow>(5U));  // far back
    return right && next.kind == step::wait && next.wait == 100ms;
  };
  STATIC_REQUIRE(holds());
}

TEST_CASE("a clock of picoseconds works, and saturates where its range ends") {
  using fine = std::chrono::duration<std::int64_t, std::pico>;
  constexpr auto holds = [] {
    auto engine = engine_in<fine>(roomy);
    auto next = engine.start(point<fine>(999));
    bool right = next.attempt.timeout == 10s && next.attempt.deadline == point<fine>(10'000'000'000'999);
    next = engine.on_verdict(unavailable, point<fine>(999), 0.5);
    right = right && next.wait == 100ms && next.due == point<fine>(100'000'000'999);
    right = right && engine.on_wait_over(next.due).kind == step::attempt;
    auto eternal = engine_in<fine>(roomy.with(reprise::time_limit{.total = std::chrono::hours(24 * 365)}));
    next = eternal.start(point<fine>(0));
    return right && next.attempt.timeout == std::chrono::hours(24 * 365) &&
           next.attempt.deadline == clock_in<fine>::time_point::max();
  };
  STATIC_REQUIRE(holds());
}

TEST_CASE("a clock that goes backwards makes no wait negative and no due time earlier") {
  constexpr auto holds = [] {
    const auto policy = roomy.with(reprise::unlimited_attempts{});
    engine_of<decltype(policy)> engine(policy);
    engine.start(at(10s));
    auto next = engine.on_verdict(unavailable, at(12s), 0.5);
    bool right = waits(next, 100ms) && next.due == at(12100ms);
    next = engine.on_wait_over(at(3s));
    right = right && waits(next, 100ms) && next.due == at(12100ms);
    next = engine.on_slept(at(3s));
    right = right && next.attempt.timeout == 8s;
    next = engine.on_verdict(unavailable, at(1s), 0.5);
    return right && waits(next, 100ms) && next.due == at(12100ms);
  };
  STATIC_REQUIRE(holds());
}

TEST_CASE("a clock that stands still ends the call by its attempts") {
  constexpr auto reason = [] {
    engine_of<decltype(roomy)> engine(roomy);
    auto next = engine.start(at(0s));
    int steps = 0;
    while (next.kind != step::stop && steps < 100) {
      next = next.kind == step::attempt ? engine.on_verdict(unavailable, at(0s), 0.5) : engine.on_slept(at(0s));
      ++steps;
    }
    return steps == 5 ? next.reason : stop_reason::succeeded;
  };
  STATIC_REQUIRE(reason() == stop_reason::attempts_exhausted);
}

TEST_CASE("a clock that jumps to its last point ends a limited call") {
  constexpr auto after_attempt = [] {
    engine_of<decltype(roomy)> engine(roomy);
    engine.start(at(1s));
    return engine.on_verdict(unavailable, time_point::max(), 0.5);
  };
  constexpr auto after_wait = [](time_point start) {
    engine_of<decltype(roomy)> engine(roomy);
    engine.start(start);
    engine.on_verdict(unavailable, start, 0.5);
    return engine.on_wait_over(time_point::max());
  };
  STATIC_REQUIRE(stops(after_attempt(), stop_reason::deadline_reached));
  STATIC_REQUIRE(stops(after_wait(at(1s)), stop_reason::deadline_reached));
  STATIC_REQUIRE(stops(after_wait(at(-1s)), stop_reason::deadline_reached));
  STATIC_REQUIRE(stops(after_wait(time_point::min()), stop_reason::deadline_reached));
}

TEST_CASE("a clock that jumps to its last point neither overflows nor holds an unlimited call for ever") {
  constexpr auto goes_on_or_ends = [](time_point start) {
    const auto policy = roomy.with(reprise::no_time_limit{}, reprise::retry_after_limit{});
    engine_of<decltype(policy)> engine(policy);
    engine.start(start);
    auto next = engine.on_verdict(unavailable, time_point::max(), 0.5);
    if (next.kind == step::wait) next = engine.on_wait_over(time_point::max());
    return attempts(next, 2) || stops(next, stop_reason::deadline_reached);
  };
  CHECK(goes_on_or_ends(at(0s)));
  CHECK(goes_on_or_ends(at(1s)));  // the due time is past the last point, which is all that the clock can show
  CHECK(goes_on_or_ends(at(-1s)));
}

TEST_CASE("a start near the end of the clock saturates its deadlines") {
  constexpr auto next = [] { return engine_of<decltype(roomy)>(roomy).start(time_point::max() - 1s); };
  STATIC_REQUIRE(next().attempt.timeout == 10s);
  STATIC_REQUIRE(next().attempt.deadline == time_point::max());
}

// --- waits
// ------------------------------------------------------------------------------------------------------------

TEST_CASE("the engine walks the backoff: the first retry waits like any other") {
  constexpr auto schedule = [](double fraction) {
    const auto policy = roomy.with(reprise::exponential_backoff{}, reprise::attempt_budget{.maximum = 6},
                                   reprise::time_limit{.total = 1h});
    engine_of<decltype(policy)> engine(policy);
    reprise::testing::recorded<reprise::duration> seen;
    auto next = engine.start(at(0s));
    while (next.kind != step::stop) {
      if (next.kind == step::wait) seen.add(next.wait);
      next = next.kind == step::wait ? engine.on_slept(at(0s)) : engine.on_verdict(unavailable, at(0s), fraction);
    }
    return seen;
  };
  STATIC_REQUIRE(schedule(1.0).are({500ms, 1s, 2s, 4s, 4s}));
  STATIC_REQUIRE(schedule(0.5).are({250ms, 500ms, 1s, 2s, 2s}));
}

TEST_CASE("a lambda's negative delay counts as zero") {
  constexpr auto policy = roomy.with([](int) -> reprise::duration { return -5s; });
  STATIC_REQUIRE(waits(after_first(policy, unavailable), 0s));
}

TEST_CASE("a decorrelated wait grows from the own wait before it, not from the hint") {
  constexpr auto second = [] {
    const auto policy = roomy.with(reprise::decorrelated_backoff{.base = 100ms, .cap = 10s});
    engine_of<decltype(policy)> engine(policy);
    engine.start(at(0s));
    engine.on_verdict(asks_for(2s), at(0s), 0.5);  // own: 200 ms
    engine.on_wait_over(at(2s));
    return engine.on_verdict(unavailable, at(2s), 1.0);
  };
  STATIC_REQUIRE(waits(second(), 600ms));
}

TEST_CASE("a hint is not asked for where no classifier can give one") {
  constexpr auto policy = roomy.with(reprise::retry_codes{503});
  STATIC_REQUIRE(waits(after_first(policy, asks_for(5s)), 100ms));
}

TEST_CASE("every stop reason has its name") {
  STATIC_REQUIRE(to_string(stop_reason::succeeded) == "succeeded");
  STATIC_REQUIRE(to_string(stop_reason::not_retryable) == "not_retryable");
  STATIC_REQUIRE(to_string(stop_reason::not_replay_safe) == "not_replay_safe");
  STATIC_REQUIRE(to_string(stop_reason::attempts_exhausted) == "attempts_exhausted");
  STATIC_REQUIRE(to_string(stop_reason::retry_after_too_long) == "retry_after_too_long");
  STATIC_REQUIRE(to_string(stop_reason::wait_limit_reached) == "wait_limit_reached");
  STATIC_REQUIRE(to_string(stop_reason::deadline_reached) == "deadline_reached");
  STATIC_REQUIRE(to_string(stop_reason::budget_exhausted) == "budget_exhausted");
  STATIC_REQUIRE(to_string(stop_reason::admission_refused) == "admission_refused");
  STATIC_REQUIRE(to_string(stop_reason::cancelled) == "cancelled");
  STATIC_REQUIRE(to_string(static_cast<stop_reason>(99)) == "unknown");
}
