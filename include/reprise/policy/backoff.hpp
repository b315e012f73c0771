// SPDX-License-Identifier: MIT
// How long to wait before retry n, before jitter spreads it.
// Knows no clock and draws no random number.
#pragma once

#include <cstddef>

#include "../concepts.hpp"

namespace reprise::inline REPRISE_VERSION_NAMESPACE {

namespace detail {

/// min(cap, base * 2^retry), exact.
constexpr duration doubled(duration base, int retry, duration cap) noexcept {
  if (retry < 63 && base <= duration(cap.count() >> retry)) return duration(base.count() << retry);
  return base == duration::zero() ? base : cap;
}

/// min(cap, base * factor^retry) in O(log retry) steps. Out of line: doubling is the rule.
[[gnu::noinline]] constexpr duration powered(duration base, double factor, int retry, duration cap) noexcept {
  if (retry == 0 || factor == 1.0) return shorter(base, cap);
  constexpr double enough = 9223372036854775808.0;  // any base saturates; beyond it a double would overflow some time
  double power = factor < enough ? factor : enough;
  double square = power;
  for (int rest = retry - 1; rest > 0 && power < enough; rest /= 2) {
    if (rest % 2 != 0) power *= square;
    if (square < enough) square *= square;
  }
  return shorter(scale(base, power), cap);
}

constexpr duration grown(duration base, double factor, int retry, duration cap) noexcept {
  return factor == 2.0 ? doubled(base, retry, cap) : powered(base, factor, retry, cap);
}

}  // namespace detail

/// min(cap, base * 2^attempt): the wait after failed attempt `attempt`, counted from 0 (first failure: base).
/// attempt 0..30, base and cap not negative, else `std::invalid_argument`. The arithmetic of `exponential_backoff`.
constexpr duration backoff(int attempt, time_span base = std::chrono::milliseconds(500),
                           time_span cap = std::chrono::seconds(4)) {
  if (attempt < 0 || attempt > 30) detail::refuse("backoff", "attempt", "0 to 30", attempt);
  detail::require_not_negative("backoff", "base", base);
  detail::require_not_negative("backoff", "cap", cap);
  return detail::doubled(base, attempt, cap);
}

/// min(cap, base * factor^retry). The default of a policy: 500 ms leaves a restarting server room, 4 s keeps the third
/// wait within the default limit of 5 s, doubling is what the field uses. base, cap >= 0; factor >= 1.
struct exponential_backoff {
  static constexpr auto part_role = role::backoff;
  static constexpr bool grows = true;

  time_span base = std::chrono::milliseconds(500);
  time_span cap = std::chrono::seconds(4);
  double factor = 2.0;

  constexpr void check() const {
    detail::require_not_negative("exponential_backoff", "base", base);
    detail::require_not_negative("exponential_backoff", "cap", cap);
    if (!(factor >= 1.0 && factor <= (std::numeric_limits<double>::max)()))
      detail::refuse("exponential_backoff", "factor", "a number from 1", factor);
  }
  constexpr duration operator()(int retry) const noexcept { return detail::grown(base, factor, retry, cap); }
  constexpr bool settled(int retry) const noexcept {
    return factor == 1.0 || base == duration::zero() || (*this)(retry) == cap;
  }
};

/// The same delay every time. 500 ms by default, as the first wait of the growing ones; no cap, since there is nothing
/// to bound but an added jitter. delay, cap >= 0.
struct constant_backoff {
  static constexpr auto part_role = role::backoff;

  time_span delay = std::chrono::milliseconds(500);
  time_span cap = unlimited;

  constexpr void check() const {
    detail::require_not_negative("constant_backoff", "delay", delay);
    detail::require_not_negative("constant_backoff", "cap", cap);
  }
  constexpr duration operator()(int) const noexcept { return detail::shorter(delay, cap); }
  constexpr bool settled(int) const noexcept { return true; }
};

/// min(cap, step * (retry + 1)): 500 ms, 1 s, 1.5 s, ... up to 4 s by default. step, cap >= 0.
struct linear_backoff {
  static constexpr auto part_role = role::backoff;
  static constexpr bool grows = true;

  time_span step = std::chrono::milliseconds(500);
  time_span cap = std::chrono::seconds(4);

  constexpr void check() const {
    detail::require_not_negative("linear_backoff", "step", step);
    detail::require_not_negative("linear_backoff", "cap", cap);
  }
  constexpr duration operator()(int retry) const noexcept {
    const duration delay = detail::multiply(step, std::int64_t{retry} + 1);
    return detail::shorter(delay, cap);
  }
  constexpr bool settled(int retry) const noexcept { return step == duration::zero() || (*this)(retry) == cap; }
};

/// min(cap, base * F(retry + 1)) with F = 1, 1, 2, 3, 5, 8, ...: grows more gently than doubling. base, cap >= 0.
struct fibonacci_backoff {
  static constexpr auto part_role = role::backoff;
  static constexpr bool grows = true;

  time_span base = std::chrono::milliseconds(500);
  time_span cap = std::chrono::seconds(4);

  constexpr void check() const {
    detail::require_not_negative("fibonacci_backoff", "base", base);
    detail::require_not_negative("fibonacci_backoff", "cap", cap);
  }
  constexpr duration operator()(int retry) const noexcept {
    duration current = base;
    duration next = base;
    for (int i = 0; i < retry && i < most_steps; ++i) {
      const duration sum = detail::add(current, next);
      current = next;
      next = sum;
    }
    return detail::shorter(current, cap);
  }
  constexpr bool settled(int retry) const noexcept {
    return base == duration::zero() || retry >= most_steps || (*this)(retry) == cap;
  }

 private:
  static constexpr int most_steps = 92;  // F(93) is past the range, so that even a nanosecond has saturated
};

/// The delays as listed; the last one repeats. Given positionally: `listed_backoff{100ms, 1s, 10s}`. All >= 0.
template <std::size_t Count> class listed_backoff {
  static_assert(Count > 0, "reprise::listed_backoff requires delays: write listed_backoff{100ms, 1s}");

 public:
  static constexpr auto part_role = role::backoff;

  template <std::convertible_to<time_span>... Delays> requires(sizeof...(Delays) == Count)
  constexpr explicit listed_backoff(Delays... delays) : delays_{delays...} {
    for (const time_span& delay : delays_) detail::require_not_negative("listed_backoff", "a delay", delay);
  }
  constexpr duration operator()(int retry) const noexcept {
    const auto at = static_cast<std::size_t>(retry);
    return delays_[at < Count ? at : Count - 1];
  }
  constexpr bool settled(int retry) const noexcept { return static_cast<std::size_t>(retry) + 1 >= Count; }

 private:
  time_span delays_[Count];
};
template <class... Delays> listed_backoff(Delays...) -> listed_backoff<sizeof...(Delays)>;

/// Decorrelated jitter, the AWS architecture blog's formula: min(cap, base + U * (3 * previous wait - base)), the first
/// previous wait being base; as a range [base, 3 * previous], both ends at most the cap. It has its own spread, so that
/// no jitter part goes with it. base, cap >= 0.
struct decorrelated_backoff {
  static constexpr auto part_role = role::backoff;

  time_span base = std::chrono::milliseconds(500);
  time_span cap = std::chrono::seconds(4);

  /// The previous own wait; below zero before the first.
  struct call_state {
    duration previous = duration(-1);
  };

  constexpr void check() const {
    detail::require_not_negative("decorrelated_backoff", "base", base);
    detail::require_not_negative("decorrelated_backoff", "cap", cap);
  }
  constexpr wait_range range(int, const call_state& state) const noexcept {
    const duration low = detail::shorter(base, cap);
    const duration previous = state.previous < duration::zero() ? duration(base) : state.previous;
    const duration high = detail::multiply(previous, 3);
    return {low, detail::longer(low, detail::shorter(high, cap))};
  }
  constexpr void advance(call_state& state, duration own) const noexcept { state.previous = own; }
  constexpr bool settled(int retry, const call_state& state) const noexcept {
    return base == duration::zero() || range(retry, state).longest == cap;
  }
};

static_assert(backoff_part<exponential_backoff> && backoff_part<constant_backoff> && backoff_part<linear_backoff>);
static_assert(backoff_part<fibonacci_backoff> && backoff_part<listed_backoff<1>>);
static_assert(stateful_backoff_part<decorrelated_backoff>);

}  // namespace reprise::inline REPRISE_VERSION_NAMESPACE
