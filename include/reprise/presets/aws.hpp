// SPDX-License-Identifier: MIT
// The standard retry mode of the AWS SDKs, in the behaviour of 2026 and in the one before.
// Knows no AWS error: which failures are throttling is said by the caller's classifier.
#pragma once

#include "../detail/published.hpp"

namespace reprise::inline REPRISE_VERSION_NAMESPACE::presets {

/// AWS SDKs, standard mode 2.1, the default since 10 November 2026 (botocore 1.44.0, C++ 1.11.926): 3 attempts, before
/// retry n U * min(50 ms * 2^(n-1), 20 s), for transient errors. No limit in time. The original honours
/// x-amz-retry-after up to its own wait + 5 s; here a hint is honoured up to 5 s, never longer than there.
inline constexpr retry_policy aws_standard{
    exponential_backoff{.base = std::chrono::milliseconds(50), .cap = std::chrono::seconds(20)}, full_jitter{},
    attempt_budget{.maximum = 3}, no_time_limit{},
    retry_after_limit{.longest = std::chrono::seconds(5), .beyond = too_long::clamp}};

/// The same for throttling errors: from 1 s.
inline constexpr auto aws_standard_throttled =
    aws_standard.with(exponential_backoff{.base = std::chrono::seconds(1), .cap = std::chrono::seconds(20)});

/// The same for DynamoDB's transient errors: from 25 ms, 4 attempts.
inline constexpr auto aws_standard_dynamodb =
    aws_standard.with(exponential_backoff{.base = std::chrono::milliseconds(25), .cap = std::chrono::seconds(20)},
                      attempt_budget{.maximum = 4});

/// Standard mode before that (botocore, "legacy standard"): 3 attempts, U * min(2^(n-1) s, 20 s); no hint is honoured.
inline constexpr retry_policy aws_standard_legacy{
    exponential_backoff{.base = std::chrono::seconds(1), .cap = std::chrono::seconds(20)}, full_jitter{},
    attempt_budget{.maximum = 3}, no_time_limit{}, reprise::detail::hints_ignored};

}  // namespace reprise::inline REPRISE_VERSION_NAMESPACE::presets
