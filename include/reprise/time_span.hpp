// SPDX-License-Identifier: MIT
// Durations that saturate: no input overflows, wraps, or turns into a short wait.
// Knows no clock and no policy.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <ratio>
#include <type_traits>
#include <utility>

#include "detail/fail.hpp"

namespace reprise::inline REPRISE_VERSION_NAMESPACE {

/// The unit in which everything inside is counted; 292 years fit.
using duration = std::chrono::nanoseconds;

/// "No limit", said aloud: never a zero. Arithmetic saturates here, so a sum that overflows also reads as unlimited.
inline constexpr duration unlimited = (duration::max)();

namespace detail {

// Whether a sum or a difference is out of range; otherwise it is in `result`. The builtins cost one jump.
#ifdef __GNUC__
constexpr bool add_overflows(std::int64_t a, std::int64_t b, std::int64_t& result) noexcept {
  return __builtin_add_overflow(a, b, &result);
}
constexpr bool subtract_overflows(std::int64_t a, std::int64_t b, std::int64_t& result) noexcept {
  return __builtin_sub_overflow(a, b, &result);
}
#else
constexpr bool add_overflows(std::int64_t a, std::int64_t b, std::int64_t& result) noexcept {
  result = static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  return ((a ^ result) & (b ^ result)) < 0;
}
constexpr bool subtract_overflows(std::int64_t a, std::int64_t b, std::int64_t& result) noexcept {
  result = static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
  return ((a ^ b) & (a ^ result)) < 0;
}
#endif

constexpr duration add(duration a, duration b) noexcept {
  std::int64_t sum = 0;
  if (add_overflows(a.count(), b.count(), sum)) [[unlikely]]
    return a < duration::zero() ? (duration::min)() : unlimited;
  return duration(sum);
}

constexpr duration subtract(duration a, duration b) noexcept {
  std::int64_t rest = 0;
  if (subtract_overflows(a.count(), b.count(), rest)) [[unlikely]]
    return a < duration::zero() ? (duration::min)() : unlimited;
  return duration(rest);
}

enum class rounding { down, up, nearest };

template <rounding Rounding, class Real> constexpr duration from_real(Real count) {
  // The first value past the range is a power of two and so exact in every floating type.
  constexpr Real past = static_cast<Real>(9223372036854775808.0);
  if (count != count) refuse("time_span", "a duration", "a number", static_cast<double>(count));
  if (count >= past) return unlimited;
  if (count <= -past) return (duration::min)();
  const auto whole = static_cast<std::int64_t>(count);
  const Real rest = count - static_cast<Real>(whole);
  std::int64_t more = 0;
  if constexpr (Rounding == rounding::up) more = rest > 0 ? 1 : 0;
  if constexpr (Rounding == rounding::down) more = rest < 0 ? -1 : 0;
  if constexpr (Rounding == rounding::nearest) more = rest >= Real(0.5) ? 1 : (rest <= Real(-0.5) ? -1 : 0);
  return add(duration(whole), duration(more));
}

/// Any chrono duration as nanoseconds, saturating at both ends.
template <rounding Rounding, class Rep, class Period>
constexpr duration to_duration(std::chrono::duration<Rep, Period> from) {
  static_assert(std::is_arithmetic_v<Rep>, "reprise durations require an arithmetic count: cast the duration first");
  using per = std::ratio_divide<Period, std::nano>;
  if constexpr (std::is_same_v<std::chrono::duration<Rep, Period>, duration>) {
    return from;
  } else if constexpr (std::is_floating_point_v<Rep>) {
    using real = std::common_type_t<Rep, double>;
    constexpr real most = (std::numeric_limits<real>::max)() / static_cast<real>(per::num);  // the product stays finite
    const auto count = static_cast<real>(from.count());
    if (count > most) return unlimited;
    if (count < -most) return (duration::min)();
    return from_real<Rounding>(count * static_cast<real>(per::num) / static_cast<real>(per::den));
  } else {
    constexpr std::int64_t most = unlimited.count() / per::num;
    static_assert(per::den <= most, "reprise durations require a period of an ordinary size: cast the duration first");
    using wide = std::common_type_t<Rep, std::int64_t>;
    const wide units = static_cast<wide>(from.count()) / static_cast<wide>(per::den);
    if (std::cmp_greater(units, most)) return unlimited;
    if (std::cmp_less(units, -most)) return (duration::min)();
    const duration whole(static_cast<std::int64_t>(units) * per::num);
    if constexpr (per::den == 1) return whole;
    const auto left = static_cast<std::int64_t>(static_cast<wide>(from.count()) % static_cast<wide>(per::den));
    const std::int64_t rest = left * per::num;
    const std::int64_t part = rest % per::den;
    std::int64_t more = rest / per::den;
    if constexpr (Rounding == rounding::up) more += part > 0 ? 1 : 0;
    if constexpr (Rounding == rounding::down) more -= part < 0 ? 1 : 0;
    if constexpr (Rounding == rounding::nearest)
      more += part > 0 && part * 2 >= per::den ? 1 : (part < 0 && part * 2 <= -per::den ? -1 : 0);
    return add(whole, duration(more));
  }
}

/// Nanoseconds in the unit of a clock or of a caller's parameter, saturating at its range.
template <rounding Rounding, class To> constexpr To from_duration(duration from) {
  using rep = typename To::rep;
  using per = std::ratio_divide<std::nano, typename To::period>;
  if constexpr (std::is_floating_point_v<rep>) {
    return To(static_cast<rep>(static_cast<long double>(from.count()) * per::num / per::den));
  } else {
    if (from == unlimited) return (To::max)();
    std::int64_t whole = 0;
    if constexpr (per::num > 1) {  // finer than a nanosecond
      constexpr std::int64_t most = unlimited.count() / per::num;
      if (from.count() > most) return (To::max)();
      if (from.count() < -most) return (To::min)();
      whole = from.count() * per::num / per::den;
    } else {
      whole = from.count() / per::den;
      const std::int64_t part = from.count() % per::den;
      if (Rounding == rounding::up && part > 0) ++whole;
      if (Rounding == rounding::down && part < 0) --whole;
    }
    if (std::cmp_greater(whole, (std::numeric_limits<rep>::max)())) return (To::max)();
    if (std::cmp_less(whole, (std::numeric_limits<rep>::min)())) return (To::min)();
    return To(static_cast<rep>(whole));
  }
}

constexpr duration shorter(duration a, duration b) noexcept { return b < a ? b : a; }
constexpr duration longer(duration a, duration b) noexcept { return a < b ? b : a; }

/// delay * times, for a delay and a count that are not negative.
constexpr duration multiply(duration delay, std::int64_t times) noexcept {
  if (times == 0 || delay == duration::zero()) return duration::zero();
  return delay.count() > unlimited.count() / times ? unlimited : duration(delay.count() * times);
}

/// delay * share rounded down, for a delay and a share that are not negative.
constexpr duration scale(duration delay, double share) noexcept {
  const double product = static_cast<double>(delay.count()) * share;
  return product < 9223372036854775808.0 ? duration(static_cast<std::int64_t>(product)) : unlimited;
}

/// delay * fraction to the nearest nanosecond, never more than the delay. A fraction outside [0,1] is clamped and NaN
/// counts as 1: the longer wait is the harmless mistake.
constexpr duration portion(duration delay, double fraction) noexcept {
  if (!(fraction < 1.0)) return delay;
  if (!(fraction > 0.0)) return duration::zero();
  // Below 2^63, as the delay is; at its far end the conversion to double may have rounded up.
  return shorter(duration(static_cast<std::int64_t>(static_cast<double>(delay.count()) * fraction + 0.5)), delay);
}

constexpr double seconds_of(duration d) noexcept { return static_cast<double>(d.count()) / 1e9; }

constexpr void require_not_negative(const char* part, const char* member, duration value) {
  if (value < duration::zero()) refuse(part, member, "zero or longer", seconds_of(value), " s");
}

constexpr void require_positive(const char* part, const char* member, duration value) {
  if (value <= duration::zero()) refuse(part, member, "longer than zero", seconds_of(value), " s");
}

}  // namespace detail

/// A duration given by the user: made from any chrono duration, also `0.5s` (to the nearest nanosecond) and
/// `hours::max()` (saturates to `unlimited`). NaN is refused with `std::invalid_argument`. Negative values can be
/// made; the parts refuse them, so that the message names the part.
class time_span {
 public:
  constexpr time_span() noexcept = default;

  template <class Rep, class Period> requires std::is_arithmetic_v<Rep>
  constexpr time_span(std::chrono::duration<Rep, Period> given)
      : value_(detail::to_duration<detail::rounding::nearest>(given)) {}

  constexpr operator duration() const noexcept { return value_; }

  friend constexpr bool operator==(time_span, time_span) noexcept = default;
  friend constexpr auto operator<=>(time_span, time_span) noexcept = default;

 private:
  duration value_ = duration::zero();
};

}  // namespace reprise::inline REPRISE_VERSION_NAMESPACE
