// SPDX-License-Identifier: MIT
#include <reprise/action.hpp>

#include "catch.hpp"

using namespace std::chrono_literals;

namespace {

using time_point = std::chrono::steady_clock::time_point;
constexpr int int_max = std::numeric_limits<int>::max();

constexpr int milliseconds_of(reprise::time_span timeout) { return reprise::attempt{.timeout = timeout}.timeout_ms(); }

}  // namespace

TEST_CASE("a timeout in milliseconds is rounded up") {
  STATIC_REQUIRE(milliseconds_of(250ms) == 250);
  STATIC_REQUIRE(milliseconds_of(250ms + 1ns) == 251);
  STATIC_REQUIRE(milliseconds_of(999'999ns) == 1);
  STATIC_REQUIRE(milliseconds_of(5s) == 5000);
}

TEST_CASE("a timeout in milliseconds never reads as the 0 or -1 of interfaces without one") {
  STATIC_REQUIRE(milliseconds_of(1ns) == 1);
  STATIC_REQUIRE(milliseconds_of(0ns) == 1);
  STATIC_REQUIRE(milliseconds_of(-5s) == 1);
  STATIC_REQUIRE(milliseconds_of(reprise::duration::min()) == 1);
}

TEST_CASE("a timeout in milliseconds ends at INT_MAX") {
  STATIC_REQUIRE(milliseconds_of(std::chrono::milliseconds(int_max)) == int_max);
  STATIC_REQUIRE(milliseconds_of(std::chrono::milliseconds(int_max) - 1ns) == int_max);
  STATIC_REQUIRE(milliseconds_of(std::chrono::milliseconds(int_max - 1)) == int_max - 1);
  STATIC_REQUIRE(milliseconds_of(std::chrono::milliseconds(int_max) + 1ns) == int_max);
  STATIC_REQUIRE(milliseconds_of(reprise::unlimited) == int_max);
  STATIC_REQUIRE(milliseconds_of(reprise::unlimited - 1ns) == int_max);
}

TEST_CASE("an attempt is its timeout where a duration is wanted") {
  constexpr reprise::attempt current{.number = 2, .maximum = 3, .timeout = 400ms};
  constexpr reprise::duration timeout = current;
  STATIC_REQUIRE(timeout == 400ms);
}

TEST_CASE("an attempt that says nothing is the only one and has all the time") {
  constexpr reprise::attempt only{};
  STATIC_REQUIRE(only.number == 1);
  STATIC_REQUIRE(only.maximum == 1);
  STATIC_REQUIRE(only.timeout == reprise::unlimited);
}

TEST_CASE("an attempt with time points has no deadline until it is given one") {
  constexpr reprise::attempt_at<time_point> current{};
  STATIC_REQUIRE(current.deadline == time_point::max());
  STATIC_REQUIRE(current.call_deadline == time_point::max());
  STATIC_REQUIRE(current.timeout_ms() == int_max);
}

TEST_CASE("an action that says nothing stops the call") {
  constexpr reprise::action<time_point> next{};
  STATIC_REQUIRE(next.kind == reprise::step::stop);
  STATIC_REQUIRE(next.reason == reprise::stop_reason::cancelled);
  STATIC_REQUIRE(next.wait == 0ns);
}

TEST_CASE("every stop reason prints as its enumerator, any other number as unknown") {
  using reprise::stop_reason;
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
  STATIC_REQUIRE(to_string(static_cast<stop_reason>(10)) == "unknown");
  STATIC_REQUIRE(to_string(static_cast<stop_reason>(-1)) == "unknown");
}

TEST_CASE("a fraction picks the point of a wait range") {
  constexpr reprise::wait_range range{.shortest = 1s, .longest = 3s};
  STATIC_REQUIRE(range.point(0.0) == 1s);
  STATIC_REQUIRE(range.point(0.25) == 1500ms);
  STATIC_REQUIRE(range.point(0.5) == 2s);
  STATIC_REQUIRE(range.point(1.0) == 3s);
}

TEST_CASE("a fraction that is none leads to an end of the wait range: NaN to the longer wait") {
  constexpr reprise::wait_range range{.shortest = 1s, .longest = 3s};
  constexpr double infinity = std::numeric_limits<double>::infinity();
  STATIC_REQUIRE(range.point(-0.5) == 1s);
  STATIC_REQUIRE(range.point(-infinity) == 1s);
  STATIC_REQUIRE(range.point(1.5) == 3s);
  STATIC_REQUIRE(range.point(infinity) == 3s);
  STATIC_REQUIRE(range.point(std::numeric_limits<double>::quiet_NaN()) == 3s);
}

TEST_CASE("the points of the widest wait range stay within it") {
  constexpr reprise::wait_range widest{.shortest = 0ns, .longest = reprise::unlimited};
  STATIC_REQUIRE(widest.point(1.0) == reprise::unlimited);
  STATIC_REQUIRE(widest.point(0.9999999999999999) < reprise::unlimited);
  STATIC_REQUIRE(widest.point(0.0) == 0ns);
  STATIC_REQUIRE(reprise::wait_range{.shortest = reprise::unlimited, .longest = reprise::unlimited}.point(0.5) ==
                 reprise::unlimited);
}
