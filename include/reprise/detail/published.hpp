// SPDX-License-Identifier: MIT
// What the presets share: scaling, drawing below a cap, and a server's hint that is not looked at.
// Knows no system by name.
#pragma once

#include "../policy.hpp"

namespace reprise::inline REPRISE_VERSION_NAMESPACE::detail {

/// delay * share to the nearest nanosecond, saturating; for a delay and a share that are not negative.
constexpr duration scaled(duration delay, double share) {
  return from_real<rounding::nearest>(static_cast<double>(delay.count()) * share);
}

/// Both ends at most the cap.
constexpr wait_range below(const wait_range& range, duration cap) noexcept {
  return {shorter(range.shortest, cap), shorter(range.longest, cap)};
}

/// For formulas that need no memory but draw in a way of their own.
struct no_memory {};

constexpr void require_factor(const char* part, const char* member, double value) {
  if (!(value >= 1.0 && value <= (std::numeric_limits<double>::max)())) refuse(part, member, "a number from 1", value);
}

/// The original does not look at what the server asks for.
inline constexpr retry_after_limit hints_ignored{.longest = duration::zero(), .beyond = too_long::ignore};

/// The original waits as long as it is asked to.
inline constexpr retry_after_limit hints_unlimited{.longest = unlimited};

}  // namespace reprise::inline REPRISE_VERSION_NAMESPACE::detail
