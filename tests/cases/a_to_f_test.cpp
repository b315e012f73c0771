// SPDX-License-Identifier: MIT
// What went wrong with retrying in other systems, each report as a test: counting, back-off, jitter, server pacing,
// time, repeating. The tag of a test is the report's number in tests/cases.txt.
#include <array>
#include <climits>
#include <cmath>
#include <reprise/reprise.hpp>
#include <reprise/testing/fake_clock.hpp>
#include <reprise/testing/script.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "catch.hpp"

using namespace std::chrono_literals;
using reprise::stop_reason;
using reprise::testing::fails;
using reprise::testing::fake_clock;
using reprise::testing::reply;
using reprise::testing::script;

namespace {

/// The ends of an attempt that the reports speak of.
enum class answer { ok, fail, permanent, reset, not_sent, timeout, rolled_back, in_doubt };

/// What they mean.
struct answers {
  static constexpr auto part_role = reprise::role::classifier;

  constexpr reprise::verdict operator()(answer given) const {
    using reprise::outcome;
    switch (given) {
      case answer::ok: return {.kind = outcome::success};
      case answer::fail: return {.kind = outcome::transient, .label = "fail"};
      case answer::permanent: return {.kind = outcome::permanent, .label = "permanent"};
      case answer::reset: return {.kind = outcome::transient, .label = "reset"};
      case answer::not_sent: return {.kind = outcome::transient, .label = "not_sent", .not_applied = true};
      case answer::timeout: return {.kind = outcome::transient, .label = "timeout"};
      case answer::rolled_back: return {.kind = outcome::transient, .label = "rolled_back", .not_applied = true};
      case answer::in_doubt: return {.kind = outcome::permanent, .label = "in_doubt"};
    }
    return {};
  }
};

/// Replay-safe, no jitter, no limit in time, also none for a server: what a case takes for granted.
template <class... Parts> constexpr auto plain(Parts... parts) {
  return reprise::retry_policy{answers{}, reprise::idempotent{}, reprise::no_jitter{}, reprise::no_time_limit{},
                               reprise::retry_after_limit{.longest = reprise::unlimited}}
      .with(parts...);
}

/// The same for HTTP.
template <class... Parts> constexpr auto http(Parts... parts) {
  return plain(reprise::http::retry_statuses{}).with(parts...);
}

/// The same with decorrelated waits, which have their own spread.
constexpr auto decorrelated(reprise::time_span base, reprise::time_span cap) {
  return reprise::retry_policy{answers{}, reprise::idempotent{}, reprise::no_time_limit{},
                               reprise::retry_after_limit{.longest = reprise::unlimited},
                               reprise::decorrelated_backoff{.base = base, .cap = cap}};
}

constexpr reprise::exponential_backoff from(reprise::time_span base, reprise::time_span cap = reprise::unlimited) {
  return {.base = base, .cap = cap};
}
constexpr reprise::constant_backoff at_once{.delay = 0s};
constexpr reprise::attempt_budget attempts(int maximum) { return {.maximum = maximum}; }

/// What a call did.
struct trace {
  stop_reason reason = stop_reason::cancelled;
  int sends = 0;
  reprise::duration end = {};
  reprise::verdict last = {};
  reprise::testing::recorded<reprise::duration> waits = {};
  reprise::testing::recorded<reprise::duration> timeouts = {};

  constexpr bool ended(stop_reason why, int after_sends, reprise::time_span at) const {
    return reason == why && sends == after_sends && end == at;
  }
};

/// One call on a fresh fake clock at 0, with this fraction each time.
template <class Policy, class... Steps>
constexpr trace play_at(double fraction, const Policy& policy, const Steps&... steps) {
  fake_clock time;
  time.fractions({fraction});
  script send{time, steps...};
  const auto result = reprise::execute(policy, send, time);
  if (result.attempts() != send.calls()) return {};
  return {.reason = result.reason(),
          .sends = send.calls(),
          .end = time.now().time_since_epoch(),
          .last = result.last_verdict(),
          .waits = time.waits(),
          .timeouts = send.timeouts()};
}
template <class Policy, class... Steps> constexpr trace play(const Policy& policy, const Steps&... steps) {
  return play_at(0.5, policy, steps...);
}

/// A call that always fails; `check(retry, wait)` sees every wait, retries counted from 1. Gives the number of retries
/// if all checks held, else minus the first retry whose wait did not.
template <class Policy, class Check> constexpr int each_wait(const Policy& policy, double fraction, Check check) {
  fake_clock time;
  int retry = 0;
  int wrong = 0;
  const auto sleep = [&](reprise::duration wait) {
    ++retry;
    if (wrong == 0 && !check(retry, wait)) wrong = retry;
    time.advance(wait);
  };
  const auto result = reprise::execute(
      policy, [] { return answer::fail; }, time.clock(), sleep, reprise::testing::fixed_fraction(fraction));
  return wrong == 0 ? result.attempts() - 1 : -wrong;
}

/// The point of the last of this many own waits.
template <class Policy> constexpr reprise::duration wait_before(int retry, const Policy& policy, double fraction) {
  reprise::duration last{-1};
  each_wait(policy.with(attempts(retry + 1)), fraction, [&](int, reprise::duration wait) {
    last = wait;
    return true;
  });
  return last;
}

/// A failure that carries data of its own.
struct failure : std::runtime_error {
  explicit failure(int number) : std::runtime_error("failure"), code(number) {}
  int code;
};

/// A response with a body.
struct page {
  int status = 0;
  std::string_view body = {};
};

}  // namespace

// --- A: counting attempts, the last attempt, hooks -------------------------------------------------------------------

TEST_CASE("the maximum counts the first attempt and nothing is sent past it", "[A01]") {
  constexpr auto five = play(plain(attempts(5), at_once), reply(answer::fail));
  STATIC_REQUIRE(five.ended(stop_reason::attempts_exhausted, 5, 0s));
  constexpr auto every_maximum = [] {
    for (int maximum = 1; maximum <= 20; ++maximum)
      if (!play(plain(attempts(maximum), at_once), reply(answer::fail))
               .ended(stop_reason::attempts_exhausted, maximum, 0s))
        return false;
    return true;
  };
  STATIC_REQUIRE(every_maximum());
}

TEST_CASE("how a failure is reported does not change how often is sent", "[A02]") {
  constexpr auto returned = play(plain(attempts(4), at_once), reply(answer::fail));
  STATIC_REQUIRE(returned.ended(stop_reason::attempts_exhausted, 4, 0s));
  const auto catching = plain(attempts(4), at_once, answers{}, reprise::retry_exceptions<std::runtime_error>{});
  const auto lost = fails<std::runtime_error>("lost");
  CHECK(play(catching, lost, lost, lost, lost, reply(answer::ok)).ended(stop_reason::attempts_exhausted, 4, 0s));
  CHECK(play(catching, lost, reply(answer::fail)).ended(stop_reason::attempts_exhausted, 4, 0s));
  CHECK(play(catching, reply(answer::fail), lost).ended(stop_reason::attempts_exhausted, 4, 0s));
}

TEST_CASE("a maximum of zero attempts is refused when the policy is made", "[A03]") {
  CHECK_THROWS_AS(reprise::retry_policy{attempts(0)}, std::invalid_argument);
  CHECK_THROWS_AS(plain(attempts(3)).with(attempts(0)), std::invalid_argument);
}

TEST_CASE("no retries means one attempt and its own failure, a negative maximum is no spelling of unlimited", "[A04]") {
  constexpr auto once = play(plain(attempts(1), from(1s)), reply(answer::fail));
  STATIC_REQUIRE(once.ended(stop_reason::attempts_exhausted, 1, 0s));
  STATIC_REQUIRE(once.waits.empty());
  STATIC_REQUIRE(once.last.label == reprise::label("fail"));
  CHECK_THROWS_AS(reprise::retry_policy{attempts(-1)}, std::invalid_argument);
  CHECK_THROWS_AS(reprise::retry_policy{attempts(INT_MIN)}, std::invalid_argument);
}

TEST_CASE("the last failure is handed out unchanged beside the stop reason", "[A06]") {
  SECTION("returned") {
    constexpr auto last_page = [] {
      fake_clock time;
      script send{time, reply(page{503, "e1"}), reply(page{502, "e2"}), reply(page{504, "e3"})};
      const auto result = reprise::execute(http(attempts(3), at_once), send, time);
      return result.reason() == stop_reason::attempts_exhausted && result.response().status == 504 &&
             result.response().body == "e3" && result.last_verdict().code == 504;
    };
    STATIC_REQUIRE(last_page());
  }
  SECTION("thrown") {
    fake_clock time;
    script send{time, fails<failure>(1), fails<failure>(2), fails<failure>(3), reply(answer::ok)};
    const auto result =
        reprise::execute(plain(attempts(3), at_once, answers{}, reprise::retry_exceptions<failure>{}), send, time);
    CHECK(result.reason() == stop_reason::attempts_exhausted);
    CHECK(!result.has_response());
    int code = 0;
    try {
      (void)result.success();
    } catch (const failure& last) {
      code = last.code;
    }
    CHECK(code == 3);
  }
}

TEST_CASE("a retry is announced before each wait and never after the last failure", "[A07]") {
  struct note {
    int attempt = 0;
    reprise::duration wait = {};
    constexpr bool operator==(const note&) const = default;
  };
  constexpr auto announced = [] {
    fake_clock time;
    reprise::testing::recorded<note> retries;
    int ends = 0;
    const auto policy = plain(attempts(3), from(1s), reprise::on_event([&](const reprise::event& told) {
                                if (told.kind == reprise::event_kind::retry) retries.add({told.attempt, told.wait});
                                else ++ends;
                              }));
    script send{time, reply(answer::fail)};
    (void)reprise::execute(policy, send, time);
    return retries.are({{1, 1s}, {2, 2s}}) && time.waits().are({1s, 2s}) && ends == 1;
  };
  STATIC_REQUIRE(announced());
  constexpr auto retries_told = [](answer only) {
    fake_clock time;
    int retries = 0;
    const auto policy = plain(attempts(3), from(1s), reprise::on_event([&](const reprise::event& told) {
                                retries += told.kind == reprise::event_kind::retry ? 1 : 0;
                              }));
    script send{time, reply(only)};
    (void)reprise::execute(policy, send, time);
    return retries;
  };
  STATIC_REQUIRE(retries_told(answer::ok) == 0);
  STATIC_REQUIRE(retries_told(answer::permanent) == 0);
  STATIC_REQUIRE(retries_told(answer::fail) == 2);
  constexpr auto told_of_the_jittered_wait = [] {
    fake_clock time;
    time.fractions({0.25, 0.75});
    reprise::testing::recorded<reprise::duration> told_waits;
    const auto policy =
        plain(attempts(3), from(1s), reprise::full_jitter{}, reprise::on_event([&](const reprise::event& told) {
                if (told.kind == reprise::event_kind::retry) told_waits.add(told.wait);
              }));
    script send{time, reply(answer::fail)};
    (void)reprise::execute(policy, send, time);
    return told_waits.are({250ms, 1500ms}) && told_waits == time.waits();
  };
  STATIC_REQUIRE(told_of_the_jittered_wait());
}

TEST_CASE("a thrown failure is tried again like a returned one", "[A09]") {
  const auto policy = plain(attempts(3), at_once, answers{}, reprise::retry_exceptions<failure>{});
  CHECK(play(policy, fails<failure>(7), reply(answer::ok)).ended(stop_reason::succeeded, 2, 0s));
  CHECK(play(policy, fails<failure>(7), reply(answer::fail), reply(answer::ok)).ended(stop_reason::succeeded, 3, 0s));
  CHECK(play(policy, reply(answer::fail), fails<failure>(7), reply(answer::ok)).ended(stop_reason::succeeded, 3, 0s));
}

namespace {

/// So many retries over all layers that share it.
struct retries_in_all {
  int left = 0;

  constexpr void call_started(reprise::duration) const {}
  constexpr void failed(const reprise::verdict&) const {}
  constexpr std::optional<int> try_retry(const reprise::verdict&, reprise::duration) {
    if (left == 0) return std::nullopt;
    return left--;
  }
  constexpr void call_ended(bool, std::optional<int>, reprise::duration) const {}
};

struct layers {
  int sends = 0;
  int inner_calls = 0;
  stop_reason inner = stop_reason::succeeded;
  stop_reason outer = stop_reason::succeeded;
};

/// Four times three attempts around a server that always answers 429.
template <class... Shared> constexpr layers nested(Shared... shared) {
  fake_clock time;
  layers seen;
  script send{time, reply(429)};
  const auto inner = http(attempts(3), at_once, shared...);
  const auto outer =
      reprise::retry_policy{reprise::inner_result{}, reprise::idempotent{}}.with(attempts(4), at_once, shared...);
  const auto call_inner = [&] {
    ++seen.inner_calls;
    auto result = reprise::execute(inner, send, time);
    seen.inner = result.reason();
    return result;
  };
  seen.outer = reprise::execute(outer, call_inner, time).reason();
  seen.sends = send.calls();
  return seen;
}

}  // namespace

TEST_CASE("layers that share a budget send as often as it allows, not as often as their maxima multiply", "[A11]") {
  constexpr auto shared = [] {
    retries_in_all budget{.left = 3};  // the first send needs no permit
    return nested(reprise::shared_budget(budget));
  };
  STATIC_REQUIRE(shared().sends == 4);
  STATIC_REQUIRE(shared().inner_calls == 2);
  STATIC_REQUIRE(shared().inner == stop_reason::budget_exhausted);
  STATIC_REQUIRE(shared().outer == stop_reason::not_retryable);
  // Without it they multiply, and the bill says so.
  STATIC_REQUIRE(nested().sends == 12);
  STATIC_REQUIRE(reprise::worst_case(plain(attempts(4)), http(attempts(3))).attempts == 12);
}

// --- B: back-off arithmetic ------------------------------------------------------------------------------------------

namespace {

/// Whether the waits before the first 200 retries never decrease and stay within [0, cap].
template <class Backoff> constexpr bool climbs_to_its_cap(const Backoff& backoff) {
  reprise::duration before{};
  return each_wait(plain(attempts(201), backoff), 0.5, [&](int, reprise::duration wait) {
           const bool sound = wait >= before && wait <= reprise::duration(backoff.cap);
           before = wait;
           return sound;
         }) == 200;
}

/// The same of one without a cap: it saturates.
template <class Backoff> constexpr bool climbs_without_end(const Backoff& backoff) {
  reprise::duration before{};
  for (int retry = 0; retry < 200; ++retry) {
    if (backoff(retry) < before) return false;
    before = backoff(retry);
  }
  return before == reprise::unlimited;
}

/// Whether a captureless function can be called in a constant expression: undefined behaviour and overflow cannot.
template <class Function> concept is_constant = requires { typename std::bool_constant<(Function{}(), true)>; };

}  // namespace

TEST_CASE("a growing wait never shrinks and never passes its cap, whatever the retry", "[B01]") {
  STATIC_REQUIRE(climbs_to_its_cap(from(1ms, 20s)));
  STATIC_REQUIRE(climbs_to_its_cap(reprise::exponential_backoff{.base = 1ms, .cap = 20s, .factor = 1.5}));
  STATIC_REQUIRE(climbs_to_its_cap(reprise::linear_backoff{.step = 1ms, .cap = 20s}));
  STATIC_REQUIRE(climbs_to_its_cap(reprise::fibonacci_backoff{.base = 1ms, .cap = 20s}));
  STATIC_REQUIRE(climbs_without_end(from(1ns)));
  CHECK(climbs_without_end(reprise::fibonacci_backoff{.base = 1ns, .cap = reprise::unlimited}));
  STATIC_REQUIRE(
      climbs_without_end(reprise::exponential_backoff{.base = 1ns, .cap = reprise::unlimited, .factor = 1.5}));
  for (const int retry : {33, 64, 65}) CHECK(wait_before(retry, plain(from(1ms, 20s)), 0.5) == 20s);
}

TEST_CASE("a large base over many retries waits its cap and the sleep takes it", "[B02]") {
  STATIC_REQUIRE(wait_before(30, plain(from(5s, 20s)), 0.5) == 20s);
  constexpr auto thirty = play(plain(attempts(31), from(5s, 20s)), reply(answer::fail));
  STATIC_REQUIRE(thirty.ended(stop_reason::attempts_exhausted, 31, 5s + 10s + 28 * 20s));
}

TEST_CASE("the first wait is the base exactly, and no shift count is out of range", "[B03]") {
  // A constant expression with undefined behaviour does not compile.
  constexpr auto doubles = [] {
    for (int retry = 1; retry <= 64; ++retry) {
      const reprise::duration expected = retry <= 35 ? reprise::duration(std::int64_t{100'000'000} << (retry - 1))
                                                     : reprise::duration(3435973836800000000);
      if (from(100ms, reprise::duration(3435973836800000000))(retry - 1) != expected) return false;
    }
    return true;
  };
  STATIC_REQUIRE(doubles());
  for (const auto base : {0ns, 1ns, 1'000'000ns, 86'400'000'000'000ns}) {
    CHECK(wait_before(1, plain(from(base)), 0.5) == base);
    CHECK(wait_before(1, plain(reprise::linear_backoff{.step = base, .cap = reprise::unlimited}), 0.5) == base);
    CHECK(wait_before(1, plain(reprise::fibonacci_backoff{.base = base, .cap = reprise::unlimited}), 0.5) == base);
  }
}

TEST_CASE("a count past the width of the type gives the cap", "[B04]") {
  for (const int retry : {63, 64, 65, 1000}) {
    CAPTURE(retry);
    CHECK(from(1ms, 20s)(retry - 1) == 20s);
    CHECK(from(1ns, reprise::unlimited)(999) == reprise::unlimited);
    CHECK(wait_before(retry, plain(from(1ms, 20s)), 0.5) == 20s);
  }
  STATIC_REQUIRE(from(1ms, 20s)(63) == 20s);
  STATIC_REQUIRE(from(1ms, 20s)(64) == 20s);
  STATIC_REQUIRE(from(1ms, 20s)(999) == 20s);
}

TEST_CASE("after a thousand retries a jittered wait is still within zero and the cap", "[B06]") {
  const double fraction = GENERATE(0.0, 0.5, 0.999);
  CAPTURE(fraction);
  const auto within = [](int, reprise::duration wait) { return wait >= 0s && wait <= 30s; };
  const auto thousand = plain(attempts(1026), from(2s, 30s));
  CHECK(each_wait(thousand, fraction, within) == 1025);
  CHECK(each_wait(thousand.with(reprise::full_jitter{}), fraction, within) == 1025);
  CHECK(each_wait(thousand.with(reprise::equal_jitter{}), fraction, within) == 1025);
  CHECK(each_wait(thousand.with(reprise::proportional_jitter{.fraction = 0.5}), fraction, within) == 1025);
  CHECK(each_wait(thousand.with(reprise::added_jitter{.longest = 10s}), fraction, within) == 1025);
  CHECK(each_wait(decorrelated(2s, 30s).with(attempts(1026)), fraction, within) == 1025);
  for (const auto kind :
       {reprise::jitter_kind::none, reprise::jitter_kind::full, reprise::jitter_kind::equal,
        reprise::jitter_kind::proportional, reprise::jitter_kind::added, reprise::jitter_kind::decorrelated}) {
    const auto chosen = thousand.with(reprise::chosen_backoff{.base = 2s, .cap = 30s},
                                      reprise::chosen_jitter{.kind = kind, .fraction = 0.5, .longest = 10s});
    CHECK(each_wait(chosen, fraction, within) == 1025);
  }
}

TEST_CASE("the last retry that an int can count waits the cap, in no time", "[B07]") {
  STATIC_REQUIRE(from(2s, 5min)(INT_MAX - 1) == 5min);
  STATIC_REQUIRE(from(2s, 5min)(INT_MAX) == 5min);
  constexpr auto slowly = [] {
    return reprise::exponential_backoff{.base = 2s, .cap = 5min, .factor = 1.01}(INT_MAX) == 5min;
  };
  constexpr auto quickly = [] {
    return reprise::exponential_backoff{.base = 2s, .cap = 5min, .factor = 1e300}(INT_MAX) == 5min;
  };
  CHECK(slowly());
  CHECK(quickly());
  CHECK(is_constant<decltype(slowly)>);
  CHECK(is_constant<decltype(quickly)>);
  STATIC_REQUIRE(reprise::linear_backoff{.step = 2s, .cap = 5min}(INT_MAX) == 5min);
  STATIC_REQUIRE(reprise::fibonacci_backoff{.base = 2s, .cap = 5min}(INT_MAX) == 5min);
  STATIC_REQUIRE(reprise::constant_backoff{.delay = 2s}(INT_MAX) == 2s);
  STATIC_REQUIRE(reprise::listed_backoff{1s, 2s, 300s}(INT_MAX) == 5min);
}

TEST_CASE("a wait that has reached its cap does not fall back to zero", "[B08]") {
  constexpr auto stays = [] {
    for (int retry = 60; retry <= 70; ++retry)
      if (from(1s, 1h)(retry - 1) != 1h) return false;
    return true;
  };
  STATIC_REQUIRE(stays());
  CHECK(each_wait(plain(attempts(71), from(1s, 1h)), 0.5,
                  [](int retry, reprise::duration wait) { return retry < 13 || wait == 1h; }) == 70);
}

TEST_CASE("a jitter over an empty or tiny range is legal", "[B09]") {
  constexpr auto tiny = [](double fraction) {
    for (int base = 0; base <= 9; ++base) {
      const auto wait =
          wait_before(1, plain(from(reprise::duration(base)), reprise::proportional_jitter{.fraction = 0.1}), fraction);
      if (wait < 0ns || wait * 10 > reprise::duration(base) * 11) return false;
      if (base == 0 && wait != 0ns) return false;
    }
    return true;
  };
  STATIC_REQUIRE(tiny(0.0));
  STATIC_REQUIRE(tiny(0.5));
  STATIC_REQUIRE(tiny(1.0));
  STATIC_REQUIRE(wait_before(1, plain(from(1ns), reprise::equal_jitter{}), 0.0) == 0ns);
  STATIC_REQUIRE(wait_before(1, plain(from(1ns), reprise::full_jitter{}), 0.499) == 0ns);
  STATIC_REQUIRE(wait_before(1, plain(from(1ns), reprise::full_jitter{}), 0.999) == 1ns);
  STATIC_REQUIRE(wait_before(1, plain(from(0ns), reprise::added_jitter{.longest = 0ns}), 0.999) == 0ns);
}

TEST_CASE("a cap put around an uncapped backoff holds, and the uncapped one saturates", "[B10]") {
  constexpr auto at_most_a_minute = [](int retry) -> reprise::duration {
    const reprise::duration inner = from(1s, reprise::unlimited)(retry);
    return inner < 60s ? inner : 60s;
  };
  STATIC_REQUIRE(at_most_a_minute(99) == 60s);
  STATIC_REQUIRE(wait_before(100, plain(at_most_a_minute), 0.5) == 60s);
  STATIC_REQUIRE(from(1s, reprise::unlimited)(99) == reprise::unlimited);
  CHECK(each_wait(plain(attempts(201), at_most_a_minute), 0.5, [](int retry, reprise::duration wait) {
          return wait == (retry <= 6 ? reprise::duration(std::chrono::seconds(1 << (retry - 1))) : 60s);
        }) == 200);
  // A saturated wait is refused, not slept.
  constexpr auto unbounded = play(plain(attempts(50), from(1s)), reply(answer::fail));
  STATIC_REQUIRE(unbounded.reason == stop_reason::deadline_reached);
}

TEST_CASE("the waits are base times factor to the number of the retry before", "[B11]") {
  constexpr auto doubling = play(plain(attempts(6), from(100ms)), reply(answer::fail));
  STATIC_REQUIRE(doubling.waits.are({100ms, 200ms, 400ms, 800ms, 1600ms}));
  constexpr auto tripling = play(
      plain(attempts(5), reprise::exponential_backoff{.base = 100ms, .cap = 10s, .factor = 3.0}), reply(answer::fail));
  STATIC_REQUIRE(tripling.waits.are({100ms, 300ms, 900ms, 2700ms}));
  constexpr auto linear =
      play(plain(attempts(5), reprise::linear_backoff{.step = 100ms, .cap = 10s}), reply(answer::fail));
  STATIC_REQUIRE(linear.waits.are({100ms, 200ms, 300ms, 400ms}));
  constexpr auto fibonacci =
      play(plain(attempts(7), reprise::fibonacci_backoff{.base = 100ms, .cap = 10s}), reply(answer::fail));
  STATIC_REQUIRE(fibonacci.waits.are({100ms, 100ms, 200ms, 300ms, 500ms, 800ms}));
}

TEST_CASE("the waits of a refused connection grow", "[B13]") {
  constexpr auto refused = play(plain(attempts(5), from(1s, 600s)), reply(answer::not_sent));
  STATIC_REQUIRE(refused.waits.are({1s, 2s, 4s, 8s}));
  STATIC_REQUIRE(refused.ended(stop_reason::attempts_exhausted, 5, 15s));
}

TEST_CASE("each wait is twice the one before, not its square", "[B15]") {
  constexpr auto doubling = play(plain(attempts(8), from(2s, 60s)), reply(answer::fail));
  STATIC_REQUIRE(doubling.waits.are({2s, 4s, 8s, 16s, 32s, 60s, 60s}));
}

TEST_CASE("half a second is half a second in every unit in which it can be given", "[B17]") {
  constexpr auto half_a_second = [](reprise::time_span half) {
    return wait_before(1, plain(from(half)), 0.5) == 500ms &&
           wait_before(1, plain(reprise::constant_backoff{.delay = half}), 0.5) == 500ms &&
           wait_before(1, plain(reprise::linear_backoff{.step = half}), 0.5) == 500ms &&
           wait_before(1, plain(reprise::fibonacci_backoff{.base = half}), 0.5) == 500ms &&
           wait_before(1, plain(reprise::listed_backoff{half}), 0.5) == 500ms &&
           wait_before(9, plain(from(400ms, half)), 0.5) == 500ms &&
           wait_before(1, plain(from(0ms, 1s), reprise::added_jitter{.longest = half}), 1.0) == 500ms;
  };
  STATIC_REQUIRE(half_a_second(500ms));
  STATIC_REQUIRE(half_a_second(0.5s));
  STATIC_REQUIRE(half_a_second(500000us));
  STATIC_REQUIRE(half_a_second(std::chrono::duration<float>(0.5F)));
  STATIC_REQUIRE(half_a_second(std::chrono::duration<double, std::ratio<60>>(0.5 / 60)));
  STATIC_REQUIRE(half_a_second(std::chrono::duration<int, std::ratio<1, 2>>(1)));
  // A lambda may give any unit, too.
  constexpr auto half = [](int) -> std::chrono::duration<double> { return 0.5s; };
  STATIC_REQUIRE(wait_before(1, plain(half), 0.5) == 500ms);
}

// --- C: jitter -------------------------------------------------------------------------------------------------------

namespace {

template <class Policy> constexpr bool never_above(reprise::time_span cap, const Policy& policy) {
  for (const double fraction : {0.0, 0.25, 0.5, 0.75, 0.999, 1.0})
    if (each_wait(policy.with(attempts(31)), fraction,
                  [&](int, reprise::duration wait) { return wait <= reprise::duration(cap); }) != 30)
      return false;
  return true;
}

}  // namespace

TEST_CASE("a jittered wait is never longer than the cap", "[C01]") {
  constexpr auto spread = plain(from(100ms, 500ms), reprise::proportional_jitter{.fraction = 0.5});
  // The fraction picks from the range after it is clamped, here [250 ms, 500 ms]: the cap is reached at 1 exactly.
  STATIC_REQUIRE(wait_before(30, spread, 0.999) == 499750us);
  STATIC_REQUIRE(wait_before(30, spread, 1.0) == 500ms);
  STATIC_REQUIRE(never_above(500ms, spread));
  STATIC_REQUIRE(never_above(500ms, spread.with(reprise::full_jitter{})));
  STATIC_REQUIRE(never_above(500ms, spread.with(reprise::equal_jitter{})));
  STATIC_REQUIRE(never_above(500ms, spread.with(reprise::added_jitter{.longest = 1h})));
  STATIC_REQUIRE(never_above(
      500ms, plain(reprise::constant_backoff{.delay = 400ms, .cap = 500ms}, reprise::added_jitter{.longest = 1h})));
  STATIC_REQUIRE(never_above(500ms, plain(reprise::linear_backoff{.step = 300ms, .cap = 500ms},
                                          reprise::proportional_jitter{.fraction = 1.0})));
  STATIC_REQUIRE(never_above(500ms, plain(reprise::fibonacci_backoff{.base = 300ms, .cap = 500ms},
                                          reprise::proportional_jitter{.fraction = 1.0})));
  STATIC_REQUIRE(never_above(500ms, decorrelated(300ms, 500ms)));
}

TEST_CASE("waits at the cap stay spread", "[C02]") {
  // Clamped first, [48 s, 60 s], then the fraction picks: no draw is lost at the cap.
  constexpr auto spread = plain(from(1s, 60s), reprise::proportional_jitter{.fraction = 0.2});
  STATIC_REQUIRE(wait_before(20, spread, 0.0) == 48s);
  STATIC_REQUIRE(wait_before(20, spread, 0.25) == 51s);
  STATIC_REQUIRE(wait_before(20, spread, 0.5) == 54s);
  STATIC_REQUIRE(wait_before(20, spread, 1.0) == 60s);
  STATIC_REQUIRE(wait_before(20, spread, 0.99) < 60s);
  STATIC_REQUIRE(wait_before(20, spread.with(reprise::full_jitter{}), 0.5) == 30s);
  STATIC_REQUIRE(wait_before(20, spread.with(reprise::equal_jitter{}), 0.5) == 45s);
}

TEST_CASE("threads share one policy and draw waits within its range", "[C05]") {
  const auto policy = plain(attempts(1001), from(10ms, 40ms), reprise::full_jitter{});
  struct tally {
    int waits = 0;
    int outside = 0;
    reprise::duration sum = {};
  };
  std::array<tally, 2> tallies;
  reprise::random_fraction fraction;  // shared, too
  const auto call = [&policy, &fraction](tally& own) {
    fake_clock time;
    const auto sleep = [&](reprise::duration wait) {
      ++own.waits;
      if (wait < 0ms || wait > 40ms) ++own.outside;
      own.sum += wait;
      time.advance(wait);
    };
    (void)reprise::execute(policy, [] { return answer::fail; }, time.clock(), sleep, fraction);
  };
  std::thread first(call, std::ref(tallies[0]));
  std::thread second(call, std::ref(tallies[1]));
  first.join();
  second.join();
  for (const tally& own : tallies) {
    CHECK(own.waits == 1000);
    CHECK(own.outside == 0);
    CHECK(own.sum > 0ms);
  }
}

TEST_CASE("random sources that nobody seeded differ, those with one seed agree", "[C07]") {
  using draws = std::array<double, 8>;
  const auto draw = [](reprise::random_fraction source) {
    draws drawn{};
    for (double& fraction : drawn) fraction = source();
    return drawn;
  };
  CHECK(draw(reprise::random_fraction{}) != draw(reprise::random_fraction{}));
  CHECK(draw(reprise::random_fraction{7}) == draw(reprise::random_fraction{7}));
  CHECK(draw(reprise::random_fraction{7}) != draw(reprise::random_fraction{8}));
  // Each thread begins with a seed of its own.
  std::array<draws, 2> per_thread{};
  std::thread first([&] { per_thread[0] = draw(reprise::random_fraction{}); });
  std::thread second([&] { per_thread[1] = draw(reprise::random_fraction{}); });
  first.join();
  second.join();
  CHECK(per_thread[0] != per_thread[1]);
  for (const double fraction : per_thread[0]) CHECK((fraction >= 0.0 && fraction < 1.0));
}

TEST_CASE("the spread grows with the wait", "[C08]") {
  // 7.5, 15, 30, 60 s
  STATIC_REQUIRE(wait_before(4, plain(from(7500ms), reprise::full_jitter{}), 0.5) == 30s);
  STATIC_REQUIRE(wait_before(4, plain(from(7500ms), reprise::equal_jitter{}), 0.5) == 45s);
  STATIC_REQUIRE(wait_before(4, plain(from(7500ms), reprise::proportional_jitter{.fraction = 0.5}), 0.0) == 30s);
  STATIC_REQUIRE(wait_before(4, plain(from(7500ms), reprise::proportional_jitter{.fraction = 0.5}), 1.0) == 90s);
}

TEST_CASE("the first wait is jittered like any other", "[C09]") {
  STATIC_REQUIRE(wait_before(1, plain(from(1s), reprise::full_jitter{}), 0.25) == 250ms);
  // A growing backoff is so by default, too.
  constexpr reprise::retry_policy by_default{answers{}, reprise::idempotent{}, from(1s), attempts(2)};
  STATIC_REQUIRE(play_at(0.25, by_default, reply(answer::fail)).waits.are({250ms}));
  STATIC_REQUIRE(play_at(0.0, by_default, reply(answer::fail)).waits.are({0ms}));
}

// --- D: Retry-After and other server pacing --------------------------------------------------------------------------

namespace {

constexpr std::chrono::sys_seconds midnight = std::chrono::sys_days(std::chrono::year(2026) / 11 / 29);

/// A wall clock that stands still.
constexpr auto wall_clock = [] { return std::chrono::system_clock::time_point(midnight); };

/// The waits of a 503 with this Retry-After under a backoff of one constant delay.
constexpr auto waits_for(std::string_view retry_after, reprise::time_span own) {
  return play(http(attempts(2), reprise::constant_backoff{.delay = own},
                   reprise::http::retry_statuses{}.dated_by(wall_clock)),
              reply(503).retry_after(retry_after), reply(200))
      .waits;
}

}  // namespace

TEST_CASE("a server's wait that does not fit into the time limit is not begun", "[D01]") {
  constexpr auto a_day = play(http(reprise::time_limit{.total = 5s}), reply(503).retry_after("86400"), reply(200));
  STATIC_REQUIRE(a_day.ended(stop_reason::deadline_reached, 1, 0s));
  STATIC_REQUIRE(a_day.waits.empty());
  STATIC_REQUIRE(a_day.last.code == 503);
  constexpr auto keeps_the_answer = [] {
    fake_clock time;
    script send{time, reply(503).retry_after("86400")};
    const auto result = reprise::execute(http(reprise::time_limit{.total = 5s}), send, time);
    return !result.ok() && result.response().status == 503;
  };
  STATIC_REQUIRE(keeps_the_answer());
  // The same for a deadline and for a limit of the waits; exactly the limit does not fit into the time.
  constexpr auto deadline = play(http(reprise::deadline{fake_clock::time_point(5s)}), reply(503).retry_after("5"));
  STATIC_REQUIRE(deadline.ended(stop_reason::deadline_reached, 1, 0s));
  constexpr auto waiting = play(http(reprise::wait_limit{.total = 5s}), reply(503).retry_after("6"));
  STATIC_REQUIRE(waiting.ended(stop_reason::wait_limit_reached, 1, 0s));
}

TEST_CASE("the server's wait is read from thrown and returned failures alike", "[D02]") {
  const auto policy =
      http(attempts(2), from(1s), reprise::http::retry_statuses{},
           reprise::on_exception<failure>([](const failure& thrown) -> reprise::verdict {
             return {.kind = reprise::outcome::transient, .label = "http", .code = thrown.code, .retry_after = 7s};
           }));
  const auto thrown = play(policy, fails<failure>(429), reply(200));
  CHECK(thrown.ended(stop_reason::succeeded, 2, 7s));
  CHECK(thrown.waits.are({7s}));
  constexpr auto returned = play(http(attempts(2), from(1s)), reply(429).retry_after("7"), reply(200));
  STATIC_REQUIRE(returned.waits.are({7s}));
}

TEST_CASE("the wait is the longer of own and server's", "[D03]") {
  STATIC_REQUIRE(waits_for("1", 8s).are({8s}));
  STATIC_REQUIRE(waits_for("5", 1s).are({5s}));
  STATIC_REQUIRE(waits_for("5", 5s).are({5s}));
  // The own wait is compared as it was drawn.
  constexpr auto drawn = play_at(0.5, http(attempts(2), from(8s), reprise::full_jitter{}), reply(503).retry_after("3"));
  STATIC_REQUIRE(drawn.waits.are({4s}));
  STATIC_REQUIRE(reprise::wait_delay(8s, "1") == 8s);
  STATIC_REQUIRE(reprise::wait_delay(1s, "5") == 5s);
}

TEST_CASE("what is checked against the time limit is the wait that would be slept", "[D04]") {
  constexpr auto limited = http(reprise::time_limit{.total = 5s});
  constexpr auto own_longer = play(limited.with(from(10s)), reply(503).retry_after("2"), reply(200));
  STATIC_REQUIRE(own_longer.ended(stop_reason::deadline_reached, 1, 0s));
  STATIC_REQUIRE(own_longer.waits.empty());
  constexpr auto spread_longer =
      play_at(1.0, limited.with(from(1s), reprise::retry_after_limit{.longest = 60s, .spread = 4s}),
              reply(503).retry_after("2"), reply(200));
  STATIC_REQUIRE(spread_longer.ended(stop_reason::deadline_reached, 1, 0s));
  constexpr auto ignored =
      play(limited.with(from(1s), reprise::retry_after_limit{.longest = 1s, .beyond = reprise::too_long::ignore}),
           reply(503).retry_after("60"), reply(200));
  STATIC_REQUIRE(ignored.ended(stop_reason::succeeded, 2, 1s));
}

TEST_CASE("a Retry-After date is waited for, counted on the wall clock that was handed in", "[D05]") {
  STATIC_REQUIRE(waits_for("Sun, 29 Nov 2026 00:00:30 GMT", 1s).are({30s}));
  STATIC_REQUIRE(waits_for("Sunday, 29-Nov-26 00:00:30 GMT", 1s).are({30s}));
  STATIC_REQUIRE(waits_for("Sun Nov 29 00:00:30 2026", 1s).are({30s}));
  // A date that has passed is no wait, not a negative one.
  STATIC_REQUIRE(waits_for("Sat, 28 Nov 2026 23:59:30 GMT", 1s).are({1s}));
  STATIC_REQUIRE(reprise::http::parse_retry_after("Sun, 29 Nov 2026 00:00:30 GMT", midnight) == 30s);
  STATIC_REQUIRE(reprise::http::parse_retry_after("Sat, 28 Nov 2026 23:59:30 GMT", midnight) == 0s);
  STATIC_REQUIRE(reprise::http::parse_retry_after("30", midnight) == 30s);
  // Without a wall clock a date cannot be counted: no hint, and no failure.
  constexpr auto undated =
      play(http(attempts(2), from(1s)), reply(503).retry_after("Sun, 29 Nov 2026 00:00:30 GMT"), reply(200));
  STATIC_REQUIRE(undated.waits.are({1s}));
}

TEST_CASE("a Retry-After with a sign is no hint", "[D07]") {
  STATIC_REQUIRE(waits_for("-1", 2s).are({2s}));
  STATIC_REQUIRE(waits_for("+5", 2s).are({2s}));
  STATIC_REQUIRE(waits_for("-0", 2s).are({2s}));
  STATIC_REQUIRE(!reprise::http::parse_retry_after("-1").has_value());
  STATIC_REQUIRE(!reprise::http::parse_retry_after_ms("-1").has_value());
  STATIC_REQUIRE(reprise::wait_delay(2s, "-1") == 2s);
  // A negative hint of a classifier does not shorten the own wait either.
  constexpr auto negative = [](answer) -> reprise::verdict {
    return {.kind = reprise::outcome::transient, .retry_after = -1s};
  };
  constexpr auto waited = play(http(attempts(2), from(2s), negative), reply(answer::fail));
  STATIC_REQUIRE(waited.waits.are({2s}));
}

TEST_CASE("a date that cannot be read is nothing, never the epoch", "[D09]") {
  STATIC_REQUIRE(waits_for("Wed, 99 Foo 2026 00:00:00 GMT", 1s).are({1s}));
  for (const std::string_view garbage :
       {"", " ", "garbage", "0", "Wed, 99 Foo 2026 00:00:00 GMT", "Sun, 31 Feb 2026 00:00:00 GMT",
        "Mon, 29 Nov 2026 00:00:00 GMT", "Sun, 29 Nov 2026 24:00:00 GMT", "Sun, 29 Nov 2026 00:00:00",
        "Sun, 29 Nov 2026 00:00:00 UTC", "Sun, 29 Nov 2026 00:00:00 GMT and more", "Sun, 29 Nov 26 00:00:00 GMT",
        "sun, 29 nov 2026 00:00:00 gmt", "2026-11-29T00:00:00Z"}) {
    CAPTURE(std::string(garbage));
    CHECK(!reprise::http::parse_http_date(garbage, midnight).has_value());
    if (garbage != "0") CHECK(!reprise::http::parse_retry_after(garbage, midnight).has_value());
  }
  // A response's own Date that cannot be read does not count as 1970: the wall clock stands in.
  struct dated {
    int status;
    std::string_view retry_after;
    std::string_view date;
  };
  constexpr auto classifier = reprise::http::retry_statuses{}.dated_by(wall_clock);
  STATIC_REQUIRE(classifier(dated{503, "Sun, 29 Nov 2026 00:00:30 GMT", "garbage"}).retry_after == 30s);
}

TEST_CASE("a Retry-After of 0 is present, an empty one is absent", "[D12]") {
  STATIC_REQUIRE(reprise::http::parse_retry_after("0") == reprise::duration(0));
  STATIC_REQUIRE(!reprise::http::parse_retry_after("").has_value());
  STATIC_REQUIRE(reprise::http::parse_retry_after("0", midnight) == reprise::duration(0));
  STATIC_REQUIRE(!reprise::http::parse_retry_after("", midnight).has_value());
  STATIC_REQUIRE(waits_for("0", 1s).are({1s}));
  STATIC_REQUIRE(waits_for("0", 0s).are({0s}));
  constexpr reprise::http::retry_statuses statuses{};
  STATIC_REQUIRE(statuses(reprise::testing::response{503, "0"}).retry_after == reprise::duration(0));
  STATIC_REQUIRE(!statuses(reprise::testing::response{503, ""}).retry_after.has_value());
}

TEST_CASE("a Retry-After counts seconds", "[D13]") {
  STATIC_REQUIRE(waits_for("120", 1s).are({120000ms}));
  STATIC_REQUIRE(reprise::http::parse_retry_after_ms("120") == 120ms);
  STATIC_REQUIRE(reprise::wait_delay(1s, "120") == 120000ms);
}

TEST_CASE("a 429 is tried again whether or not it says when", "[D14]") {
  constexpr auto silent = play(http(attempts(3), from(1s)), reply(429), reply(200));
  STATIC_REQUIRE(silent.ended(stop_reason::succeeded, 2, 1s));
  STATIC_REQUIRE(silent.waits.are({1s}));
  // Also where the response has no such member at all.
  constexpr auto headless = play(http(attempts(3), from(1s)), reply(page{429, {}}), reply(page{200, {}}));
  STATIC_REQUIRE(headless.waits.are({1s}));
}

TEST_CASE("no text of a server escapes as an exception", "[D16]") {
  for (const std::string_view text :
       {"Sun, 29 Nov 2026 00:00:30 GMT", "", "99999999999999999999", "-99999999999999999999", "1e10000", "nan", "0x10",
        "2814, 2", "\xff\xfe", "Sun, 99 Nov 9999 99:99:99 GMT", "1.5"}) {
    CAPTURE(std::string(text));
    for (const bool dated : {false, true}) {
      const auto undated = http(attempts(2), from(1s));
      const auto run = dated ? play(undated.with(reprise::http::retry_statuses{}.dated_by(wall_clock)),
                                    reply(503).retry_after(text), reply(200))
                             : play(undated, reply(503).retry_after(text), reply(200));
      CHECK(run.last.label == reprise::label("http"));
      // Twenty digits saturate, and a wait without end is not begun.
      const bool endless = text == "99999999999999999999";
      CHECK(run.reason == (endless ? stop_reason::deadline_reached : stop_reason::succeeded));
      CHECK(run.sends == (endless ? 1 : 2));
    }
  }
  STATIC_REQUIRE(reprise::http::parse_retry_after("99999999999999999999") == reprise::unlimited);
  STATIC_REQUIRE(reprise::wait_delay(1s, "99999999999999999999") == reprise::unlimited);
  STATIC_REQUIRE(reprise::wait_delay(1s, "Sun, 29 Nov 2026 00:00:30 GMT") == 1s);
}

TEST_CASE("a server's pacing is honoured for every method and status", "[D17]") {
  constexpr auto paced = play(http(attempts(2), from(250ms)), reply(429).retry_after("10"), reply(200));
  STATIC_REQUIRE(paced.waits.are({10s}));
  for (const int status : {429, 502, 503, 504})
    for (const std::string_view method : {"GET", "HEAD", "PUT", "DELETE", "POST"}) {
      const auto policy =
          http(attempts(2), from(250ms), reprise::http::operation{.method = method, .idempotency_key = "key"});
      CHECK(play(policy, reply(status).retry_after("10"), reply(200)).waits.are({10s}));
    }
}

TEST_CASE("a server that says no is not asked again", "[D18]") {
  // A pushback that is negative or no number means: do not retry.
  constexpr auto pushback = [](std::string_view text) -> reprise::verdict {
    const auto wait = reprise::http::parse_retry_after_ms(text);
    if (!wait.has_value()) return {.kind = reprise::outcome::permanent, .label = "server_said_no"};
    return {.kind = reprise::outcome::transient, .label = "unavailable", .retry_after = wait};
  };
  const auto policy = http(attempts(5), from(1s), reprise::classify(pushback));
  for (const std::string_view text : {"-1", "abc", "-1000", "1.5", "+7", ""}) {
    CAPTURE(std::string(text));
    const auto refused = play(policy, reply(text));
    CHECK(refused.ended(stop_reason::not_retryable, 1, 0s));
    CHECK(refused.last.label == reprise::label("server_said_no"));
  }
  CHECK(play(policy.with(attempts(2)), reply(std::string_view("1500"))).waits.are({1500ms}));
}

// --- E: deadline, per-attempt timeout, clocks ------------------------------------------------------------------------

TEST_CASE("a wait longer than the time left is not begun", "[E01]") {
  constexpr auto ten_minutes = play(plain(reprise::time_limit{.total = 5min}, from(10min)), reply(answer::fail));
  STATIC_REQUIRE(ten_minutes.ended(stop_reason::deadline_reached, 1, 0s));
  STATIC_REQUIRE(ten_minutes.waits.empty());
  constexpr auto deadline =
      play(plain(reprise::deadline{fake_clock::time_point(5min)}, from(10min)), reply(answer::fail));
  STATIC_REQUIRE(deadline.ended(stop_reason::deadline_reached, 1, 0s));
  // Also later in the call: after 3 min of attempt 2 min are left.
  constexpr auto later = play(plain(reprise::time_limit{.total = 5min}, from(2min)), reply(answer::fail).takes(3min));
  STATIC_REQUIRE(later.ended(stop_reason::deadline_reached, 1, 3min));
}

TEST_CASE("a call that stops before its deadline is a failure with an error", "[E02]") {
  constexpr auto policy = plain(reprise::time_limit{.total = 5min}, from(10min));
  constexpr auto is_failure = [](const auto& limited) {
    fake_clock time;
    script send{time, reply(answer::fail)};
    const auto result = reprise::execute(limited, send, time);
    return !result.ok() && result.response() == answer::fail &&
           result.last_verdict().kind == reprise::outcome::transient;
  };
  STATIC_REQUIRE(is_failure(policy));
  fake_clock time;
  script returned{time, reply(answer::fail)};
  CHECK_THROWS_AS(reprise::execute(policy, returned, time).success(), reprise::deadline_exceeded);
  script thrown{time, fails<failure>(5), reply(answer::ok)};
  const auto result = reprise::execute(policy.with(answers{}, reprise::retry_exceptions<failure>{}), thrown, time);
  CHECK(!result.ok());
  CHECK(result.reason() == stop_reason::deadline_reached);
  CHECK(result.exception() != nullptr);
  CHECK_THROWS_AS(result.success(), failure);
}

TEST_CASE("when the time is up the caller still has the last real failure", "[E03]") {
  constexpr auto last_answer = [] {
    fake_clock time;
    script send{time, reply(page{503, "warming up"}), reply(page{503, "quota"})};
    const auto result = reprise::execute(http(reprise::time_limit{.total = 3s}, from(2s)), send, time);
    return result.reason() == stop_reason::deadline_reached && result.attempts() == 2 &&
           result.response().status == 503 && result.response().body == "quota" && result.last_verdict().code == 503;
  };
  STATIC_REQUIRE(last_answer());
  fake_clock time;
  script send{time, fails<failure>(1), fails<failure>(2), reply(answer::ok)};
  const auto result = reprise::execute(
      plain(reprise::time_limit{.total = 3s}, from(2s), answers{}, reprise::retry_exceptions<failure>{}), send, time);
  CHECK(result.reason() == stop_reason::deadline_reached);
  int code = 0;
  try {
    (void)result.value();
  } catch (const failure& last) {
    code = last.code;
  }
  CHECK(code == 2);
}

TEST_CASE("nothing is sent once the deadline has passed", "[E04]") {
  constexpr auto limited = plain(reprise::time_limit{.total = 35s}, at_once, attempts(10));
  constexpr auto just = play(limited, reply(answer::fail).takes(35s));
  STATIC_REQUIRE(just.ended(stop_reason::deadline_reached, 1, 35s));
  constexpr auto over = play(limited, reply(answer::fail).takes(36s));
  STATIC_REQUIRE(over.ended(stop_reason::deadline_reached, 1, 36s));
  // A sleep that overruns may pass it, too.
  constexpr auto overslept = [] {
    fake_clock time;
    time.oversleeps(5s);
    script send{time, reply(answer::fail)};
    const auto result = reprise::execute(plain(reprise::time_limit{.total = 3s}, from(1s)), send, time);
    return result.reason() == stop_reason::deadline_reached && send.calls() == 1;
  };
  STATIC_REQUIRE(overslept());
}

TEST_CASE("growing waits do not pass through the time limit", "[E06]") {
  constexpr auto growing = play(
      http(reprise::http::retry_statuses{500}, reprise::time_limit{.total = 7s}, from(1s), attempts(9)), reply(500));
  // 1 + 2 + 4 is 7: at exactly the deadline there is no time for a send.
  STATIC_REQUIRE(growing.ended(stop_reason::deadline_reached, 3, 3s));
  STATIC_REQUIRE(growing.waits.are({1s, 2s}));
  constexpr auto a_little_more =
      play(http(reprise::http::retry_statuses{500}, reprise::time_limit{.total = 7s + 1ns}, from(1s), attempts(9)),
           reply(500));
  STATIC_REQUIRE(a_little_more.waits.are({1s, 2s, 4s}));
  STATIC_REQUIRE(a_little_more.timeouts.back() == 1ns);
}

TEST_CASE("an attempt that timed out leaves time for the next one", "[E08]") {
  constexpr auto hangs_once =
      play(plain(reprise::attempt_timeout{.longest = 10s}, reprise::time_limit{.total = 30s}, from(1s)),
           reply(answer::timeout).takes(10s), reply(answer::ok).takes(1s));
  STATIC_REQUIRE(hangs_once.ended(stop_reason::succeeded, 2, 12s));
  STATIC_REQUIRE(hangs_once.timeouts.are({10s, 10s}));
  STATIC_REQUIRE(hangs_once.waits.are({1s}));
  // A divided limit does the same without a number of its own.
  constexpr auto divided = play(plain(reprise::divided_timeout{}, reprise::time_limit{.total = 30s}, from(1s)),
                                reply(answer::timeout).takes(10s), reply(answer::ok).takes(1s));
  STATIC_REQUIRE(divided.ended(stop_reason::succeeded, 2, 12s));
  STATIC_REQUIRE(divided.timeouts.are({10s, 9500ms}));
}

TEST_CASE("the limit holds for the whole call, not for each attempt", "[E09]") {
  constexpr auto hangs =
      play(plain(reprise::time_limit{.total = 10s}, from(1s), attempts(6)), reply(answer::timeout).takes(10s));
  STATIC_REQUIRE(hangs.ended(stop_reason::deadline_reached, 1, 10s));
  STATIC_REQUIRE(hangs.timeouts.are({10s}));
  constexpr auto shares =
      play(plain(reprise::time_limit{.total = 10s}, from(1s), attempts(6)), reply(answer::timeout).takes(3s),
           reply(answer::timeout).takes(3s), reply(answer::timeout).takes(1s));
  STATIC_REQUIRE(shares.timeouts.are({10s, 6s, 1s}));
  STATIC_REQUIRE(shares.ended(stop_reason::deadline_reached, 3, 10s));
}

TEST_CASE("a deadline that has passed before the call allows no attempt, and the call is no success", "[E10]") {
  constexpr auto too_late = [](reprise::time_span late) {
    fake_clock time;
    time.advance(1h);
    script send{time, reply(answer::ok)};
    const auto result = reprise::execute(plain(reprise::deadline{time.now() - reprise::duration(late)}), send, time);
    return !result.ok() && result.reason() == stop_reason::deadline_reached && send.calls() == 0 &&
           result.attempts() == 0 && !result.has_response() &&
           result.last_verdict() == reprise::verdict{.kind = reprise::outcome::permanent, .label = "none"};
  };
  STATIC_REQUIRE(too_late(1ns));
  STATIC_REQUIRE(too_late(0s));
  STATIC_REQUIRE(too_late(1000h));
  fake_clock time;
  script send{time, reply(answer::ok)};
  const auto expired = plain(reprise::deadline{fake_clock::time_point::min()});
  CHECK_THROWS_AS(reprise::execute(expired, send, time).success(), reprise::deadline_exceeded);
  CHECK_THROWS_AS(reprise::execute(expired, send, time).value(), reprise::deadline_exceeded);
  CHECK(send.calls() == 0);
}

TEST_CASE("each call under a policy has the whole time limit", "[E11]") {
  constexpr auto twice = [] {
    const auto policy = plain(reprise::time_limit{.total = 10s}, from(1s), attempts(3));
    fake_clock time;
    script first{time, reply(answer::fail).takes(2s)};
    script second{time, reply(answer::fail).takes(2s)};
    const auto result_of_first = reprise::execute(policy, first, time);
    const bool used_nine_seconds = time.now().time_since_epoch() == 9s;
    const auto result_of_second = reprise::execute(policy, second, time);
    return used_nine_seconds && result_of_first.reason() == stop_reason::attempts_exhausted &&
           result_of_second.reason() == stop_reason::attempts_exhausted && time.waits().are({1s, 2s, 1s, 2s}) &&
           second.timeouts().are({10s, 7s, 3s}) && first.timeouts() == second.timeouts();
  };
  STATIC_REQUIRE(twice());
}

TEST_CASE("the time limit is counted from the start of the call, not from when the policy was made", "[E12]") {
  constexpr auto an_hour_later = [] {
    fake_clock time;
    const auto policy = plain(reprise::time_limit{.total = 5s}, from(1s), attempts(9));
    time.advance(1h);
    script send{time, reply(answer::fail)};
    const auto result = reprise::execute(policy, send, time);
    return result.reason() == stop_reason::deadline_reached && time.waits().are({1s, 2s}) &&
           send.timeouts().are({5s, 4s, 2s}) && time.now().time_since_epoch() == 1h + 3s;
  };
  STATIC_REQUIRE(an_hour_later());
}

TEST_CASE("a wall clock that is set does not change what a call does", "[E14]") {
  constexpr auto with_jumps = [](std::chrono::hours jump) {
    fake_clock time;
    auto wall = wall_clock();
    const auto policy = http(reprise::time_limit{.total = 5s}, from(1s), attempts(9),
                             reprise::http::retry_statuses{}.dated_by([&] { return wall; }));
    trace seen;
    const auto send = [&](const reprise::attempt& current) {
      seen.timeouts.add(current.timeout);
      wall += jump;
      return reprise::testing::response{503, current.number == 1 ? "2" : ""};
    };
    const auto result = reprise::execute(policy, send, time);
    seen.reason = result.reason();
    seen.sends = result.attempts();
    seen.waits = time.waits();
    return seen;
  };
  constexpr auto same = [with_jumps](std::chrono::hours jump) {
    const auto still = with_jumps(std::chrono::hours(0));
    const auto jumped = with_jumps(jump);
    return jumped.reason == still.reason && jumped.sends == still.sends && jumped.waits == still.waits &&
           jumped.timeouts == still.timeouts;
  };
  STATIC_REQUIRE(with_jumps(std::chrono::hours(0)).waits.are({2s, 2s}));
  STATIC_REQUIRE(same(std::chrono::hours(1)));
  STATIC_REQUIRE(same(std::chrono::hours(-1)));
  // A steady clock that goes backwards against its word neither lengthens the call nor makes a wait negative.
  constexpr auto backwards = [] {
    fake_clock time;
    const auto policy = plain(reprise::time_limit{.total = 5s}, from(1s), attempts(4));
    script send{time, reply(answer::fail).takes(-1h)};
    const auto result = reprise::execute(policy, send, time);
    return result.reason() == stop_reason::attempts_exhausted && time.waits().are({1s, 2s, 4s}) &&
           send.timeouts().are({5s, 5s, 5s, 5s});
  };
  STATIC_REQUIRE(backwards());
}

TEST_CASE("without a maximum the time limit ends the call", "[E16]") {
  constexpr auto failing =
      play(http(reprise::time_limit{.total = 5s}, reprise::unlimited_attempts{}, at_once), reply(503).takes(1s));
  STATIC_REQUIRE(failing.ended(stop_reason::deadline_reached, 5, 5s));
  STATIC_REQUIRE(failing.timeouts.are({5s, 4s, 3s, 2s, 1s}));
}

TEST_CASE("many short waits end at the deadline, once", "[E18]") {
  constexpr auto policy =
      plain(reprise::constant_backoff{.delay = 1ms}, attempts(1000), reprise::time_limit{.total = 50ms});
  constexpr auto blocking = play(policy, reply(answer::fail));
  STATIC_REQUIRE(blocking.ended(stop_reason::deadline_reached, 50, 49ms));

  // The same from timers: whatever fires late changes nothing any more.
  constexpr auto asynchronous = [policy] {
    using time_point = fake_clock::time_point;
    time_point now{};
    reprise::engine<std::remove_const_t<decltype(policy)>, time_point> engine(policy);
    int sends = 0;
    int ends = 0;
    auto next = engine.start(now);
    while (next.kind != reprise::step::stop) {
      if (next.kind == reprise::step::attempt) {
        ++sends;
        next = engine.on_verdict(answers{}(answer::fail), now, 0.5);
      } else {
        now = next.due;
        next = engine.on_wait_over(now);
      }
      if (next.kind == reprise::step::stop) ++ends;
    }
    const auto late_timer = engine.on_wait_over(now + 1h);
    const auto late_answer = engine.on_verdict(answers{}(answer::ok), now + 1h, 0.5);
    const auto late_cancel = engine.cancel();
    return ends == 1 && sends == 50 && next.reason == stop_reason::deadline_reached && now < time_point(50ms) &&
           late_timer.kind == reprise::step::stop && late_timer.reason == stop_reason::deadline_reached &&
           late_answer.kind == reprise::step::stop && late_answer.reason == stop_reason::deadline_reached &&
           late_cancel.reason == stop_reason::deadline_reached && engine.attempts() == 50;
  };
  STATIC_REQUIRE(asynchronous());
}

// --- F: idempotency, ambiguous failures, replayable input ------------------------------------------------------------

TEST_CASE("what may have been done is not done again unless it is safe", "[F01]") {
  constexpr auto unsafe = plain(at_once, reprise::not_idempotent{});
  constexpr auto reset = play(unsafe, reply(answer::reset), reply(answer::ok));
  STATIC_REQUIRE(reset.ended(stop_reason::not_replay_safe, 1, 0s));
  // What was never sent, or was rolled back, is.
  constexpr auto not_sent = play(unsafe, reply(answer::not_sent), reply(answer::ok));
  STATIC_REQUIRE(not_sent.ended(stop_reason::succeeded, 2, 0s));
  constexpr auto then_reset = play(unsafe, reply(answer::not_sent), reply(answer::reset), reply(answer::ok));
  STATIC_REQUIRE(then_reset.ended(stop_reason::not_replay_safe, 2, 0s));
  for (const std::string_view method : {"POST", "PATCH", "", "CONNECT"})
    CHECK(play(plain(at_once, reprise::http::operation{.method = method}), reply(answer::reset), reply(answer::ok))
              .ended(stop_reason::not_replay_safe, 1, 0s));
  for (const std::string_view method : {"GET", "get", "HEAD", "PUT", "DELETE"})
    CHECK(play(plain(at_once, reprise::http::operation{.method = method}), reply(answer::reset), reply(answer::ok))
              .ended(stop_reason::succeeded, 2, 0s));
}

TEST_CASE("no answer is no proof that nothing happened", "[F02]") {
  constexpr auto limited = plain(at_once, reprise::attempt_timeout{.longest = 1s});
  constexpr auto unsafe =
      play(limited.with(reprise::not_idempotent{}), reply(answer::timeout).takes(1s), reply(answer::ok));
  STATIC_REQUIRE(unsafe.ended(stop_reason::not_replay_safe, 1, 1s));
  constexpr auto safe = play(limited, reply(answer::timeout).takes(1s), reply(answer::ok));
  STATIC_REQUIRE(safe.ended(stop_reason::succeeded, 2, 1s));
}

TEST_CASE("whether a call may be repeated is the caller's word, whatever header carries the key", "[F04]") {
  constexpr auto stated = play(plain(at_once), reply(answer::reset), reply(answer::ok));
  STATIC_REQUIRE(stated.ended(stop_reason::succeeded, 2, 0s));
  constexpr auto keyed =
      play(plain(at_once, reprise::http::operation{.method = "POST", .idempotency_key = "any-name: 17"}),
           reply(answer::reset), reply(answer::ok));
  STATIC_REQUIRE(keyed.ended(stop_reason::succeeded, 2, 0s));
  // An empty key is none, and a key does not make every method safe.
  STATIC_REQUIRE(!reprise::http::operation{.method = "POST", .idempotency_key = ""}.replay_safe());
  STATIC_REQUIRE(!reprise::http::operation{.method = "PATCH", .idempotency_key = "17"}.replay_safe());
}

TEST_CASE("one call sends one idempotency key in all its attempts, another call another one", "[F05]") {
  constexpr auto keys_per_call = [] {
    std::uint64_t bits = 1;
    int made = 0;
    const auto make_key = [&] {
      ++made;
      return reprise::http::idempotency_key([&] { return bits = bits * 6364136223846793005U + 1442695040888963407U; });
    };
    const auto call = [&](bool& same, int& sends) {
      fake_clock time;
      const auto key = make_key();
      std::optional<reprise::http::idempotency_key> sent;
      const auto send = [&](const reprise::attempt& current) {
        ++sends;
        if (sent.has_value() && sent->text() != key.text()) same = false;
        sent = key;
        return current.number < 3 ? answer::reset : answer::ok;
      };
      const auto policy =
          plain(at_once, attempts(3), reprise::http::operation{.method = "POST", .idempotency_key = key});
      if (!reprise::execute(policy, send, time).ok()) same = false;
      return key;
    };
    bool same = true;
    int sends = 0;
    const auto first = call(same, sends);
    const bool once = made == 1 && sends == 3;
    const auto second = call(same, sends);
    return once && same && made == 2 && sends == 6 && first.text() != second.text();
  };
  STATIC_REQUIRE(keys_per_call());
}

TEST_CASE("the key stays the same when the payload is built anew for each attempt", "[F06]") {
  std::uint64_t bits = 1;
  const reprise::http::idempotency_key key([&] { return bits += 0x9E3779B97F4A7C15U; });
  struct request {
    std::string key;
    std::string payload;
  };
  std::vector<request> sent;
  fake_clock time;
  const auto send = [&] {
    sent.push_back({std::string(key.text()), "at " + std::to_string(time.now().time_since_epoch().count())});
    return sent.size() < 3 ? answer::reset : answer::ok;
  };
  const auto policy = plain(from(1s), reprise::http::operation{.method = "POST", .idempotency_key = key});
  CHECK(reprise::execute(policy, send, time).ok());
  REQUIRE(sent.size() == 3);
  CHECK(sent[0].payload != sent[1].payload);
  CHECK(sent[1].payload != sent[2].payload);
  CHECK(sent[0].key == sent[1].key);
  CHECK(sent[1].key == sent[2].key);
}

TEST_CASE("an answer that may not be followed by a retry is handed out as it is", "[F07]") {
  constexpr auto handed_out = [](auto statuses, stop_reason reason) {
    fake_clock time;
    script send{time, reply(page{500, "stack trace"}), reply(page{200, "fine"})};
    const auto result = reprise::execute(http(statuses, at_once, reprise::not_idempotent{}), send, time);
    return result.reason() == reason && send.calls() == 1 && result.response().status == 500 &&
           result.response().body == "stack trace" && result.value().status == 500;
  };
  STATIC_REQUIRE(handed_out(reprise::http::retry_statuses{500}, stop_reason::not_replay_safe));
  // By default a 500 is permanent, which is found first.
  STATIC_REQUIRE(handed_out(reprise::http::retry_statuses{}, stop_reason::not_retryable));
}

TEST_CASE("a commit in doubt is not repeated, a rollback is, also where nothing else may be", "[F09]") {
  struct in_doubt_error : std::runtime_error {
    using std::runtime_error::runtime_error;
  };
  struct serialization_failure : std::runtime_error {
    using std::runtime_error::runtime_error;
  };
  const auto transaction = plain(at_once, reprise::not_idempotent{}, answers{},
                                 reprise::on_exception<in_doubt_error>([](const in_doubt_error&) -> reprise::verdict {
                                   return {.kind = reprise::outcome::permanent, .label = "in_doubt"};
                                 }),
                                 reprise::rolled_back<serialization_failure>{});
  const auto in_doubt = play(transaction, fails<in_doubt_error>("connection lost at commit"), reply(answer::ok));
  CHECK(in_doubt.ended(stop_reason::not_retryable, 1, 0s));
  CHECK(in_doubt.last.label == reprise::label("in_doubt"));
  // Even under a promise that repeating is safe.
  CHECK(play(transaction.with(reprise::idempotent{}), fails<in_doubt_error>("lost"), reply(answer::ok))
            .ended(stop_reason::not_retryable, 1, 0s));
  CHECK(
      play(transaction, fails<serialization_failure>("40001"), reply(answer::ok)).ended(stop_reason::succeeded, 2, 0s));
  constexpr auto returned_in_doubt =
      play(plain(at_once, reprise::not_idempotent{}), reply(answer::in_doubt), reply(answer::ok));
  STATIC_REQUIRE(returned_in_doubt.ended(stop_reason::not_retryable, 1, 0s));
  constexpr auto returned_rollback =
      play(plain(at_once, reprise::not_idempotent{}), reply(answer::rolled_back), reply(answer::ok));
  STATIC_REQUIRE(returned_rollback.ended(stop_reason::succeeded, 2, 0s));
}

TEST_CASE("what is repeated is the whole transaction, never its commit alone", "[F10]") {
  enum class statement { begin, write, commit };
  constexpr auto repeated = [] {
    fake_clock time;
    reprise::testing::recorded<statement> log;
    const auto transaction = [&](const reprise::attempt& current) {
      log.add(statement::begin);
      log.add(statement::write);
      log.add(statement::commit);
      return current.number == 1 ? answer::rolled_back : answer::ok;
    };
    const auto result = reprise::execute(plain(at_once, reprise::not_idempotent{}), transaction, time);
    return result.ok() && log.are({statement::begin, statement::write, statement::commit, statement::begin,
                                   statement::write, statement::commit});
  };
  STATIC_REQUIRE(repeated());
}

TEST_CASE("a body that can be read only once is sent once, one that can be replayed is sent whole each time", "[F11]") {
  struct body {
    std::string_view bytes;
    bool rewinds = false;
    bool used = false;
  };
  struct upload {
    int sends = 0;
    bool whole = true;
    stop_reason reason = stop_reason::succeeded;
    reprise::label why = {};
  };
  constexpr auto sent = [](bool rewinds) {
    fake_clock time;
    body input{.bytes = "0123456789", .rewinds = rewinds};
    upload seen;
    const auto policy = http(
        at_once, reprise::classify([&](const reprise::testing::response& answered) -> std::optional<reprise::verdict> {
          if (!reprise::http::retryable(answered.status) || input.rewinds) return std::nullopt;
          return reprise::verdict{
              .kind = reprise::outcome::permanent, .label = "body_not_replayable", .code = answered.status};
        }),
        reprise::http::retry_statuses{});
    const auto send = [&](const reprise::attempt& current) {
      ++seen.sends;
      const std::string_view bytes = input.used && !input.rewinds ? std::string_view{} : input.bytes;
      input.used = true;
      seen.whole = seen.whole && bytes == "0123456789";
      return reprise::testing::response{current.number == 1 ? 503 : 200, {}};
    };
    const auto result = reprise::execute(policy, send, time);
    seen.reason = result.reason();
    seen.why = result.last_verdict().label;
    return seen;
  };
  STATIC_REQUIRE(sent(false).sends == 1);
  STATIC_REQUIRE(sent(false).reason == stop_reason::not_retryable);
  STATIC_REQUIRE(sent(false).why == reprise::label("body_not_replayable"));
  STATIC_REQUIRE(sent(true).sends == 2);
  STATIC_REQUIRE(sent(true).reason == stop_reason::succeeded);
  STATIC_REQUIRE(sent(true).whole);
}

TEST_CASE("what an attempt is told suffices to begin its output anew, the first one included", "[F12]") {
  constexpr auto written = [] {
    fake_clock time;
    std::size_t sink = 77;  // left by somebody before
    reprise::testing::recorded<int> resets;
    const auto download = [&](const reprise::attempt& current) {
      resets.add(current.number);
      sink = 0;
      sink += current.number == 1 ? 500 : 1000;
      return current.number == 1 ? answer::reset : answer::ok;
    };
    const auto result = reprise::execute(plain(at_once), download, time);
    return result.ok() && sink == 1000 && resets.are({1, 2});
  };
  STATIC_REQUIRE(written());
}

TEST_CASE("an attempt can send what is left of a batch only", "[F14]") {
  fake_clock time;
  std::vector<std::string> pending{"a", "b", "c"};
  std::vector<std::vector<std::string>> sent;
  const auto send = [&] {
    sent.push_back(pending);
    const bool throttled = sent.size() == 1;
    std::vector<std::string> left;
    for (const std::string& record : pending)
      if (throttled && record == "b") left.push_back(record);
    pending = left;
    return pending.empty() ? answer::ok : answer::fail;
  };
  const auto result = reprise::execute(plain(at_once), send, time);
  CHECK(result.ok());
  REQUIRE(sent.size() == 2);
  CHECK(sent[0] == std::vector<std::string>{"a", "b", "c"});
  CHECK(sent[1] == std::vector<std::string>{"b"});
}

TEST_CASE("a busy snapshot is repeated from BEGIN and not as a statement", "[F16]") {
  constexpr int ok = 0;
  constexpr int busy = 5;
  constexpr int busy_snapshot = 517;  // SQLITE_BUSY | 2 << 8: the extended code must not be masked
  constexpr auto busy_is_transient = [](int rc) -> reprise::verdict {
    if (rc == ok) return {.kind = reprise::outcome::success};
    if (rc == busy) return {.kind = reprise::outcome::transient, .label = "busy", .code = rc, .not_applied = true};
    return {.kind = reprise::outcome::permanent, .label = "sqlite", .code = rc};
  };
  constexpr auto statement =
      http(at_once, reprise::not_idempotent{}, attempts(3), reprise::classify(busy_is_transient));
  constexpr auto with_rc = [](int first, const auto& policy) {
    fake_clock time;
    script send{time, reply<int>(first), reply<int>(ok)};
    return reprise::execute(policy, send, time);
  };
  STATIC_REQUIRE(with_rc(busy_snapshot, statement).reason() == stop_reason::not_retryable);
  STATIC_REQUIRE(with_rc(busy_snapshot, statement).last_verdict().code == 517);
  STATIC_REQUIRE(with_rc(busy, statement).ok());
  STATIC_REQUIRE(with_rc(busy, statement).attempts() == 2);
  // A list of codes compares whole numbers as well.
  constexpr auto listed = statement.with(reprise::retry_codes{busy});
  STATIC_REQUIRE(with_rc(busy_snapshot, listed).reason() == stop_reason::not_retryable);
  STATIC_REQUIRE(with_rc(busy, listed.with(reprise::idempotent{})).ok());

  // The transaction rolls back what is open and begins anew.
  enum class call { begin, write, rollback, commit };
  constexpr auto transaction = [] {
    fake_clock time;
    reprise::testing::recorded<call> log;
    const auto all = [&](const reprise::attempt& current) {
      log.add(call::begin);
      log.add(call::write);
      if (current.number == 1) {
        log.add(call::rollback);
        return answer::rolled_back;
      }
      log.add(call::commit);
      return answer::ok;
    };
    const auto result = reprise::execute(plain(at_once, reprise::not_idempotent{}), all, time);
    return result.ok() && log.are({call::begin, call::write, call::rollback, call::begin, call::write, call::commit});
  };
  STATIC_REQUIRE(transaction());
}
