// SPDX-License-Identifier: MIT
#include <reprise/core.hpp>
#include <reprise/policy/adaptive_throttle.hpp>
#include <reprise/testing/fake_clock.hpp>
#include <reprise/testing/script.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "catch.hpp"

using namespace std::chrono_literals;
using reprise::outcome;
using reprise::stop_reason;
using reprise::testing::fake_clock;
using reprise::testing::reply;
using reprise::testing::script;

namespace {

constexpr reprise::retry_policy policy{reprise::http::retry_statuses{}, reprise::idempotent{},
                                       reprise::constant_backoff{.delay = 100ms}};

constexpr reprise::verdict accepted{.kind = outcome::success};
constexpr reprise::verdict overloaded{.kind = outcome::transient};

/// A fraction that never refuses.
constexpr auto never = [] { return 1.0; };
/// One that refuses whenever the probability is above zero.
constexpr auto whenever = [] { return 0.0; };

template <class Throttle>
void ask(Throttle& throttle, int times, const reprise::verdict& end, reprise::duration now = 0s) {
  for (int i = 0; i < times; ++i) {
    (void)throttle.admit(now);
    throttle.ended(end, now);
  }
}

std::string refusal(const reprise::adaptive_throttle_settings& settings) {
  try {
    reprise::adaptive_throttle throttle{never, settings};
    return "accepted";
  } catch (const std::invalid_argument& refused) {
    return refused.what();
  }
}

}  // namespace

TEST_CASE("the refusal probability is the formula of the SRE book") {
  const auto [requests, accepts, probability] = GENERATE(table<int, int, double>({{0, 0, 0.0},
                                                                                  {1, 0, 1.0 / 2},
                                                                                  {9, 0, 9.0 / 10},
                                                                                  {100, 100, 0.0},
                                                                                  {100, 51, 0.0},
                                                                                  {100, 50, 0.0},
                                                                                  {100, 49, 2.0 / 101},
                                                                                  {100, 10, 80.0 / 101},
                                                                                  {999, 0, 999.0 / 1000}}));
  CAPTURE(requests, accepts);
  reprise::adaptive_throttle throttle{never};
  ask(throttle, accepts, accepted);
  ask(throttle, requests - accepts, overloaded);
  CHECK(throttle.refusal_probability(0s) == probability);
}

TEST_CASE("an attempt is refused if the fraction lies below the probability") {
  double fraction = 1.0;
  int asked = 0;
  reprise::adaptive_throttle throttle{[&] { return ++asked, fraction; }};
  CHECK(throttle.admit(0s));
  CHECK(asked == 0);  // nothing to decide: no draw
  fraction = 0.49;
  CHECK(!throttle.admit(0s));  // one request, no accept: 1/2
  fraction = 2.0 / 3;
  CHECK(throttle.admit(0s));  // two requests: 2/3
  fraction = 0.74;
  CHECK(!throttle.admit(0s));  // three: the ones that were refused count as well
  CHECK(asked == 3);
}

TEST_CASE("a request counts before it is made") {
  reprise::adaptive_throttle throttle{whenever};
  CHECK(throttle.admit(0s));
  CHECK(throttle.refusal_probability(0s) == 0.5);  // its end is not known yet
  throttle.ended(accepted, 0s);
  CHECK(throttle.refusal_probability(0s) == 0.0);
}

TEST_CASE("an accept is an answer: a success, or a permanent failure that the backend has dealt with") {
  const auto [end, counts] =
      GENERATE(table<reprise::verdict, bool>({{{.kind = outcome::success}, true},
                                              {{.kind = outcome::permanent}, true},
                                              {{.kind = outcome::permanent, .not_applied = true}, false},
                                              {{.kind = outcome::transient}, false},
                                              {{.kind = outcome::transient, .not_applied = true}, false},
                                              {{.kind = outcome::cancelled}, false}}));
  reprise::adaptive_throttle throttle{never};
  ask(throttle, 1, end);
  CHECK(throttle.refusal_probability(0s) == (counts ? 0.0 : 0.5));
}

TEST_CASE("a multiplier decides how many requests are let out for each accept") {
  const auto [multiplier, probability] =
      GENERATE(table<double, double>({{1.0, 50.0 / 101}, {1.1, 45.0 / 101}, {2.0, 0.0}, {1e9, 0.0}}));
  reprise::adaptive_throttle throttle{never, {.multiplier = multiplier}};
  ask(throttle, 50, accepted);
  ask(throttle, 50, overloaded);
  const double given = throttle.refusal_probability(0s);
  CHECK(given > probability - 1e-12);
  CHECK(given < probability + 1e-12);
}

TEST_CASE("what is older than two minutes is forgotten, slice by slice") {
  reprise::adaptive_throttle throttle{never};
  ask(throttle, 10, overloaded, 1h);
  ask(throttle, 4, overloaded, 1h + 12s);
  CHECK(throttle.refusal_probability(1h + 120s - 1ns) == 14.0 / 15);
  CHECK(throttle.refusal_probability(1h + 120s) == 4.0 / 5);
  CHECK(throttle.refusal_probability(1h + 132s) == 0.0);
}

TEST_CASE("an accept that comes when its request has expired makes no negative number of anything") {
  reprise::adaptive_throttle throttle{whenever, {.window = 1s}};
  CHECK(throttle.admit(0s));
  throttle.ended(accepted, 10s);
  CHECK(throttle.refusal_probability(10s) == 0.0);
  CHECK(throttle.admit(10s));
  CHECK(throttle.admit(10s));
  CHECK(throttle.admit(10s));  // 2 requests for the accept
  CHECK(!throttle.admit(10s));
}

TEST_CASE("a throttle lets a backend that is down be noticed when it is up again") {
  double fraction = 0.0;
  reprise::adaptive_throttle throttle{[&] { return fraction; }};
  ask(throttle, 100'000, overloaded);
  CHECK(throttle.refusal_probability(0s) < 1.0);
  CHECK(!throttle.admit(0s));
  fraction = 1.0;
  CHECK(throttle.admit(0s));
}

TEST_CASE("the first attempt of a call is refused too, and then nothing is sent") {
  reprise::adaptive_throttle throttle{whenever};
  ask(throttle, 10, overloaded);
  fake_clock time;
  script send{time, reply(200)};
  const auto result = reprise::execute(policy.with(reprise::throttled_by(throttle)), send, time);
  CHECK(result.reason() == stop_reason::admission_refused);
  CHECK(result.attempts() == 0);
  CHECK(send.calls() == 0);
  CHECK(time.waits().empty());
}

TEST_CASE("a retry that is refused ends the call with its last failure") {
  reprise::adaptive_throttle throttle{whenever};
  fake_clock time;
  script send{time, reply(503), reply(200)};
  const auto result = reprise::execute(policy.with(reprise::throttled_by(throttle)), send, time);
  CHECK(result.reason() == stop_reason::admission_refused);
  CHECK(result.attempts() == 1);
  CHECK(result.last_verdict().code == 503);
}

TEST_CASE("a throttle hears how each attempt of a call ends") {
  reprise::adaptive_throttle throttle{never};
  const auto shared = policy.with(reprise::throttled_by(throttle));
  const auto play = [&](auto... steps) {
    fake_clock time;
    script send{time, steps...};
    (void)reprise::execute(shared, send, time);
    return throttle.refusal_probability(0s);
  };
  CHECK(play(reply(200)) == 0.0);                              // 1 request, 1 accept
  CHECK(play(reply(404)) == 0.0);                              // 2, 2
  CHECK(play(reply(503)) == 1.0 / 6);                          // 5, 2
  CHECK(play(reply(503), reply(503), reply(200)) == 2.0 / 9);  // 8, 3
  CHECK(play(reply(200)) == 1.0 / 10);                         // 9, 4
}

TEST_CASE("an end is counted when it happens, in the throttle's own time") {
  reprise::adaptive_throttle throttle{never, {.window = 1s}};
  fake_clock time;
  time.advance(10s);
  script send{time, reply(200).takes(3s)};
  CHECK(reprise::execute(policy.with(reprise::throttled_by(throttle)), send, time).ok());
  // The request has expired, its accept has not: two more are free.
  for (int i = 0; i < 2; ++i) CHECK(throttle.admit(13s));
  CHECK(throttle.refusal_probability(13s) == 0.0);
  CHECK(throttle.admit(13s));
  CHECK(throttle.refusal_probability(13s) == 1.0 / 4);
}

TEST_CASE("an attempt without an answer is no accept") {
  reprise::adaptive_throttle throttle{never};
  const auto shared = policy.with(reprise::throttled_by(throttle));
  fake_clock time;
  script send{time, reprise::testing::fails<std::logic_error>("fault"), reply(200)};
  CHECK_THROWS_AS(reprise::execute(shared, send, time), std::logic_error);
  CHECK(throttle.refusal_probability(0s) == 0.5);
}

TEST_CASE("a throttle is joined by reference and takes no temporary") {
  using throttle = reprise::adaptive_throttle<decltype(never)>;
  STATIC_REQUIRE(reprise::admission_part<reprise::throttled_by<throttle>>);
  STATIC_REQUIRE(std::is_constructible_v<reprise::throttled_by<throttle>, throttle&>);
  STATIC_REQUIRE(!std::is_constructible_v<reprise::throttled_by<throttle>, throttle>);
  STATIC_REQUIRE(!std::is_copy_constructible_v<throttle>);
}

TEST_CASE("no request and no accept is lost when threads share a throttle") {
  reprise::adaptive_throttle throttle{never};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 8; ++thread)
    threads.emplace_back([&throttle, thread] { ask(throttle, 1000, thread == 0 ? accepted : overloaded); });
  for (std::thread& thread : threads) thread.join();
  CHECK(throttle.refusal_probability(0s) == 6000.0 / 8001);
}

TEST_CASE("bad settings of a throttle are refused by name and value") {
  CHECK(refusal({.multiplier = 1.0, .window = 1s}) == "accepted");
  CHECK(refusal({.multiplier = 0.99}) ==
        "reprise::adaptive_throttle: multiplier must be 1 or more, and finite, is 0.99");
  CHECK(refusal({.multiplier = std::numeric_limits<double>::infinity()}) != "accepted");
  CHECK(refusal({.multiplier = std::numeric_limits<double>::quiet_NaN()}) != "accepted");
  CHECK(refusal({.window = 999ms}) == "reprise::adaptive_throttle: window must be 1 s to 1 h, is 0.999 s");
  CHECK(refusal({.window = 2h}) == "reprise::adaptive_throttle: window must be 1 s to 1 h, is 7200 s");
}

TEST_CASE("a throttle is not told of an exception that nobody recognises, with a log and without") {
  const auto refusal_with = [](const auto&... parts) {
    reprise::testing::fake_clock time;
    reprise::adaptive_throttle throttle{[] { return 1.0; }};
    const reprise::retry_policy throttled{reprise::http::retry_statuses{}, reprise::idempotent{},
                                          reprise::throttled_by(throttle), parts...};
    const auto send = []() -> reprise::testing::response { throw std::runtime_error("connection refused"); };
    for (int call = 0; call < 9; ++call) CHECK_THROWS_AS(reprise::execute(throttled, send, time), std::runtime_error);
    return throttle.refusal_probability(time.now().time_since_epoch());
  };
  CHECK(refusal_with() == 0.9);
  CHECK(refusal_with(reprise::attempt_log<4>{}) == 0.9);
  CHECK(refusal_with(reprise::on_event([](const reprise::event&) {})) == 0.9);
}
