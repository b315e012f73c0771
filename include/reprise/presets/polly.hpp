// SPDX-License-Identifier: MIT
// Polly's exponential retry with jitter (DecorrelatedJitterBackoffV2).
// Knows no exception and no response.
#pragma once

#include "../detail/published.hpp"
#include "../detail/real.hpp"

namespace reprise::inline REPRISE_VERSION_NAMESPACE::presets {

/// With t = n + U, n from 0, and f(t) = 2^t * tanh(sqrt(4t)): (f(t) - f of the draw before) / 1.4 * delay, at most
/// max_delay, which by default is none. The waits grow like doubling ones, spread so that a fleet's load is smooth.
/// All waits up to retry n together stay below f(n + 1) / 1.4 * delay. delay, max_delay >= 0.
struct polly_backoff {
  static constexpr auto part_role = role::backoff;

  time_span delay = std::chrono::seconds(2);
  time_span max_delay = unlimited;

  /// f(t) of the draw before.
  struct call_state {
    double previous = 0.0;
  };

  constexpr void check() const {
    reprise::detail::require_not_negative("presets::polly_backoff", "delay", delay);
    reprise::detail::require_not_negative("presets::polly_backoff", "max_delay", max_delay);
  }
  constexpr wait_range range(int retry, const call_state& state) const {
    return {wait(value(retry, 0.0), state), wait(value(retry, 1.0), state)};
  }
  constexpr duration draw(int retry, call_state& state, double fraction) const {
    const double next = value(retry, fraction);
    const duration own = wait(next, state);
    state.previous = next;
    return own;
  }
  /// For a wait that was not drawn here: the least f(t) that gives it.
  constexpr void advance(call_state& state, duration own) const noexcept {
    if (delay == duration::zero()) return;
    state.previous += static_cast<double>(own.count()) * scaling / static_cast<double>(duration(delay).count());
  }
  constexpr bool settled(int retry, const call_state& state) const {
    return delay == duration::zero() || range(retry, state).longest == max_delay;
  }

 private:
  static constexpr double scaling = 1.4;
  static constexpr int most_retries = 100;  // 2^100 delays are past every range

  static constexpr double value(int retry, double fraction) {
    double part = fraction < 1.0 ? fraction : 1.0;
    if (part < 0.0) part = 0.0;
    const double t = (retry < most_retries ? retry : most_retries) + part;
    return reprise::detail::power_of_two(t) * reprise::detail::tanh_of(reprise::detail::square_root(4.0 * t));
  }
  constexpr duration wait(double next, const call_state& state) const {
    if (delay == duration::zero()) return duration::zero();
    if (next >= reprise::detail::power_of_two(most_retries)) return max_delay;
    const double beyond = next > state.previous ? next - state.previous : 0.0;
    const double nanoseconds = beyond / scaling * static_cast<double>(duration(delay).count());
    return reprise::detail::shorter(reprise::detail::from_real<reprise::detail::rounding::nearest>(nanoseconds),
                                    max_delay);
  }
};

static_assert(stateful_backoff_part<polly_backoff>);

/// Polly 8 (RetryStrategyOptions with BackoffType Exponential and UseJitter, read in 2026): 3 retries, 2 s median for
/// the first, no limit in time, no hint. Polly's constant and linear kinds with jitter are shipped parts:
/// `proportional_jitter{.fraction = 0.25}` beside `constant_backoff` or `linear_backoff`.
inline constexpr retry_policy polly{polly_backoff{}, attempt_budget{.maximum = 4}, no_time_limit{},
                                    reprise::detail::hints_ignored};

}  // namespace reprise::inline REPRISE_VERSION_NAMESPACE::presets
