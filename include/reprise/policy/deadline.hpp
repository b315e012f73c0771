// SPDX-License-Identifier: MIT
// The limits in time: of the call, of one attempt, of all waits together; and a deadline shared by several calls.
// Reads no clock.
#pragma once

#include "../concepts.hpp"

namespace reprise::inline REPRISE_VERSION_NAMESPACE {

namespace detail {

template <class Clock, class Duration> constexpr duration since_epoch(std::chrono::time_point<Clock, Duration> point) {
  return to_duration<rounding::down>(point.time_since_epoch());
}

}  // namespace detail

/// max(0, deadline - now), saturating.
constexpr duration remaining(time_span deadline, time_span now) noexcept {
  return detail::longer(detail::subtract(deadline, now), duration::zero());
}

/// max(0, deadline - now), saturating; of two points of one clock.
template <class Clock, class Duration, class OtherDuration>
constexpr duration remaining(std::chrono::time_point<Clock, Duration> deadline,
                             std::chrono::time_point<Clock, OtherDuration> now) {
  return remaining(time_span(detail::since_epoch(deadline)), time_span(detail::since_epoch(now)));
}

/// How long the call may take, attempts and waits together, from its start. 5 s by default: a caller that forgets it
/// must not hang for minutes. total > 0; `unlimited` is allowed.
struct time_limit {
  static constexpr auto part_role = role::time;

  time_span total = std::chrono::seconds(5);

  constexpr void check() const { detail::require_positive("time_limit", "total", total); }
  constexpr duration limit() const noexcept { return total; }
};

/// The call may take as long as its attempts and waits do; the clock need not be read for it.
struct no_time_limit {
  static constexpr auto part_role = role::time;
  constexpr duration limit() const noexcept { return unlimited; }
};

/// A point of the caller's clock when the call must end, shared by several calls. With a time limit the earlier counts,
/// so that handing one down never lengthens a call. Given positionally: `deadline{clock::now() + 800ms}`.
template <class Clock, class Duration> class deadline {
 public:
  static constexpr auto part_role = role::deadline;

  constexpr explicit deadline(std::chrono::time_point<Clock, Duration> at) : time(at) {}

  std::chrono::time_point<Clock, Duration> time;
};

/// One attempt may take `longest`, no limit of its own by default. longest > 0.
struct attempt_timeout {
  static constexpr auto part_role = role::attempt_timeout;

  time_span longest = unlimited;

  constexpr void check() const { detail::require_positive("attempt_timeout", "longest", longest); }
  constexpr duration operator()(duration, int) const noexcept { return longest; }
};

/// What remains, shared among the attempts left: a hung first attempt leaves time for a second. At most `longest`
/// (no bound by default), at least `shortest` (none by default: a floor keeps the last shares useful).
/// 0 <= shortest <= longest, longest > 0. With no limit in time, or with unlimited attempts and no floor, it is
/// `longest`: there is nothing to share out. With unlimited attempts and a floor it is the floor.
struct divided_timeout {
  static constexpr auto part_role = role::attempt_timeout;

  time_span longest = unlimited;
  time_span shortest = {};

  constexpr void check() const {
    detail::require_positive("divided_timeout", "longest", longest);
    detail::require_not_negative("divided_timeout", "shortest", shortest);
    if (shortest > longest)
      detail::refuse("divided_timeout", "shortest", "at most longest", detail::seconds_of(shortest), " s");
  }
  constexpr duration operator()(duration remaining, int attempts_left) const noexcept {
    if (remaining == unlimited) return longest;
    if (attempts_left == unlimited_count) return shortest > duration::zero() ? shortest : longest;
    const duration share = remaining / (attempts_left > 0 ? attempts_left : 1);
    return detail::shorter(detail::longer(share, shortest), longest);
  }
};

/// All waits of the call together may take `total`; a wait past it stops the call. No limit by default. total >= 0.
struct wait_limit {
  static constexpr auto part_role = role::waiting;

  time_span total = unlimited;

  constexpr void check() const { detail::require_not_negative("wait_limit", "total", total); }
  constexpr duration limit() const noexcept { return total; }
};

static_assert(limit_part<time_limit> && limit_part<no_time_limit> && limit_part<wait_limit>);
static_assert(attempt_timeout_part<attempt_timeout> && attempt_timeout_part<divided_timeout>);

}  // namespace reprise::inline REPRISE_VERSION_NAMESPACE
