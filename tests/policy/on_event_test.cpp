// SPDX-License-Identifier: MIT
#include <reprise/core.hpp>
#include <reprise/testing/fake_clock.hpp>
#include <reprise/testing/script.hpp>

#include "catch.hpp"

using namespace std::chrono_literals;
using reprise::event;
using reprise::event_kind;
using reprise::stop_reason;
using reprise::testing::fake_clock;
using reprise::testing::reply;
using reprise::testing::script;

namespace {

constexpr reprise::retry_policy policy{reprise::http::retry_statuses{}, reprise::idempotent{},
                                       reprise::constant_backoff{.delay = 100ms}};

using events = reprise::testing::recorded<event, 8>;

/// All events of one call.
template <class Policy, class... Steps> constexpr events told(const Policy& with, Steps... steps) {
  events seen;
  fake_clock time;
  time.advance(1h);  // what is told counts from the start of the call
  script send{time, steps...};
  (void)reprise::execute(with.with(reprise::on_event([&](const event& happened) { seen.add(happened); })), send, time);
  return seen;
}

}  // namespace

TEST_CASE("each retry is told once and the end once") {
  STATIC_REQUIRE(told(policy, reply(200)).size() == 1);
  STATIC_REQUIRE(told(policy, reply(503), reply(200)).size() == 2);
  constexpr auto kinds = [] {
    const events seen = told(policy, reply(503));
    return seen.size() == 3 && seen[0].kind == event_kind::retry && seen[1].kind == event_kind::retry &&
           seen[2].kind == event_kind::end;
  };
  STATIC_REQUIRE(kinds());
}

TEST_CASE("a retry tells the attempt that failed, why, the wait, and the time") {
  constexpr auto retry = [] { return told(policy, reply(503).takes(10ms), reply(429).takes(20ms), reply(200))[1]; };
  STATIC_REQUIRE(retry().kind == event_kind::retry);
  STATIC_REQUIRE(retry().attempt == 2);
  STATIC_REQUIRE(retry().maximum == 3);
  STATIC_REQUIRE(retry().verdict.code == 429);
  STATIC_REQUIRE(retry().wait == 100ms);
  STATIC_REQUIRE(retry().elapsed == 130ms);
  STATIC_REQUIRE(retry().remaining == 4870ms);
}

TEST_CASE("a retry tells the wait as it will be slept, the server's hint included") {
  STATIC_REQUIRE(told(policy, reply(503).retry_after("2"), reply(200)).front().wait == 2s);
}

TEST_CASE("the end tells the last attempt, the reason, and the time") {
  constexpr auto end = [] { return told(policy, reply(503).takes(10ms), reply(404).takes(20ms)).back(); };
  STATIC_REQUIRE(end().kind == event_kind::end);
  STATIC_REQUIRE(end().attempt == 2);
  STATIC_REQUIRE(end().maximum == 3);
  STATIC_REQUIRE(end().verdict.code == 404);
  STATIC_REQUIRE(end().wait == 0s);
  STATIC_REQUIRE(end().elapsed == 130ms);
  STATIC_REQUIRE(end().remaining == 4870ms);
  STATIC_REQUIRE(end().reason == stop_reason::not_retryable);
}

TEST_CASE("the end of a call that made no attempt tells attempt 0 and the label none") {
  constexpr auto end = [] {
    return told(policy.with(reprise::deadline{fake_clock::time_point(1s)}), reply(200)).back();
  };
  STATIC_REQUIRE(end().attempt == 0);
  STATIC_REQUIRE(end().reason == stop_reason::deadline_reached);
  STATIC_REQUIRE(end().verdict == reprise::verdict{.label = "none"});
  STATIC_REQUIRE(end().remaining == 0s);
  STATIC_REQUIRE(end().elapsed == 0s);
}

TEST_CASE("a call that is cancelled before it starts tells its end too") {
  constexpr auto right = [] {
    events seen;
    const auto with = policy.with(reprise::on_event([&](const event& happened) { seen.add(happened); }));
    reprise::engine<decltype(with), fake_clock::time_point> engine(with);
    engine.cancel();
    engine.cancel();
    return seen.size() == 1 && seen[0].attempt == 0 && seen[0].reason == stop_reason::cancelled;
  };
  STATIC_REQUIRE(right());
}

TEST_CASE("a refused retry is no retry: only the end is told, with its reason") {
  constexpr auto only_end = [](auto with, stop_reason reason) {
    const events seen = told(with, reply(503));
    return seen.size() == 1 && seen[0].reason == reason && seen[0].attempt == 1;
  };
  STATIC_REQUIRE(only_end(policy.with(reprise::attempt_budget{.maximum = 1}), stop_reason::attempts_exhausted));
  STATIC_REQUIRE(only_end(policy.with(reprise::time_limit{.total = 100ms}), stop_reason::deadline_reached));
  STATIC_REQUIRE(only_end(policy.with(reprise::not_idempotent{}), stop_reason::not_replay_safe));
}

TEST_CASE("a wait that is cut has told its retry and tells a cancelled end") {
  constexpr auto right = [] {
    events seen;
    fake_clock time;
    time.interrupts_at(40ms);
    script send{time, reply(503), reply(200)};
    (void)reprise::execute(policy.with(reprise::on_event([&](const event& happened) { seen.add(happened); })), send,
                           time);
    return seen.size() == 2 && seen[0].kind == event_kind::retry && seen[1].reason == stop_reason::cancelled &&
           seen[1].attempt == 1 && seen[1].elapsed == 40ms;
  };
  STATIC_REQUIRE(right());
}

TEST_CASE("without limits the maximum is unlimited and so is what remains") {
  constexpr auto first = [] {
    return told(policy.with(reprise::no_time_limit{}, reprise::unlimited_attempts{}, reprise::retry_after_limit{}),
                reply(503), reply(200))
        .front();
  };
  STATIC_REQUIRE(first().maximum == reprise::unlimited_count);
  STATIC_REQUIRE(first().remaining == reprise::unlimited);
}

TEST_CASE("several handlers are told in the order written") {
  constexpr auto right = [] {
    reprise::testing::recorded<int> order;
    const auto with = policy.with(reprise::on_event([&](const event&) { order.add(1); }),
                                  reprise::on_event([&](const event&) { order.add(2); }));
    fake_clock time;
    script send{time, reply(503), reply(200)};
    (void)reprise::execute(with, send, time);
    return order.are({1, 2, 1, 2});
  };
  STATIC_REQUIRE(right());
}

TEST_CASE("a handler is told before the wait is slept") {
  constexpr auto right = [] {
    fake_clock time;
    std::size_t waits_at_retry = 99;
    const auto with = policy.with(reprise::on_event([&](const event& happened) {
      if (happened.kind == event_kind::retry) waits_at_retry = time.waits().size();
    }));
    script send{time, reply(503), reply(200)};
    (void)reprise::execute(with, send, time);
    return waits_at_retry == 0;
  };
  STATIC_REQUIRE(right());
}

TEST_CASE("an event that nobody filled reads as the cancelled end of no attempt") {
  constexpr event empty;
  STATIC_REQUIRE(empty.kind == event_kind::end);
  STATIC_REQUIRE(empty.attempt == 0);
  STATIC_REQUIRE(empty.verdict.kind == reprise::outcome::permanent);
  STATIC_REQUIRE(empty.reason == stop_reason::cancelled);
}
