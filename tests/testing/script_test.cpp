// SPDX-License-Identifier: MIT
#include <reprise/testing/script.hpp>
#include <stdexcept>
#include <string>

#include "catch.hpp"

using namespace std::chrono_literals;
using reprise::attempt;
using reprise::testing::fails;
using reprise::testing::fake_clock;
using reprise::testing::reply;
using reprise::testing::response;
using reprise::testing::script;

namespace {

constexpr attempt any{.number = 1, .maximum = 3, .timeout = 5s};

struct broken : std::runtime_error {
  broken(const std::string& what, int given) : std::runtime_error(what), code(given) {}
  int code;
};

/// Whether a function without captures can be called in a constant expression.
template <class Function, int = (static_cast<void>(Function{}()), 0)> constexpr bool is_constant(Function) {
  return true;
}
constexpr bool is_constant(...) { return false; }

constexpr int play_often(int count) {
  fake_clock time;
  script send{time, reply(200)};
  for (int i = 0; i < count; ++i) (void)send(any);
  return send.calls();
}

}  // namespace

TEST_CASE("a script plays its steps in order and repeats the last one") {
  constexpr auto right = [] {
    fake_clock time;
    script send{time, reply(503), reply(429), reply(200)};
    bool order = send(any).status == 503 && send(any).status == 429;
    for (int i = 0; i < 10; ++i) order = order && send(any).status == 200;
    return order && send.calls() == 12;
  };
  STATIC_REQUIRE(right());
}

TEST_CASE("each step takes its time on the clock, none by default") {
  constexpr auto right = [] {
    fake_clock time;
    script send{time, reply(503).takes(10ms), reply(200)};
    (void)send(any);
    const bool first = time.now().time_since_epoch() == 10ms;
    (void)send(any);
    return first && time.now().time_since_epoch() == 10ms && time.waits().empty();
  };
  STATIC_REQUIRE(right());
}

TEST_CASE("the last step takes its time each time it repeats") {
  constexpr auto now = [] {
    fake_clock time;
    script send{time, reply(503).takes(10ms)};
    for (int i = 0; i < 3; ++i) (void)send(any);
    return time.now().time_since_epoch();
  };
  STATIC_REQUIRE(now() == 30ms);
}

TEST_CASE("a reply carries the text of its Retry-After, empty by default") {
  constexpr auto right = [] {
    fake_clock time;
    script send{time, reply(503).retry_after("2").takes(1ms), reply(503).takes(1ms).retry_after("3"), reply(200)};
    return send(any) == response{.status = 503, .retry_after = "2"} &&
           send(any) == response{.status = 503, .retry_after = "3"} && send(any) == response{.status = 200};
  };
  STATIC_REQUIRE(right());
}

TEST_CASE("a step can be used again: takes and retry_after leave it as it was") {
  constexpr auto right = [] {
    constexpr auto step = reply(503);
    constexpr auto slow = step.takes(1s).retry_after("9");
    return step.cost() == 0s && step.play().retry_after.empty() && slow.cost() == 1s && slow.play().retry_after == "9";
  };
  STATIC_REQUIRE(right());
}

TEST_CASE("a reply may be any value") {
  constexpr auto right = [] {
    fake_clock time;
    script send{time, reply(2.5).takes(1ms), reply(3.5)};
    return send(any) == 2.5 && send(any) == 3.5;
  };
  STATIC_REQUIRE(right());
  fake_clock time;
  script send{time, reply(std::string("one")), reply(std::string("two"))};
  CHECK(send(any) == "one");
  CHECK(send(any) == "two");
}

TEST_CASE("a script remembers the timeouts that it was given") {
  constexpr auto right = [] {
    fake_clock time;
    script send{time, reply(200)};
    (void)send(attempt{.timeout = 3s});
    (void)send(attempt{.timeout = 2s});
    return send.timeouts().are({3s, 2s});
  };
  STATIC_REQUIRE(right());
}

TEST_CASE("a step that fails throws its exception with its arguments, each time") {
  fake_clock time;
  script send{time, fails<broken>("pipe", 32).takes(10ms), reply(200)};
  int code = 0;
  std::string what;
  try {
    (void)send(any);
  } catch (const broken& failure) {
    code = failure.code;
    what = failure.what();
  }
  CHECK(code == 32);
  CHECK(what == "pipe");
  CHECK(time.now().time_since_epoch() == 10ms);
  CHECK(send.calls() == 1);
  CHECK(send(any).status == 200);

  script always{time, fails<broken>("pipe", 32)};
  CHECK_THROWS_AS(always(any), broken);
  CHECK_THROWS_AS(always(any), broken);
  CHECK(always.calls() == 2);
  STATIC_REQUIRE(std::is_void_v<decltype(always(any))>);
}

TEST_CASE("a script with failures in it still plays its replies in constant expressions") {
  constexpr auto status = [] {
    fake_clock time;
    script send{time, reply(200), fails<broken>("never reached", 0)};
    return send(any).status;
  };
  STATIC_REQUIRE(status() == 200);
}

TEST_CASE("64 calls are remembered, also in a constant expression; more are a length_error") {
  STATIC_REQUIRE(play_often(64) == 64);
  CHECK_THROWS_AS(play_often(65), std::length_error);
  STATIC_REQUIRE(is_constant([] { return play_often(64); }));
  STATIC_REQUIRE(!is_constant([] { return play_often(65); }));
}

TEST_CASE("two scripts may share one clock") {
  constexpr auto now = [] {
    fake_clock time;
    script one{time, reply(200).takes(1s)};
    script other{time, reply(200).takes(2s)};
    (void)one(any);
    (void)other(any);
    return time.now().time_since_epoch();
  };
  STATIC_REQUIRE(now() == 3s);
}
