// SPDX-License-Identifier: MIT
// The blocking driver: makes the attempts, sleeps the waits. Clock, sleep and randomness are the caller's.
// Holds no rule of the decision: it does what the engine says.
#pragma once

#include "../detail/send.hpp"
#include "../engine.hpp"
#include "../result.hpp"

namespace reprise::inline REPRISE_VERSION_NAMESPACE {

namespace detail {

/// Three functions as one environment.
template <class Clock, class Sleep, class Fraction> struct functions {
  Clock& clock;
  Sleep& sleep_for;
  Fraction& draw;

  constexpr auto now() { return clock(); }
  constexpr auto sleep(duration wait) { return sleep_for(wait); }
  constexpr double fraction() { return static_cast<double>(draw()); }
};

/// What a policy keeps in its results: the exception where a part classifies exceptions, the log where it has one.
template <class Policy> constexpr bool keeps_exception = exceptions_are_on && Policy::exception_classifiers > 0;

/// The records that a policy's own log leaves; void without one, also where it writes to the caller's.
template <class Part> struct records_of {
  using type = void;
};
template <class Part> requires requires { typename Part::records; }
struct records_of<Part> {
  using type = typename Part::records;
};
template <class Policy> using kept_records =
    typename records_of<std::remove_cvref_t<decltype(std::declval<const Policy&>().template part<role::log>())>>::type;
template <class Policy> constexpr bool keeps_log = !std::is_void_v<kept_records<Policy>>;

template <class Response, class Policy> constexpr auto result_for() {
  if constexpr (keeps_log<Policy> && keeps_exception<Policy>)
    return std::type_identity<retry_result<Response, kept_exception, kept_records<Policy>>>{};
  else if constexpr (keeps_log<Policy>) return std::type_identity<retry_result<Response, kept_records<Policy>>>{};
  else if constexpr (keeps_exception<Policy>) return std::type_identity<retry_result<Response, kept_exception>>{};
  else return std::type_identity<retry_result<Response>>{};
}
template <class Response, class Policy> using result_type = typename decltype(result_for<Response, Policy>())::type;

template <class Environment> constexpr bool is_cancelled(Environment& with) {
  if constexpr (requires { with.cancelled(); }) return static_cast<bool>(with.cancelled());
  return false;
}

/// Sleeps; true if the sleep was cut short.
template <class Environment> constexpr bool sleep_is_cut(Environment& with, duration wait) {
  if constexpr (requires { with.sleep(wait) == slept::fully; }) return with.sleep(wait) == slept::interrupted;
  with.sleep(wait);
  return false;
}

/// Sends once and judges what came back; what is thrown passes through.
template <class Engine, class Send, class TimePoint, class Response>
[[gnu::always_inline]] constexpr verdict send_once(Engine& engine, Send& send, const attempt_at<TimePoint> current,
                                                   std::optional<Response>& response) {
  if constexpr (std::is_same_v<Response, no_response>) {
    call_send(send, current);
    response.emplace();
    return {.kind = outcome::success};
  } else {
    response.emplace(call_send(send, current));
    engine.note(*response);
    return engine.policy().judge(*response, current);
  }
}

#if REPRISE_EXCEPTIONS
/// Sends once; turns what is thrown into a verdict if a classifier recognises it. Otherwise the end is told, and it
/// passes on unchanged.
template <class Engine, class Send, class TimePoint, class Response, class Kept, class Now>
constexpr verdict send_and_catch(Engine& engine, Send& send, const attempt_at<TimePoint> current,
                                 std::optional<Response>& response, Kept& kept, Now& now) {
  constexpr bool keeps = keeps_exception<std::remove_cvref_t<decltype(engine.policy())>>;
  if constexpr (keeps) get<0>(kept).thrown = nullptr;
  try {
    return send_once(engine, send, current, response);
  } catch (...) {
    if (response.has_value()) throw;  // a classifier's own exception
    const std::optional<verdict> judged = engine.policy().judge_in_flight(current);
    try {
      throw;
    } catch (const std::exception& exception) {
      engine.note(exception);
    } catch (...) {
    }
    if (!judged.has_value()) {
      engine.on_unrecognised(now);
      throw;
    }
    if constexpr (keeps) get<0>(kept).thrown = std::current_exception();
    return *judged;
  }
}
#endif

/// The loop of one call. Exceptions are caught only where a part classifies them, or where somebody is to be told of
/// the end.
template <class Policy, class Send, class Environment> struct blocking_call {
  const Policy& policy;
  Send& send;
  Environment& with;

  template <class Response, class Kept>
  [[gnu::always_inline]] constexpr call_end operator()(std::optional<Response>& response, Kept& kept) const {
    using time_point = decltype(with.now());
    const auto now = [&] {
      if constexpr (Policy::needs_clock) return with.now();
      return time_point{};
    };
    const auto fraction = [&] { return with.fraction(); };
    const auto cancelled = [&] { return is_cancelled(with); };

    engine<const Policy&, time_point> engine(policy);
    auto next = cancelled() ? engine.cancel() : engine.start(now);
    while (next.kind == step::attempt) {
      const verdict ended = attempt_once(engine, next.attempt, response, kept, now);
      next = engine.on_verdict(ended, now, fraction, cancelled);
      if (next.kind != step::wait) break;
      response.reset();  // it may hold a pooled connection
      next = sleep_is_cut(with, next.wait) || cancelled() ? engine.cancel(now) : engine.on_slept(now);
    }
    if constexpr (keeps_log<Policy>) get<Kept::size - 1>(kept) = engine.log();
    return {engine.last_verdict(), engine.total_wait(), engine.attempts(), next.reason};
  }

 private:
  template <class Engine, class TimePoint, class Response, class Kept, class Now>
  [[gnu::always_inline]] constexpr verdict attempt_once(Engine& engine, const attempt_at<TimePoint>& current,
                                                        std::optional<Response>& response, [[maybe_unused]] Kept& kept,
                                                        [[maybe_unused]] Now& now) const {
    constexpr bool told = Policy::template has<role::log> || Policy::template has<role::events>;
    if constexpr (exceptions_are_on && (keeps_exception<Policy> || told))
      return send_and_catch(engine, send, current, response, kept, now);
    else return send_once(engine, send, current, response);
  }
};

/// The sentences of `execute`; true if it can go on.
template <class Policy, class Send, class TimePoint> constexpr bool execute_is_sound() {
  if constexpr (!is_retry_policy<Policy>) {
    static_assert(
        always_false<Policy>,
        "reprise::execute requires a policy: write reprise::retry_policy{reprise::http::retry_statuses{}, ...}");
    return false;
  } else {
    using response = typename response_of<Send, TimePoint>::type;
    using classifiers = classifiers_for<Policy, response>;
    constexpr bool callable = can_be_sent<Send, TimePoint>;
    constexpr bool by_value = !std::is_reference_v<response>;
    constexpr bool classifies = Policy::template has<role::classifier>;
    constexpr bool says_idempotency = Policy::template has<role::idempotency>;
    constexpr bool one_clock = deadline_is_of_clock<Policy, TimePoint>();
    constexpr bool fits = !callable || !by_value || classifiers::take_the_response;
    constexpr bool all_asked = !callable || !by_value || classifiers::are_all_asked;
    static_assert(
        callable,
        "reprise::execute requires a send that can be called: let it take const reprise::attempt&, a chrono duration, reprise::attempt_at<time_point> or nothing");
    static_assert(by_value, "reprise::execute requires a response by value: let send return an object, or a pointer");
    static_assert(
        classifies,
        "reprise::execute requires a classifier: write reprise::http::retry_statuses{} or reprise::classify(f) into the policy");
    static_assert(
        says_idempotency,
        "reprise::execute requires idempotency: write policy.with(reprise::idempotent{}), reprise::not_idempotent{} or reprise::http::operation{.method = \"GET\"}");
    static_assert(
        hints_are_limited<Policy>,
        "reprise::execute requires a limit for the server's hints: write reprise::retry_after_limit{.longest = 60s} (reprise::unlimited says that there is none), a wait_limit or a time_limit");
    static_assert(one_clock,
                  "reprise::execute requires a deadline of its own clock: write reprise::deadline{clock() + 800ms}");
    static_assert(
        fits,
        "reprise::execute requires classifiers that take the response: write reprise::classify([](const response& r) -> reprise::verdict { ... }); of a send that returns nothing only the exceptions can be classified");
    static_assert(
        all_asked,
        "reprise::execute requires that every classifier can be asked: write the one that answers for everything last, and a derived exception before its base");
    return callable && by_value && classifies && says_idempotency && hints_are_limited<Policy> && one_clock && fits &&
           all_asked;
  }
}

}  // namespace detail

/// Makes one call under a policy: attempts, waits between them, and the end, as a `retry_result`. `send` may take
/// `const attempt&`, `const attempt_at<time_point>&`, any chrono duration (the attempt's timeout, rounded up) or
/// nothing; it returns its response by value, move-only or void too. Anything with `now()` (of a steady clock),
/// `sleep(duration)` (returning nothing or `slept`) and `fraction()` in [0,1] is an environment; the test kit's
/// `fake_clock` is one. A blocking call cannot cut an attempt: the deadline is as good as send's use of its timeout.
/// Throws what send, classifiers and event handlers throw; thrown failures that a part classifies end in the result.
template <class Policy, class Send, class Environment>
[[gnu::always_inline]] constexpr auto execute(const Policy& policy, Send&& send, Environment& with) {
  static_assert(
      environment<Environment>,
      "reprise::execute requires an environment: write an object with now(), sleep(duration) and fraction(), or hand in clock, sleep and fraction one by one");
  if constexpr (environment<Environment>) {
    using time_point = std::remove_cvref_t<decltype(with.now())>;
    using sleep_result = decltype(with.sleep(duration{}));
    constexpr bool steady = time_point::clock::is_steady;
    constexpr bool sleeps = std::is_void_v<sleep_result> || std::same_as<sleep_result, slept>;
    static_assert(
        steady,
        "reprise::execute requires a steady clock: write [] { return std::chrono::steady_clock::now(); }; a wall clock that is set would end or prolong calls");
    static_assert(
        sleeps,
        "reprise::execute requires a sleep that returns nothing or reprise::slept: write return stopped ? reprise::slept::interrupted : reprise::slept::fully");
    if constexpr (steady && sleeps && detail::execute_is_sound<Policy, std::remove_reference_t<Send>, time_point>()) {
      using response = typename detail::response_of<std::remove_reference_t<Send>, time_point>::type;
      using loop = detail::blocking_call<Policy, std::remove_reference_t<Send>, Environment>;
      return detail::result_type<std::remove_cv_t<response>, Policy>(loop{policy, send, with});
    }
  }
}

/// The same with clock, sleep and fraction one by one.
template <class Policy, class Send, class Clock, class Sleep, class Fraction>
[[gnu::always_inline]] constexpr auto execute(const Policy& policy, Send&& send, Clock&& clock, Sleep&& sleep,
                                              Fraction&& fraction) {
  constexpr bool has_clock = clock_function<std::remove_reference_t<Clock>>;
  constexpr bool has_sleep = std::invocable<Sleep&, duration>;
  constexpr bool has_fraction = fraction_function<std::remove_reference_t<Fraction>>;
  static_assert(
      has_clock,
      "reprise::execute requires a clock: write [] { return std::chrono::steady_clock::now(); }, a function that gives a time_point");
  static_assert(has_sleep, "reprise::execute requires a sleep: write [](reprise::duration d) { ... }");
  static_assert(
      has_fraction,
      "reprise::execute requires a fraction: write [] { return 0.5; }, a function that gives a number in [0,1], or reprise::random_fraction{}");
  if constexpr (has_clock && has_sleep && has_fraction) {
    detail::functions<std::remove_reference_t<Clock>, std::remove_reference_t<Sleep>, std::remove_reference_t<Fraction>>
        environment{clock, sleep, fraction};
    return execute(policy, send, environment);
  }
}

}  // namespace reprise::inline REPRISE_VERSION_NAMESPACE
