// SPDX-License-Identifier: MIT
#include <reprise/core.hpp>
#include <reprise/policy/token_budget.hpp>
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

template <class Budget, class... Steps> auto play(Budget& budget, Steps... steps) {
  fake_clock time;
  script send{time, steps...};
  return reprise::execute(policy.with(reprise::shared_budget(budget)), send, time);
}

template <class Budget> bool asks(Budget& budget, const reprise::verdict& failure = unavailable) {
  return budget.try_retry(failure, 0s).has_value();
}

/// A failed attempt, as the engine tells it; whether a retry may follow.
bool fail_and_ask(reprise::token_budget& budget) {
  budget.failed(unavailable);
  return asks(budget);
}

void succeed(reprise::token_budget& budget, int times = 1) {
  for (int i = 0; i < times; ++i) budget.call_ended(true, std::nullopt, 0s);
}

template <class Make> std::string refusal(Make make) {
  try {
    (void)make();
    return "accepted";
  } catch (const std::invalid_argument& refused) {
    return refused.what();
  }
}

std::string refusal(const reprise::token_budget_settings& settings) {
  return refusal([&] { return reprise::token_budget(settings).tokens(); });
}
/// Each of `count` threads calls `work(its number)`.
template <class Work> void in_threads(int count, Work work) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back([&work, i] { work(i); });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

TEST_CASE("a token budget of 10 allows four retries in a row: more than half must be left after the failure") {
  reprise::token_budget budget{{.max_tokens = 10, .token_ratio = 0.1}};
  CHECK(budget.tokens() == 10.0);
  for (const double left : {9.0, 8.0, 7.0, 6.0}) {
    CHECK(fail_and_ask(budget));
    CHECK(budget.tokens() == left);
  }
  CHECK(!fail_and_ask(budget));
  CHECK(budget.tokens() == 5.0);
}

TEST_CASE("at half of the tokens it takes eleven successes until a failure may be retried") {
  const int successes = GENERATE(10, 11);
  reprise::token_budget budget{{.max_tokens = 10, .token_ratio = 0.1}};
  for (int i = 0; i < 5; ++i) budget.failed(unavailable);
  REQUIRE(budget.tokens() == 5.0);
  succeed(budget, successes);
  CHECK(fail_and_ask(budget) == (successes == 11));
}

TEST_CASE("half of an odd number of tokens is not rounded") {
  reprise::token_budget budget{{.max_tokens = 5, .token_ratio = 0.1}};
  for (int i = 0; i < 2; ++i) CHECK(fail_and_ask(budget));  // 4, 3
  CHECK(!fail_and_ask(budget));                             // 2, and half is 2.5
  succeed(budget, 5);
  CHECK(!asks(budget));  // exactly half
  succeed(budget);
  CHECK(asks(budget));
}

TEST_CASE("a quiet day saves up no tokens", "[I02]") {
  reprise::token_budget budget{{.max_tokens = 10, .token_ratio = 0.1}};
  succeed(budget, 1'000'000);
  CHECK(budget.tokens() == 10.0);
  int granted = 0;
  for (int failure = 0; failure < 5; ++failure) granted += fail_and_ask(budget) ? 1 : 0;
  CHECK(granted == 4);
  CHECK(budget.tokens() == 5.0);
  CHECK(!fail_and_ask(budget));
}

TEST_CASE("the tokens stay within zero and their maximum") {
  reprise::token_budget budget{{.max_tokens = 2, .token_ratio = 1.5}};
  for (int i = 0; i < 100; ++i) budget.failed(unavailable);
  CHECK(budget.tokens() == 0.0);
  succeed(budget);
  CHECK(budget.tokens() == 1.5);  // no debt is left from the other 98
  succeed(budget);
  CHECK(budget.tokens() == 2.0);
}

TEST_CASE("three decimals of the ratio count, further ones are cut") {
  const auto [ratio, gain] =
      GENERATE(std::pair(0.1, 0.1), std::pair(0.57, 0.57), std::pair(0.29, 0.29), std::pair(1.005, 1.005),
               std::pair(0.001, 0.001), std::pair(0.1239, 0.123), std::pair(0.0019999, 0.001), std::pair(1e300, 3.0));
  CAPTURE(ratio);
  reprise::token_budget budget{{.max_tokens = 3, .token_ratio = ratio}};
  for (int i = 0; i < 3; ++i) budget.failed(unavailable);
  succeed(budget);
  CHECK(budget.tokens() == gain);
}

TEST_CASE("without settings a token budget is userver's: 100 tokens, 0.1 for a success") {
  reprise::token_budget budget;
  CHECK(budget.tokens() == 100.0);
  int granted = 0;
  while (fail_and_ask(budget)) ++granted;
  CHECK(granted == 49);
  succeed(budget);
  CHECK(budget.tokens() == 50.1);
}

TEST_CASE("each transient verdict of a call costs a token, and the retries as such nothing") {
  reprise::token_budget budget{{.max_tokens = 10, .token_ratio = 0.5}};
  CHECK(play(budget, reply(503), reply(503), reply(200)).ok());
  CHECK(budget.tokens() == 8.5);
  CHECK(play(budget, reply(404)).reason() == stop_reason::not_retryable);
  CHECK(budget.tokens() == 8.5);
  CHECK(play(budget, reply(503)).reason() == stop_reason::attempts_exhausted);
  CHECK(budget.tokens() == 5.5);
  CHECK(play(budget, reply(503)).reason() == stop_reason::budget_exhausted);
  CHECK(budget.tokens() == 4.5);
}

TEST_CASE("a transient failure of what will not be repeated costs its token too") {
  reprise::token_budget budget{{.max_tokens = 10, .token_ratio = 0.5}};
  fake_clock time;
  script send{time, reply(503)};
  const auto once = policy.with(reprise::shared_budget(budget), reprise::not_idempotent{});
  CHECK(reprise::execute(once, send, time).reason() == stop_reason::not_replay_safe);
  CHECK(budget.tokens() == 9.0);
}

TEST_CASE("no token is lost or made when threads share a budget", "[B-62]") {
  // 2000 tokens above zero at the least and as many below the maximum: nothing is clamped, so the sum is exact.
  reprise::token_budget budget{{.max_tokens = 80'000, .token_ratio = 0.25}};
  for (int i = 0; i < 40'000; ++i) budget.failed(unavailable);
  in_threads(8, [&](int thread) {
    for (int i = 0; i < 4000; ++i)
      if (thread % 2 == 0) budget.failed(unavailable);
      else succeed(budget);
  });
  CHECK(budget.tokens() == 40'000 - 16'000 + 4000);
}

TEST_CASE("bad settings of a token budget are refused by name and value") {
  CHECK(refusal(reprise::token_budget_settings{.max_tokens = 1, .token_ratio = 0.001}) == "accepted");
  CHECK(refusal(reprise::token_budget_settings{.max_tokens = 0}) ==
        "reprise::token_budget: max_tokens must be 1 or more, is 0");
  CHECK(refusal(reprise::token_budget_settings{.max_tokens = -5}) ==
        "reprise::token_budget: max_tokens must be 1 or more, is -5");
  CHECK(refusal(reprise::token_budget_settings{.token_ratio = 0.0009}) ==
        "reprise::token_budget: token_ratio must be 0.001 or more, and finite, is 0.0009");
  CHECK(refusal(reprise::token_budget_settings{.token_ratio = -0.1}) != "accepted");
  CHECK(refusal(reprise::token_budget_settings{.token_ratio = std::numeric_limits<double>::infinity()}) != "accepted");
  CHECK(refusal(reprise::token_budget_settings{.token_ratio = std::numeric_limits<double>::quiet_NaN()}) != "accepted");
}

TEST_CASE("the largest settings do not overflow") {
  reprise::token_budget budget{{.max_tokens = (std::numeric_limits<int>::max)(), .token_ratio = 1e18}};
  CHECK(fail_and_ask(budget));
  succeed(budget, 2);
  CHECK(budget.tokens() == 2147483647.0);
}
