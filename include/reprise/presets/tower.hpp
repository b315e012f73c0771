// SPDX-License-Identifier: MIT
// The ExponentialBackoff of tower, Rust's service stack.
// Knows no budget: tower's TpsBudget is a part of its own.
#pragma once

#include "../detail/published.hpp"

namespace reprise::inline REPRISE_VERSION_NAMESPACE::presets {

/// b = min(least * 2^n, most), n from 0, plus U * jitter * b as far as that fits below `most` (tower's min and max):
/// the jitter disappears at the cap. What was drawn is clamped. least, most >= 0; jitter in [0,100].
struct tower_backoff {
  static constexpr auto part_role = role::backoff;
  using call_state = reprise::detail::no_memory;

  time_span least = std::chrono::milliseconds(50);
  time_span most = unlimited;
  double jitter = 0.99;

  constexpr void check() const {
    reprise::detail::require_not_negative("presets::tower_backoff", "least", least);
    reprise::detail::require_not_negative("presets::tower_backoff", "most", most);
    if (!(jitter >= 0.0 && jitter <= 100.0))
      reprise::detail::refuse("presets::tower_backoff", "jitter", "in [0,100]", jitter);
  }
  constexpr wait_range range(int retry, const call_state&) const { return reprise::detail::below(spread(retry), most); }
  constexpr duration draw(int retry, call_state&, double fraction) const {
    return reprise::detail::shorter(spread(retry).point(fraction), most);
  }
  constexpr void advance(call_state&, duration) const noexcept {}
  constexpr bool settled(int retry, const call_state& state) const {
    return least == duration::zero() || range(retry, state).shortest == most;
  }

 private:
  constexpr wait_range spread(int retry) const {
    const duration delay = reprise::detail::doubled(least, retry, most);
    return {delay, reprise::detail::add(delay, reprise::detail::scaled(delay, jitter))};
  }
};

static_assert(stateful_backoff_part<tower_backoff>);

/// tower (`ExponentialBackoffMaker::default()`, read in 2026): from 50 ms, no cap, plus up to 99 %. How many attempts
/// is a policy of the caller's there; 3 here. No limit in time, no hint.
inline constexpr retry_policy tower{tower_backoff{}, attempt_budget{.maximum = 3}, no_time_limit{},
                                    reprise::detail::hints_ignored};

}  // namespace reprise::inline REPRISE_VERSION_NAMESPACE::presets
