// SPDX-License-Identifier: MIT
// Every extension point, on one page: what a part of a policy is asked, and what clocks, sleeps and budgets look like.
// Knows no part by name.
#pragma once

#include <concepts>
#include <optional>
#include <type_traits>
#include <utility>

#include "action.hpp"
#include "time_span.hpp"
#include "verdict.hpp"

namespace reprise::inline REPRISE_VERSION_NAMESPACE {

// ---------------------------------------------------------------------------------------------------------------------
// Roles. A part names its role: `static constexpr auto part_role = reprise::role::backoff;`. Two callables are known by
// their shape without it: `(int) -> a duration` is a backoff; `(response) -> verdict` is a classifier. They are plain
// functions or lambdas whose parameter types are written out.

/// The questions that the engine asks; a part answers one of them.
enum class role {
  classifier,       ///< what does this end of an attempt mean?
  idempotency,      ///< may it be repeated without harm?
  backoff,          ///< how long to wait before retry n?
  jitter,           ///< how is that delay spread?
  attempts,         ///< how many attempts?
  time,             ///< how long may the call take?
  deadline,         ///< when must it end?
  attempt_timeout,  ///< how long may one attempt take?
  waiting,          ///< how long may all waits take together?
  server_hint,      ///< how long a wait may the server ask for?
  retry_budget,     ///< does a budget shared by many calls allow another retry?
  admission,        ///< is an attempt let out at all?
  log,              ///< where are the attempts written down?
  events            ///< who is told?
};

namespace detail {

template <class Callable> struct call_shape {};

template <class Result, class First, class... More> struct call_shape<Result (*)(First, More...)> {
  using result = Result;
  using first = First;
  static constexpr bool alone = sizeof...(More) == 0;
};
template <class Result, class First, class... More> struct call_shape<Result (*)(First, More...) noexcept>
    : call_shape<Result (*)(First, More...)> {};
template <class Result, class Object, class First, class... More>
struct call_shape<Result (Object::*)(First, More...) const> : call_shape<Result (*)(First, More...)> {};
template <class Result, class Object, class First, class... More>
struct call_shape<Result (Object::*)(First, More...) const noexcept> : call_shape<Result (*)(First, More...)> {};
template <class Object> requires requires { &Object::operator(); }
struct call_shape<Object> : call_shape<decltype(&Object::operator())> {};

template <class Part> concept names_its_role = requires {
  { Part::part_role } -> std::convertible_to<role>;
};

template <class Part> concept shaped_like_backoff = requires {
  typename call_shape<Part>::first;
  requires call_shape<Part>::alone;
  requires std::same_as<std::remove_cvref_t<typename call_shape<Part>::first>, int>;
  requires std::convertible_to<typename call_shape<Part>::result, time_span>;
};

template <class Part> concept shaped_like_classifier = requires {
  typename call_shape<Part>::result;
  requires std::same_as<typename call_shape<Part>::result, verdict> ||
               std::same_as<typename call_shape<Part>::result, std::optional<verdict>>;
};

template <class Part> concept is_part =
    names_its_role<Part> || shaped_like_backoff<Part> || shaped_like_classifier<Part>;

template <is_part Part> constexpr role role_of() {
  if constexpr (names_its_role<Part>) return Part::part_role;
  else if constexpr (shaped_like_backoff<Part>) return role::backoff;
  else return role::classifier;
}

}  // namespace detail

// ---------------------------------------------------------------------------------------------------------------------
// Parts. All are asked through `const`: a policy is immutable, what a call remembers is in its engine.
// A part may have `check() const`, called when a policy is made, which refuses bad values with `std::invalid_argument`.

/// The delay before retry `retry`, 0 before the first. May have: `cap` (it keeps its delays within it; both ends of the
/// spread delay are clamped to it again), `grows` (true: full jitter unless another is given; default false), and
/// `settled(retry)` (true: the delay is the same for this and every later retry, and was never longer before; lets a
/// bill multiply instead of loop).
template <class Part> concept backoff_part = requires(const Part& part, int retry) {
  { part(retry) } -> std::convertible_to<time_span>;
};

/// A backoff whose published formula needs memory. `call_state` (default-made for each call) lives in the engine;
/// `range` gives the possible waits, `advance` is told the own wait that was drawn. A jitter part beside it is an
/// error. May have `draw(retry, state, fraction) -> duration`, asked instead of a point of the range and of `advance`
/// (a formula that is not linear, or that clamps what it drew): within the range, growing with the fraction; and
/// `restart(state)`, called after `advance` or `draw` when a server's hint was honoured.
template <class Part> concept stateful_backoff_part =
    std::default_initializable<typename Part::call_state> &&
    requires(const Part& part, int retry, typename Part::call_state& state, duration own) {
      { part.range(retry, std::as_const(state)) } -> std::same_as<wait_range>;
      part.advance(state, own);
    };

/// Spreads a delay to a range. May have `only_shortens` (true: the range never passes the delay, so that a delay within
/// the cap need not be clamped again).
template <class Part> concept jitter_part = requires(const Part& part, duration delay) {
  { part(delay) } -> std::same_as<wait_range>;
};

/// A jitter that needs the backoff's own numbers and memory (chosen at run time, decorrelated among the choices).
template <class Part, class Backoff> concept stateful_jitter_part =
    std::default_initializable<typename Part::call_state> &&
    requires(const Part& part, const Backoff& backoff, int retry, typename Part::call_state& state, duration own) {
      { part.range(backoff, retry, std::as_const(state)) } -> std::same_as<wait_range>;
      part.advance(state, own);
    };

/// Whether the operation may be repeated whatever its first try did.
template <class Part> concept idempotency_part = requires(const Part& part) {
  { part.replay_safe() } -> std::same_as<bool>;
};

/// The most attempts, the first included; `unlimited_count` for no limit.
template <class Part> concept attempts_part = requires(const Part& part) {
  { part.max_attempts() } -> std::same_as<int>;
};

/// A limit in time: of the call (role `time`), or of its waits together (role `waiting`).
template <class Part> concept limit_part = requires(const Part& part) {
  { part.limit() } -> std::convertible_to<duration>;
};

/// A point in time shared by several calls.
template <class Part> concept deadline_part = requires(const Part& part) { part.time.time_since_epoch(); };

/// The timeout of one attempt; what is longer than `remaining` is cut by the engine.
template <class Part> concept attempt_timeout_part = requires(const Part& part, duration remaining, int attempts_left) {
  { part(remaining, attempts_left) } -> std::convertible_to<duration>;
};

/// What becomes of the server's hint: the wait to honour, or nothing if it is not to be honoured.
template <class Part> concept server_hint_part = requires(const Part& part, duration hint, double fraction) {
  { part.stops(hint) } -> std::same_as<bool>;
  { part.honoured(hint) } -> std::same_as<std::optional<duration>>;
  { part.spread_by(fraction) } -> std::convertible_to<duration>;
  { part.longest_wait() } -> std::convertible_to<duration>;
};

/// A throttle that may refuse any attempt, the first too. `now` is the time since the clock's epoch. May have
/// `ended(verdict, now) const`, told of the end of each admitted attempt that gets a verdict.
template <class Part> concept admission_part = requires(const Part& part, duration now) {
  { part.admit(now) } -> std::same_as<bool>;
};

// ---------------------------------------------------------------------------------------------------------------------
// Classifiers. Asked in the order written; the first that recognises an end decides. Returning `verdict` is total,
// `std::optional<verdict>` is partial. May have `static constexpr bool gives_hints` (default true): whether its
// verdicts can carry `retry_after`. Exception classifiers are the ones of policy/classifier.hpp.

namespace detail {

template <class Part, class Response> concept asks_with_attempt =
    std::invocable<const Part&, const Response&, const attempt&>;

template <class Part, class Response>
[[gnu::always_inline]] constexpr auto ask(const Part& part, const Response& response, const attempt& current) {
  if constexpr (asks_with_attempt<Part, Response>) return part(response, current);
  else return part(response);
}

}  // namespace detail

/// A classifier for responses of this type: takes the response, or response and attempt.
template <class Part, class Response> concept classifier_part =
    (detail::asks_with_attempt<Part, Response> || std::invocable<const Part&, const Response&>) &&
    requires(const Part& part, const Response& response, const attempt& current) {
      { detail::ask(part, response, current) } -> std::convertible_to<std::optional<verdict>>;
    };

namespace detail {

/// Total: gives a verdict for every subject of this type.
template <class Part, class Subject> inline constexpr bool judges_all = false;
template <class Part, class Subject> requires classifier_part<Part, Subject>
inline constexpr bool judges_all<Part, Subject> =
    std::same_as<decltype(ask(std::declval<const Part&>(), std::declval<const Subject&>(),
                              std::declval<const attempt&>())),
                 verdict>;

}  // namespace detail

// ---------------------------------------------------------------------------------------------------------------------
// What the caller hands in.

template <class Point> concept time_point_type = requires {
  typename Point::clock;
  typename Point::duration;
  { Point::clock::is_steady } -> std::convertible_to<bool>;
};

/// A clock object: gives a time_point whose clock is steady.
template <class Clock> concept clock_function =
    std::invocable<Clock&> && time_point_type<std::remove_cvref_t<std::invoke_result_t<Clock&>>>;

/// A sleep: takes a `duration` and lasts at least that long; returns nothing, or `slept`.
template <class Sleep> concept sleep_function =
    std::invocable<Sleep&, duration> && (std::is_void_v<std::invoke_result_t<Sleep&, duration>> ||
                                         std::same_as<std::invoke_result_t<Sleep&, duration>, slept>);

/// The source of randomness: a number in [0,1], asked at most once a retry.
template <class Fraction> concept fraction_function =
    std::invocable<Fraction&> && std::convertible_to<std::invoke_result_t<Fraction&>, double> &&
    !std::same_as<std::remove_cvref_t<std::invoke_result_t<Fraction&>>, bool>;

/// All three in one object. May have `cancelled() -> bool`, asked after a failed attempt and before every attempt.
template <class Environment> concept environment = requires(Environment& with, duration wait) {
  { with.now() } -> time_point_type;
  with.sleep(wait);
  { with.fraction() } -> std::convertible_to<double>;
};

// ---------------------------------------------------------------------------------------------------------------------
// Retry budgets, shared by many calls. The engine speaks to one at five moments; `now` is the time since the clock's
// epoch. A permit is movable and gives back in its destructor what it still holds, so that nothing is lost when a retry
// never starts, or when send, a classifier or an event handler throws.

/// 1. `call_started(now)`: before the first attempt of a call. 2. `failed(verdict)`: each transient verdict, also of
/// operations that will not be repeated. 3. `try_retry(verdict, now)`: when all other limits allow a retry; an empty
/// optional refuses. 4. `retry_started(permit)`, where the budget has it: the wait is over and the retry is made; a
/// permit that is let go without it was not used. 5. `call_ended(success, permit, now)`: once for each call that
/// started, however it ended, with the permit of its last retry.
template <class Budget> concept retry_budget_model = requires(Budget& budget, const verdict& failure, duration now) {
  budget.call_started(now);
  budget.failed(failure);
  { budget.try_retry(failure, now).has_value() } -> std::convertible_to<bool>;
  requires std::movable<std::remove_cvref_t<decltype(budget.try_retry(failure, now))>>;
  budget.call_ended(true, budget.try_retry(failure, now), now);
};

}  // namespace reprise::inline REPRISE_VERSION_NAMESPACE
