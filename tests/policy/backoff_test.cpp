// SPDX-License-Identifier: MIT
#include <array>
#include <reprise/policy/backoff.hpp>
#include <string>

#include "catch.hpp"
#include "support.hpp"

using namespace std::chrono_literals;

namespace {

constexpr int int_max = std::numeric_limits<int>::max();

template <class Backoff> concept says_that_it_grows = requires { requires Backoff::grows; };

/// Never shorter than the wait before, never longer than the cap.
template <class Backoff> constexpr bool climbs_to_its_cap(const Backoff& backoff, int retries) {
  reprise::duration before = 0ns;
  for (int retry = 0; retry < retries; ++retry) {
    const reprise::duration wait = backoff(retry);
    if (wait < before || wait > backoff.cap) return false;
    before = wait;
  }
  const reprise::duration last = backoff(int_max);
  return last >= before && last <= backoff.cap;
}

/// Doubling step by step, with the cap asked before each step.
constexpr bool doubles(reprise::duration base, reprise::duration cap) {
  const reprise::exponential_backoff backoff{.base = base, .cap = cap};
  reprise::duration expected = base < cap ? base : cap;
  for (int retry = 0; retry <= 1000; ++retry) {
    if (backoff(retry) != expected) return false;
    if (retry <= 30 && reprise::backoff(retry, base, cap) != expected) return false;
    expected = expected > cap - expected ? cap : expected + expected;
  }
  return backoff(int_max) == expected;
}

/// Multiplying step by step; a nanosecond is allowed for the other order of rounding.
constexpr bool multiplies(reprise::duration base, reprise::duration cap, double factor) {
  const reprise::exponential_backoff backoff{.base = base, .cap = cap, .factor = factor};
  auto expected = static_cast<double>(base.count());
  const auto most = static_cast<double>(cap.count());
  for (int retry = 0; retry <= 1000; ++retry) {
    if (expected > most) expected = most;
    const double off = static_cast<double>(backoff(retry).count()) - expected;
    if (off > 1.0 || off < -1.0 - expected * 1e-13) return false;
    expected *= factor;
  }
  return true;
}

constexpr bool adds(reprise::duration step, reprise::duration cap) {
  const reprise::linear_backoff backoff{.step = step, .cap = cap};
  reprise::duration expected = 0ns;
  for (int retry = 0; retry <= 1000; ++retry) {
    expected = expected > cap - step || step > cap ? cap : expected + step;
    if (backoff(retry) != expected) return false;
  }
  return true;
}

constexpr bool adds_the_two_before(reprise::duration base, reprise::duration cap, int retries) {
  const reprise::fibonacci_backoff backoff{.base = base, .cap = cap};
  const auto sum = [cap](reprise::duration a, reprise::duration b) { return a > cap - b || b > cap ? cap : a + b; };
  reprise::duration before = 0ns;
  reprise::duration current = sum(base, 0ns);
  for (int retry = 0; retry <= retries; ++retry) {
    if (backoff(retry) != current) return false;
    const reprise::duration next = sum(current, before);
    before = current;
    current = next;
  }
  return true;
}

/// All in one call of the part: nothing is remembered.
template <std::size_t Count, class Backoff> constexpr auto waits_of(const Backoff& backoff) {
  std::array<reprise::duration, Count> waits{};
  for (std::size_t retry = 0; retry < Count; ++retry) waits[retry] = backoff(static_cast<int>(retry));
  return waits;
}

}  // namespace

TEST_CASE("backoff is base times two to the attempt, up to the cap") {
  STATIC_REQUIRE(reprise::backoff(0) == 500ms);
  STATIC_REQUIRE(reprise::backoff(1) == 1s);
  STATIC_REQUIRE(reprise::backoff(2) == 2s);
  STATIC_REQUIRE(reprise::backoff(3) == 4s);
  STATIC_REQUIRE(reprise::backoff(4) == 4s);
  STATIC_REQUIRE(reprise::backoff(30) == 4s);
  STATIC_REQUIRE(reprise::backoff(3, 100ms) == 800ms);
  STATIC_REQUIRE(reprise::backoff(3, 100ms, 700ms) == 700ms);
  STATIC_REQUIRE(reprise::backoff(2, 0.25s, 10s) == 1s);
}

TEST_CASE("backoff takes a base of zero, a cap of zero and a cap below its base") {
  STATIC_REQUIRE(reprise::backoff(30, 0s) == 0s);
  STATIC_REQUIRE(reprise::backoff(0, 1s, 0s) == 0s);
  STATIC_REQUIRE(reprise::backoff(0, 5s, 2s) == 2s);
}

TEST_CASE("backoff of the longest durations saturates") {
  STATIC_REQUIRE(reprise::backoff(30, std::chrono::hours::max(), reprise::unlimited) == reprise::unlimited);
  STATIC_REQUIRE(reprise::backoff(30, 1h, reprise::unlimited) == reprise::unlimited);
  STATIC_REQUIRE(reprise::backoff(30, 1s, reprise::unlimited) == std::chrono::seconds(1 << 30));
}

TEST_CASE("backoff refuses attempts outside 0 to 30 and negative durations by name and value") {
  CHECK(refusal([] { return reprise::backoff(-1); }) == "reprise::backoff: attempt must be 0 to 30, is -1");
  CHECK(refusal([] { return reprise::backoff(31); }) == "reprise::backoff: attempt must be 0 to 30, is 31");
  CHECK(refusal([] { return reprise::backoff(int_max); }) ==
        "reprise::backoff: attempt must be 0 to 30, is 2147483647");
  CHECK(refusal([] { return reprise::backoff(0, -1ms); }) ==
        "reprise::backoff: base must be zero or longer, is -0.001 s");
  CHECK(refusal([] { return reprise::backoff(0, 1s, -2s); }) ==
        "reprise::backoff: cap must be zero or longer, is -2 s");
  CHECK_THROWS_AS(reprise::backoff(0, std::chrono::hours::min()), std::invalid_argument);
}

TEST_CASE("backoff refuses bad arguments in a constant expression by not compiling") {
  constexpr auto good = [] { return reprise::backoff(30); };
  constexpr auto late = [] { return reprise::backoff(31); };
  constexpr auto negative = [] { return reprise::backoff(0, -1ns); };
  STATIC_REQUIRE(constant_expression<good>);
  STATIC_REQUIRE(!constant_expression<late>);
  STATIC_REQUIRE(!constant_expression<negative>);
}

TEST_CASE("an exponential backoff doubles from 500 ms to 4 s by default") {
  STATIC_REQUIRE(waits_of<5>(reprise::exponential_backoff{}) ==
                 std::array<reprise::duration, 5>{500ms, 1s, 2s, 4s, 4s});
}

TEST_CASE("an exponential backoff agrees with doubling step by step, for a thousand retries") {
  STATIC_REQUIRE(doubles(500ms, 4s));
  STATIC_REQUIRE(doubles(1ns, reprise::unlimited));
  STATIC_REQUIRE(doubles(3ns, 1h));
  STATIC_REQUIRE(doubles(7s, 1min));
  STATIC_REQUIRE(doubles(0s, 4s));
  STATIC_REQUIRE(doubles(5s, 4s));
  STATIC_REQUIRE(doubles(reprise::unlimited, reprise::unlimited));
}

TEST_CASE("an exponential backoff of another factor agrees with multiplying step by step") {
  CHECK(multiplies(500ms, 4s, 1.5));
  CHECK(multiplies(1ms, 1h, 3.0));
  CHECK(multiplies(1ms, 1h, 1.0001));
  CHECK(multiplies(1ns, 24h * 1000, 10.0));
  CHECK(multiplies(500ms, 4s, 1.0));
  CHECK(multiplies(0s, 4s, 3.0));
}

TEST_CASE("an exponential backoff of factor three is exact where numbers are whole") {
  STATIC_REQUIRE(waits_of<5>(reprise::exponential_backoff{.base = 100ms, .cap = 8s, .factor = 3.0}) ==
                 std::array<reprise::duration, 5>{100ms, 300ms, 900ms, 2700ms, 8s});
}

TEST_CASE("an exponential backoff never falls and never passes its cap") {
  STATIC_REQUIRE(climbs_to_its_cap(reprise::exponential_backoff{}, 1000));
  STATIC_REQUIRE(climbs_to_its_cap(reprise::exponential_backoff{.base = 5s, .cap = 20s}, 1000));
  CHECK(climbs_to_its_cap(reprise::exponential_backoff{.factor = 1.1}, 1000));
  CHECK(climbs_to_its_cap(reprise::exponential_backoff{.cap = reprise::unlimited, .factor = 1.7}, 1000));
  CHECK(climbs_to_its_cap(reprise::exponential_backoff{.base = 1ns, .factor = 1e300}, 1000));
}

TEST_CASE("an exponential backoff of factor one is its base every time, also where a double cannot hold it") {
  constexpr reprise::exponential_backoff steady{
      .base = reprise::duration(9'007'199'254'740'993), .cap = reprise::unlimited, .factor = 1.0};
  CHECK(waits_of<3>(steady) == std::array<reprise::duration, 3>{steady.base, steady.base, steady.base});
  CHECK(steady(int_max) == steady.base);
}

TEST_CASE("an exponential backoff answers for the last retry number at once") {
  CHECK(reprise::exponential_backoff{.factor = 1.5}(int_max) == 4s);
  CHECK(reprise::exponential_backoff{.cap = reprise::unlimited, .factor = 1e300}(int_max) == reprise::unlimited);
  CHECK(reprise::exponential_backoff{.factor = 1.0}(int_max) == 500ms);
  CHECK(reprise::exponential_backoff{.base = 0s, .factor = 9.0}(int_max) == 0s);
  STATIC_REQUIRE(reprise::exponential_backoff{.cap = 5min}(int_max) == 5min);
}

TEST_CASE("an exponential backoff of any factor saturates in a constant expression too") {
  constexpr auto soon = [] { return reprise::exponential_backoff{.factor = 1.5}(20); };
  constexpr auto thousandth = [] { return reprise::exponential_backoff{.factor = 3.0}(1000); };
  constexpr auto last = [] { return reprise::exponential_backoff{.factor = 1.5}(int_max); };
  STATIC_REQUIRE(constant_expression<soon>);
  CHECK(constant_expression<thousandth>);
  CHECK(constant_expression<last>);
}

TEST_CASE("a constant backoff is its delay every time, 500 ms by default") {
  STATIC_REQUIRE(reprise::constant_backoff{}(0) == 500ms);
  STATIC_REQUIRE(reprise::constant_backoff{.delay = 7s}(0) == 7s);
  STATIC_REQUIRE(reprise::constant_backoff{.delay = 7s}(1000) == 7s);
  STATIC_REQUIRE(reprise::constant_backoff{.delay = 7s}(int_max) == 7s);
  STATIC_REQUIRE(reprise::constant_backoff{.delay = 7s, .cap = 2s}(3) == 2s);
  STATIC_REQUIRE(reprise::constant_backoff{.delay = 0s}(3) == 0s);
}

TEST_CASE("a linear backoff goes up by its step, 500 ms to 4 s by default") {
  STATIC_REQUIRE(waits_of<9>(reprise::linear_backoff{}) ==
                 std::array<reprise::duration, 9>{500ms, 1s, 1500ms, 2s, 2500ms, 3s, 3500ms, 4s, 4s});
}

TEST_CASE("a linear backoff agrees with adding step by step, for a thousand retries") {
  STATIC_REQUIRE(adds(500ms, 4s));
  STATIC_REQUIRE(adds(1ns, 1h));
  STATIC_REQUIRE(adds(0s, 4s));
  STATIC_REQUIRE(adds(5s, 4s));
  STATIC_REQUIRE(adds(std::chrono::hours(2'000'000), reprise::unlimited));
  STATIC_REQUIRE(climbs_to_its_cap(reprise::linear_backoff{.step = 3ms}, 1000));
}

TEST_CASE("a linear backoff answers for the last retry number without overflow") {
  STATIC_REQUIRE(reprise::linear_backoff{}(int_max) == 4s);
  STATIC_REQUIRE(reprise::linear_backoff{.step = 1ns}(int_max) == reprise::duration(2'147'483'648));
  STATIC_REQUIRE(reprise::linear_backoff{.step = 1h, .cap = reprise::unlimited}(int_max) == reprise::unlimited);
}

TEST_CASE("a fibonacci backoff starts 1, 1, 2, 3, 5, 8 times its base") {
  STATIC_REQUIRE(waits_of<6>(reprise::fibonacci_backoff{}) ==
                 std::array<reprise::duration, 6>{500ms, 500ms, 1s, 1500ms, 2500ms, 4s});
}

TEST_CASE("a fibonacci backoff agrees with adding the two waits before") {
  STATIC_REQUIRE(adds_the_two_before(500ms, 4s, 200));
  STATIC_REQUIRE(adds_the_two_before(2ns, reprise::unlimited, 200));
  CHECK(adds_the_two_before(500ms, 4s, 1000));
  CHECK(adds_the_two_before(3ns, 1h, 1000));
  CHECK(adds_the_two_before(0s, 4s, 1000));
  CHECK(adds_the_two_before(5s, 4s, 1000));
  CHECK(climbs_to_its_cap(reprise::fibonacci_backoff{.base = 1ns, .cap = reprise::unlimited}, 1000));
}

TEST_CASE("a fibonacci backoff answers for the last retry number at once") {
  STATIC_REQUIRE(reprise::fibonacci_backoff{}(int_max) == 4s);
  STATIC_REQUIRE(reprise::fibonacci_backoff{.base = 2ns, .cap = reprise::unlimited}(int_max) == reprise::unlimited);
  STATIC_REQUIRE(reprise::fibonacci_backoff{.base = 0s}(int_max) == 0s);
}

TEST_CASE("a fibonacci backoff of one nanosecond reaches the last number that fits before it saturates") {
  constexpr reprise::fibonacci_backoff backoff{.base = 1ns, .cap = reprise::unlimited};
  CHECK(backoff(90).count() == 4'660'046'610'375'530'309);
  CHECK(backoff(91).count() == 7'540'113'804'746'346'429);
  CHECK(backoff(92) == reprise::unlimited);
  CHECK(backoff(int_max) == reprise::unlimited);
}

TEST_CASE("a listed backoff gives its delays in order and repeats the last") {
  constexpr reprise::listed_backoff listed{100ms, 1s, 10s};
  STATIC_REQUIRE(waits_of<5>(listed) == std::array<reprise::duration, 5>{100ms, 1s, 10s, 10s, 10s});
  STATIC_REQUIRE(listed(int_max) == 10s);
}

TEST_CASE("a listed backoff may fall, and may be of one delay") {
  STATIC_REQUIRE(waits_of<3>(reprise::listed_backoff{3s, 1s}) == std::array<reprise::duration, 3>{3s, 1s, 1s});
  STATIC_REQUIRE(waits_of<2>(reprise::listed_backoff{0.5s}) == std::array<reprise::duration, 2>{500ms, 500ms});
}

TEST_CASE("a listed backoff refuses a negative delay where it is made") {
  CHECK(refusal([] { return reprise::listed_backoff{1s, -2s}; }) ==
        "reprise::listed_backoff: a delay must be zero or longer, is -2 s");
  CHECK(reprise::listed_backoff{0s, reprise::unlimited}(1) == reprise::unlimited);
}

TEST_CASE("a decorrelated backoff waits between its base and three times the wait before") {
  using state = reprise::decorrelated_backoff::call_state;
  constexpr reprise::decorrelated_backoff backoff{.base = 1s, .cap = 20s};
  STATIC_REQUIRE(backoff.range(0, state{}) == reprise::wait_range{1s, 3s});
  STATIC_REQUIRE(backoff.range(1, state{.previous = 2s}) == reprise::wait_range{1s, 6s});
  STATIC_REQUIRE(backoff.range(2, state{.previous = 6s}) == reprise::wait_range{1s, 18s});
  STATIC_REQUIRE(backoff.range(3, state{.previous = 18s}) == reprise::wait_range{1s, 20s});
}

TEST_CASE("a decorrelated backoff remembers the own wait that was drawn") {
  constexpr auto after_a_wait = [] {
    const reprise::decorrelated_backoff backoff{};
    reprise::decorrelated_backoff::call_state state;
    backoff.advance(state, 700ms);
    return backoff.range(1, state);
  };
  STATIC_REQUIRE(after_a_wait() == reprise::wait_range{500ms, 2100ms});
}

TEST_CASE("a decorrelated backoff's range never turns around, whatever its numbers") {
  using state = reprise::decorrelated_backoff::call_state;
  using reprise::decorrelated_backoff;
  using reprise::wait_range;
  STATIC_REQUIRE(decorrelated_backoff{.base = 0s}.range(0, state{}) == wait_range{0s, 0s});
  STATIC_REQUIRE(decorrelated_backoff{.base = 5s, .cap = 4s}.range(0, state{}) == wait_range{4s, 4s});
  STATIC_REQUIRE(decorrelated_backoff{.base = 2s}.range(1, state{.previous = 0s}) == wait_range{2s, 2s});
  STATIC_REQUIRE(decorrelated_backoff{.cap = reprise::unlimited}.range(1, state{.previous = reprise::unlimited}) ==
                 wait_range{500ms, reprise::unlimited});
}

TEST_CASE("a backoff says that it has settled only where all later waits are the same") {
  constexpr auto honest = [](const auto& backoff) {
    for (int retry = 0; retry < 120; ++retry)
      if (backoff.settled(retry) && backoff(retry) != backoff(retry + 1)) return false;
    return backoff.settled(100) && backoff(100) == backoff(int_max);
  };
  STATIC_REQUIRE(honest(reprise::exponential_backoff{}));
  STATIC_REQUIRE(honest(reprise::exponential_backoff{.base = 0s}));
  STATIC_REQUIRE(honest(reprise::exponential_backoff{.factor = 1.0}));
  STATIC_REQUIRE(honest(reprise::constant_backoff{}));
  STATIC_REQUIRE(honest(reprise::linear_backoff{}));
  STATIC_REQUIRE(honest(reprise::linear_backoff{.step = 0s}));
  STATIC_REQUIRE(honest(reprise::fibonacci_backoff{}));
  STATIC_REQUIRE(honest(reprise::fibonacci_backoff{.base = 1ns, .cap = reprise::unlimited}));
}

TEST_CASE("backoffs that grow say so, and those whose delays are given do not") {
  STATIC_REQUIRE(says_that_it_grows<reprise::exponential_backoff>);
  STATIC_REQUIRE(says_that_it_grows<reprise::linear_backoff>);
  STATIC_REQUIRE(says_that_it_grows<reprise::fibonacci_backoff>);
  STATIC_REQUIRE(!says_that_it_grows<reprise::constant_backoff>);
  STATIC_REQUIRE(!says_that_it_grows<reprise::listed_backoff<1>>);
}
