// SPDX-License-Identifier: MIT
// A value that a preset's part refuses does not compile in a constant expression, nor does a second spread beside a
// part that has its own. VALUE gives a bad value, or the good one next to it.
#include <reprise/core.hpp>
#include <reprise/presets.hpp>

using namespace std::chrono_literals;
using reprise::retry_policy;
namespace presets = reprise::presets;

// WRONG_VALUES: each line with VALUE(
#ifdef WRONG_VALUES
#define VALUE(bad, good) bad
#else
#define VALUE(bad, good) good
#endif

inline constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

inline constexpr retry_policy grpc{presets::grpc_backoff{.initial_backoff = VALUE(-1ns, 0s)}};
inline constexpr retry_policy grpc_most{presets::grpc_backoff{.max_backoff = VALUE(-1ns, 0s)}};
inline constexpr retry_policy grpc_multiplier{presets::grpc_backoff{.multiplier = VALUE(not_a_number, 1.0)}};
inline constexpr retry_policy azure{presets::azure_backoff{.retry_delay = VALUE(-1ns, 0s)}};
inline constexpr retry_policy azure_most{presets::azure_backoff{.max_retry_delay = VALUE(-1ns, 0s)}};
inline constexpr retry_policy google{presets::google_cloud_backoff{.initial_delay = VALUE(-1ns, 0s)}};
inline constexpr retry_policy google_most{presets::google_cloud_backoff{.maximum_delay = VALUE(-1ns, 0s)}};
inline constexpr retry_policy google_scaling{presets::google_cloud_backoff{.scaling = VALUE(1.0, 1.001)}};
inline constexpr retry_policy urllib3{presets::urllib3_backoff{.backoff_factor = VALUE(-1ns, 0s)}};
inline constexpr retry_policy urllib3_most{presets::urllib3_backoff{.backoff_max = VALUE(-1ns, 0s)}};
inline constexpr retry_policy urllib3_jitter{presets::urllib3_backoff{.backoff_jitter = VALUE(-1ns, 0s)}};
inline constexpr retry_policy polly{presets::polly_backoff{.delay = VALUE(-1ns, 0s)}};
inline constexpr retry_policy polly_most{presets::polly_backoff{.max_delay = VALUE(-1ns, 0s)}};
inline constexpr retry_policy finagle{presets::finagle_decorrelated{.start = VALUE(0s, 1ns)}};
inline constexpr retry_policy finagle_exponential{presets::finagle_exponential{.maximum = VALUE(4ms, 5ms)}};
inline constexpr retry_policy finagle_equal{presets::finagle_equal{.start = VALUE(201ms, 200ms)}};
inline constexpr retry_policy tower{presets::tower_backoff{.least = VALUE(-1ns, 0s)}};
inline constexpr retry_policy tower_most{presets::tower_backoff{.most = VALUE(-1ns, 0s)}};
inline constexpr retry_policy tower_jitter{presets::tower_backoff{.jitter = VALUE(100.1, 100.0)}};
inline constexpr retry_policy cenkalti{presets::cenkalti_backoff{.initial_interval = VALUE(-1ns, 0s)}};
inline constexpr retry_policy cenkalti_most{presets::cenkalti_backoff{.max_interval = VALUE(-1ns, 0s)}};
inline constexpr retry_policy cenkalti_multiplier{presets::cenkalti_backoff{.multiplier = VALUE(0.99, 1.0)}};
inline constexpr retry_policy cenkalti_spread{presets::cenkalti_backoff{.randomization_factor = VALUE(1.01, 1.0)}};

int main() {
// WRONG_SPREAD: reprise::retry_policy requires one spread: write no jitter part beside a backoff that has its own
#ifdef WRONG_SPREAD
  (void)presets::grpc.with(reprise::full_jitter{});
#else
  (void)presets::grpc.with(reprise::exponential_backoff{}).with(reprise::full_jitter{});
#endif
}
