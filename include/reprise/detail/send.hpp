// SPDX-License-Identifier: MIT
// How a driver calls `send`: with what it takes.
// Knows no policy.
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

#include "../action.hpp"

namespace reprise::inline REPRISE_VERSION_NAMESPACE::detail {

/// Turns into whatever chrono duration `send` takes: rounded up, saturated.
struct any_timeout {
  duration timeout;

  template <class Rep, class Period> constexpr operator std::chrono::duration<Rep, Period>() const {
    return from_duration<rounding::up, std::chrono::duration<Rep, Period>>(timeout);
  }
};

template <class Send> concept takes_attempt = std::invocable<Send&, const attempt&>;
template <class Send, class TimePoint> concept takes_attempt_at = std::invocable<Send&, const attempt_at<TimePoint>&>;
template <class Send> concept takes_timeout = std::invocable<Send&, const any_timeout&>;
template <class Send, class TimePoint> concept can_be_sent =
    takes_attempt<Send> || takes_attempt_at<Send, TimePoint> || takes_timeout<Send> || std::invocable<Send&>;

/// Tried in this order.
template <class Send, class TimePoint>
[[gnu::always_inline]] constexpr decltype(auto) call_send(Send& send, const attempt_at<TimePoint>& current) {
  if constexpr (takes_attempt<Send>) return send(static_cast<const attempt&>(current));
  else if constexpr (takes_attempt_at<Send, TimePoint>) return send(current);
  else if constexpr (takes_timeout<Send>) return send(any_timeout{current.timeout});
  else return send();
}

/// Whether it can do without points in time, and so be wrapped by what knows no clock.
template <class Send> concept can_be_sent_plainly = takes_attempt<Send> || takes_timeout<Send> || std::invocable<Send&>;

/// A plain attempt in the form that `call_send` takes.
constexpr auto with_points(const attempt& current) {
  attempt_at<std::chrono::steady_clock::time_point> pointed;
  static_cast<attempt&>(pointed) = current;
  return pointed;
}

/// What `send` returns; void for one that cannot be called, which is told in words elsewhere.
template <class Send, class TimePoint> struct response_of {
  using type = void;
};
template <class Send, class TimePoint> requires can_be_sent<Send, TimePoint>
struct response_of<Send, TimePoint> {
  using type = decltype(call_send(std::declval<Send&>(), std::declval<const attempt_at<TimePoint>&>()));
};

}  // namespace reprise::inline REPRISE_VERSION_NAMESPACE::detail
