// SPDX-License-Identifier: MIT
#include <array>
#include <reprise/core.hpp>
#include <reprise/testing/fake_clock.hpp>
#include <stdexcept>
#include <vector>

#include "catch.hpp"

using namespace std::chrono_literals;
using reprise::slept;
using reprise::testing::fake_clock;
using reprise::testing::recorded;

namespace {

constexpr fake_clock::time_point at(reprise::time_span since_zero) { return fake_clock::time_point(since_zero); }

/// Whether a function without captures can be called in a constant expression.
template <class Function, int = (static_cast<void>(Function{}()), 0)> constexpr bool is_constant(Function) {
  return true;
}
constexpr bool is_constant(...) { return false; }

constexpr int record_many(int count) {
  recorded<int> record;
  for (int i = 0; i < count; ++i) record.add(i);
  return static_cast<int>(record.size());
}

constexpr std::size_t sleep_often(int count) {
  fake_clock time;
  for (int i = 0; i < count; ++i) (void)time.sleep(1ms);
  return time.waits().size();
}

}  // namespace

static_assert(reprise::environment<fake_clock>);

TEST_CASE("a fake clock stands at 0 and moves only when it is told to") {
  constexpr auto right = [] {
    fake_clock time;
    bool still = time.now() == at(0s) && time.now() == at(0s);
    time.advance(3s);
    still = still && time.now() == at(3s);
    time.advance(0.5s);
    return still && time.now() == at(3500ms);
  };
  STATIC_REQUIRE(right());
}

TEST_CASE("a fake clock moves backwards when it is told to") {
  constexpr auto now = [] {
    fake_clock time;
    time.advance(3s);
    time.advance(-5s);
    return time.now();
  };
  STATIC_REQUIRE(now() == at(-2s));
}

TEST_CASE("a fake clock saturates at both ends") {
  constexpr auto now = [](reprise::time_span first, reprise::time_span second) {
    fake_clock time;
    time.advance(first);
    time.advance(second);
    return time.now();
  };
  STATIC_REQUIRE(now(1s, std::chrono::hours::max()) == fake_clock::time_point::max());
  STATIC_REQUIRE(now(-1s, std::chrono::hours::min()) == fake_clock::time_point::min());
}

TEST_CASE("its clock function follows it") {
  constexpr auto right = [] {
    fake_clock time;
    const auto clock = time.clock();
    time.advance(1s);
    return clock() == at(1s);
  };
  STATIC_REQUIRE(right());
}

TEST_CASE("its sleep moves it and records the wait") {
  constexpr auto right = [] {
    fake_clock time;
    const auto sleep = time.sleep();
    const bool whole = sleep(2s) == slept::fully && time.sleep(500ms) == slept::fully;
    return whole && time.now() == at(2500ms) && time.waits().are({2s, 500ms});
  };
  STATIC_REQUIRE(right());
}

TEST_CASE("a sleep of a saturated duration saturates the clock") {
  constexpr auto now = [] {
    fake_clock time;
    time.advance(1s);
    (void)time.sleep(reprise::duration::max());
    return time.now();
  };
  STATIC_REQUIRE(now() == fake_clock::time_point::max());
}

TEST_CASE("an oversleeping clock lasts longer than asked but records what was asked") {
  constexpr auto right = [] {
    fake_clock time;
    time.oversleeps(300ms);
    (void)time.sleep(1s);
    (void)time.sleep(0s);
    return time.now() == at(1600ms) && time.waits().are({1s, 0s});
  };
  STATIC_REQUIRE(right());
}

TEST_CASE("a sleep that reaches the interruption is cut there, and only its slept part is recorded") {
  constexpr auto right = [] {
    fake_clock time;
    time.interrupts_at(1500ms);
    const bool first = time.sleep(1s) == slept::fully;
    const bool second = time.sleep(1s) == slept::interrupted;
    return first && second && time.now() == at(1500ms) && time.waits().are({1s, 500ms});
  };
  STATIC_REQUIRE(right());
}

TEST_CASE("an interruption may be a point of the clock, and one in the past cuts at once") {
  constexpr auto right = [] {
    fake_clock time;
    time.advance(2s);
    time.interrupts_at(at(1s));
    const bool cut = time.sleep(1s) == slept::interrupted;
    return cut && time.now() == at(2s) && time.waits().are({0s});
  };
  STATIC_REQUIRE(right());
}

TEST_CASE("an interruption that is never reached cuts nothing") {
  constexpr auto right = [] {
    fake_clock time;
    time.interrupts_at(1h);
    return time.sleep(1s) == slept::fully;
  };
  STATIC_REQUIRE(right());
}

TEST_CASE("its fraction is 0.5 unless it is told others") {
  constexpr auto right = [] {
    fake_clock time;
    return time.fraction() == 0.5 && time.fraction() == 0.5;
  };
  STATIC_REQUIRE(right());
}

TEST_CASE("its fractions come in order and the last one repeats") {
  constexpr auto right = [] {
    fake_clock time;
    time.fractions({0.25, 1.0, 0.0});
    bool order = time.fraction() == 0.25 && time.fraction() == 1.0;
    for (int i = 0; i < 100; ++i) order = order && time.fraction() == 0.0;
    time.fractions({0.75});
    return order && time.fraction() == 0.75;
  };
  STATIC_REQUIRE(right());
}

TEST_CASE("a fixed fraction is always the same") {
  constexpr reprise::testing::fixed_fraction fraction(0.25);
  STATIC_REQUIRE(fraction() == 0.25);
  STATIC_REQUIRE(fraction() == 0.25);
}

TEST_CASE("a fake clock is steady and cannot be copied away from its functions") {
  STATIC_REQUIRE(fake_clock::is_steady);
  STATIC_REQUIRE(!std::is_copy_constructible_v<fake_clock>);
  STATIC_REQUIRE(!std::is_move_constructible_v<fake_clock>);
  STATIC_REQUIRE(std::same_as<fake_clock::time_point::clock, fake_clock>);
}

TEST_CASE("64 values are recorded, also in a constant expression") {
  STATIC_REQUIRE(record_many(64) == 64);
  STATIC_REQUIRE(sleep_often(64) == 64);
}

TEST_CASE("more than 64 values are a length_error") {
  CHECK_THROWS_AS(record_many(65), std::length_error);
  CHECK_THROWS_AS(sleep_often(65), std::length_error);
  fake_clock time;
  CHECK_THROWS_AS(
      time.fractions({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                      0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}),
      std::length_error);
}

TEST_CASE("more than 64 values are no constant expression") {
  STATIC_REQUIRE(is_constant([] { return record_many(64); }));
  STATIC_REQUIRE(!is_constant([] { return record_many(65); }));
  STATIC_REQUIRE(is_constant([] { return sleep_often(64); }));
  STATIC_REQUIRE(!is_constant([] { return sleep_often(65); }));
}

TEST_CASE("a clock with more room records more") {
  constexpr auto size = [] {
    reprise::testing::basic_fake_clock<100> time;
    for (int i = 0; i < 100; ++i) (void)time.sleep(1ms);
    return time.waits().size();
  };
  STATIC_REQUIRE(size() == 100);
}

TEST_CASE("a record gives its values by position, at both ends and in order") {
  constexpr auto right = [] {
    recorded<int> record;
    const bool fresh = record.empty() && record.size() == 0 && record.begin() == record.end();
    record.add(3);
    record.add(1);
    record.add(2);
    int sum = 0;
    for (const int value : record) sum = sum * 10 + value;
    return fresh && !record.empty() && record.size() == 3 && record[1] == 1 && record.front() == 3 &&
           record.back() == 2 && sum == 312;
  };
  STATIC_REQUIRE(right());
}

TEST_CASE("a record compares with lists and ranges: same values, same order, same number") {
  constexpr auto right = [] {
    recorded<int> record;
    record.add(1);
    record.add(2);
    recorded<int> same;
    same.add(1);
    same.add(2);
    return record.are({1, 2}) && !record.are({1}) && !record.are({1, 2, 3}) && !record.are({2, 1}) && record == same &&
           record == std::array{1, 2} && !(record == std::array{1, 2, 3}) && record != std::array{1, 3};
  };
  STATIC_REQUIRE(right());
  recorded<int> record;
  record.add(1);
  CHECK(record == std::vector{1});
  CHECK(record != std::vector<int>());
}

TEST_CASE("the clock drives execute by itself, in a constant expression") {
  constexpr auto right = [] {
    constexpr reprise::retry_policy policy{reprise::retry_codes{1}, reprise::idempotent{}};
    fake_clock time;
    time.fractions({0.0, 1.0});
    const auto result = reprise::execute(policy, [] { return 1; }, time);
    return result.reason() == reprise::stop_reason::attempts_exhausted && time.waits().are({0s, 1s});
  };
  STATIC_REQUIRE(right());
}
