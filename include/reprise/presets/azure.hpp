// SPDX-License-Identifier: MIT
// The retry policy of the Azure SDK for C++.
// Knows no Azure service.
#pragma once

#include "../detail/published.hpp"
#include "../vocab/http.hpp"

namespace reprise::inline REPRISE_VERSION_NAMESPACE::presets {

/// min(retry_delay * 2^k * [0.8, 1.3], max_retry_delay), k counting retries from 1: the first wait is about twice
/// retry_delay. What was drawn is clamped, so that the cap is drawn often. retry_delay, max_retry_delay >= 0.
struct azure_backoff {
  static constexpr auto part_role = role::backoff;
  using call_state = reprise::detail::no_memory;

  time_span retry_delay = std::chrono::milliseconds(800);
  time_span max_retry_delay = std::chrono::seconds(60);

  constexpr void check() const {
    reprise::detail::require_not_negative("presets::azure_backoff", "retry_delay", retry_delay);
    reprise::detail::require_not_negative("presets::azure_backoff", "max_retry_delay", max_retry_delay);
  }
  constexpr wait_range range(int retry, const call_state&) const {
    return reprise::detail::below(spread(retry), max_retry_delay);
  }
  constexpr duration draw(int retry, call_state&, double fraction) const {
    return reprise::detail::shorter(spread(retry).point(fraction), max_retry_delay);
  }
  constexpr void advance(call_state&, duration) const noexcept {}
  constexpr bool settled(int retry, const call_state& state) const {
    return retry_delay == duration::zero() || range(retry, state).shortest == max_retry_delay;
  }

 private:
  constexpr wait_range spread(int retry) const {
    const duration delay = reprise::detail::doubled(retry_delay, retry < 63 ? retry + 1 : 63, unlimited);
    return {reprise::detail::scaled(delay, 0.8), reprise::detail::scaled(delay, 1.3)};
  }
};

static_assert(stateful_backoff_part<azure_backoff>);

/// azure-core for C++ (`RetryOptions`, read in 2026): 3 retries, from 0.8 s (so 1.6 s at first) to 60 s; 408, 500, 502,
/// 503 and 504, not 429. Retry-After (also in ms) is honoured without a limit; here never sooner than the own wait,
/// there also sooner.
inline constexpr retry_policy azure{http::retry_statuses{408, 500, 502, 503, 504}, azure_backoff{},
                                    attempt_budget{.maximum = 4}, no_time_limit{}, reprise::detail::hints_unlimited};

}  // namespace reprise::inline REPRISE_VERSION_NAMESPACE::presets
