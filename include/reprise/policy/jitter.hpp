// SPDX-License-Identifier: MIT
// How a delay is spread to a range, so that a fleet of clients does not return at one instant.
// Draws no random number: the injected fraction picks the point later.
#pragma once

#include "../concepts.hpp"

namespace reprise::inline REPRISE_VERSION_NAMESPACE {

/// delay * fraction; delay >= 0, fraction in [0,1], else `std::invalid_argument`. The arithmetic of `full_jitter`.
constexpr duration jitter(time_span delay, double fraction) {
  detail::require_not_negative("jitter", "delay", delay);
  if (!(fraction >= 0.0 && fraction <= 1.0)) detail::refuse("jitter", "fraction", "in [0,1]", fraction);
  return detail::portion(delay, fraction);
}

/// [d, d]: every client waits the same. The default where the delays are given (constant, listed, a lambda).
struct no_jitter {
  static constexpr auto part_role = role::jitter;
  static constexpr bool only_shortens = true;

  constexpr wait_range operator()(duration delay) const noexcept { return {delay, delay}; }
};

/// [0, d] (AWS architecture blog). The default for growing backoffs: of the simple kinds it ends a contention soonest.
struct full_jitter {
  static constexpr auto part_role = role::jitter;
  static constexpr bool only_shortens = true;

  constexpr wait_range operator()(duration delay) const noexcept { return {duration::zero(), delay}; }
};

/// [d/2, d] (AWS architecture blog): never a very short wait.
struct equal_jitter {
  static constexpr auto part_role = role::jitter;
  static constexpr bool only_shortens = true;

  constexpr wait_range operator()(duration delay) const noexcept { return {delay / 2, delay}; }
};

/// [d * (1 - f), d * (1 + f)], f = 0.1 by default (plus or minus 10 %). fraction in [0,1].
struct proportional_jitter {
  static constexpr auto part_role = role::jitter;

  double fraction = 0.1;

  constexpr void check() const {
    if (!(fraction >= 0.0 && fraction <= 1.0)) detail::refuse("proportional_jitter", "fraction", "in [0,1]", fraction);
  }
  constexpr wait_range operator()(duration delay) const noexcept {
    // Rounded down, so that no wait is outside the range that was asked for.
    const duration spread = fraction < 1.0 ? detail::shorter(detail::scale(delay, fraction), delay) : delay;
    return {delay - spread, detail::add(delay, spread)};
  }
};

/// [d, d + longest]: never less than the delay, 100 ms more at most by default. longest >= 0.
struct added_jitter {
  static constexpr auto part_role = role::jitter;

  time_span longest = std::chrono::milliseconds(100);

  constexpr void check() const { detail::require_not_negative("added_jitter", "longest", longest); }
  constexpr wait_range operator()(duration delay) const noexcept { return {delay, detail::add(delay, longest)}; }
};

static_assert(jitter_part<no_jitter> && jitter_part<full_jitter> && jitter_part<equal_jitter>);
static_assert(jitter_part<proportional_jitter> && jitter_part<added_jitter>);

}  // namespace reprise::inline REPRISE_VERSION_NAMESPACE
