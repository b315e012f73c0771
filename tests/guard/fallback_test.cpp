// SPDX-License-Identifier: MIT
#include <memory>
#include <reprise/core.hpp>
#include <reprise/guard/fallback.hpp>
#include <reprise/testing/fake_clock.hpp>
#include <reprise/testing/script.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "catch.hpp"

using namespace std::chrono_literals;
using reprise::fallback;
using reprise::fallback_cause;
using reprise::outcome;
using reprise::stop_reason;
using reprise::testing::fails;
using reprise::testing::fake_clock;
using reprise::testing::reply;
using reprise::testing::response;
using reprise::testing::script;

namespace {

using point = fake_clock::time_point;

constexpr reprise::retry_policy policy{reprise::http::retry_statuses{}, reprise::idempotent{},
                                       reprise::constant_backoff{.delay = 100ms}, reprise::attempt_budget{.maximum = 2},
                                       reprise::time_limit{.total = 10s}};
constexpr auto catching = policy.with(reprise::http::retry_statuses{}, reprise::retry_exceptions<std::runtime_error>{});

/// A call of a chain: this send under the policy and the chain's deadline.
template <class Policy, class Send> auto call(const Policy& with, Send& send, fake_clock& time) {
  return [&](const auto& until) { return reprise::execute(with.with(until), send, time); };
}
template <class Send> auto call(Send& send, fake_clock& time) { return call(policy, send, time); }

constexpr reprise::deadline in_a_minute{point(1min)};

struct stand_in_failed {
  int number = 0;
};

}  // namespace

// --- who answers -----------------------------------------------------------------------------------------------------

TEST_CASE("the first call answers where it can, and no other is made") {
  fake_clock time;
  script primary{time, reply(503), reply(200)};
  script secondary{time, reply(200)};
  int last_resorts = 0;
  const auto chain = fallback{call(primary, time), call(secondary, time)}.or_else(
      [&](const fallback_cause&) { return ++last_resorts, response{}; });
  const auto answer = chain(in_a_minute);
  REQUIRE(answer.ok());
  CHECK(answer.value->status == 200);
  CHECK(answer.index == 0);
  CHECK(!answer.degraded);
  CHECK(answer.causes.empty());
  CHECK(secondary.calls() == 0);
  CHECK(last_resorts == 0);
}

TEST_CASE("calls are tried in order, and the answer tells which one gave it and why the others did not") {
  fake_clock time;
  script first{time, reply(503)};
  script second{time, reply(404)};
  script third{time, reply(200)};
  script fourth{time, reply(200)};
  const fallback chain{call(first, time), call(second, time), call(third, time), call(fourth, time)};
  const auto answer = chain(in_a_minute);
  REQUIRE(answer.ok());
  CHECK(answer.index == 2);
  CHECK(!answer.degraded);
  REQUIRE(answer.causes.size() == 2);
  CHECK(answer.causes[0].reason == stop_reason::attempts_exhausted);
  CHECK(answer.causes[0].verdict.code == 503);
  CHECK(answer.causes[1].reason == stop_reason::not_retryable);
  CHECK(answer.causes[1].verdict.code == 404);
  CHECK(&answer.causes.last() == &answer.causes[1]);
  CHECK(fourth.calls() == 0);
}

TEST_CASE("a permanent error moves on at once, without a wait") {
  fake_clock time;
  script primary{time, reply(404)};
  script secondary{time, reply(200)};
  CHECK(fallback{call(primary, time), call(secondary, time)}(in_a_minute).index == 1);
  CHECK(primary.calls() == 1);
  CHECK(time.waits().empty());
}

TEST_CASE("where all fail and there is no last resort nobody answers, and all causes are told") {
  fake_clock time;
  script primary{time, reply(503)};
  script secondary{time, reply(400)};
  const auto answer = fallback{call(primary, time), call(secondary, time)}(in_a_minute);
  CHECK(!answer.ok());
  CHECK(!answer.value.has_value());
  CHECK(answer.index == -1);
  CHECK(!answer.degraded);
  std::vector<int> codes;
  for (const fallback_cause& cause : answer.causes) codes.push_back(cause.verdict.code);
  CHECK(codes == std::vector<int>{503, 400});
}

TEST_CASE("a chain of one call is that call with a last resort") {
  fake_clock time;
  script only{time, reply(503)};
  const auto answer =
      fallback{call(only, time)}.or_else([](const fallback_cause&) { return response{.status = 203}; })(in_a_minute);
  REQUIRE(answer.ok());
  CHECK(answer.value->status == 203);
  CHECK(answer.index == 1);
  CHECK(answer.degraded);
}

TEST_CASE("the last resort is handed cause and stop reason of the last call, and its value is marked") {
  fake_clock time;
  script primary{time, reply(503)};
  script secondary{time, reply(404)};
  fallback_cause told;
  const auto chain = fallback{call(primary, time), call(secondary, time)}.or_else([&](const fallback_cause& cause) {
    told = cause;
    return response{.status = 203};
  });
  const auto answer = chain(in_a_minute);
  CHECK(answer.degraded);
  CHECK(answer.index == 2);
  CHECK(answer.causes.size() == 2);
  CHECK(told.reason == stop_reason::not_retryable);
  CHECK(told.verdict.code == 404);
}

TEST_CASE("a later last resort takes the place of an earlier one") {
  fake_clock time;
  script only{time, reply(503)};
  const auto one = fallback{call(only, time)}.or_else([](const fallback_cause&) { return response{.status = 1}; });
  const auto two = one.or_else([](const fallback_cause&) { return response{.status = 2}; });
  CHECK(one(in_a_minute).value->status == 1);
  CHECK(two(in_a_minute).value->status == 2);
}

TEST_CASE("a chain can be run again and again, and each run has its own causes") {
  fake_clock time;
  script primary{time, reply(404), reply(200)};
  script secondary{time, reply(200)};
  const fallback chain{call(primary, time), call(secondary, time)};
  auto seen = decltype(chain)::causes();
  CHECK(chain(in_a_minute, seen).index == 1);
  CHECK(seen.size() == 1);
  CHECK(chain(in_a_minute, seen).index == 0);
  CHECK(seen.empty());
}

// --- the deadline ----------------------------------------------------------------------------------------------------

TEST_CASE("all calls share one deadline: what the first took the second has not") {
  fake_clock time;
  script primary{time, reply(404).takes(700ms)};
  script secondary{time, reply(200)};
  const auto answer = fallback{call(primary, time), call(secondary, time)}(reprise::deadline{time.now() + 1s});
  CHECK(answer.index == 1);
  CHECK(primary.timeouts().are({1s}));
  CHECK(secondary.timeouts().are({300ms}));
}

TEST_CASE("when the time is up no call is made any more, and the last resort answers at once") {
  fake_clock time;
  script primary{time, reply(503).takes(1s)};
  script secondary{time, reply(200)};
  const auto chain = fallback{call(primary, time), call(secondary, time)}.or_else([](const fallback_cause& cause) {
    CHECK(cause.reason == stop_reason::deadline_reached);
    return response{.status = 203};
  });
  const auto answer = chain(reprise::deadline{point(1s)});
  CHECK(answer.degraded);
  CHECK(answer.value->status == 203);
  CHECK(secondary.calls() == 0);
  CHECK(time.now() == point(1s));
  CHECK(answer.causes[0].verdict.code == 503);
  CHECK(answer.causes[1].verdict.label == reprise::label("none"));
}

TEST_CASE("a call's own time limit still counts where it ends earlier than the chain") {
  fake_clock time;
  script primary{time, reply(503).takes(300ms)};
  script secondary{time, reply(200)};
  const auto hasty = policy.with(reprise::time_limit{.total = 300ms});
  CHECK(fallback{call(hasty, primary, time), call(secondary, time)}(in_a_minute).index == 1);
  CHECK(primary.timeouts().are({300ms}));
  CHECK(secondary.timeouts().are({10s}));
}

// --- cancellation ----------------------------------------------------------------------------------------------------

TEST_CASE("a call that is cancelled while it waits has no substitute", "[L03]") {
  fake_clock time;
  time.interrupts_at(50ms);
  script primary{time, reply(503)};
  script secondary{time, reply(200)};
  int last_resorts = 0;
  const auto chain = fallback{call(primary, time), call(secondary, time)}.or_else(
      [&](const fallback_cause&) { return ++last_resorts, response{}; });
  const auto answer = chain(in_a_minute);
  CHECK(!answer.ok());
  CHECK(answer.index == -1);
  CHECK(secondary.calls() == 0);
  CHECK(last_resorts == 0);
  REQUIRE(answer.causes.size() == 1);
  CHECK(answer.causes.last().reason == stop_reason::cancelled);
}

TEST_CASE("a cancelled verdict ends the chain, also in its middle, and no filter may change that") {
  fake_clock time;
  script primary{time, reply(404)};
  script secondary{time, reply(499)};
  script third{time, reply(200)};
  const auto cancels = policy.with(reprise::classify([](const response& r) -> std::optional<reprise::verdict> {
                                     if (r.status != 499) return std::nullopt;
                                     return reprise::verdict{.kind = outcome::cancelled, .code = 499};
                                   }),
                                   reprise::http::retry_statuses{});
  const auto chain = fallback{call(primary, time), call(cancels, secondary, time), call(third, time)}
                         .stands_in_for([](const fallback_cause&) { return true; })
                         .or_else([](const fallback_cause&) { return response{}; });
  const auto answer = chain(in_a_minute);
  CHECK(!answer.ok());
  CHECK(answer.causes.size() == 2);
  CHECK(answer.causes.last().verdict.code == 499);
  CHECK(third.calls() == 0);
}

// --- the filter ------------------------------------------------------------------------------------------------------

TEST_CASE("a filter says for what another call stands in") {
  fake_clock time;
  const int status = GENERATE(400, 503);
  script primary{time, reply(status)};
  script secondary{time, reply(200)};
  const auto chain = fallback{call(primary, time), call(secondary, time)}.stands_in_for(
      [](const fallback_cause& cause) { return cause.verdict.kind == outcome::transient; });
  const auto answer = chain(in_a_minute);
  CHECK(answer.ok() == (status == 503));
  CHECK(secondary.calls() == (status == 503 ? 1 : 0));
  CHECK(answer.index == (status == 503 ? 1 : -1));
  CHECK(answer.causes.size() == 1);
}

TEST_CASE("a filter holds for the last resort too, in whatever order the two are written") {
  fake_clock time;
  script only{time, reply(400)};
  int last_resorts = 0;
  const auto resort = [&](const fallback_cause&) { return ++last_resorts, response{}; };
  const auto never = [](const fallback_cause&) { return false; };
  CHECK(!fallback{call(only, time)}.stands_in_for(never).or_else(resort)(in_a_minute).ok());
  CHECK(!fallback{call(only, time)}.or_else(resort).stands_in_for(never)(in_a_minute).ok());
  CHECK(last_resorts == 0);
}

TEST_CASE("a filter is asked once for each failed call, with its cause") {
  fake_clock time;
  script primary{time, reply(503)};
  script secondary{time, reply(404)};
  std::vector<int> asked;
  const auto chain = fallback{call(primary, time), call(secondary, time)}.stands_in_for(
      [&](const fallback_cause& cause) { return asked.push_back(cause.verdict.code), true; });
  CHECK(!chain(in_a_minute).ok());
  CHECK(asked == std::vector<int>{503, 404});
}

// --- exceptions ------------------------------------------------------------------------------------------------------

TEST_CASE("what the last resort throws passes through as it is, and the last real error stays reachable", "[L01]") {
  fake_clock time;
  script primary{time, reply(404)};
  script secondary{time, fails<std::runtime_error>("reset"), reply(200)};
  const auto once = catching.with(reprise::attempt_budget{.maximum = 1});
  const auto chain = fallback{call(primary, time), call(once, secondary, time)}.or_else(
      [](const fallback_cause&) -> response { throw stand_in_failed{7}; });
  decltype(chain)::causes seen;
  try {
    (void)chain(in_a_minute, seen);
    CHECK(false);
  } catch (const stand_in_failed& failure) {
    CHECK(failure.number == 7);
  }
  REQUIRE(seen.size() == 2);
  CHECK(seen[0].verdict.code == 404);
  CHECK(seen[0].exception == nullptr);
  REQUIRE(seen.last().exception != nullptr);
  try {
    std::rethrow_exception(seen.last().exception);
  } catch (const std::runtime_error& real) {
    CHECK(real.what() == std::string("reset"));
  }
}

TEST_CASE("what a call throws and nobody recognises passes through, and no other call hides it") {
  fake_clock time;
  script primary{time, reply(404)};
  const auto broken = [](const auto&) -> reprise::retry_result<response> { throw std::logic_error("bug"); };
  script third{time, reply(200)};
  const fallback chain{call(primary, time), broken, call(third, time)};
  decltype(chain)::causes seen;
  CHECK_THROWS_AS((void)chain(in_a_minute, seen), std::logic_error);
  CHECK(third.calls() == 0);
  REQUIRE(seen.size() == 1);
  CHECK(seen.last().verdict.code == 404);
}

TEST_CASE("a last resort can throw the call's own error on") {
  fake_clock time;
  script only{time, fails<std::runtime_error>("reset"), reply(200)};
  const auto once = catching.with(reprise::attempt_budget{.maximum = 1});
  const auto chain = fallback{call(once, only, time)}.or_else([](const fallback_cause& cause) -> response {
    if (cause.exception) std::rethrow_exception(cause.exception);
    return {};
  });
  CHECK_THROWS_AS((void)chain(in_a_minute), std::runtime_error);
}

// --- what calls and results may be -----------------------------------------------------------------------------------

TEST_CASE("calls may keep different things in their results: exceptions, logs, or neither") {
  fake_clock time;
  script plain{time, reply(503)};
  script thrown{time, reply(503), fails<std::runtime_error>("reset")};
  script logged{time, reply(503)};
  script both{time, reply(503), fails<std::runtime_error>("reset")};
  script last{time, reply(200)};
  const fallback chain{call(plain, time), call(catching, thrown, time),
                       call(policy.with(reprise::attempt_log<4>{}), logged, time),
                       call(catching.with(reprise::attempt_log<4>{}), both, time), call(last, time)};
  const auto answer = chain(in_a_minute);
  CHECK(answer.index == 4);
  CHECK(answer.causes.size() == 4);
  CHECK(answer.causes[0].exception == nullptr);
  CHECK(answer.causes[1].exception != nullptr);
  CHECK(answer.causes[2].exception == nullptr);
  CHECK(answer.causes[3].exception != nullptr);
  for (const auto& cause : answer.causes) CHECK(cause.reason == stop_reason::attempts_exhausted);
}

TEST_CASE("answers are of the first call's type; those of later calls and of the last resort convert to it") {
  fake_clock time;
  const reprise::retry_policy judged{reprise::classify([](const auto& text) -> reprise::verdict {
                                       return {.kind = text[0] == '-' ? outcome::permanent : outcome::success};
                                     }),
                                     reprise::idempotent{}};
  const bool second_works = GENERATE(true, false);
  const auto first = [&](const auto& until) {
    return reprise::execute(judged.with(until), [] { return std::string("-"); }, time);
  };
  const auto second = [&](const auto& until) {
    return reprise::execute(judged.with(until), [&] { return second_works ? "second" : "-"; }, time);
  };
  const auto answer = fallback{first, second}.or_else([](const fallback_cause&) { return "last"; })(in_a_minute);
  STATIC_REQUIRE(std::same_as<decltype(answer.value), std::optional<std::string>>);
  CHECK(*answer.value == (second_works ? "second" : "last"));
  CHECK(answer.index == (second_works ? 1 : 2));
}

TEST_CASE("a view of what a call returned is no answer: it would outlive its text") {
  STATIC_REQUIRE(reprise::detail::answers_as<const char*, std::string>);
  STATIC_REQUIRE(reprise::detail::answers_as<std::string_view, std::string_view>);
  STATIC_REQUIRE(reprise::detail::answers_as<int, double>);
  STATIC_REQUIRE(!reprise::detail::answers_as<std::string, std::string_view>);
  STATIC_REQUIRE(!reprise::detail::answers_as<int, std::vector<int>>);
}

TEST_CASE("answers that can only be moved are moved") {
  fake_clock time;
  const reprise::retry_policy there{reprise::until([](const std::unique_ptr<int>& p) { return p != nullptr; }),
                                    reprise::idempotent{}, reprise::attempt_budget{.maximum = 1}};
  int calls = 0;
  const auto empty = [&](const auto& until) {
    return reprise::execute(there.with(until), [&] { return ++calls, std::unique_ptr<int>(); }, time);
  };
  const auto full = [&](const auto& until) {
    return reprise::execute(there.with(until), [&] { return ++calls, std::make_unique<int>(7); }, time);
  };
  CHECK(*fallback{empty, full}(in_a_minute).value.value() == 7);
  const auto degraded =
      fallback{empty}.or_else([](const fallback_cause&) { return std::make_unique<int>(8); })(in_a_minute);
  CHECK(**degraded.value == 8);
  CHECK(calls == 3);
}

TEST_CASE("calls, last resort and filter may be movable only") {
  fake_clock time;
  script primary{time, reply(404)};
  auto owning = [status = std::make_unique<int>(203)](const fallback_cause&) { return response{.status = *status}; };
  auto owning_call = [once = std::make_unique<int>(1), inner = call(primary, time)](const auto& until) {
    return inner(until);
  };
  auto owning_filter = [yes = std::make_unique<bool>(true)](const fallback_cause&) { return *yes; };
  const auto chain =
      fallback{std::move(owning_call)}.or_else(std::move(owning)).stands_in_for(std::move(owning_filter));
  CHECK(chain(in_a_minute).value->status == 203);
}

TEST_CASE("a failed call's response is gone before the next call is made") {
  fake_clock time;
  int alive = 0;
  struct connection {
    explicit connection(int& count, int given) : alive(&count), status(given) { ++*alive; }
    connection(connection&& other) noexcept : alive(other.alive), status(other.status) { ++*alive; }
    ~connection() { --*alive; }
    int* alive;
    int status;
  };
  const auto send_of = [&](int status) {
    return [&, status](const auto& until) {
      return reprise::execute(
          policy.with(until),
          [&] {
            CHECK(alive == 0);
            return connection(alive, status);
          },
          time);
    };
  };
  {
    const auto answer = fallback{send_of(404), send_of(400), send_of(200)}(in_a_minute);
    CHECK(answer.index == 2);
    CHECK(alive == 1);
  }
  CHECK(alive == 0);
}

TEST_CASE("a chain is a value: a copy asks the same calls") {
  fake_clock time;
  script primary{time, reply(404)};
  script secondary{time, reply(200)};
  const fallback chain{call(primary, time), call(secondary, time)};
  const auto copy = chain;
  const auto marked = copy.or_else([](const fallback_cause&) { return response{.status = 203}; });
  CHECK(copy(in_a_minute).index == 1);
  CHECK(marked(in_a_minute).index == 1);
  CHECK(primary.calls() == 2);
}

TEST_CASE("a cause that nobody filled in names no success, and an answer that nobody gave is none") {
  CHECK(fallback_cause{}.reason == stop_reason::cancelled);
  CHECK(fallback_cause{}.verdict.kind == outcome::permanent);
  CHECK(!reprise::fallback_answer<int, 1>{}.ok());
  CHECK(reprise::fallback_answer<int, 1>{}.index == -1);
}
