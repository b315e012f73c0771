// SPDX-License-Identifier: MIT
// The retry and backoff policies of google-cloud-cpp.
// Knows no Google service.
#pragma once

#include "../detail/published.hpp"

namespace reprise::inline REPRISE_VERSION_NAMESPACE::presets {

/// Between initial_delay * scaling^n and that times scaling, n from 0; as soon as the upper end would reach
/// maximum_delay: between the larger of initial_delay and maximum_delay / scaling, and maximum_delay. The original cuts
/// to whole milliseconds. initial_delay, maximum_delay >= 0; scaling > 1.
struct google_cloud_backoff {
  static constexpr auto part_role = role::backoff;
  using call_state = reprise::detail::no_memory;

  time_span initial_delay = std::chrono::seconds(1);
  time_span maximum_delay = std::chrono::minutes(5);
  double scaling = 2.0;

  constexpr void check() const {
    reprise::detail::require_not_negative("presets::google_cloud_backoff", "initial_delay", initial_delay);
    reprise::detail::require_not_negative("presets::google_cloud_backoff", "maximum_delay", maximum_delay);
    if (!(scaling > 1.0 && scaling <= (std::numeric_limits<double>::max)()))
      reprise::detail::refuse("presets::google_cloud_backoff", "scaling", "a number above 1", scaling);
  }
  constexpr wait_range range(int retry, const call_state&) const {
    const duration upper = end(retry);
    duration lower = reprise::detail::grown(initial_delay, scaling, retry, maximum_delay);
    if (upper == maximum_delay)
      lower = reprise::detail::longer(reprise::detail::scaled(maximum_delay, 1.0 / scaling), initial_delay);
    return {reprise::detail::shorter(lower, upper), upper};
  }
  constexpr void advance(call_state&, duration) const noexcept {}
  constexpr bool settled(int retry, const call_state&) const {
    return initial_delay == duration::zero() || end(retry) == maximum_delay;
  }

 private:
  constexpr duration end(int retry) const {
    const int next = retry < unlimited_count ? retry + 1 : retry;
    return reprise::detail::grown(initial_delay, scaling, next, maximum_delay);
  }
};

static_assert(stateful_backoff_part<google_cloud_backoff>);

/// google-cloud-cpp, the storage client (read in 2026): as many attempts as fit into 15 minutes, from 1 to 2 s at first
/// to 5 minutes. A wait that does not fit ends the call here; the original waits it and then gives up. No hint is
/// honoured.
inline constexpr retry_policy google_cloud_cpp{google_cloud_backoff{}, unlimited_attempts{},
                                               time_limit{.total = std::chrono::minutes(15)},
                                               reprise::detail::hints_ignored};

}  // namespace reprise::inline REPRISE_VERSION_NAMESPACE::presets
