// SPDX-License-Identifier: MIT
#include <array>
#include <memory>
#include <reprise/core.hpp>
#include <reprise/testing/fake_clock.hpp>
#include <reprise/testing/script.hpp>
#include <stdexcept>
#include <string>

#include "catch.hpp"

using namespace std::chrono_literals;
using reprise::outcome;
using reprise::stop_reason;
using reprise::testing::fails;
using reprise::testing::fake_clock;
using reprise::testing::fixed_fraction;
using reprise::testing::reply;
using reprise::testing::response;
using reprise::testing::script;

namespace {

constexpr reprise::retry_policy policy{reprise::http::retry_statuses{}, reprise::idempotent{},
                                       reprise::constant_backoff{.delay = 100ms}};

/// For codes: 0 is success, 1 transient.
constexpr auto codes = policy.with(reprise::retry_codes{1});

struct busy : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct very_busy : busy {
  using busy::busy;
};
struct broken {};

const auto catching = policy.with(reprise::http::retry_statuses{}, reprise::retry_exceptions<busy>{});

/// A fake clock that counts how often it is read.
struct counted_clock {
  fake_clock* time;
  int* readings;

  constexpr fake_clock::time_point operator()() const { return ++*readings, time->now(); }
};

template <class Policy, class... Steps> constexpr int readings(const Policy& with, Steps... steps) {
  fake_clock time;
  int count = 0;
  script send{time, steps...};
  (void)reprise::execute(with, send, counted_clock{&time, &count}, time.sleep(), fixed_fraction(0.5));
  return count;
}

/// An environment that a caller may cancel from the n-th question on.
struct cancellable {
  fake_clock time = {};
  int questions = 0;
  int from = 1'000'000;

  constexpr auto now() const { return time.now(); }
  constexpr auto sleep(reprise::duration wait) { return time.sleep(wait); }
  constexpr double fraction() { return 0.5; }
  constexpr bool cancelled() { return ++questions >= from; }
};

/// A budget that grants all and counts the five moments; its permits are given back when they die.
struct budget {
  struct permit {
    budget* owner;

    explicit permit(budget* given) : owner(given) { ++owner->held; }
    permit(permit&& other) noexcept : owner(std::exchange(other.owner, nullptr)) {}
    permit& operator=(permit&& other) noexcept {
      std::swap(owner, other.owner);
      return *this;
    }
    ~permit() {
      if (owner != nullptr) --owner->held;
    }
  };

  int held = 0;
  int started = 0;
  int failures = 0;
  int asked = 0;
  int retried = 0;
  int ended = 0;

  void call_started(reprise::duration) { ++started; }
  void failed(const reprise::verdict&) { ++failures; }
  std::optional<permit> try_retry(const reprise::verdict&, reprise::duration) {
    ++asked;
    return std::optional<permit>(this);
  }
  void retry_started(permit&) { ++retried; }
  void call_ended(bool, std::optional<permit>, reprise::duration) { ++ended; }

  bool all_is_given_back() const { return held == 0 && started == 1 && ended == 1; }
};

/// Lets out so many attempts.
struct throttle {
  static constexpr auto part_role = reprise::role::admission;
  int* left;
  constexpr bool admit(reprise::duration) const { return (*left)-- > 0; }
};

}  // namespace

// --- the loop
// ---------------------------------------------------------------------------------------------------------

TEST_CASE("a 503 that is followed by a 200 recovers after the server's wait") {
  constexpr auto recovers = [] {
    fake_clock time;
    script send{time, reply(503).takes(10ms).retry_after("2"), reply(200)};
    const auto result = reprise::execute(policy, send, time);
    return result.ok() && time.waits().are({2s}) && send.calls() == 2 && send.timeouts().are({5s, 2990ms});
  };
  STATIC_REQUIRE(recovers());
}

TEST_CASE("there is no sleep before the first and after the last attempt") {
  constexpr auto waits = [](auto... steps) {
    fake_clock time;
    script send{time, steps...};
    (void)reprise::execute(policy, send, time);
    return time.waits().size();
  };
  STATIC_REQUIRE(waits(reply(200)) == 0);
  STATIC_REQUIRE(waits(reply(404)) == 0);
  STATIC_REQUIRE(waits(reply(503)) == 2);
}

TEST_CASE("a zero wait is slept too, so that a cancellation is seen") {
  constexpr auto immediate = policy.with(reprise::constant_backoff{.delay = 0s});
  constexpr auto waits = [](auto with) {
    fake_clock time;
    script send{time, reply(503)};
    (void)reprise::execute(with, send, time);
    return time.waits().are({0s, 0s});
  };
  STATIC_REQUIRE(waits(immediate));
}

TEST_CASE("a wait that does not fit is not slept") {
  constexpr auto stops = [] {
    fake_clock time;
    script send{time, reply(503).retry_after("5")};
    const auto result = reprise::execute(policy, send, time);
    return result.reason() == stop_reason::deadline_reached && time.waits().empty() && send.calls() == 1;
  };
  STATIC_REQUIRE(stops());
}

TEST_CASE("each way to end is told by its reason") {
  constexpr auto reason = [](const auto& with, auto... steps) {
    fake_clock time;
    script send{time, steps...};
    return reprise::execute(with, send, time).reason();
  };
  STATIC_REQUIRE(reason(policy, reply(200)) == stop_reason::succeeded);
  STATIC_REQUIRE(reason(policy, reply(404)) == stop_reason::not_retryable);
  STATIC_REQUIRE(reason(policy.with(reprise::http::operation{.method = "POST"}), reply(503)) ==
                 stop_reason::not_replay_safe);
  STATIC_REQUIRE(reason(policy, reply(503)) == stop_reason::attempts_exhausted);
  STATIC_REQUIRE(reason(policy.with(reprise::retry_after_limit{.longest = 1s}), reply(503).retry_after("2")) ==
                 stop_reason::retry_after_too_long);
  STATIC_REQUIRE(reason(policy.with(reprise::wait_limit{.total = 150ms}), reply(503)) ==
                 stop_reason::wait_limit_reached);
  STATIC_REQUIRE(reason(policy, reply(503).takes(5s)) == stop_reason::deadline_reached);
}

TEST_CASE("an answer that arrives after the deadline counts") {
  constexpr auto late = [] {
    fake_clock time;
    script send{time, reply(200).takes(1h)};
    return reprise::execute(policy, send, time).ok();
  };
  STATIC_REQUIRE(late());
}

TEST_CASE("a sleep that lasts past the deadline is followed by no attempt") {
  constexpr auto overslept = [] {
    fake_clock time;
    time.oversleeps(10s);
    script send{time, reply(503), reply(200)};
    const auto result = reprise::execute(policy, send, time);
    return result.reason() == stop_reason::deadline_reached && send.calls() == 1;
  };
  STATIC_REQUIRE(overslept());
}

TEST_CASE("a sleep that returns nothing is taken to have lasted") {
  constexpr auto slept = [] {
    fake_clock time;
    script send{time, reply(503), reply(200)};
    int sleeps = 0;
    const auto result =
        reprise::execute(policy, send, time.clock(), [&](reprise::duration) { ++sleeps; }, fixed_fraction(0.5));
    return result.ok() && sleeps == 1 && result.total_wait() == 100ms;
  };
  STATIC_REQUIRE(slept());
}

TEST_CASE("a sleep may say how it ended: an interruption cancels and makes no further attempt") {
  constexpr auto reason = [](reprise::slept ended) {
    fake_clock time;
    script send{time, reply(503), reply(200)};
    return reprise::execute(
               policy, send, time.clock(), [&](reprise::duration) { return ended; }, fixed_fraction(0.5))
        .reason();
  };
  STATIC_REQUIRE(reason(reprise::slept::fully) == stop_reason::succeeded);
  STATIC_REQUIRE(reason(reprise::slept::interrupted) == stop_reason::cancelled);
}

TEST_CASE("a clock that stands still under a sleep that does nothing ends with the attempts") {
  constexpr auto ends = [] {
    fake_clock time;
    script send{time, reply(503)};
    const auto result = reprise::execute(policy, send, time.clock(), [](reprise::duration) {}, fixed_fraction(0.5));
    return result.reason() == stop_reason::attempts_exhausted && result.total_wait() == 200ms;
  };
  STATIC_REQUIRE(ends());
}

TEST_CASE("a fraction function that misbehaves is clamped") {
  constexpr auto first_wait = [](double fraction) {
    fake_clock time;
    script send{time, reply(503), reply(200)};
    (void)reprise::execute(policy.with(reprise::full_jitter{}), send, time.clock(), time.sleep(),
                           fixed_fraction(fraction));
    return time.waits().front();
  };
  STATIC_REQUIRE(first_wait(std::numeric_limits<double>::quiet_NaN()) == 100ms);
  STATIC_REQUIRE(first_wait(-1.0) == 0ms);
  STATIC_REQUIRE(first_wait(7.0) == 100ms);
  STATIC_REQUIRE(first_wait(std::numeric_limits<double>::infinity()) == 100ms);
}

TEST_CASE("a fraction function may give a float") {
  constexpr auto first_wait = [] {
    fake_clock time;
    script send{time, reply(503), reply(200)};
    (void)reprise::execute(policy.with(reprise::full_jitter{}), send, time.clock(), time.sleep(), [] { return 0.25F; });
    return time.waits().front();
  };
  STATIC_REQUIRE(first_wait() == 25ms);
}

TEST_CASE("one policy serves several calls, none of which changes it") {
  constexpr auto same = [] {
    const auto with = policy.with(reprise::decorrelated_backoff{.base = 100ms, .cap = 1s});
    reprise::duration first{};
    for (int call = 0; call < 3; ++call) {
      fake_clock time;
      time.fractions({1.0});
      script send{time, reply(503)};
      const auto result = reprise::execute(with, send, time);
      if (call > 0 && result.total_wait() != first) return false;
      first = result.total_wait();
    }
    return first == 1200ms;
  };
  STATIC_REQUIRE(same());
}

TEST_CASE("a policy without an admission makes its attempts, one with a throttle makes those it is granted") {
  constexpr auto calls = [](int admitted) {
    fake_clock time;
    script send{time, reply(503)};
    const auto result = reprise::execute(policy.with(throttle{&admitted}), send, time);
    return result.reason() == stop_reason::admission_refused ? send.calls() : -1;
  };
  STATIC_REQUIRE(calls(0) == 0);
  STATIC_REQUIRE(calls(1) == 1);
  STATIC_REQUIRE(calls(2) == 2);
  STATIC_REQUIRE(calls(3) == -1);
}

// --- which clock is read
// ----------------------------------------------------------------------------------------------

TEST_CASE("a policy that asks for no time never reads the clock") {
  constexpr auto timeless = policy.with(reprise::no_time_limit{}, reprise::retry_after_limit{});
  STATIC_REQUIRE(!decltype(timeless)::needs_clock);
  STATIC_REQUIRE(readings(timeless, reply(200)) == 0);
  STATIC_REQUIRE(readings(timeless, reply(503)) == 0);
  STATIC_REQUIRE(readings(timeless.with(reprise::wait_limit{.total = 150ms}), reply(503)) == 0);
}

TEST_CASE("a timeless policy still counts its waits, and waits them") {
  constexpr auto right = [] {
    fake_clock time;
    script send{time, reply(503).retry_after("2"), reply(503), reply(200)};
    const auto result =
        reprise::execute(policy.with(reprise::no_time_limit{}, reprise::retry_after_limit{}), send, time);
    return result.ok() && result.total_wait() == 2100ms && time.waits().are({2s, 100ms}) &&
           send.timeouts().are({reprise::unlimited, reprise::unlimited, reprise::unlimited});
  };
  STATIC_REQUIRE(right());
}

TEST_CASE("with a time limit a first success reads the clock once, a retry twice more") {
  STATIC_REQUIRE(readings(policy, reply(200)) == 1);
  STATIC_REQUIRE(readings(policy, reply(503), reply(200)) == 3);
}

TEST_CASE("each part that asks for the time has the clock read") {
  constexpr auto timeless = policy.with(reprise::no_time_limit{}, reprise::retry_after_limit{});
  STATIC_REQUIRE(readings(timeless.with(reprise::attempt_timeout{.longest = 1s}), reply(200)) == 1);
  STATIC_REQUIRE(readings(timeless.with(reprise::deadline{fake_clock::time_point(1h)}), reply(200)) == 1);
  STATIC_REQUIRE(readings(timeless.with(reprise::attempt_log<2>{}), reply(200)) == 2);
  STATIC_REQUIRE(readings(timeless.with(reprise::on_event([](const reprise::event&) {})), reply(200)) == 2);
}

// --- the forms of send
// ------------------------------------------------------------------------------------------------

namespace {

/// Runs a send that answers 1 and then 0, by what it finds in its argument.
template <class Send> constexpr auto run_codes(Send&& send) {
  fake_clock time;
  return reprise::execute(codes, send, time);
}

constexpr int always_fine() { return 0; }
constexpr int fine_from_second(const reprise::attempt& current) { return current.number >= 2 ? 0 : 1; }

}  // namespace

TEST_CASE("send may take the attempt: its number, the maximum and its timeout") {
  constexpr auto seen = [] {
    bool right = true;
    int expected = 0;
    const auto send = [&](const reprise::attempt& current) {
      ++expected;
      right =
          right && current.number == expected && current.maximum == 3 && current.timeout == 5s - (expected - 1) * 100ms;
      return 1;
    };
    return run_codes(send).attempts() == 3 && right;
  };
  STATIC_REQUIRE(seen());
}

TEST_CASE("send may take the attempt with its deadlines as points of the caller's clock") {
  constexpr auto seen = [] {
    fake_clock time;
    time.advance(1s);
    bool right = true;
    const auto send = [&](const reprise::attempt_at<fake_clock::time_point>& current) {
      const reprise::duration made = (current.number - 1) * 100ms;
      right = right && current.deadline == fake_clock::time_point(3s + made) &&
              current.call_deadline == fake_clock::time_point(6s) && current.timeout == 2s;
      return 1;
    };
    const auto result = reprise::execute(codes.with(reprise::attempt_timeout{.longest = 2s}), send, time);
    return result.attempts() == 3 && right;
  };
  STATIC_REQUIRE(seen());
}

TEST_CASE("send may take the timeout as milliseconds, rounded up") {
  constexpr auto seen = [](reprise::duration longest) {
    fake_clock time;
    std::chrono::milliseconds timeout{};
    const auto send = [&](std::chrono::milliseconds given) { return timeout = given, 0; };
    (void)reprise::execute(codes.with(reprise::attempt_timeout{.longest = longest}), send, time);
    return timeout;
  };
  STATIC_REQUIRE(seen(1500ms) == 1500ms);
  STATIC_REQUIRE(seen(1500ms + 1ns) == 1501ms);
  STATIC_REQUIRE(seen(1ns) == 1ms);
}

TEST_CASE("send may take the timeout as seconds in a double") {
  constexpr auto seen = [] {
    fake_clock time;
    double timeout = 0;
    const auto send = [&](std::chrono::duration<double> given) { return timeout = given.count(), 0; };
    (void)reprise::execute(codes.with(reprise::attempt_timeout{.longest = 1500ms}), send, time);
    return timeout;
  };
  STATIC_REQUIRE(seen() == 1.5);
}

TEST_CASE("send may take the timeout as nanoseconds, by value or by reference") {
  constexpr auto by_value = [] {
    reprise::duration timeout{};
    const auto send = [&](std::chrono::nanoseconds given) { return timeout = given, 0; };
    (void)run_codes(send);
    return timeout;
  };
  constexpr auto by_reference = [] {
    reprise::duration timeout{};
    const auto send = [&](const std::chrono::nanoseconds& given) { return timeout = given, 0; };
    (void)run_codes(send);
    return timeout;
  };
  STATIC_REQUIRE(by_value() == 5s);
  STATIC_REQUIRE(by_reference() == 5s);
}

TEST_CASE("a timeout that the type of send's parameter cannot hold saturates") {
  using narrow = std::chrono::duration<std::int32_t, std::milli>;
  constexpr auto seen = [] {
    fake_clock time;
    narrow timeout{};
    const auto send = [&](narrow given) { return timeout = given, 0; };
    (void)reprise::execute(codes.with(reprise::no_time_limit{}), send, time);
    return timeout;
  };
  STATIC_REQUIRE(seen() == narrow::max());
}

TEST_CASE("send may take nothing") {
  STATIC_REQUIRE(run_codes([] { return 0; }).ok());
}

TEST_CASE("a generic lambda is handed the attempt") {
  constexpr auto seen = [] {
    int number = 0;
    const auto send = [&](const auto& current) {
      static_assert(std::same_as<decltype(current), const reprise::attempt&>);
      return number = current.number, 0;
    };
    (void)run_codes(send);
    return number;
  };
  STATIC_REQUIRE(seen() == 1);
}

TEST_CASE("a mutable functor keeps its state, as an lvalue and as an rvalue") {
  struct counting {
    int calls = 0;
    constexpr int operator()() { return ++calls < 3 ? 1 : 0; }
  };
  constexpr auto lvalue_calls = [] {
    counting send;
    return run_codes(send).ok() ? send.calls : -1;
  };
  STATIC_REQUIRE(lvalue_calls() == 3);
  STATIC_REQUIRE(run_codes(counting{}).attempts() == 3);
}

TEST_CASE("a functor that only moves is not copied") {
  fake_clock time;
  auto send = [left = std::make_unique<int>(2)] { return --*left > 0 ? 1 : 0; };
  CHECK(reprise::execute(codes, send, time).attempts() == 2);
  CHECK(reprise::execute(codes, [code = std::make_unique<int>(0)] { return *code; }, time).ok());
}

TEST_CASE("send may be a function or a pointer to one") {
  STATIC_REQUIRE(run_codes(always_fine).ok());
  STATIC_REQUIRE(run_codes(&always_fine).ok());
  STATIC_REQUIRE(run_codes(fine_from_second).attempts() == 2);
  STATIC_REQUIRE(run_codes(&fine_from_second).attempts() == 2);
}

// --- responses
// --------------------------------------------------------------------------------------------------------

TEST_CASE("a response that only moves comes through") {
  const auto judged = policy.with(reprise::classify([](const std::unique_ptr<int>& given) -> reprise::verdict {
    return {.kind = *given == 0 ? outcome::success : outcome::transient};
  }));
  fake_clock time;
  auto result = reprise::execute(judged, [left = 2]() mutable { return std::make_unique<int>(--left); }, time);
  REQUIRE(result.ok());
  CHECK(result.attempts() == 2);
  CHECK(*std::move(result).success() == 0);
}

TEST_CASE("a send that returns nothing succeeds when it returns") {
  const reprise::retry_policy quiet{reprise::retry_exceptions<busy>{}, reprise::idempotent{}};
  fake_clock time;
  int calls = 0;
  const auto result = reprise::execute(
      quiet,
      [&] {
        if (++calls < 3) throw busy("not yet");
      },
      time);
  CHECK(result.ok());
  CHECK(result.attempts() == 3);
}

TEST_CASE("a policy whose parts speak of exceptions only takes every response as success") {
  const reprise::retry_policy quiet{reprise::retry_exceptions<busy>{}, reprise::idempotent{}};
  fake_clock time;
  CHECK(reprise::execute(quiet, [] { return -1; }, time).success() == -1);
}

TEST_CASE("a large response comes through whole") {
  constexpr auto sum = [] {
    fake_clock time;
    const auto send = [] {
      std::array<int, 1024> large{};
      for (int& each : large) each = 1;
      return large;
    };
    const auto result = reprise::execute(
        policy.with(reprise::until([](const std::array<int, 1024>& given) { return given[1023] == 1; })), send, time);
    int total = 0;
    for (const int each : result.success()) total += each;
    return total;
  };
  STATIC_REQUIRE(sum() == 1024);
}

TEST_CASE("a send that returns a const object gives a plain result") {
  constexpr auto send = []() -> const response { return {.status = 200}; };
  constexpr auto result = [=] {
    fake_clock time;
    return reprise::execute(policy, send, time);
  };
  STATIC_REQUIRE(std::same_as<decltype(result()), reprise::retry_result<response>>);
  STATIC_REQUIRE(result().success().status == 200);
}

TEST_CASE("the failed response is destroyed before the wait, the last one is kept") {
  struct counted {
    int* live;

    explicit counted(int* given) : live(given) { ++*live; }
    counted(counted&& other) noexcept : live(other.live) { ++*live; }
    counted& operator=(counted&&) = delete;
    ~counted() { --*live; }
  };
  const auto fails =
      policy.with(reprise::classify([](const counted&) -> reprise::verdict { return {.kind = outcome::transient}; }));
  fake_clock time;
  int live = 0;
  reprise::testing::recorded<int> seen;
  {
    const auto result = reprise::execute(
        fails, [&] { return counted(&live); }, time.clock(), [&](reprise::duration) { seen.add(live); },
        fixed_fraction(0.5));
    CHECK(result.has_response());
    CHECK(live == 1);
  }
  CHECK(live == 0);
  CHECK(seen.are({0, 0}));
}

TEST_CASE("a classifier may ask which attempt it was") {
  constexpr auto attempts = [] {
    const auto ours = policy.with(reprise::classify([](const int& code, const reprise::attempt& current) {
      // "Already exists" on a repeat may be our own first try.
      return reprise::verdict{.kind = code == 409 && current.number > 1 ? outcome::success : outcome::transient};
    }));
    fake_clock time;
    return reprise::execute(ours, [] { return 409; }, time).attempts();
  };
  STATIC_REQUIRE(attempts() == 2);
}

TEST_CASE("what no classifier recognises is permanent with the label unrecognised") {
  constexpr auto last = [] {
    const auto shy = policy.with(reprise::classify([](const int&) { return std::optional<reprise::verdict>(); }));
    fake_clock time;
    return reprise::execute(shy, [] { return 7; }, time).last_verdict();
  };
  STATIC_REQUIRE(last() == reprise::verdict{.kind = outcome::permanent, .label = "unrecognised"});
}

// --- exceptions
// -------------------------------------------------------------------------------------------------------

TEST_CASE("a classified exception goes through the same decisions as a response") {
  fake_clock time;
  script send{time, fails<busy>("first").takes(10ms), reply(503), reply(200)};
  const auto result = reprise::execute(catching, send, time);
  CHECK(result.ok());
  CHECK(time.waits().are({100ms, 100ms}));
  script derived{time, fails<very_busy>("first"), reply(200)};
  CHECK(reprise::execute(catching, derived, time).attempts() == 2);
}

TEST_CASE("an exception that means permanent ends in the result") {
  fake_clock time;
  script send{time, fails<busy>("for good"), reply(200)};
  const auto result =
      reprise::execute(policy.with(reprise::http::retry_statuses{}, reprise::fail_exceptions<busy>{}), send, time);
  CHECK(result.reason() == stop_reason::not_retryable);
  CHECK(result.last_verdict().label == reprise::label("exception"));
  CHECK_THROWS_AS(result.success(), busy);
}

TEST_CASE("an exception that proves a rollback repeats an unsafe operation") {
  fake_clock time;
  script send{time, fails<busy>("rolled back"), reply(200)};
  const auto unsafe =
      policy.with(reprise::http::retry_statuses{}, reprise::rolled_back<busy>{}, reprise::not_idempotent{});
  CHECK(reprise::execute(unsafe, send, time).ok());
}

TEST_CASE("an exception that nobody classifies passes unchanged at once") {
  fake_clock time;
  script send{time, fails<broken>(), reply(200)};
  CHECK_THROWS_AS(reprise::execute(policy, send, time), broken);
  CHECK(send.calls() == 1);
  script again{time, reply(503), fails<broken>(), reply(200)};
  CHECK_THROWS_AS(reprise::execute(catching, again, time), broken);
  CHECK(again.calls() == 2);
}

TEST_CASE("an unclassified exception is the very object that was thrown, also past an event handler") {
  const void* thrown = nullptr;
  const auto send = [&]() -> response {
    try {
      throw broken();
    } catch (const broken& failure) {
      thrown = &failure;
      throw;
    }
  };
  const auto address = [&](const auto& with) {
    fake_clock time;
    try {
      (void)reprise::execute(with, send, time);
    } catch (const broken& failure) {
      return static_cast<const void*>(&failure);
    }
    return static_cast<const void*>(nullptr);
  };
  const void* passed = address(policy);
  CHECK(passed == thrown);
  passed = address(catching.with(reprise::on_event([](const reprise::event&) {}), reprise::attempt_log<2>{}));
  CHECK(passed == thrown);
}

TEST_CASE("the end is told before an unclassified exception passes") {
  int retries = 0;
  int ends = 0;
  reprise::event last;
  const auto told = policy.with(reprise::on_event([&](const reprise::event& happened) {
    ++(happened.kind == reprise::event_kind::retry ? retries : ends);
    last = happened;
  }));
  fake_clock time;
  script send{time, reply(503), fails<broken>()};
  CHECK_THROWS_AS(reprise::execute(told, send, time), broken);
  CHECK(retries == 1);
  CHECK(ends == 1);
  CHECK(last.reason == stop_reason::not_retryable);
  CHECK(last.attempt == 2);
  CHECK(last.verdict == reprise::verdict{.kind = outcome::permanent, .label = "unrecognised"});
}

TEST_CASE("a send that throws past the policy gives its permit back") {
  budget shared;
  fake_clock time;
  script send{time, reply(503), fails<broken>()};
  CHECK_THROWS_AS(reprise::execute(policy.with(reprise::shared_budget(shared)), send, time), broken);
  CHECK(shared.asked == 1);
  CHECK(shared.retried == 1);
  CHECK(shared.all_is_given_back());
}

TEST_CASE("a send that throws past a log gives its permit back") {
  budget shared;
  fake_clock time;
  script send{time, reply(503), fails<broken>()};
  CHECK_THROWS_AS(reprise::execute(policy.with(reprise::shared_budget(shared), reprise::attempt_log<2>{}), send, time),
                  broken);
  CHECK(shared.all_is_given_back());
}

TEST_CASE("an exception of a classifier passes at once, is not classified itself, and permits are given back") {
  budget shared;
  int ends = 0;
  const auto fragile = policy.with(
      reprise::classify([](const int& code) -> reprise::verdict {
        if (code == 2) throw busy("the classifier itself");
        return {.kind = outcome::transient};
      }),
      reprise::retry_exceptions<busy>{}, reprise::shared_budget(shared),
      reprise::on_event([&](const reprise::event& told) { ends += told.kind == reprise::event_kind::end ? 1 : 0; }));
  fake_clock time;
  int calls = 0;
  CHECK_THROWS_AS(reprise::execute(fragile, [&] { return ++calls; }, time), busy);
  CHECK(calls == 2);
  CHECK(ends == 0);
  CHECK(shared.all_is_given_back());
}

TEST_CASE("an exception of an exception classifier passes at once and permits are given back") {
  budget shared;
  const auto fragile = policy.with(reprise::retry_codes{1},
                                   reprise::on_exception<busy>([](const busy&) -> reprise::verdict { throw broken(); }),
                                   reprise::shared_budget(shared));
  fake_clock time;
  int calls = 0;
  const auto send = [&] {
    if (++calls == 2) throw busy("second");
    return 1;
  };
  CHECK_THROWS_AS(reprise::execute(fragile, send, time), broken);
  CHECK(shared.all_is_given_back());
}

TEST_CASE("an exception of an event handler passes at once and permits are given back") {
  const auto kind = GENERATE(reprise::event_kind::retry, reprise::event_kind::end);
  budget shared;
  const auto fragile = policy.with(reprise::shared_budget(shared), reprise::on_event([&](const reprise::event& told) {
                                     if (told.kind == kind) throw broken();
                                   }));
  fake_clock time;
  script send{time, reply(503), reply(200)};
  CHECK_THROWS_AS(reprise::execute(fragile, send, time), broken);
  CHECK(send.calls() == (kind == reprise::event_kind::retry ? 1 : 2));
  CHECK(shared.asked == 1);
  CHECK(shared.all_is_given_back());
}

TEST_CASE("an exception of a message projection passes at once and permits are given back") {
  budget shared;
  const auto fragile = policy.with(reprise::shared_budget(shared),
                                   reprise::attempt_log<4>{}.messages([](const response& given) -> std::string_view {
                                     if (given.status == 200) throw broken();
                                     return "fine";
                                   }));
  fake_clock time;
  script send{time, reply(503), reply(200)};
  CHECK_THROWS_AS(reprise::execute(fragile, send, time), broken);
  CHECK(shared.asked == 1);
  CHECK(shared.all_is_given_back());
}

TEST_CASE("an exception of a sleep passes and permits are given back") {
  budget shared;
  fake_clock time;
  script send{time, reply(503), reply(200)};
  const auto sleep = [](reprise::duration) { throw broken(); };
  CHECK_THROWS_AS(
      reprise::execute(policy.with(reprise::shared_budget(shared)), send, time.clock(), sleep, fixed_fraction(0.5)),
      broken);
  CHECK(shared.asked == 1);
  CHECK(shared.retried == 0);
  CHECK(shared.all_is_given_back());
}

TEST_CASE("the five moments of a budget are each told as often as they happen") {
  const auto told = [](auto... steps) {
    budget shared;
    fake_clock time;
    script send{time, steps...};
    (void)reprise::execute(policy.with(reprise::shared_budget(shared)), send, time);
    CHECK(shared.held == 0);
    return std::array{shared.started, shared.failures, shared.asked, shared.retried, shared.ended};
  };
  CHECK(told(reply(200)) == std::array{1, 0, 0, 0, 1});
  CHECK(told(reply(404)) == std::array{1, 0, 0, 0, 1});
  CHECK(told(reply(503), reply(200)) == std::array{1, 1, 1, 1, 1});
  CHECK(told(reply(503)) == std::array{1, 3, 2, 2, 1});
}

TEST_CASE("the permit of a retry is held through the wait and the attempt") {
  budget shared;
  fake_clock time;
  reprise::testing::recorded<int> held;
  const auto send = [&] { return held.add(shared.held), response{.status = 503}; };
  const auto sleep = [&](reprise::duration) { held.add(shared.held); };
  (void)reprise::execute(policy.with(reprise::shared_budget(shared)), send, time.clock(), sleep, fixed_fraction(0.5));
  CHECK(held.are({0, 1, 1, 1, 1}));
  CHECK(shared.held == 0);
}

// --- cancellation
// -----------------------------------------------------------------------------------------------------

TEST_CASE("an environment that is cancelled beforehand makes no attempt and starts no budget") {
  constexpr auto right = [] {
    cancellable with;
    with.from = 1;
    script send{with.time, reply(200)};
    const auto result = reprise::execute(policy, send, with);
    return result.reason() == stop_reason::cancelled && send.calls() == 0 && result.attempts() == 0;
  };
  STATIC_REQUIRE(right());
  budget shared;
  cancellable with;
  with.from = 1;
  script send{with.time, reply(200)};
  CHECK(reprise::execute(policy.with(reprise::shared_budget(shared)), send, with).reason() == stop_reason::cancelled);
  CHECK(shared.started == 0);
  CHECK(shared.ended == 0);
}

TEST_CASE("cancelled is told before time up") {
  constexpr auto reason = [](int from) {
    cancellable with;
    with.from = from;
    with.time.advance(1h);
    script send{with.time, reply(200)};
    return reprise::execute(policy.with(reprise::deadline{fake_clock::time_point(1s)}), send, with).reason();
  };
  STATIC_REQUIRE(reason(1) == stop_reason::cancelled);
  STATIC_REQUIRE(reason(2) == stop_reason::deadline_reached);
}

TEST_CASE("a cancellation that arrives during a failing attempt stops without a wait") {
  constexpr auto right = [] {
    cancellable with;
    with.from = 2;
    script send{with.time, reply(503), reply(200)};
    const auto result = reprise::execute(policy, send, with);
    return result.reason() == stop_reason::cancelled && send.calls() == 1 && with.time.waits().empty() &&
           result.response().status == 503;
  };
  STATIC_REQUIRE(right());
}

TEST_CASE("a cancellation that arrives during a succeeding attempt is not asked for") {
  constexpr auto right = [] {
    cancellable with;
    with.from = 2;
    script send{with.time, reply(200)};
    return reprise::execute(policy, send, with).ok() && with.questions == 1;
  };
  STATIC_REQUIRE(right());
}

TEST_CASE("a cancellation that is seen after the wait makes no further attempt") {
  constexpr auto right = [] {
    cancellable with;
    with.from = 3;
    script send{with.time, reply(503), reply(200)};
    const auto result = reprise::execute(policy, send, with);
    return result.reason() == stop_reason::cancelled && send.calls() == 1 && with.time.waits().are({100ms}) &&
           result.total_wait() == 100ms;
  };
  STATIC_REQUIRE(right());
}

TEST_CASE("a classifier may cancel") {
  constexpr auto reason = [] {
    const auto aborts =
        policy.with(reprise::classify([](const int&) { return reprise::verdict{.kind = outcome::cancelled}; }));
    fake_clock time;
    return reprise::execute(aborts, [] { return 0; }, time).reason();
  };
  STATIC_REQUIRE(reason() == stop_reason::cancelled);
}

TEST_CASE("a classified exception does not go on after a cancellation, and is kept") {
  cancellable with;
  with.from = 2;
  script send{with.time, fails<busy>("first"), reply(200)};
  const auto result = reprise::execute(catching, send, with);
  CHECK(result.reason() == stop_reason::cancelled);
  CHECK(send.calls() == 1);
  CHECK_THROWS_AS(result.success(), busy);
}

TEST_CASE("nested calls under one deadline end together") {
  constexpr auto right = [] {
    fake_clock time;
    int inner_calls = 0;
    const auto inner = policy.with(reprise::no_time_limit{}, reprise::attempt_budget{.maximum = 2});
    const auto outer = policy.with(reprise::inner_result{}, reprise::time_limit{.total = 350ms});
    const auto send = [&](const reprise::attempt_at<fake_clock::time_point>& current) {
      const auto once = [&] { return ++inner_calls, time.advance(50ms), response{.status = 503}; };
      return reprise::execute(inner.with(reprise::deadline{current.call_deadline}), once, time);
    };
    const auto result = reprise::execute(outer, send, time);
    // 50 + 100 + 50, a wait of 100, then 50 more: the next wait does not fit.
    return result.reason() == stop_reason::deadline_reached && inner_calls == 3 &&
           time.now().time_since_epoch() == 350ms;
  };
  STATIC_REQUIRE(right());
}
