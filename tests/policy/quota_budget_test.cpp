// SPDX-License-Identifier: MIT
#include <reprise/core.hpp>
#include <reprise/policy/quota_budget.hpp>
#include <reprise/testing/fake_clock.hpp>
#include <reprise/testing/script.hpp>
#include <string>
#include <thread>
#include <vector>

#include "catch.hpp"

using namespace std::chrono_literals;
using reprise::stop_reason;
using reprise::testing::fake_clock;
using reprise::testing::reply;
using reprise::testing::script;

namespace {

constexpr reprise::retry_policy policy{reprise::http::retry_statuses{}, reprise::idempotent{},
                                       reprise::constant_backoff{.delay = 100ms}};

constexpr reprise::verdict unavailable{.kind = reprise::outcome::transient, .label = "http", .code = 503};
constexpr reprise::verdict throttled{.kind = reprise::outcome::transient, .label = "http", .code = 429};
constexpr reprise::verdict timed_out{.kind = reprise::outcome::transient, .label = "timeout"};

constexpr reprise::quota_budget_settings legacy{.cost = 5, .timeout_cost = 10, .throttling_cost = 5};

template <class Budget, class... Steps> auto play(Budget& budget, Steps... steps) {
  fake_clock time;
  script send{time, steps...};
  return reprise::execute(policy.with(reprise::shared_budget(budget)), send, time);
}

template <class Budget> bool asks(Budget& budget, const reprise::verdict& failure = unavailable) {
  return budget.try_retry(failure, 0s).has_value();
}

/// A retry that is granted and made; held until the call ends.
auto made_retry(reprise::quota_budget& budget, const reprise::verdict& failure) {
  auto permit = budget.try_retry(failure, 0s);
  REQUIRE(permit.has_value());
  budget.retry_started(*permit);
  return permit;
}

template <class Make> std::string refusal(Make make) {
  try {
    (void)make();
    return "accepted";
  } catch (const std::invalid_argument& refused) {
    return refused.what();
  }
}

std::string refusal(const reprise::quota_budget_settings& settings) {
  return refusal([&] { return reprise::quota_budget(settings).tokens(); });
}

/// Each of `count` threads calls `work(its number)`.
template <class Work> void in_threads(int count, Work work) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back([&work, i] { work(i); });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

TEST_CASE("a full quota has 35 retries after failures or 100 after throttling, as the AWS SDKs of 2026") {
  reprise::quota_budget budget;
  CHECK(budget.tokens() == 500);
  const auto [failure, retries, left] =
      GENERATE(table<reprise::verdict, int, int>({{unavailable, 35, 10}, {timed_out, 35, 10}, {throttled, 100, 0}}));
  for (int i = 0; i < retries; ++i) made_retry(budget, failure);
  CHECK(!asks(budget, failure));
  CHECK(budget.tokens() == left);
}

TEST_CASE("throttling is told by code 429 or by its label") {
  constexpr reprise::quota_budget_settings settings;
  STATIC_REQUIRE(settings.cost_of(throttled) == 5);
  STATIC_REQUIRE(settings.cost_of({.kind = reprise::outcome::transient, .label = "throttling", .code = 400}) == 5);
  STATIC_REQUIRE(settings.cost_of(unavailable) == 14);
  STATIC_REQUIRE(legacy.cost_of(unavailable) == 5);
  STATIC_REQUIRE(legacy.cost_of(timed_out) == 10);
  STATIC_REQUIRE(legacy.cost_of(throttled) == 5);
}

TEST_CASE("a quota refuses a retry only if its cost is above what is left") {
  reprise::quota_budget budget{{.capacity = 10, .cost = 5, .timeout_cost = 6}};
  made_retry(budget, unavailable);
  CHECK(!asks(budget, timed_out));
  CHECK(budget.tokens() == 5);  // the refusal took nothing
  made_retry(budget, unavailable);
  CHECK(budget.tokens() == 0);
  CHECK(!asks(budget));
}

TEST_CASE("a call that succeeds gives the cost of its last retry back, and only that") {
  reprise::quota_budget budget(legacy);
  fake_clock time;
  const auto by_kind = policy.with(reprise::classify([](const reprise::testing::response& answer) {
    if (answer.status == 200) return reprise::verdict{.kind = reprise::outcome::success};
    return answer.status == 504 ? timed_out : unavailable;
  }));
  script send{time, reply(504), reply(503), reply(200)};
  CHECK(reprise::execute(by_kind.with(reprise::shared_budget(budget)), send, time).ok());
  CHECK(budget.tokens() == 490);  // 10 and 5 taken, 5 given back

  script other{time, reply(503), reply(504), reply(200)};
  CHECK(reprise::execute(by_kind.with(reprise::shared_budget(budget)), other, time).ok());
  CHECK(budget.tokens() == 485);  // 5 and 10 taken, 10 given back
}

TEST_CASE("a call that succeeds at the first try brings one token, up to the capacity") {
  reprise::quota_budget budget(legacy);
  CHECK(play(budget, reply(200)).ok());
  CHECK(budget.tokens() == 500);
  made_retry(budget, unavailable);
  for (const int tokens : {496, 497, 498, 499, 500, 500}) {
    CHECK(play(budget, reply(200)).ok());
    CHECK(budget.tokens() == tokens);
  }
}

TEST_CASE("a call that fails gives nothing back") {
  reprise::quota_budget budget;
  CHECK(play(budget, reply(503)).reason() == stop_reason::attempts_exhausted);
  CHECK(budget.tokens() == 500 - 2 * 14);
  CHECK(play(budget, reply(429), reply(404)).reason() == stop_reason::not_retryable);
  CHECK(budget.tokens() == 500 - 2 * 14 - 5);
  CHECK(play(budget, reply(404)).reason() == stop_reason::not_retryable);
  CHECK(budget.tokens() == 500 - 2 * 14 - 5);
}

TEST_CASE("a retry that is granted and not made gives its cost back, one that was made and throws does not") {
  reprise::quota_budget budget;
  const auto shared = policy.with(reprise::shared_budget(budget));
  SECTION("cancelled in its wait") {
    fake_clock time;
    time.interrupts_at(50ms);
    script send{time, reply(503)};
    CHECK(reprise::execute(shared, send, time).reason() == stop_reason::cancelled);
    CHECK(budget.tokens() == 500);
  }
  SECTION("its wait lasted past the deadline") {
    fake_clock time;
    time.oversleeps(1h);
    script send{time, reply(503)};
    CHECK(reprise::execute(shared, send, time).reason() == stop_reason::deadline_reached);
    CHECK(budget.tokens() == 500);
  }
  SECTION("the event handler throws when it is told of the retry") {
    fake_clock time;
    script send{time, reply(503)};
    const auto throwing = shared.with(reprise::on_event([](const reprise::event&) { throw 1; }));
    CHECK_THROWS_AS(reprise::execute(throwing, send, time), int);
    CHECK(budget.tokens() == 500);
  }
  SECTION("send throws in the retry") {
    fake_clock time;
    script send{time, reply(503), reprise::testing::fails<std::logic_error>("fault")};
    CHECK_THROWS_AS(reprise::execute(shared, send, time), std::logic_error);
    CHECK(budget.tokens() == 486);
  }
}

TEST_CASE("a permit gives back once, wherever it was moved") {
  reprise::quota_budget budget;
  {
    auto first = budget.try_retry(unavailable, 0s);
    auto second = budget.try_retry(throttled, 0s);
    CHECK(budget.tokens() == 500 - 14 - 5);
    first = std::move(second);
    second.reset();
    first.reset();
    CHECK(budget.tokens() == 500);
    auto third = budget.try_retry(unavailable, 0s);
    const auto moved = std::move(*third);
    CHECK(budget.tokens() == 486);
  }
  CHECK(budget.tokens() == 500);
}

TEST_CASE("a quota of 500 and retries at 5: 101 attempts, whatever a call may make", "[I03]") {
  reprise::testing::basic_fake_clock<128> time;
  reprise::quota_budget budget(legacy);
  const auto patient = policy.with(reprise::shared_budget(budget), reprise::attempt_budget{.maximum = 1000},
                                   reprise::no_time_limit{}, reprise::wait_limit{.total = reprise::unlimited});
  int sends = 0;
  const auto send = [&] { return ++sends, reprise::testing::response{.status = 503}; };
  const auto result = reprise::execute(patient, send, time);
  CHECK(result.reason() == stop_reason::budget_exhausted);
  CHECK(sends == 101);
  CHECK(time.waits().size() == 100);
  CHECK(budget.tokens() == 0);
}

TEST_CASE("a quota for two retries grants two, whatever the calls send", "[I05]") {
  reprise::quota_budget budget{{.capacity = 2, .cost = 1, .throttling_cost = 1}};
  int granted = 0;
  for (int payload = 0; payload < 6; ++payload)
    granted += play(budget, reply(payload % 2 == 0 ? 503 : 429)).attempts() - 1;
  CHECK(granted == 2);
}

TEST_CASE("no token of a quota is lost or made when threads share it", "[B-62]") {
  reprise::quota_budget budget{{.capacity = 1'000'000, .cost = 3}};
  in_threads(8, [&](int thread) {
    for (int i = 0; i < 4000; ++i) {
      auto permit = budget.try_retry(unavailable, 0s);
      if (thread < 2) continue;  // not made: given back
      budget.retry_started(*permit);
      budget.call_ended(thread < 4, std::move(permit), 0s);
    }
  });
  CHECK(budget.tokens() == 1'000'000 - 4 * 4000 * 3);
}

TEST_CASE("bad settings of a quota are refused by name and value") {
  CHECK(refusal(reprise::quota_budget_settings{.capacity = 1, .cost = 0, .timeout_cost = 0, .throttling_cost = 0}) ==
        "accepted");
  CHECK(refusal(reprise::quota_budget_settings{.capacity = 0}) ==
        "reprise::quota_budget: capacity must be 1 or more, is 0");
  CHECK(refusal(reprise::quota_budget_settings{.cost = -1}) == "reprise::quota_budget: cost must be 0 or more, is -1");
  CHECK(refusal(reprise::quota_budget_settings{.timeout_cost = -2}) ==
        "reprise::quota_budget: timeout_cost must be 0 or more, is -2");
  CHECK(refusal(reprise::quota_budget_settings{.throttling_cost = -3}) ==
        "reprise::quota_budget: throttling_cost must be 0 or more, is -3");
}
