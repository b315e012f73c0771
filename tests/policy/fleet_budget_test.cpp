// SPDX-License-Identifier: MIT
#include <reprise/core.hpp>
#include <reprise/guard/spend_budget.hpp>
#include <reprise/policy/fleet_budget.hpp>
#include <reprise/testing/fake_clock.hpp>
#include <reprise/testing/script.hpp>
#include <string>
#include <thread>
#include <vector>

#include "catch.hpp"

using namespace std::chrono_literals;
using reprise::budget_scope;
using reprise::stop_reason;
using reprise::testing::fake_clock;
using reprise::testing::reply;
using reprise::testing::script;

namespace {

struct no_answer : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Ten-second windows by the call's own clock, in memory; can be made to fail.
struct windows {
  reprise::memory_counter counters[4];
  bool broken = false;
  bool without_words = false;
  int asked = 0;

  std::int64_t window(reprise::duration now) { return now / 10s; }
  reprise::memory_counter& counter(std::int64_t number) {
    ++asked;
    if (broken && without_words) throw 1;
    if (broken) throw no_answer("store: no answer");
    return counters[number];
  }
  std::int64_t total(int number) const { return counters[number].total(); }
};

/// Grants so many retries, and writes down what it is told.
struct local_budget {
  int left = 0;
  int calls = 0;
  int failures = 0;
  int retries = 0;
  int successes = 0;
  int ends_with_permit = 0;

  void call_started(reprise::duration) { ++calls; }
  void failed(const reprise::verdict&) { ++failures; }
  std::optional<int> try_retry(const reprise::verdict&, reprise::duration) {
    return left > 0 ? std::optional<int>(--left) : std::nullopt;
  }
  void retry_started(int) { ++retries; }
  void call_ended(bool success, std::optional<int> permit, reprise::duration) {
    successes += success;
    ends_with_permit += permit.has_value();
  }
};

/// The observer of a budget: writes down the changes.
struct diary {
  std::vector<budget_scope> changes = {};
  std::vector<std::string> reasons = {};

  auto observer() {
    return [this](budget_scope decides, std::string_view why) {
      changes.push_back(decides);
      reasons.emplace_back(why);
    };
  }
};

const auto nobody = [](budget_scope, std::string_view) {};

constexpr reprise::retry_policy policy{
    reprise::http::retry_statuses{},       reprise::idempotent{},    reprise::constant_backoff{.delay = 100ms},
    reprise::attempt_budget{.maximum = 2}, reprise::no_time_limit{}, reprise::retry_after_limit{.longest = 1min}};

/// One call that always fails, under the budget.
template <class Budget> stop_reason fails(Budget& budget, fake_clock& time) {
  script send{time, reply(503)};
  return reprise::execute(policy.with(reprise::shared_budget(budget)), send, time).reason();
}

}  // namespace

TEST_CASE("budgets on the same counts grant so many retries together, and not one more") {
  windows counts;
  local_budget local;
  fake_clock time;
  reprise::fleet_budget here(counts, 3, local, nobody);
  reprise::fleet_budget there(counts, 3, local, nobody);
  STATIC_REQUIRE(reprise::retry_budget_model<decltype(here)>);
  int retries = 0;
  for (int call = 0; call < 5; ++call) {
    retries += fails(here, time) == stop_reason::attempts_exhausted;
    retries += fails(there, time) == stop_reason::attempts_exhausted;
  }
  CHECK(retries == 3);
  CHECK(counts.total(0) == 3);
  CHECK(fails(here, time) == stop_reason::budget_exhausted);
}

TEST_CASE("a budget of no retries grants none, and is no word for unlimited") {
  windows counts;
  local_budget local{.left = 9};
  fake_clock time;
  reprise::fleet_budget budget(counts, 0, local, nobody);
  CHECK(fails(budget, time) == stop_reason::budget_exhausted);
  CHECK(counts.total(0) == 0);
}

TEST_CASE("each window has its own retries") {
  windows counts;
  local_budget local;
  fake_clock time;
  reprise::fleet_budget budget(counts, 1, local, nobody);
  CHECK(fails(budget, time) == stop_reason::attempts_exhausted);
  CHECK(fails(budget, time) == stop_reason::budget_exhausted);
  time.advance(10s);
  CHECK(fails(budget, time) == stop_reason::attempts_exhausted);
  CHECK(fails(budget, time) == stop_reason::budget_exhausted);
  CHECK(counts.total(0) == 1);
  CHECK(counts.total(1) == 1);
}

TEST_CASE("a retry that never starts is given back to the window from which it was taken") {
  windows counts;
  local_budget local;
  fake_clock time;
  reprise::fleet_budget budget(counts, 5, local, nobody);
  const auto shared = policy.with(reprise::shared_budget(budget), reprise::constant_backoff{.delay = 5s});
  time.advance(9s);
  SECTION("because the wait is cut") {
    time.interrupts_at(11s);
    script send{time, reply(503)};
    CHECK(reprise::execute(shared, send, time).reason() == stop_reason::cancelled);
    CHECK(counts.total(0) == 0);
  }
  SECTION("because the wait lasts too long") {
    time.oversleeps(1min);
    script send{time, reply(503)};
    CHECK(reprise::execute(shared.with(reprise::time_limit{.total = 20s}), send, time).reason() ==
          stop_reason::deadline_reached);
    CHECK(counts.total(0) == 0);
  }
  SECTION("but not if it starts") {
    script send{time, reply(503), reply(200)};
    CHECK(reprise::execute(shared, send, time).ok());
    CHECK(counts.total(0) == 1);
  }
  CHECK(counts.total(1) == 0);
}

TEST_CASE("each retry of one call counts") {
  windows counts;
  local_budget local;
  fake_clock time;
  reprise::fleet_budget budget(counts, 5, local, nobody);
  script send{time, reply(503)};
  (void)reprise::execute(policy.with(reprise::shared_budget(budget), reprise::attempt_budget{.maximum = 4}), send,
                         time);
  CHECK(counts.total(0) == 3);
}

TEST_CASE("when a count fails, the local budget decides, and that is said once") {
  windows counts;
  local_budget local{.left = 2};
  diary said;
  fake_clock time;
  reprise::fleet_budget budget(counts, 10, local, said.observer());
  CHECK(budget.decides() == budget_scope::fleet);
  counts.broken = true;
  SECTION("with the exception's words") {
    CHECK(fails(budget, time) == stop_reason::attempts_exhausted);
    CHECK(said.reasons == std::vector<std::string>{"store: no answer"});
  }
  SECTION("whatever is thrown") {
    counts.without_words = true;
    CHECK(fails(budget, time) == stop_reason::attempts_exhausted);
    CHECK(said.reasons == std::vector<std::string>{"an exception without words"});
  }
  CHECK(fails(budget, time) == stop_reason::attempts_exhausted);
  CHECK(fails(budget, time) == stop_reason::budget_exhausted);
  CHECK(said.changes == std::vector{budget_scope::local});
  CHECK(budget.decides() == budget_scope::local);
  CHECK(counts.total(0) == 0);
}

TEST_CASE("a count that is gone is asked again once an interval, and when it answers the fleet decides again") {
  windows counts;
  local_budget local{.left = 100};
  diary said;
  fake_clock time;
  reprise::fleet_budget budget(counts, 10, local, said.observer(), 2s);
  counts.broken = true;
  (void)fails(budget, time);  // at 0 s, and its retry's failure is not asked about
  CHECK(counts.asked == 1);
  for (int call = 0; call < 18; ++call) (void)fails(budget, time);  // each takes 100 ms: up to 1.9 s
  CHECK(counts.asked == 1);
  time.advance(100ms);
  for (int call = 0; call < 5; ++call) (void)fails(budget, time);
  CHECK(counts.asked == 2);
  counts.broken = false;
  (void)fails(budget, time);
  CHECK(counts.asked == 2);
  CHECK(budget.decides() == budget_scope::local);
  time.advance(2s);
  const int left = local.left;
  for (int call = 0; call < 5; ++call) CHECK(fails(budget, time) == stop_reason::attempts_exhausted);
  CHECK(counts.asked == 7);
  CHECK(counts.total(0) == 5);
  CHECK(local.left == left);
  CHECK(budget.decides() == budget_scope::fleet);
  CHECK(said.changes == std::vector{budget_scope::local, budget_scope::fleet});
  CHECK(said.reasons.back().empty());
  counts.broken = true;
  (void)fails(budget, time);
  CHECK(said.changes.size() == 3);
}

TEST_CASE("counts that refuse are there: the local budget is not asked") {
  windows counts;
  local_budget local{.left = 100};
  diary said;
  fake_clock time;
  reprise::fleet_budget budget(counts, 1, local, said.observer());
  for (int call = 0; call < 5; ++call) (void)fails(budget, time);
  CHECK(local.left == 100);
  CHECK(said.changes.empty());
}

TEST_CASE("a retry that cannot be given back stays charged, and nothing is thrown") {
  windows counts;
  local_budget local;
  reprise::fleet_budget budget(counts, 5, local, nobody);
  constexpr reprise::verdict unavailable{.kind = reprise::outcome::transient};
  {
    auto first = budget.try_retry(unavailable, 0s);
    auto second = budget.try_retry(unavailable, 0s);
    REQUIRE((first.has_value() && second.has_value()));
    counts.broken = true;
    second.reset();  // asks and fails
    (void)budget.try_retry(unavailable, 0s);
    counts.asked = 0;
  }
  CHECK(counts.asked == 0);  // known to be gone: nobody waits for it
  CHECK(counts.total(0) == 2);
}

TEST_CASE("the local budget is told of every call, and has its own permits only") {
  windows counts;
  local_budget local{.left = 1};
  fake_clock time;
  reprise::fleet_budget budget(counts, 1, local, nobody);
  const auto shared = policy.with(reprise::shared_budget(budget));
  script first{time, reply(503), reply(200)};
  CHECK(reprise::execute(shared, first, time).ok());
  CHECK(local.calls == 1);
  CHECK(local.failures == 1);
  CHECK(local.successes == 1);
  CHECK(local.retries == 0);
  CHECK(local.ends_with_permit == 0);
  counts.broken = true;
  script second{time, reply(503), reply(200)};
  CHECK(reprise::execute(shared, second, time).ok());
  CHECK(local.calls == 2);
  CHECK(local.failures == 2);
  CHECK(local.successes == 2);
  CHECK(local.retries == 1);
  CHECK(local.ends_with_permit == 1);
}

TEST_CASE("an observer's exception ends the call and leaves no retry charged") {
  windows counts;
  local_budget local{.left = 9};
  fake_clock time;
  reprise::fleet_budget budget(
      counts, 5, local,
      [](budget_scope decides, std::string_view) {
        if (decides == budget_scope::fleet) throw no_answer("observer");
      },
      0s);
  counts.broken = true;
  (void)fails(budget, time);
  counts.broken = false;
  CHECK_THROWS_AS(fails(budget, time), no_answer);
  CHECK(counts.total(0) == 0);
  CHECK(local.calls == 2);
}

TEST_CASE("a fleet budget refuses numbers below zero") {
  windows counts;
  local_budget local;
  using budget = reprise::fleet_budget<windows, local_budget, decltype(nobody)>;
  CHECK_THROWS_AS(budget(counts, -1, local, nobody), std::invalid_argument);
  CHECK_THROWS_AS(budget(counts, 1, local, nobody, -1ns), std::invalid_argument);
}

TEST_CASE("threads share a fleet budget with an exact total, also while the counts come and go") {
  // Fails by turns, so that the budget changes sides under contention.
  struct unsteady_windows {
    reprise::memory_counter count;
    std::atomic<int> asked = 0;
    std::int64_t window(reprise::duration) { return 0; }
    reprise::memory_counter& counter(std::int64_t) {
      if (asked++ % 7 == 6) throw no_answer("store: no answer");
      return count;
    }
  } counts;
  struct no_retries {
    void call_started(reprise::duration) {}
    void failed(const reprise::verdict&) {}
    std::optional<int> try_retry(const reprise::verdict&, reprise::duration) { return std::nullopt; }
    void call_ended(bool, std::optional<int>, reprise::duration) {}
  } local;
  std::atomic<int> gone = 0;
  std::atomic<int> back = 0;
  reprise::fleet_budget budget(
      counts, 1000, local,
      [&](budget_scope decides, std::string_view) { ++(decides == budget_scope::local ? gone : back); }, 0s);
  std::atomic<int> granted = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&] {
      for (int call = 0; call < 500; ++call) {
        auto permit = budget.try_retry({.kind = reprise::outcome::transient}, 0s);
        if (!permit.has_value()) continue;
        budget.retry_started(*permit);
        ++granted;
      }
    });
  for (auto& thread : threads) thread.join();
  CHECK(granted == 1000);
  CHECK(counts.count.total() == 1000);
  CHECK(gone > 0);
  CHECK((gone == back || gone == back + 1));
}
