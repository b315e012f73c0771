// SPDX-License-Identifier: MIT
// gRPC's retry policy (proposal A6), as it is since August 2024 and as it was before.
// Knows no status: which ones are retried is each service's configuration.
#pragma once

#include "../detail/published.hpp"

namespace reprise::inline REPRISE_VERSION_NAMESPACE::presets {

/// min(initial_backoff * multiplier^n, max_backoff) * [0.8, 1.2], n counting from 0, and again from 0 after a pushback
/// of the server. May pass max_backoff by 20 %, by design. Defaults are A6's example. initial_backoff, max_backoff >=
/// 0; multiplier >= 1.
struct grpc_backoff {
  static constexpr auto part_role = role::backoff;

  time_span initial_backoff = std::chrono::milliseconds(100);
  time_span max_backoff = std::chrono::seconds(1);
  double multiplier = 2.0;

  /// The retries since the last pushback.
  struct call_state {
    int since_pushback = 0;
  };

  constexpr void check() const {
    reprise::detail::require_not_negative("presets::grpc_backoff", "initial_backoff", initial_backoff);
    reprise::detail::require_not_negative("presets::grpc_backoff", "max_backoff", max_backoff);
    reprise::detail::require_factor("presets::grpc_backoff", "multiplier", multiplier);
  }
  constexpr wait_range range(int, const call_state& state) const {
    const duration delay = reprise::detail::grown(initial_backoff, multiplier, state.since_pushback, max_backoff);
    return {reprise::detail::scaled(delay, 0.8), reprise::detail::scaled(delay, 1.2)};
  }
  constexpr void advance(call_state& state, duration) const noexcept {
    if (state.since_pushback < unlimited_count) ++state.since_pushback;
  }
  /// A pushback was honoured.
  constexpr void restart(call_state& state) const noexcept { state.since_pushback = 0; }
  constexpr bool settled(int, const call_state& state) const noexcept {
    return multiplier == 1.0 || initial_backoff == duration::zero() ||
           reprise::detail::grown(initial_backoff, multiplier, state.since_pushback, max_backoff) == max_backoff;
  }
};

static_assert(stateful_backoff_part<grpc_backoff>);

/// gRPC proposal A6 with its example's settings: 4 attempts, from 100 ms to 1 s, plus or minus 20 %. A pushback is
/// honoured without a limit; here never sooner than the own wait, there also sooner. The call's deadline is the
/// caller's.
inline constexpr retry_policy grpc{grpc_backoff{}, attempt_budget{.maximum = 4}, no_time_limit{},
                                   reprise::detail::hints_unlimited};

/// A6 before August 2024: full jitter. The retries go on being counted after a pushback.
inline constexpr retry_policy grpc_full_jitter{
    exponential_backoff{.base = std::chrono::milliseconds(100), .cap = std::chrono::seconds(1)}, full_jitter{},
    attempt_budget{.maximum = 4}, no_time_limit{}, reprise::detail::hints_unlimited};

}  // namespace reprise::inline REPRISE_VERSION_NAMESPACE::presets
