// SPDX-License-Identifier: MIT
// Envoy's retry policy of a route.
// Knows no header of Envoy's and no retry budget.
#pragma once

#include "../detail/published.hpp"

namespace reprise::inline REPRISE_VERSION_NAMESPACE::presets {

/// Envoy (JitteredExponentialBackOffStrategy, since 2019): 1 retry, a random number of milliseconds below
/// min(25 ms * 2^n, 250 ms), n from 0; 15 s for the route, retries included. No hint is honoured unless the route says
/// so.
inline constexpr retry_policy envoy{
    exponential_backoff{.base = std::chrono::milliseconds(25), .cap = std::chrono::milliseconds(250)}, full_jitter{},
    attempt_budget{.maximum = 2}, time_limit{.total = std::chrono::seconds(15)}, reprise::detail::hints_ignored};

}  // namespace reprise::inline REPRISE_VERSION_NAMESPACE::presets
