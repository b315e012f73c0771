// SPDX-License-Identifier: MIT
// What the engine asks for next: make an attempt, wait, or stop. The set is closed.
// Knows no policy: these are the words that engine, drivers and callers share.
#pragma once

#include <limits>
#include <string_view>

#include "time_span.hpp"
#include "verdict.hpp"

namespace reprise::inline REPRISE_VERSION_NAMESPACE {

/// Why a call ended.
enum class stop_reason {
  succeeded,             ///< an attempt succeeded
  not_retryable,         ///< the failure is permanent
  not_replay_safe,       ///< repeating could do it twice
  attempts_exhausted,    ///< the attempt budget is used up
  retry_after_too_long,  ///< the server asks for a longer wait than the policy allows
  wait_limit_reached,    ///< the waits of the call together would pass their limit
  deadline_reached,      ///< no time is left for the wait and another attempt
  budget_exhausted,      ///< the shared retry budget refused
  admission_refused,     ///< a throttle refused the attempt
  cancelled              ///< the caller gave up
};

/// The enumerator's name.
constexpr std::string_view to_string(stop_reason reason) noexcept {
  return detail::name_in(
      {"succeeded", "not_retryable", "not_replay_safe", "attempts_exhausted", "retry_after_too_long",
       "wait_limit_reached", "deadline_reached", "budget_exhausted", "admission_refused", "cancelled"},
      reason);
}

/// The number of attempts that means "no limit".
inline constexpr int unlimited_count = (std::numeric_limits<int>::max)();

/// One attempt, as `send` is told of it.
struct attempt {
  /// Counted from 1.
  int number = 1;
  /// The most attempts that the call may make, the first included; `unlimited_count` without a limit.
  int maximum = 1;
  /// How long this attempt may take: always > 0; `unlimited` without a limit.
  duration timeout = unlimited;

  constexpr operator duration() const noexcept { return timeout; }

  /// The timeout in milliseconds for interfaces that take an int: rounded up, 1..INT_MAX, so that it never reads as the
  /// 0 or -1 that such interfaces take for "none".
  constexpr int timeout_ms() const noexcept {
    using milliseconds = std::chrono::duration<int, std::milli>;
    const auto count = detail::from_duration<detail::rounding::up, milliseconds>(timeout).count();
    return count > 0 ? count : 1;
  }
};

/// An attempt with its limits as points of the caller's clock; `TimePoint::max()` where there is no limit.
template <class TimePoint> struct attempt_at : attempt {
  constexpr attempt_at() noexcept = default;

  /// When *this attempt* must end, rounded down to the clock's unit.
  TimePoint deadline = (TimePoint::max)();
  /// When the whole call must end, rounded down; what to hand down to calls made on its behalf.
  TimePoint call_deadline = (TimePoint::max)();
};

/// Which of the three things the engine asks for.
enum class step { attempt, wait, stop };

/// The one next thing to do.
template <class TimePoint> struct action {
  step kind = step::stop;
  /// For `step::attempt`: what to hand to `send`.
  attempt_at<TimePoint> attempt = {};
  /// For `step::wait`: how long.
  duration wait = duration::zero();
  /// For `step::wait`: until when, rounded up to the clock's unit; fixed once, however often it is asked for.
  TimePoint due = {};
  /// For `step::stop`: why.
  stop_reason reason = stop_reason::cancelled;
};

/// How a caller's sleep ended. `bool` is refused: `return cv.wait_for(lock, d, stopped)` would mean the opposite.
enum class slept { fully, interrupted };

/// The possible waits before one retry; the injected fraction picks the point.
struct wait_range {
  duration shortest = duration::zero();
  duration longest = duration::zero();

  /// shortest + (longest - shortest) * fraction; a fraction outside [0,1] is clamped, NaN counts as 1.
  constexpr duration point(double fraction) const noexcept {
    return shortest + detail::portion(longest - shortest, fraction);
  }

  friend constexpr bool operator==(const wait_range&, const wait_range&) = default;
};

}  // namespace reprise::inline REPRISE_VERSION_NAMESPACE
