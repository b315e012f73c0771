// SPDX-License-Identifier: MIT
// What `curl --retry` does; the command line's, not libcurl's, which retries nothing.
// Knows no curl: a classifier of its errors stands in front of the statuses.
#pragma once

#include "../detail/published.hpp"
#include "../vocab/http.hpp"

namespace reprise::inline REPRISE_VERSION_NAMESPACE::presets {

/// `curl --retry 3` (curl 7.66 to 8.x): 1 s, 2 s, 4 s, ... up to 10 minutes, without jitter; 408, 429, 500, 502, 503
/// and 504. Retry-After is honoured without a limit, never sooner than the own wait. No limit in time:
/// `--retry-max-time` is `with(time_limit{...})`, `--retry` is `with(attempt_budget{...})`, counting the first attempt
/// too.
inline constexpr retry_policy curl_retry{
    http::retry_statuses{408, 429, 500, 502, 503, 504},
    exponential_backoff{.base = std::chrono::seconds(1), .cap = std::chrono::minutes(10)},
    no_jitter{},
    attempt_budget{.maximum = 4},
    no_time_limit{},
    reprise::detail::hints_unlimited};

}  // namespace reprise::inline REPRISE_VERSION_NAMESPACE::presets
