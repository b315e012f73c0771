// SPDX-License-Identifier: MIT
#include <reprise/core.hpp>
#include <reprise/testing/fake_clock.hpp>
#include <reprise/testing/script.hpp>
#include <stdexcept>

#include "catch.hpp"

using namespace std::chrono_literals;
using reprise::outcome;
using reprise::stop_reason;
using reprise::testing::fails;
using reprise::testing::fake_clock;
using reprise::testing::reply;
using reprise::testing::response;
using reprise::testing::script;

namespace {

constexpr reprise::retry_policy policy{reprise::http::retry_statuses{}, reprise::idempotent{},
                                       reprise::constant_backoff{.delay = 100ms}};

struct busy : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The same, of a send that throws too.
const auto catching = policy.with(reprise::http::retry_statuses{}, reprise::retry_exceptions<busy>{});

template <class Policy, class... Steps> constexpr auto play(const Policy& with, Steps... steps) {
  fake_clock time;
  script send{time, steps...};
  return reprise::execute(with, send, time);
}

/// The reason that `access` throws with; `succeeded` if it throws nothing of ours.
template <class Exception = reprise::retry_failed, class Access> stop_reason thrown_by(Access&& access) {
  try {
    access();
  } catch (const Exception& failure) {
    return failure.reason();
  }
  return stop_reason::succeeded;
}

struct move_only {
  int number = 0;

  explicit move_only(int given) : number(given) {}
  move_only(move_only&& other) noexcept : number(std::exchange(other.number, -1)) {}
  move_only& operator=(move_only&&) = delete;
};

}  // namespace

TEST_CASE("a success has its response, its verdict and its counts") {
  constexpr auto result = [] { return play(policy, reply(503), reply(200)); };
  STATIC_REQUIRE(result().ok());
  STATIC_REQUIRE(result().reason() == stop_reason::succeeded);
  STATIC_REQUIRE(result().attempts() == 2);
  STATIC_REQUIRE(result().total_wait() == 100ms);
  STATIC_REQUIRE(result().last_verdict().kind == outcome::success);
  STATIC_REQUIRE(result().has_response());
  STATIC_REQUIRE(result().response().status == 200);
  STATIC_REQUIRE(result().success().status == 200);
  STATIC_REQUIRE(result().value().status == 200);
}

TEST_CASE("a failed call keeps its last response, which value gives and success does not") {
  STATIC_REQUIRE(play(policy, reply(503)).value().status == 503);
  STATIC_REQUIRE(play(policy, reply(404)).value().status == 404);
  const auto exhausted = play(policy, reply(503));
  CHECK(!exhausted.ok());
  CHECK(exhausted.has_response());
  CHECK(exhausted.attempts() == 3);
  CHECK(exhausted.last_verdict().code == 503);
  CHECK(thrown_by([&] { (void)exhausted.success(); }) == stop_reason::attempts_exhausted);
  CHECK(thrown_by([&] { (void)play(policy, reply(404)).success(); }) == stop_reason::not_retryable);
}

TEST_CASE("what success throws names reason, attempts and verdict") {
  const auto result = play(policy, reply(503));
  bool threw = false;
  try {
    (void)result.success();
  } catch (const reprise::retry_failed& failure) {
    threw = true;
    CHECK(std::string_view(failure.what()) == "attempts_exhausted");
    CHECK(failure.reason() == stop_reason::attempts_exhausted);
    CHECK(failure.attempts() == 3);
    CHECK(failure.last_verdict() == result.last_verdict());
  }
  CHECK(threw);
}

TEST_CASE("before any attempt the verdict is permanent with the label none, and there is no response") {
  constexpr auto result = [] {
    fake_clock time;
    script send{time, reply(200)};
    time.advance(1s);
    return reprise::execute(policy.with(reprise::deadline{fake_clock::time_point(500ms)}), send, time);
  };
  STATIC_REQUIRE(result().reason() == stop_reason::deadline_reached);
  STATIC_REQUIRE(result().attempts() == 0);
  STATIC_REQUIRE(result().total_wait() == 0s);
  STATIC_REQUIRE(result().last_verdict() == reprise::verdict{.kind = outcome::permanent, .label = "none"});
  STATIC_REQUIRE(!result().has_response());
  CHECK_THROWS_AS(result().value(), reprise::deadline_exceeded);
  CHECK_THROWS_AS(result().success(), reprise::deadline_exceeded);
}

TEST_CASE("a deadline after a response: value gives the response, success throws deadline_exceeded") {
  const auto result = play(policy.with(reprise::time_limit{.total = 100ms}), reply(503));
  CHECK(result.reason() == stop_reason::deadline_reached);
  CHECK(result.value().status == 503);
  CHECK(thrown_by<reprise::deadline_exceeded>([&] { (void)result.success(); }) == stop_reason::deadline_reached);
}

TEST_CASE("a wait that no attempt followed leaves no response, so value throws too") {
  const auto overslept = [] {
    fake_clock time;
    time.oversleeps(1h);
    script send{time, reply(503)};
    return reprise::execute(policy, send, time);
  }();
  CHECK(overslept.reason() == stop_reason::deadline_reached);
  CHECK(overslept.attempts() == 1);
  CHECK(overslept.total_wait() == 100ms);
  CHECK(overslept.last_verdict().code == 503);
  CHECK(!overslept.has_response());
  CHECK_THROWS_AS(overslept.value(), reprise::deadline_exceeded);
}

TEST_CASE("a cancelled wait throws retry_cancelled and counts what was waited") {
  const auto cancelled = [] {
    fake_clock time;
    time.interrupts_at(30ms);
    script send{time, reply(503)};
    return reprise::execute(policy, send, time);
  }();
  CHECK(cancelled.reason() == stop_reason::cancelled);
  CHECK(cancelled.attempts() == 1);
  CHECK(cancelled.total_wait() == 30ms);
  CHECK_THROWS_AS(cancelled.value(), reprise::retry_cancelled);
  CHECK(thrown_by<reprise::retry_cancelled>([&] { (void)cancelled.success(); }) == stop_reason::cancelled);
}

TEST_CASE("each kind of end that is neither a deadline nor a cancellation throws plain retry_failed") {
  const auto plain = [](const auto& result) {
    try {
      (void)result.success();
    } catch (const reprise::deadline_exceeded&) {
      return false;
    } catch (const reprise::retry_cancelled&) {
      return false;
    } catch (const reprise::retry_failed&) {
      return true;
    }
    return false;
  };
  CHECK(plain(play(policy, reply(404))));
  CHECK(plain(play(policy.with(reprise::not_idempotent{}), reply(503))));
  CHECK(plain(play(policy.with(reprise::wait_limit{.total = 1ms}), reply(503))));
  CHECK(plain(play(policy.with(reprise::retry_after_limit{.longest = 1s}), reply(503).retry_after("2"))));
}

TEST_CASE("both special failures are a retry_failed and a std::exception") {
  STATIC_REQUIRE(std::is_base_of_v<reprise::retry_failed, reprise::deadline_exceeded>);
  STATIC_REQUIRE(std::is_base_of_v<reprise::retry_failed, reprise::retry_cancelled>);
  STATIC_REQUIRE(std::is_base_of_v<std::exception, reprise::retry_failed>);
}

TEST_CASE("success and value rethrow the very exception that the last attempt threw") {
  const std::exception* thrown = nullptr;
  fake_clock time;
  const auto send = [&]() -> response {
    try {
      throw busy("third time");
    } catch (const std::exception& failure) {
      thrown = &failure;
      throw;
    }
  };
  const auto result = reprise::execute(catching, send, time);
  REQUIRE(result.exception() != nullptr);
  CHECK(result.attempts() == 3);
  CHECK(!result.has_response());
  const auto same_object = [&](auto&& access) {
    try {
      access();
    } catch (const busy& failure) {
      return static_cast<const std::exception*>(&failure) == thrown && std::string_view(failure.what()) == "third time";
    }
    return false;
  };
  CHECK(same_object([&] { (void)result.success(); }));
  CHECK(same_object([&] { (void)result.value(); }));
}

TEST_CASE("an exception is kept through the wait that is cut after it") {
  fake_clock time;
  time.interrupts_at(30ms);
  script send{time, fails<busy>("first"), reply(200)};
  const auto result = reprise::execute(catching, send, time);
  CHECK(result.reason() == stop_reason::cancelled);
  CHECK(result.exception() != nullptr);
  CHECK_THROWS_AS(result.value(), busy);
}

TEST_CASE("an exception of an earlier attempt is gone when a later one returns") {
  const auto recovered = play(catching, fails<busy>("first"), reply(200));
  CHECK(recovered.success().status == 200);
  CHECK(recovered.exception() == nullptr);
  const auto failed = play(catching, fails<busy>("first"), reply(404));
  CHECK(failed.exception() == nullptr);
  CHECK(failed.value().status == 404);
  CHECK_THROWS_AS(failed.success(), reprise::retry_failed);
}

TEST_CASE("a response of an earlier attempt is gone when a later one throws") {
  const auto result = play(catching.with(reprise::attempt_budget{.maximum = 2}), reply(503), fails<busy>("second"));
  CHECK(result.attempts() == 2);
  CHECK(!result.has_response());
  CHECK_THROWS_AS(result.value(), busy);
}

TEST_CASE("an exception that a classifier takes for success leaves no response: success rethrows it") {
  const auto forgiving =
      policy.with(reprise::http::retry_statuses{},
                  reprise::on_exception<busy>([](const busy&) { return reprise::verdict{.kind = outcome::success}; }));
  const auto result = play(forgiving, fails<busy>("done already"), reply(200));
  CHECK(result.ok());
  CHECK(result.attempts() == 1);
  CHECK(!result.has_response());
  CHECK_THROWS_AS(result.success(), busy);
}

TEST_CASE("a result is kept without exception and log when it is converted to the plain one") {
  const reprise::retry_result<response> plain = play(catching.with(reprise::attempt_log<4>{}), reply(503), reply(200));
  CHECK(plain.ok());
  CHECK(plain.attempts() == 2);
  CHECK(plain.total_wait() == 100ms);
  CHECK(plain.success().status == 200);
  const reprise::retry_result<response> recovered = play(catching, fails<busy>("first"), reply(200));
  CHECK(recovered.ok());
  constexpr auto converted = [] {
    const reprise::retry_result<response> result = play(policy.with(reprise::attempt_log<4>{}), reply(503));
    return result.reason() == stop_reason::attempts_exhausted && result.response().status == 503;
  };
  STATIC_REQUIRE(converted());
}

TEST_CASE("a converted result no longer has the exception, so it throws retry_failed") {
  const reprise::retry_result<response> plain =
      play(catching.with(reprise::attempt_budget{.maximum = 1}), fails<busy>("once"), reply(200));
  CHECK(plain.reason() == stop_reason::attempts_exhausted);
  CHECK_THROWS_AS(plain.success(), reprise::retry_failed);
}

TEST_CASE("a result converts with a response that only moves") {
  fake_clock time;
  const auto once = reprise::retry_policy{
      reprise::classify([](const move_only&) { return reprise::verdict{.kind = outcome::success}; }),
      reprise::idempotent{}, reprise::attempt_log<2>{}};
  reprise::retry_result<move_only> plain = reprise::execute(once, [] { return move_only(7); }, time);
  CHECK(plain.response().number == 7);
  CHECK(std::move(plain).success().number == 7);
}

TEST_CASE("a result that expires gives its response away") {
  fake_clock time;
  const auto once = reprise::retry_policy{
      reprise::classify([](const move_only&) { return reprise::verdict{.kind = outcome::success}; }),
      reprise::idempotent{}};
  const auto send = [] { return move_only(7); };
  CHECK(reprise::execute(once, send, time).success().number == 7);
  CHECK(reprise::execute(once, send, time).value().number == 7);
  CHECK(reprise::execute(once, send, time).response().number == 7);
}

TEST_CASE("the response of a result can be changed in place") {
  auto result = play(policy, reply(200));
  result.response().status = 201;
  CHECK(result.success().status == 201);
  result.success().status = 202;
  CHECK(result.value().status == 202);
}

TEST_CASE("a void result says whether the last attempt returned") {
  const reprise::retry_policy quiet{reprise::retry_exceptions<busy>{}, reprise::idempotent{},
                                    reprise::constant_backoff{.delay = 10ms}};
  fake_clock time;
  const auto returned = reprise::execute(quiet, [] {}, time);
  CHECK(returned.ok());
  CHECK(returned.has_response());
  STATIC_REQUIRE(std::is_void_v<decltype(returned.success())>);
  returned.success();
  returned.value();
  const auto threw = reprise::execute(quiet, [] { throw busy("always"); }, time);
  CHECK(!threw.has_response());
  CHECK_THROWS_AS(threw.success(), busy);
  CHECK_THROWS_AS(threw.value(), busy);
  const reprise::retry_result<void> plain = reprise::execute(quiet, [] {}, time);
  CHECK(plain.has_response());
}

TEST_CASE("a void call that was cut in its wait has not returned") {
  const reprise::retry_policy quiet{reprise::retry_exceptions<busy>{}, reprise::idempotent{},
                                    reprise::constant_backoff{.delay = 10ms}};
  fake_clock time;
  time.interrupts_at(1ms);
  const auto result = reprise::execute(quiet, [] { throw busy("always"); }, time);
  CHECK(result.reason() == stop_reason::cancelled);
  CHECK(!result.has_response());
}

TEST_CASE("a result that was never filled reads as cancelled, not as success") {
  constexpr reprise::retry_result<int> empty;
  STATIC_REQUIRE(!empty.ok());
  STATIC_REQUIRE(empty.attempts() == 0);
  STATIC_REQUIRE(!empty.has_response());
  CHECK_THROWS_AS(empty.value(), reprise::retry_cancelled);
}

TEST_CASE("without an exception classifier the result has no place for an exception") {
  using plain = decltype(play(policy, reply(200)));
  using keeping = decltype(play(catching, reply(200)));
  STATIC_REQUIRE(std::same_as<plain, reprise::retry_result<response>>);
  STATIC_REQUIRE(sizeof(keeping) > sizeof(plain));
}

TEST_CASE("a log stands in the result of a policy that has one, beside the exception") {
  const auto result = play(catching.with(reprise::attempt_log<4>{}), fails<busy>("first"), reply(200));
  CHECK(result.log().size() == 2);
  CHECK(result.exception() == nullptr);
}
