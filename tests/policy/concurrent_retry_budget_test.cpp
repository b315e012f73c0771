// SPDX-License-Identifier: MIT
#include <reprise/core.hpp>
#include <reprise/policy/concurrent_retry_budget.hpp>
#include <reprise/testing/fake_clock.hpp>
#include <reprise/testing/script.hpp>
#include <string>
#include <thread>
#include <vector>

#include "catch.hpp"

using namespace std::chrono_literals;
using reprise::concurrent_retry_budget;
using reprise::stop_reason;
using reprise::testing::fake_clock;
using reprise::testing::reply;
using reprise::testing::script;

namespace {

constexpr reprise::retry_policy policy{reprise::http::retry_statuses{}, reprise::idempotent{},
                                       reprise::constant_backoff{.delay = 100ms}};

constexpr reprise::verdict unavailable{.kind = reprise::outcome::transient};

using permits = std::vector<concurrent_retry_budget::permit>;

void start_calls(concurrent_retry_budget& budget, int count) {
  for (int i = 0; i < count; ++i) budget.call_started(0s);
}

/// Takes all permits that there are.
permits take_all(concurrent_retry_budget& budget) {
  permits taken;
  while (auto permit = budget.try_retry(unavailable, 0s)) taken.push_back(std::move(*permit));
  return taken;
}

/// How many retries may be under way beside so many calls.
int granted(const reprise::concurrent_retry_budget_settings& settings, int calls) {
  concurrent_retry_budget budget(settings);
  start_calls(budget, calls);
  return static_cast<int>(take_all(budget).size());
}

std::string refusal(const reprise::concurrent_retry_budget_settings& settings) {
  try {
    concurrent_retry_budget budget(settings);
    return "accepted";
  } catch (const std::invalid_argument& refused) {
    return refused.what();
  }
}

}  // namespace

TEST_CASE("a fifth of the calls under way may be retries, and three in any case, as in Envoy") {
  CHECK(granted({}, 0) == 3);
  CHECK(granted({}, 1) == 3);
  CHECK(granted({}, 19) == 3);
  CHECK(granted({}, 20) == 4);
  CHECK(granted({}, 24) == 4);
  CHECK(granted({}, 25) == 5);
  CHECK(granted({}, 1000) == 200);
}

TEST_CASE("the share is taken exactly and then rounded down") {
  CHECK(granted({.share = 0.29, .min_retries = 0}, 100) == 29);  // 28.999999999999996 in doubles
  CHECK(granted({.share = 0.29, .min_retries = 0}, 99) == 28);
  CHECK(granted({.share = 0.57, .min_retries = 0}, 100) == 57);
  CHECK(granted({.share = 1.0, .min_retries = 0}, 7) == 7);
  CHECK(granted({.share = 0.2, .min_retries = 0}, 4) == 0);
  CHECK(granted({.share = 0.0, .min_retries = 0}, 1000) == 0);
  CHECK(granted({.share = 0.0, .min_retries = 5}, 1000) == 5);
}

TEST_CASE("with a tiny share the minimum is what counts, and the calls under way go on", "[B-61]") {
  concurrent_retry_budget budget{{.share = 0.001, .min_retries = 3}};
  start_calls(budget, 1);
  permits taken = take_all(budget);
  CHECK(taken.size() == 3);
  CHECK(!budget.try_retry(unavailable, 0s).has_value());
  CHECK(budget.retries() == 3);  // the refusal changed nothing
  taken.pop_back();
  CHECK(budget.try_retry(unavailable, 0s).has_value());

  start_calls(budget, 3999);  // calls are counted: .001 of 4000
  CHECK(take_all(budget).size() == 2);
}

TEST_CASE("a permit is one retry, wherever it is moved") {
  concurrent_retry_budget budget;
  {
    auto first = budget.try_retry(unavailable, 0s);
    auto second = budget.try_retry(unavailable, 0s);
    CHECK(budget.retries() == 2);
    first = std::move(second);
    second.reset();
    CHECK(budget.retries() == 1);
    const auto moved = std::move(*first);
    first.reset();
    CHECK(budget.retries() == 1);
  }
  CHECK(budget.retries() == 0);
}

TEST_CASE("a retry counts from its grant to its end, its wait included") {
  concurrent_retry_budget budget{{.min_retries = 1}};
  const auto shared = policy.with(reprise::shared_budget(budget));
  using engine = reprise::engine<decltype(shared)&, fake_clock::time_point>;
  const auto at = [](auto since_start) { return fake_clock::time_point(since_start); };

  engine waiting(shared);
  waiting.start(at(0s));
  CHECK(budget.calls() == 1);
  CHECK(waiting.on_verdict(unavailable, at(0s), 0.5).kind == reprise::step::wait);
  CHECK(budget.retries() == 1);

  engine refused(shared);
  refused.start(at(0s));
  CHECK(budget.calls() == 2);
  CHECK(refused.on_verdict(unavailable, at(0s), 0.5).reason == stop_reason::budget_exhausted);
  CHECK(budget.calls() == 1);

  CHECK(waiting.on_wait_over(at(100ms)).kind == reprise::step::attempt);
  CHECK(budget.retries() == 1);
  // Its next retry takes the place of the one that has failed.
  CHECK(waiting.on_verdict(unavailable, at(100ms), 0.5).kind == reprise::step::wait);
  CHECK(budget.retries() == 1);
  CHECK(waiting.on_wait_over(at(200ms)).kind == reprise::step::attempt);
  CHECK(waiting.on_verdict({.kind = reprise::outcome::success}, at(200ms), 0.5).reason == stop_reason::succeeded);
  CHECK(budget.retries() == 0);
  CHECK(budget.calls() == 0);
}

TEST_CASE("calls and retries are given back however a call ends", "[B-61]") {
  concurrent_retry_budget budget;
  const auto shared = policy.with(reprise::shared_budget(budget));
  fake_clock time;
  int seen_calls = 0;
  int seen_retries = 0;
  // What is under way in the last attempt.
  const auto look = [&](int status) {
    return [&, status](int answer = 0) {
      seen_calls = budget.calls();
      seen_retries = budget.retries();
      return reprise::testing::response{.status = answer != 0 ? answer : status};
    };
  };

  SECTION("success at once") {
    CHECK(reprise::execute(shared, [&] { return look(200)(); }, time).ok());
    CHECK(seen_calls == 1);
    CHECK(seen_retries == 0);
  }
  SECTION("no attempt is left") {
    CHECK(reprise::execute(shared, [&] { return look(503)(); }, time).reason() == stop_reason::attempts_exhausted);
    CHECK(seen_calls == 1);
    CHECK(seen_retries == 1);
  }
  SECTION("cancelled in the wait") {
    time.interrupts_at(50ms);
    CHECK(reprise::execute(shared, [&] { return look(503)(); }, time).reason() == stop_reason::cancelled);
  }
  SECTION("the wait lasted past the deadline") {
    time.oversleeps(1h);
    CHECK(reprise::execute(shared, [&] { return look(503)(); }, time).reason() == stop_reason::deadline_reached);
  }
  SECTION("no time for the first attempt") {
    const auto late = shared.with(reprise::deadline{time.now()});
    CHECK(reprise::execute(late, [&] { return look(200)(); }, time).attempts() == 0);
  }
  SECTION("send throws in the retry") {
    script send{time, reply(503), reprise::testing::fails<std::logic_error>("fault")};
    CHECK_THROWS_AS(reprise::execute(shared, send, time), std::logic_error);
  }
  SECTION("send throws at the first attempt") {
    script send{time, reprise::testing::fails<std::logic_error>("fault"), reply(200)};
    CHECK_THROWS_AS(reprise::execute(shared, send, time), std::logic_error);
  }
  SECTION("a classifier throws in the retry") {
    int asked = 0;
    const auto throwing = shared.with(reprise::classify([&](const reprise::testing::response&) -> reprise::verdict {
      if (++asked == 2) throw 1;
      return unavailable;
    }));
    CHECK_THROWS_AS(reprise::execute(throwing, [&] { return look(503)(); }, time), int);
    CHECK(seen_retries == 1);
  }
  SECTION("an event handler throws when it is told of the retry") {
    const auto throwing = shared.with(reprise::on_event([&](const reprise::event&) {
      seen_retries = budget.retries();
      throw 1;
    }));
    CHECK_THROWS_AS(reprise::execute(throwing, [&] { return reprise::testing::response{.status = 503}; }, time), int);
    CHECK(seen_retries == 1);
  }
  SECTION("the sleep throws") {
    CHECK_THROWS_AS(
        reprise::execute(
            shared, [&] { return look(503)(); }, time.clock(), [](reprise::duration) { throw 1; }, [] { return 0.5; }),
        int);
  }
  CHECK(budget.retries() == 0);
  CHECK(budget.calls() == 0);
  CHECK(take_all(budget).size() == 3);
}

TEST_CASE("threads never have more retries under way than they may", "[B-61]") {
  concurrent_retry_budget budget{{.share = 0.0, .min_retries = 2}};
  std::vector<std::thread> threads;
  std::vector<int> worst(8, 0);
  for (int& mine : worst) {
    threads.emplace_back([&budget, &mine] {
      for (int i = 0; i < 4000; ++i) {
        budget.call_started(0s);
        auto permit = budget.try_retry(unavailable, 0s);
        mine = std::max(mine, budget.retries());
        budget.call_ended(true, std::move(permit), 0s);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const int one : worst) CHECK(one <= 2);
  CHECK(budget.retries() == 0);
  CHECK(budget.calls() == 0);
}

TEST_CASE("bad settings of a concurrent retry budget are refused by name and value") {
  constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
  CHECK(refusal({.share = 0.0, .min_retries = 0}) == "accepted");
  CHECK(refusal({.share = 1.0, .min_retries = (std::numeric_limits<int>::max)()}) == "accepted");
  CHECK(refusal({.share = -0.1}) == "reprise::concurrent_retry_budget: share must be in [0, 1], is -0.1");
  CHECK(refusal({.share = 20}) == "reprise::concurrent_retry_budget: share must be in [0, 1], is 20");
  CHECK(refusal({.share = not_a_number}).starts_with("reprise::concurrent_retry_budget: share must be in [0, 1], is "));
  CHECK(refusal({.min_retries = -1}) == "reprise::concurrent_retry_budget: min_retries must be 0 or more, is -1");
}
