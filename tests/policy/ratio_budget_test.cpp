// SPDX-License-Identifier: MIT
#include <reprise/core.hpp>
#include <reprise/policy/ratio_budget.hpp>
#include <reprise/testing/fake_clock.hpp>
#include <reprise/testing/script.hpp>
#include <string>
#include <thread>
#include <vector>

#include "catch.hpp"

using namespace std::chrono_literals;
using reprise::duration;
using reprise::ratio_budget;
using reprise::stop_reason;
using reprise::testing::fake_clock;
using reprise::testing::reply;
using reprise::testing::script;

namespace {

constexpr reprise::retry_policy policy{reprise::http::retry_statuses{}, reprise::idempotent{},
                                       reprise::constant_backoff{.delay = 100ms}};

constexpr reprise::verdict unavailable{.kind = reprise::outcome::transient};

void deposit(ratio_budget& budget, duration now, int times = 1) {
  for (int i = 0; i < times; ++i) budget.call_started(now);
}

bool asks(ratio_budget& budget, duration now) { return budget.try_retry(unavailable, now).has_value(); }

/// How many retries are granted until one is refused.
int drain(ratio_budget& budget, duration now) {
  int granted = 0;
  while (asks(budget, now)) ++granted;
  return granted;
}

std::string refusal(const reprise::ratio_budget_settings& settings) {
  try {
    ratio_budget budget(settings);
    return "accepted";
  } catch (const std::invalid_argument& refused) {
    return refused.what();
  }
}

}  // namespace

TEST_CASE("a fresh budget of defaults allows exactly 100 retries") {
  ratio_budget budget;
  CHECK(budget.balance(0s) == 100.0);
  CHECK(drain(budget, 0s) == 100);
  CHECK(budget.balance(0s) == 0.0);
}

TEST_CASE("five calls pay one retry at a share of .2") {
  ratio_budget budget{{.share = 0.2, .min_per_second = 0}};
  deposit(budget, 0s, 4);
  CHECK(!asks(budget, 0s));
  deposit(budget, 0s);
  CHECK(drain(budget, 0s) == 1);
}

TEST_CASE("a share is what it says, over many calls", "[B-58]") {
  const auto [share, retries] = GENERATE(table<double, int>(
      {{.6, 6000}, {.3, 3000}, {.7, 7000}, {.15, 1500}, {.2, 2000}, {1.0, 10'000}, {2.5, 25'000}, {.0001, 1}}));
  CAPTURE(share);
  SECTION("deposits first") {
    ratio_budget budget{{.share = share, .min_per_second = 0}};
    deposit(budget, 0s, 10'000);
    CHECK(drain(budget, 0s) == retries);
  }
  SECTION("a retry whenever there is one") {
    ratio_budget budget{{.share = share, .min_per_second = 0}};
    int granted = 0;
    for (int call = 0; call < 10'000; ++call) {
      deposit(budget, 0s);
      granted += drain(budget, 0s);
    }
    CHECK(granted == retries);
  }
}

TEST_CASE("ten calls at .6 pay six retries", "[B-58]") {
  ratio_budget budget{{.share = .6, .min_per_second = 0}};
  deposit(budget, 0s, 10);
  CHECK(drain(budget, 0s) == 6);
}

TEST_CASE("a deposit expires with its window") {
  ratio_budget budget{{.share = 1.0, .min_per_second = 0, .ttl = 1s}};
  deposit(budget, 5s);
  CHECK(!asks(budget, 8s));
}

TEST_CASE("a deposit counts in its slice and nine more, wherever the clock began") {
  const duration began = GENERATE(as<duration>{}, 0ns, 1ns, 99ms, 12'345'678ns, -7s, (duration::min)());
  ratio_budget budget{{.share = 0.5, .min_per_second = 0, .ttl = 1s}};
  deposit(budget, began, 2);
  const auto [later, granted] = GENERATE(table<duration, bool>({{901ms, true}, {1s - 1ns, true}, {1s, false}}));
  CHECK(asks(budget, began + later) == granted);
}

TEST_CASE("deposits of different slices expire one after the other") {
  ratio_budget budget{{.share = 1.0, .min_per_second = 0, .ttl = 10s}};
  for (int second = 0; second < 10; ++second) deposit(budget, std::chrono::seconds(second), second + 1);
  double left = 55;
  for (int second = 9; second < 25; ++second) {
    CAPTURE(second);
    if (second >= 10 && second < 20) left -= second - 9;
    CHECK(budget.balance(std::chrono::seconds(second)) == left);
  }
}

TEST_CASE("a retry counts for its own window, also when the deposit that paid for it has expired") {
  ratio_budget budget{{.share = 1.0, .min_per_second = 0, .ttl = 1s}};
  deposit(budget, 0s, 10);
  CHECK(drain(budget, 500ms) == 10);
  deposit(budget, 1s, 5);
  CHECK(budget.balance(1s) == 0.0);
  CHECK(drain(budget, 1s) == 0);
  CHECK(drain(budget, 1499ms) == 0);
  CHECK(drain(budget, 1500ms) == 5);
}

TEST_CASE("a withdrawal expires too: a budget that was used up is back at its reserve", "[B-62]") {
  fake_clock time;
  ratio_budget budget{{.share = 0.0, .min_per_second = 2, .ttl = 5s}};
  const auto now = [&] { return time.now().time_since_epoch(); };
  CHECK(drain(budget, now()) == 10);
  time.advance(4999ms);
  CHECK(drain(budget, now()) == 0);
  time.advance(1ms);
  CHECK(drain(budget, now()) == 10);
  time.advance(1h);
  CHECK(drain(budget, now()) == 10);
}

TEST_CASE("an idle time of any length leaves the reserve, no more and no less") {
  const duration idle =
      GENERATE(as<duration>{}, 1s, 1100ms, 2200ms, 2300ms, 2400ms, 3200ms, 3300ms, 6400ms, 1h, 24h * 365 * 200);
  ratio_budget budget{{.share = 1.0, .min_per_second = 3, .ttl = 1s}};
  deposit(budget, 0s, 7);
  CHECK(drain(budget, 0s) == 10);
  deposit(budget, 50ms, 1);
  CHECK(budget.balance(50ms) == 1.0);
  CHECK(drain(budget, idle) == 3);
}

TEST_CASE("a clock that goes backwards mints nothing") {
  ratio_budget budget{{.share = 1.0, .min_per_second = 0, .ttl = 1s}};
  deposit(budget, 10s, 3);
  CHECK(drain(budget, 2s) == 3);
  CHECK(drain(budget, -100h) == 0);
  CHECK(drain(budget, 10s) == 0);
  deposit(budget, 0s);
  CHECK(budget.balance(10'900ms) == 1.0);  // it was made in the latest slice
  CHECK(budget.balance(11s) == 0.0);
}

TEST_CASE("the ends of time are no trouble") {
  ratio_budget budget{{.share = 1.0, .min_per_second = 1, .ttl = 1s}};
  deposit(budget, (duration::min)());
  CHECK(drain(budget, (duration::min)()) == 2);
  CHECK(drain(budget, (duration::max)()) == 1);
  deposit(budget, (duration::max)());
  CHECK(drain(budget, (duration::max)()) == 1);
  CHECK(drain(budget, (duration::min)()) == 0);
}

TEST_CASE("a budget without a share and a reserve has no retries") {
  ratio_budget budget{{.share = 0.0, .min_per_second = 0}};
  deposit(budget, 0s, 1000);
  CHECK(!asks(budget, 0s));
}

TEST_CASE("a share above one pays several retries for each call") {
  ratio_budget budget{{.share = 1000.0, .min_per_second = 0}};
  deposit(budget, 0s);
  CHECK(drain(budget, 0s) == 1000);
}

TEST_CASE("a call makes one deposit when it starts, whatever becomes of it", "[B-63]") {
  ratio_budget budget{{.share = 0.25, .min_per_second = 1, .ttl = 10s}};
  const auto shared = policy.with(reprise::shared_budget(budget));
  fake_clock time;
  const auto play = [&](auto... steps) {
    script send{time, steps...};
    (void)reprise::execute(shared, send, time);
    return budget.balance(time.now().time_since_epoch());
  };
  CHECK(play(reply(200)) == 10.25);
  CHECK(play(reply(404)) == 10.5);
  CHECK(play(reply(503), reply(503), reply(200)) == 8.75);  // three attempts, one deposit; two withdrawals
  CHECK(play(reply(503)) == 7.0);
}

TEST_CASE("calls that all fail get their share of retries and no more", "[B-63]") {
  ratio_budget budget{{.share = 0.2, .min_per_second = 0}};
  const auto shared = policy.with(reprise::shared_budget(budget), reprise::constant_backoff{.delay = 0s});
  reprise::testing::basic_fake_clock<1024> time;
  int sends = 0;
  const auto send = [&] { return ++sends, reprise::testing::response{.status = 503}; };
  for (int call = 0; call < 1000; ++call) (void)reprise::execute(shared, send, time);
  CHECK(sends == 1200);
}

TEST_CASE("what is withdrawn is withdrawn before the wait, and stays so when the retry is not made") {
  ratio_budget budget{{.share = 0.0, .min_per_second = 1, .ttl = 10s}};
  fake_clock time;
  time.interrupts_at(50ms);
  script send{time, reply(503)};
  CHECK(reprise::execute(policy.with(reprise::shared_budget(budget)), send, time).reason() == stop_reason::cancelled);
  CHECK(budget.balance(time.now().time_since_epoch()) == 9.0);
}

TEST_CASE("threads that share a budget get exactly what was deposited", "[B-62]") {
  ratio_budget budget{{.share = 0.3, .min_per_second = 1, .ttl = 60s}};
  std::vector<std::thread> threads;
  std::vector<int> granted(8, 0);
  for (int& mine : granted) {
    threads.emplace_back([&budget, &mine] {
      for (int i = 0; i < 4000; ++i) {
        deposit(budget, std::chrono::milliseconds(i));
        mine += asks(budget, std::chrono::milliseconds(i)) ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  int all = drain(budget, 4s);
  for (const int one : granted) all += one;
  CHECK(all == 60 + 8 * 4000 * 3 / 10);
}

TEST_CASE("bad settings of a ratio budget are refused by name and value") {
  constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
  CHECK(refusal({.share = 0.0, .min_per_second = 0, .ttl = 1s}) == "accepted");
  CHECK(refusal({.share = 1000.0, .min_per_second = (std::numeric_limits<int>::max)(), .ttl = 60s}) == "accepted");
  CHECK(refusal({.share = -0.1}) == "reprise::ratio_budget: share must be in [0, 1000], is -0.1");
  CHECK(refusal({.share = 1000.5}) == "reprise::ratio_budget: share must be in [0, 1000], is 1000.5");
  CHECK(refusal({.share = not_a_number}).starts_with("reprise::ratio_budget: share must be in [0, 1000], is "));
  CHECK(refusal({.min_per_second = -1}) == "reprise::ratio_budget: min_per_second must be 0 or more, is -1");
  CHECK(refusal({.ttl = 999ms}) == "reprise::ratio_budget: ttl must be 1 s to 60 s, is 0.999 s");
  CHECK(refusal({.ttl = 61s}) == "reprise::ratio_budget: ttl must be 1 s to 60 s, is 61 s");
}
