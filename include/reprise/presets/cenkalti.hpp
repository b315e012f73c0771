// SPDX-License-Identifier: MIT
// The ExponentialBackOff of cenkalti/backoff, which many Go clients use.
// Knows no Go error.
#pragma once

#include "../detail/published.hpp"

namespace reprise::inline REPRISE_VERSION_NAMESPACE::presets {

/// i = min(initial_interval * multiplier^n, max_interval), n from 0, plus or minus randomization_factor * i: may pass
/// max_interval by that much, by design. Intervals >= 0; multiplier >= 1; randomization_factor in [0,1].
struct cenkalti_backoff {
  static constexpr auto part_role = role::backoff;
  using call_state = reprise::detail::no_memory;

  time_span initial_interval = std::chrono::milliseconds(500);
  time_span max_interval = std::chrono::seconds(60);
  double multiplier = 1.5;
  double randomization_factor = 0.5;

  constexpr void check() const {
    reprise::detail::require_not_negative("presets::cenkalti_backoff", "initial_interval", initial_interval);
    reprise::detail::require_not_negative("presets::cenkalti_backoff", "max_interval", max_interval);
    reprise::detail::require_factor("presets::cenkalti_backoff", "multiplier", multiplier);
    if (!(randomization_factor >= 0.0 && randomization_factor <= 1.0))
      reprise::detail::refuse("presets::cenkalti_backoff", "randomization_factor", "in [0,1]", randomization_factor);
  }
  constexpr wait_range range(int retry, const call_state&) const {
    return proportional_jitter{.fraction = randomization_factor}(interval(retry));
  }
  constexpr void advance(call_state&, duration) const noexcept {}
  constexpr bool settled(int retry, const call_state&) const {
    return multiplier == 1.0 || initial_interval == duration::zero() || interval(retry) == max_interval;
  }

 private:
  constexpr duration interval(int retry) const noexcept {
    return reprise::detail::grown(initial_interval, multiplier, retry, max_interval);
  }
};

static_assert(stateful_backoff_part<cenkalti_backoff>);

/// cenkalti/backoff v4 (`NewExponentialBackOff()`): as many attempts as fit into 15 minutes, from 0.5 s to 60 s and at
/// most 90 s. A wait that does not fit ends the call. No hint.
inline constexpr retry_policy cenkalti{cenkalti_backoff{}, unlimited_attempts{},
                                       time_limit{.total = std::chrono::minutes(15)}, reprise::detail::hints_ignored};

}  // namespace reprise::inline REPRISE_VERSION_NAMESPACE::presets
