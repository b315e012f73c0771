// SPDX-License-Identifier: MIT
#include <reprise/fmt.hpp>
#include <reprise/reprise.hpp>
#include <reprise/testing/fake_clock.hpp>
#include <string>

#include "catch.hpp"

using namespace std::chrono_literals;
using reprise::describe;
using reprise::described_attempt;
using reprise::described_end;
using reprise::stop_reason;
using reprise::wait_range;
using reprise::testing::fake_clock;

namespace {

constexpr reprise::retry_policy<> defaults{};

constexpr reprise::retry_policy tight{reprise::exponential_backoff{.base = 1s, .cap = 4s},
                                      reprise::equal_jitter{},
                                      reprise::attempt_budget{.maximum = 9},
                                      reprise::wait_limit{.total = 5s},
                                      reprise::time_limit{.total = 10s},
                                      reprise::attempt_timeout{.longest = 2s}};

/// The attempt with this number.
template <class Policy> constexpr described_attempt attempt_of(const Policy& policy, int number) {
  described_attempt found{};
  describe(policy).each(100, [&](const described_attempt& attempt) {
    if (attempt.number == number) found = attempt;
  });
  return found;
}

/// A budget with nothing but a name for what it lets through.
struct sharing_budget {
  struct permit {};
  void call_started(reprise::duration) {}
  void failed(const reprise::verdict&) {}
  std::optional<permit> try_retry(const reprise::verdict&, reprise::duration) { return permit{}; }
  void call_ended(bool, std::optional<permit>, reprise::duration) {}
};

struct saying_budget : sharing_budget {
  double lasting_share() const { return 0.2; }
};

std::string last_line(const std::string& text) { return text.substr(text.find_last_of('\n', text.size() - 2) + 1); }

}  // namespace

TEST_CASE("an attempt is described with its timeout, the wait after it and the waits so far") {
  STATIC_REQUIRE(attempt_of(defaults, 1) ==
                 described_attempt{.number = 1, .timeout = 5s, .wait = wait_range{0s, 500ms}, .waits = 500ms});
  STATIC_REQUIRE(attempt_of(defaults, 2) ==
                 described_attempt{.number = 2, .timeout = 4500ms, .wait = wait_range{0s, 1s}, .waits = 1500ms});
  STATIC_REQUIRE(
      attempt_of(defaults, 3) ==
      described_attempt{.number = 3, .timeout = 3500ms, .waits = 1500ms, .end = stop_reason::attempts_exhausted});
}

TEST_CASE("what ends a call is told for its shortest and longest waits and for hanging attempts") {
  STATIC_REQUIRE(describe(defaults).soonest() == described_end{stop_reason::attempts_exhausted, 3, 0s});
  STATIC_REQUIRE(describe(defaults).latest() == described_end{stop_reason::attempts_exhausted, 3, 1500ms});
  // Without a timeout of its own the first attempt takes all the time.
  STATIC_REQUIRE(describe(defaults).hanging() == described_end{stop_reason::deadline_reached, 1, 5s});

  // 0.5 + 1 + 2 s, and another 2 s are past 5 s; 1 + 2 s, and another 4 s.
  STATIC_REQUIRE(describe(tight).soonest() == described_end{stop_reason::wait_limit_reached, 4, 3500ms});
  STATIC_REQUIRE(describe(tight).latest() == described_end{stop_reason::wait_limit_reached, 3, 3s});
  // 2 + 1 + 2 + 2 + 2 s: the wait of 4 s is past the wait limit, which is asked first.
  STATIC_REQUIRE(describe(tight).hanging() == described_end{stop_reason::wait_limit_reached, 3, 9s});
  STATIC_REQUIRE(describe(tight.with(reprise::wait_limit{})).hanging() ==
                 described_end{stop_reason::deadline_reached, 3, 9s});
}

TEST_CASE("a wait that ends exactly at the limit does not fit") {
  constexpr auto exact = [](reprise::duration limit) {
    return describe(defaults.with(reprise::no_jitter{}, reprise::time_limit{.total = limit})).latest();
  };
  STATIC_REQUIRE(exact(1500ms) == described_end{stop_reason::deadline_reached, 2, 500ms});
  STATIC_REQUIRE(exact(1501ms) == described_end{stop_reason::attempts_exhausted, 3, 1500ms});
  constexpr auto waits = [](reprise::duration limit) {
    return describe(defaults.with(reprise::no_jitter{}, reprise::wait_limit{.total = limit})).latest();
  };
  STATIC_REQUIRE(waits(1499ms) == described_end{stop_reason::wait_limit_reached, 2, 500ms});
  STATIC_REQUIRE(waits(1500ms) == described_end{stop_reason::attempts_exhausted, 3, 1500ms});
}

TEST_CASE("an attempt without any timeout never ends") {
  constexpr auto endless = describe(defaults.with(reprise::no_time_limit{})).hanging();
  STATIC_REQUIRE(endless == described_end{std::nullopt, 1, reprise::unlimited});
  CHECK(fmt::format("{}", endless) == "no end, since attempt 1 has no timeout");
}

TEST_CASE("a call whose end is not found within a thousand attempts is told as such") {
  constexpr auto busy = describe(defaults.with(reprise::unlimited_attempts{}));
  STATIC_REQUIRE(busy.soonest() == described_end{std::nullopt, 1000, 0s});
  CHECK(fmt::format("{}", busy.soonest()) == "no end within 1000 attempts, 0 ms");
  STATIC_REQUIRE(busy.latest() == described_end{stop_reason::deadline_reached, 4, 3500ms});
}

TEST_CASE("a described end is what execute does") {
  const auto runs = [](const auto& policy, double fraction, reprise::duration lasts) {
    fake_clock time;
    time.fractions({fraction});
    const auto result = reprise::execute(
        policy.with(reprise::retry_when([](int) { return true; }), reprise::idempotent{}),
        [&](const reprise::attempt& attempt) {
          time.advance(lasts < attempt.timeout ? lasts : attempt.timeout);
          return 0;
        },
        time);
    return described_end{result.reason(), result.attempts(), time.now().time_since_epoch()};
  };
  const auto agrees = [&](const auto& policy) {
    CHECK(runs(policy, 0.0, 0s) == describe(policy).soonest());
    CHECK(runs(policy, 1.0, 0s) == describe(policy).latest());
    CHECK(runs(policy, 1.0, reprise::unlimited) == describe(policy).hanging());
  };
  agrees(defaults);
  agrees(tight);
  agrees(tight.with(reprise::wait_limit{}));
  agrees(tight.with(reprise::divided_timeout{.shortest = 100ms}));
  agrees(tight.with(reprise::attempt_budget{.maximum = 1}));
  agrees(tight.with(reprise::linear_backoff{.step = 100ms}, reprise::no_jitter{}));
}

TEST_CASE("the range of a wait covers what any draw before it can lead to") {
  constexpr reprise::retry_policy decorrelated{reprise::decorrelated_backoff{.base = 100ms, .cap = 10s},
                                               reprise::attempt_budget{.maximum = 5}};
  STATIC_REQUIRE(attempt_of(decorrelated, 1).wait == wait_range{100ms, 300ms});
  STATIC_REQUIRE(attempt_of(decorrelated, 2).wait == wait_range{100ms, 900ms});
  STATIC_REQUIRE(attempt_of(decorrelated, 3).wait == wait_range{100ms, 2700ms});
  STATIC_REQUIRE(attempt_of(decorrelated, 3).waits == 3900ms);
}

TEST_CASE("a description prints as a table, the bill, the ends and the extra load") {
  CHECK(fmt::format("{}", describe(defaults)) ==
        "attempt        timeout   shortest wait    longest wait  waits together\n"
        "      1        5000 ms            0 ms          500 ms  500 ms\n"
        "      2        4500 ms            0 ms         1000 ms  1500 ms\n"
        "      3        3500 ms  attempts_exhausted\n"
        "bill: at most 3 attempts, own waits 1500 ms, waits 1500 ms, total 5000 ms\n"
        "if all fail at once, shortest waits: attempts_exhausted after 3 attempts, 0 ms\n"
        "if all fail at once, longest waits: attempts_exhausted after 3 attempts, 1500 ms\n"
        "if all hang, longest waits: deadline_reached after 1 attempt, 5000 ms\n"
        "extra load while everything fails: 200 %\n");
}

TEST_CASE("the wait that does not fit is printed with what ends the call, and hints with their limit") {
  constexpr auto policy = tight.with(reprise::http::retry_statuses{}, reprise::retry_after_limit{.longest = 3s});
  CHECK(fmt::format("{}", describe(policy)) ==
        "attempt        timeout   shortest wait    longest wait  waits together\n"
        "      1        2000 ms          500 ms         1000 ms  1000 ms\n"
        "      2        2000 ms         1000 ms         2000 ms  3000 ms\n"
        "      3        2000 ms         2000 ms         4000 ms  7000 ms: wait_limit_reached\n"
        "bill: at most 9 attempts, own waits 27000 ms, waits 5000 ms, total 10000 ms\n"
        "if all fail at once, shortest waits: wait_limit_reached after 4 attempts, 3500 ms\n"
        "if all fail at once, longest waits: wait_limit_reached after 3 attempts, 3000 ms\n"
        "if all hang, longest waits: wait_limit_reached after 3 attempts, 9000 ms\n"
        "a server may ask for a wait of: 3000 ms\n"
        "extra load while everything fails: 800 %\n");
}

TEST_CASE("ten attempts are listed, more are dots") {
  constexpr reprise::retry_policy ten{reprise::constant_backoff{.delay = 1ms}, reprise::attempt_budget{.maximum = 10}};
  const auto lines_with = [](const auto& policy, const char* text) {
    const std::string printed = fmt::format("{}", describe(policy));
    int count = 0;
    for (std::size_t at = printed.find(text); at != std::string::npos; at = printed.find(text, at + 1)) ++count;
    return count;
  };
  CHECK(lines_with(ten, "  attempts_exhausted\n") == 1);
  CHECK(lines_with(ten, "    ...\n") == 0);
  CHECK(lines_with(ten.with(reprise::attempt_budget{.maximum = 11}), "  attempts_exhausted\n") == 0);
  CHECK(lines_with(ten.with(reprise::attempt_budget{.maximum = 11}), "    ...\n") == 1);
}

TEST_CASE("the extra load is told without and with a retry budget") {
  CHECK(last_line(fmt::format("{}", describe(defaults, 0.2))) ==
        "extra load while everything fails: 200 %; with the retry budget 20 % in the long run\n");
  // A budget never adds retries.
  CHECK(last_line(fmt::format("{}", describe(defaults.with(reprise::attempt_budget{.maximum = 1}), 0.2))) ==
        "extra load while everything fails: 0 %; with the retry budget 0 % in the long run\n");
  CHECK(last_line(fmt::format("{}", describe(defaults.with(reprise::unlimited_attempts{}), 0.5))) ==
        "extra load while everything fails: unlimited; with the retry budget 50 % in the long run\n");

  saying_budget saying;
  CHECK(last_line(fmt::format("{}", describe(defaults.with(reprise::shared_budget(saying))))) ==
        "extra load while everything fails: 200 %; with the retry budget 20 % in the long run\n");
  sharing_budget silent;
  CHECK(last_line(fmt::format("{}", describe(defaults.with(reprise::shared_budget(silent))))) ==
        "extra load while everything fails: 200 %; less with the retry budget\n");
  CHECK_THROWS_AS(describe(defaults, -0.1), std::invalid_argument);
}

TEST_CASE("the shipped retry budgets say what they let through for long") {
  const auto said = [](auto& budget) {
    return last_line(fmt::format("{}", describe(defaults.with(reprise::shared_budget(budget)))));
  };
  reprise::token_budget tokens;
  reprise::quota_budget quota;
  reprise::ratio_budget ratio({.share = 0.3});
  reprise::concurrent_retry_budget concurrent({.share = 0.25});
  CHECK(said(tokens) == "extra load while everything fails: 200 %; with the retry budget 0 % in the long run\n");
  CHECK(said(quota) == "extra load while everything fails: 200 %; with the retry budget 0 % in the long run\n");
  CHECK(said(ratio) == "extra load while everything fails: 200 %; with the retry budget 30 % in the long run\n");
  CHECK(said(concurrent) == "extra load while everything fails: 200 %; with the retry budget 25 % in the long run\n");
}
