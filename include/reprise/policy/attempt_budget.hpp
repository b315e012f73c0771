// SPDX-License-Identifier: MIT
// How many attempts one call may make.
// Knows nothing of other calls: what holds over many calls is a retry budget.
#pragma once

#include "../concepts.hpp"

namespace reprise::inline REPRISE_VERSION_NAMESPACE {

/// attempts < maximum and wait >= 0 and budget > wait: whether another attempt may follow `attempts` made ones, after
/// `wait`, with `budget` of time left. At exactly the deadline there is no time for an attempt.
constexpr bool can_attempt(int attempts, int maximum, time_span wait, time_span budget) noexcept {
  return attempts < maximum && wait >= duration::zero() && budget > wait;
}

/// The most attempts, the first one included. 3 by default, as in most of the field. maximum >= 1.
struct attempt_budget {
  static constexpr auto part_role = role::attempts;

  int maximum = 3;

  constexpr void check() const {
    if (maximum < 1) detail::refuse("attempt_budget", "maximum", "1 or more", maximum);
  }
  constexpr int max_attempts() const noexcept { return maximum; }
};

/// As many attempts as time allows.
struct unlimited_attempts {
  static constexpr auto part_role = role::attempts;
  constexpr int max_attempts() const noexcept { return unlimited_count; }
};

static_assert(attempts_part<attempt_budget> && attempts_part<unlimited_attempts>);

}  // namespace reprise::inline REPRISE_VERSION_NAMESPACE
