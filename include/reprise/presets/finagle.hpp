// SPDX-License-Identifier: MIT
// Finagle's three jittered backoffs (com.twitter.finagle.Backoff).
// Knows no budget: Finagle's RetryBudget is a part of its own.
#pragma once

#include "../detail/published.hpp"

namespace reprise::inline REPRISE_VERSION_NAMESPACE::presets {

namespace detail {

constexpr void check_finagle(const char* part, duration start, duration maximum) {
  reprise::detail::require_positive(part, "start", start);
  if (start > maximum)
    reprise::detail::refuse(part, "start", "at most maximum", reprise::detail::seconds_of(start), " s");
}

/// The own wait before; below zero before the first.
struct finagle_state {
  duration previous = duration(-1);
};

}  // namespace detail

/// `start`, then between the previous wait and min(3 * previous, maximum): never decreases, unlike AWS's decorrelated
/// jitter, whose lower end is the base. 0 < start <= maximum.
struct finagle_decorrelated {
  static constexpr auto part_role = role::backoff;
  using call_state = detail::finagle_state;

  time_span start = std::chrono::milliseconds(5);
  time_span maximum = std::chrono::milliseconds(200);

  constexpr void check() const { detail::check_finagle("presets::finagle_decorrelated", start, maximum); }
  constexpr wait_range range(int, const call_state& state) const noexcept {
    if (state.previous < duration::zero()) return {start, start};
    return {state.previous, reprise::detail::shorter(reprise::detail::multiply(state.previous, 3), maximum)};
  }
  constexpr void advance(call_state& state, duration own) const noexcept { state.previous = own; }
  constexpr bool settled(int, const call_state& state) const noexcept { return state.previous == maximum; }
};

/// `start`, then U * previous * 2^n, n from 1, `previous` being the wait drawn before; from where that product reaches
/// maximum: maximum, without jitter, for ever. A chain, not AWS's full jitter: a short draw keeps the next ones short,
/// and at the maximum a fleet returns at one instant. 0 < start <= maximum.
struct finagle_exponential {
  static constexpr auto part_role = role::backoff;
  using call_state = detail::finagle_state;

  time_span start = std::chrono::milliseconds(5);
  time_span maximum = std::chrono::milliseconds(200);

  constexpr void check() const { detail::check_finagle("presets::finagle_exponential", start, maximum); }
  constexpr wait_range range(int retry, const call_state& state) const noexcept {
    if (start == maximum) return {maximum, maximum};
    if (state.previous < duration::zero()) return {start, start};
    const duration most = reprise::detail::doubled(state.previous, retry < 62 ? retry : 62, maximum);
    return {most == maximum ? most : duration::zero(), most};
  }
  constexpr void advance(call_state& state, duration own) const noexcept { state.previous = own; }
  constexpr bool settled(int retry, const call_state& state) const noexcept {
    return range(retry, state).shortest == maximum;
  }
};

/// `start`, then h + U * h with h = start * 2^(n-1), n from 1; from where h or the sum reaches maximum: maximum,
/// without jitter, for ever. 0 < start <= maximum.
struct finagle_equal {
  static constexpr auto part_role = role::backoff;
  using call_state = reprise::detail::no_memory;

  time_span start = std::chrono::milliseconds(5);
  time_span maximum = std::chrono::milliseconds(200);

  constexpr void check() const { detail::check_finagle("presets::finagle_equal", start, maximum); }
  constexpr wait_range range(int retry, const call_state&) const noexcept {
    return reprise::detail::below(spread(retry), maximum);
  }
  constexpr duration draw(int retry, call_state&, double fraction) const noexcept {
    return reprise::detail::shorter(spread(retry).point(fraction), maximum);
  }
  constexpr void advance(call_state&, duration) const noexcept {}
  constexpr bool settled(int retry, const call_state& state) const noexcept {
    return range(retry, state).shortest == maximum;
  }

 private:
  constexpr wait_range spread(int retry) const noexcept {
    if (retry == 0) return {start, start};
    const duration half = reprise::detail::doubled(start, retry - 1, maximum);
    return {half, reprise::detail::add(half, half)};
  }
};

static_assert(stateful_backoff_part<finagle_decorrelated> && stateful_backoff_part<finagle_exponential>);
static_assert(stateful_backoff_part<finagle_equal>);

/// Finagle (`RetryPolicy.tries`, whose backoff is decorrelated from 5 to 200 ms; read in 2026): the number of tries is
/// the caller's there and 3 here. No limit in time, no hint.
inline constexpr retry_policy finagle{finagle_decorrelated{}, attempt_budget{.maximum = 3}, no_time_limit{},
                                      reprise::detail::hints_ignored};

}  // namespace reprise::inline REPRISE_VERSION_NAMESPACE::presets
