// SPDX-License-Identifier: MIT
// The state machine behind every driver. Every rule of the decision lives in this file, in the order in which it is
// asked. Reads no clock, sleeps nowhere, draws no random number: time and fraction are parameters.
#pragma once

#include "detail/budget_session.hpp"
#include "detail/schedule.hpp"
#include "detail/usage.hpp"
#include "policy.hpp"
#include "policy/attempt_log.hpp"
#include "policy/on_event.hpp"

namespace reprise::inline REPRISE_VERSION_NAMESPACE {

namespace detail {

/// A value, or a callable that is asked for it only when the decision needs it.
template <class Value> [[gnu::always_inline]] constexpr auto value_of(Value& value) {
  if constexpr (std::invocable<Value&>) return value();
  else return value;
}

/// The log that a call writes: a copy of the policy's empty one, or a reference to the caller's.
template <class Policy> constexpr decltype(auto) open_log(const Policy& policy) {
  if constexpr (Policy::template has<role::log>) return policy.template part<role::log>().open();
  else return nothing{};
}

}  // namespace detail

/// One call under a policy, step by step: `start`, then `on_verdict` after each attempt and `on_wait_over` after each
/// wait, each returning the one next action. A call that does not fit (a verdict after the end) changes nothing and
/// returns the action that stands. `now` and `fraction` may be values or callables; a callable is asked at most once
/// and only if the decision needs it. Copies the policy (`engine<const Policy&, ...>` refers to it), is move-only, and
/// gives budget permits back when it is destroyed. `now` is never taken to be earlier than the latest reading.
template <class Policy, class TimePoint> class engine {
  using policy_type = std::remove_cvref_t<Policy>;
  static_assert(detail::is_retry_policy<policy_type>,
                "reprise::engine requires a policy: write reprise::engine<decltype(policy), Clock::time_point>");
  using schedule = detail::schedule<policy_type>;
  using budget_part =
      std::remove_cvref_t<decltype(std::declval<const policy_type&>().template part<role::retry_budget>())>;
  using log_type = decltype(detail::open_log(std::declval<const policy_type&>()));

  static_assert(
      policy_type::template has<role::classifier>,
      "reprise::engine requires a classifier: write for example reprise::http::retry_statuses{} into the policy");
  static_assert(
      policy_type::template has<role::idempotency>,
      "reprise::engine requires idempotency: write policy.with(reprise::idempotent{}) or reprise::not_idempotent{}");
  static_assert(
      detail::hints_are_limited<policy_type>,
      "reprise::engine requires a limit for the server's hints: write reprise::retry_after_limit{.longest = 60s} (reprise::unlimited says that there is none), a wait_limit or a time_limit");
  static_assert(
      detail::deadline_is_of_clock<policy_type, TimePoint>(),
      "reprise::engine requires a deadline of its own clock: write reprise::deadline{now + 800ms} with that clock's time");

 public:
  using action = reprise::action<TimePoint>;

  constexpr explicit engine(Policy policy)
      : policy_(static_cast<Policy&&>(policy)),
        budget_(policy_.template part<role::retry_budget>()),
        log_(detail::open_log(policy_)) {}
  engine(const engine&) = delete;
  engine& operator=(const engine&) = delete;
  constexpr engine(engine&&) = default;
  engine& operator=(engine&&) = delete;
  ~engine() = default;

  /// Begins the call: the first attempt, or a stop if there is no time or no admission for it.
  template <class Now> [[gnu::always_inline]] constexpr action start(Now&& now) {
    if (phase_ != phase::ready) return standing();
    start_ = detail::value_of(now);
    if constexpr (policy_type::limits_time) limit_ = limit_of_call();
    return begin_attempt();
  }

  /// The attempt has ended. `cancelled` (a value or a callable) is asked whether a cancellation arrived meanwhile,
  /// unless the attempt succeeded: a success that was received counts.
  template <class Now, class Fraction, class Cancelled = bool>
  [[gnu::always_inline]] constexpr action on_verdict(const verdict& ended, Now&& now, Fraction&& fraction,
                                                     Cancelled&& cancelled = false) {
    if (phase_ != phase::attempting) return standing();
    // Read before the verdict is copied: an optional that has been copied lives in memory.
    duration asked = policy_type::gives_hints ? ended.retry_after.value_or(no_hint) : no_hint;
    last_ = ended;
    if constexpr (watched) {
      read(now);
      if constexpr (logs)
        log_.add({.number = attempts_, .start = attempt_began_, .elapsed = now_ - attempt_began_, .verdict = ended});
      if constexpr (admission_hears) policy_.template part<role::admission>().ended(ended, since_epoch());
    }
    if (ended.kind == outcome::success) return stop(stop_reason::succeeded);
    if (ended.kind == outcome::cancelled || detail::value_of(cancelled)) return stop(stop_reason::cancelled);
    if (ended.kind != outcome::transient) return stop(stop_reason::not_retryable);

    if constexpr (has_budget) budget_.failed(ended);
    if (!ended.not_applied && !policy_.template part<role::idempotency>().replay_safe())
      return stop(stop_reason::not_replay_safe);
    if (attempts_ >= maximum()) return stop(stop_reason::attempts_exhausted);

    const auto& hints = policy_.template part<role::server_hint>();
    if (asked >= duration::zero() && hints.stops(asked)) return stop(stop_reason::retry_after_too_long);
    if (asked >= duration::zero()) asked = hints.honoured(asked).value_or(no_hint);

    const wait_range range = schedule::range(policy_, attempts_ - 1, waits_state_);
    const bool spreads_hint = asked >= duration::zero() && hints.spread_by(1.0) > duration::zero();
    const bool draws = range.shortest != range.longest || spreads_hint;
    const double point = draws ? static_cast<double>(detail::value_of(fraction)) : 0.0;
    const duration own = schedule::draw(policy_, attempts_ - 1, waits_state_, range, point);

    duration wait = own;  // never sooner than the server asked
    if (asked >= duration::zero()) {
      schedule::hinted(policy_, waits_state_);
      wait = detail::longer(own, detail::add(asked, hints.spread_by(point)));
    }
    if (detail::add(waits_, wait) > duration(policy_.template part<role::waiting>().limit()))
      return stop(stop_reason::wait_limit_reached);
    if constexpr (!watched) read(now);
    const duration due = detail::add(now_, wait);
    if (due >= limit_) return stop(stop_reason::deadline_reached);  // also a saturated wait without a limit
    if constexpr (has_budget) {
      if (!budget_.try_retry(ended, since_epoch())) return stop(stop_reason::budget_exhausted);
    }

    phase_ = phase::waiting;
    wait_ = wait;
    waits_ = detail::add(waits_, wait);
    due_ = due;
    if constexpr (logs) log_.add_wait(wait);
    tell(event_kind::retry);
    action next = standing();
    next.wait = wait;  // as it is, so that no driver computes it from the due time
    return next;
  }

  /// The attempt ended with an exception that no classifier recognises, and that passes on: the call ends with it
  /// (`not_retryable`, label "unrecognised"). A throttle is not told, since nobody knows whether the server answered.
  template <class Now> constexpr action on_unrecognised(Now&& now) {
    if (phase_ != phase::attempting) return standing();
    last_ = {.kind = outcome::permanent, .label = "unrecognised"};
    read(now);
    if constexpr (logs)
      log_.add({.number = attempts_, .start = attempt_began_, .elapsed = now_ - attempt_began_, .verdict = last_});
    return stop(stop_reason::not_retryable);
  }

  /// The wait is over: the next attempt, or a stop if the time is up or the attempt is not admitted. Before the due
  /// time it gives the same wait again, with the same due time: a timer that fires early does no harm.
  template <class Now> [[gnu::always_inline]] constexpr action on_wait_over(Now&& now) {
    if (phase_ != phase::waiting) return standing();
    TimePoint point = detail::value_of(now);
    read(point);
    // Asked in the clock's own terms: what was given out as due is due, though a coarse or floating clock had to round
    // it.
    if (point < at<detail::rounding::up>(start_, due_)) return standing();
    now_ = detail::longer(now_, due_);
    return begin_attempt();
  }

  /// As `on_wait_over`, for drivers that waited in a sleep which is trusted to last: the due time is not asked again,
  /// so that a clock that stands still cannot hold the wait.
  template <class Now> [[gnu::always_inline]] constexpr action on_slept(Now&& now) {
    if (phase_ != phase::waiting) return standing();
    if constexpr (policy_type::needs_clock) read(now);
    return begin_attempt();
  }

  /// Ends the call now, unless it has ended: an attempt that is under way is to be dropped, and its verdict changes
  /// nothing any more. With `now`, `total_wait` counts of a wait that is cut only what was waited.
  constexpr action cancel() { return cancel(start_); }
  template <class Now> [[gnu::always_inline]] constexpr action cancel(Now&& now) {
    if (phase_ == phase::stopped) return standing();
    if (phase_ == phase::waiting) {
      read(now);
      if (now_ < due_) waits_ = detail::subtract(waits_, due_ - now_);
    }
    return stop(stop_reason::cancelled);
  }

  /// Hands the response or the exception of the attempt that is ending to the log's projection, before `on_verdict`.
  template <class Subject> constexpr void note([[maybe_unused]] const Subject& subject) {
    if constexpr (logs) log_.note(subject);
  }

  /// How many attempts were begun.
  constexpr int attempts() const noexcept { return attempts_; }
  /// All waits together.
  constexpr duration total_wait() const noexcept { return waits_; }
  /// The verdict of the last attempt; permanent, label "none", before the first.
  constexpr const verdict& last_verdict() const noexcept { return last_; }
  /// The log of a policy that has one.
  constexpr const auto& log() const noexcept requires(policy_type::template has<role::log>)
  {
    return log_;
  }
  constexpr const policy_type& policy() const noexcept { return policy_; }

 private:
  enum class phase { ready, attempting, waiting, stopped };

  /// Below zero: no server asked for a wait. Not an optional, which would live in memory.
  static constexpr duration no_hint = duration(-1);

  static constexpr bool has_budget = policy_type::template has<role::retry_budget>;
  static constexpr bool logs = policy_type::template has<role::log>;
  static constexpr bool admission_hears = requires(const policy_type& policy, const verdict& end, duration now) {
    policy.template part<role::admission>().ended(end, now);
  };
  /// Somebody wants to know of every end, with its time.
  static constexpr bool watched = has_budget || logs || policy_type::template has<role::events> || admission_hears;

  // --- time: a duration since the first reading ----------------------------------------------------------------------

  template <class Later> static constexpr duration from_to(TimePoint from, Later to) {
    constexpr bool exact = std::is_integral_v<typename TimePoint::rep> && std::is_integral_v<typename Later::rep>;
    if constexpr (exact) return detail::subtract(detail::since_epoch(to), detail::since_epoch(from));
    else return to > from ? detail::to_duration<detail::rounding::down>(to - from) : duration::zero();  // also for NaN
  }

  template <class Now> [[gnu::always_inline]] constexpr void read(Now& now) {
    now_ = detail::longer(now_, from_to(start_, TimePoint(detail::value_of(now))));
  }

  /// A floating sum rounds to nearest; one step further keeps the promise of its direction.
  template <detail::rounding Rounding>
  static constexpr TimePoint rounded(TimePoint start, typename TimePoint::duration offset) {
    using rep = typename TimePoint::rep;
    const TimePoint sum = start + offset;
    const rep size = sum.time_since_epoch().count();
    const typename TimePoint::duration step((size < 0 ? -size : size) * std::numeric_limits<rep>::epsilon());
    if (Rounding == detail::rounding::up && sum - start < offset) return sum + step;
    if (Rounding == detail::rounding::down && sum - start > offset) return sum - step;
    return sum;
  }

  template <detail::rounding Rounding> static constexpr TimePoint at(TimePoint start, duration since_start) {
    using unit = typename TimePoint::duration;
    if (since_start == unlimited) return (TimePoint::max)();
    const unit offset = detail::from_duration<Rounding, unit>(since_start);
    if (offset > unit::zero() && start.time_since_epoch() > (unit::max)() - offset) return (TimePoint::max)();
    if constexpr (std::is_floating_point_v<typename TimePoint::rep>) return rounded<Rounding>(start, offset);
    return start + offset;
  }

  /// The time since the clock's epoch, for what is shared by calls that began at different times.
  [[gnu::always_inline]] constexpr duration since_epoch() const {
    return detail::since_epoch(at<detail::rounding::down>(start_, now_));
  }

  [[gnu::always_inline]] constexpr duration limit_of_call() const {
    duration limit = policy_.template part<role::time>().limit();
    if constexpr (policy_type::template has<role::deadline>) {
      const auto& end = policy_.template part<role::deadline>().time;
      if (end != (std::remove_cvref_t<decltype(end)>::max)()) limit = detail::shorter(limit, from_to(start_, end));
    }
    return limit;
  }

  [[gnu::always_inline]] constexpr duration remaining() const noexcept {
    return limit_ == unlimited ? unlimited : limit_ - now_;
  }

  // --- steps ---------------------------------------------------------------------------------------------------------

  [[gnu::always_inline]] constexpr int attempts_left() const {
    return maximum() == unlimited_count ? unlimited_count : maximum() - attempts_;
  }

  [[gnu::always_inline]] constexpr int maximum() const {
    return policy_.template part<role::attempts>().max_attempts();
  }

  [[gnu::always_inline]] constexpr action begin_attempt() {
    if constexpr (policy_type::limits_time) {
      if (now_ >= limit_) return stop(stop_reason::deadline_reached);
    }
    if constexpr (policy_type::template has<role::admission>) {
      if (!policy_.template part<role::admission>().admit(since_epoch())) return stop(stop_reason::admission_refused);
    }
    if constexpr (has_budget) {
      if (attempts_ == 0) budget_.call_started(since_epoch());
      else budget_.retry_started();
    }
    phase_ = phase::attempting;
    timeout_ = remaining();
    const duration own = policy_.template part<role::attempt_timeout>()(timeout_, attempts_left());
    if (own < timeout_) timeout_ = detail::longer(own, duration(1));
    ++attempts_;
    attempt_began_ = now_;
    return standing();
  }

  [[gnu::always_inline]] constexpr action stop(stop_reason reason) {
    phase_ = phase::stopped;
    reason_ = reason;
    if constexpr (has_budget) budget_.call_ended(reason == stop_reason::succeeded, since_epoch());
    tell(event_kind::end);
    return standing();
  }

  [[gnu::always_inline]] constexpr void tell(event_kind kind) const {
    if constexpr (policy_type::template has<role::events>) {
      const event told{.kind = kind,
                       .attempt = attempts_,
                       .maximum = maximum(),
                       .verdict = last_,
                       .wait = kind == event_kind::retry ? wait_ : duration::zero(),
                       .elapsed = now_,
                       .remaining = limit_ > now_ ? remaining() : duration::zero(),
                       .reason = reason_};
      policy_.template each<role::events>([&](const auto& handler) { handler(told); });
    }
  }

  /// The action that stands in this phase.
  [[gnu::always_inline]] constexpr action standing() const {
    action next;
    switch (phase_) {
      case phase::attempting:
        next.kind = step::attempt;
        next.attempt.number = attempts_;
        next.attempt.maximum = maximum();
        next.attempt.timeout = timeout_;
        next.attempt.deadline = at<detail::rounding::down>(start_, detail::add(attempt_began_, timeout_));
        next.attempt.call_deadline = at<detail::rounding::down>(start_, limit_);
        break;
      case phase::waiting:
        next.kind = step::wait;
        next.wait = due_ > now_ ? due_ - now_ : duration::zero();
        next.due = at<detail::rounding::up>(start_, due_);
        break;
      case phase::ready:
      case phase::stopped:
        next.kind = step::stop;
        next.reason = reason_;
        break;
    }
    return next;
  }

  Policy policy_;
  [[no_unique_address]] typename schedule::call_state waits_state_ = {};
  [[no_unique_address]] detail::budget_session<budget_part> budget_;
  [[no_unique_address]] log_type log_;
  TimePoint start_ = {};
  duration now_ = duration::zero();
  duration limit_ = unlimited;
  duration timeout_ = unlimited;
  duration attempt_began_ = duration::zero();
  duration wait_ = duration::zero();
  duration due_ = duration::zero();
  duration waits_ = duration::zero();
  verdict last_ = {.kind = outcome::permanent, .label = "none"};
  int attempts_ = 0;
  phase phase_ = phase::ready;
  stop_reason reason_ = stop_reason::cancelled;
};

}  // namespace reprise::inline REPRISE_VERSION_NAMESPACE
