// SPDX-License-Identifier: MIT
// The Retry class of urllib3, which requests and many Python clients use.
// Knows no redirect: the original's sequence begins again after one.
#pragma once

#include "../detail/published.hpp"

namespace reprise::inline REPRISE_VERSION_NAMESPACE::presets {

/// 0 before the first retry, then min(backoff_max, backoff_factor * 2^n + U * backoff_jitter), n from 1: a factor of
/// 0.2 s gives 0, 0.4, 0.8, 1.6 s. A factor of 0, the default as there, never waits. What was drawn is clamped. All
/// >= 0.
struct urllib3_backoff {
  static constexpr auto part_role = role::backoff;
  using call_state = reprise::detail::no_memory;

  time_span backoff_factor = {};
  time_span backoff_max = std::chrono::seconds(120);
  time_span backoff_jitter = {};

  constexpr void check() const {
    reprise::detail::require_not_negative("presets::urllib3_backoff", "backoff_factor", backoff_factor);
    reprise::detail::require_not_negative("presets::urllib3_backoff", "backoff_max", backoff_max);
    reprise::detail::require_not_negative("presets::urllib3_backoff", "backoff_jitter", backoff_jitter);
  }
  constexpr wait_range range(int retry, const call_state&) const noexcept {
    return reprise::detail::below(spread(retry), backoff_max);
  }
  constexpr duration draw(int retry, call_state&, double fraction) const noexcept {
    return reprise::detail::shorter(spread(retry).point(fraction), backoff_max);
  }
  constexpr void advance(call_state&, duration) const noexcept {}
  constexpr bool settled(int retry, const call_state& state) const noexcept {
    return retry > 0 && (backoff_factor == duration::zero() || range(retry, state).shortest == backoff_max);
  }

 private:
  constexpr wait_range spread(int retry) const noexcept {
    if (retry == 0) return {};
    const duration delay = reprise::detail::doubled(backoff_factor, retry, unlimited);
    return {delay, reprise::detail::add(delay, backoff_jitter)};
  }
};

static_assert(stateful_backoff_part<urllib3_backoff>);

/// urllib3 2 (`Retry()`, read in 2026): 10 retries without a wait. Retry-After is honoured up to 6 hours, a longer one
/// cut to that; here never sooner than the own wait, there in its place. The original repeats a status only if it is in
/// `status_forcelist` (empty by default), or is 413, 429 or 503 and came with Retry-After.
/// `urllib3.with(urllib3_backoff{.backoff_factor = 200ms})` waits.
inline constexpr retry_policy urllib3{urllib3_backoff{}, attempt_budget{.maximum = 11}, no_time_limit{},
                                      retry_after_limit{.longest = std::chrono::hours(6), .beyond = too_long::clamp}};

}  // namespace reprise::inline REPRISE_VERSION_NAMESPACE::presets
