// SPDX-License-Identifier: MIT
// Client-side throttling: refuses calls here while the backend refuses most of them there.
// Reads no clock and draws no random number by itself: time comes with the calls, the fraction from the caller.
#pragma once

#include "../concepts.hpp"
#include "../detail/recent_total.hpp"

namespace reprise::inline REPRISE_VERSION_NAMESPACE {

/// The settings of an `adaptive_throttle`, with the defaults of the SRE book.
struct adaptive_throttle_settings {
  /// The book's K: so many requests are let out for each that the backend accepts. Larger lets more out, to be refused
  /// there; 1.1 is strict. multiplier >= 1.
  double multiplier = 2.0;
  /// How long requests and accepts count, in ten slices. In [1 s, 1 h].
  time_span window = std::chrono::minutes(2);

  constexpr void check() const {
    if (!(multiplier >= 1.0) || multiplier > (std::numeric_limits<double>::max)())
      detail::refuse("adaptive_throttle", "multiplier", "1 or more, and finite", multiplier);
    if (window < std::chrono::seconds(1) || window > std::chrono::hours(1))
      detail::refuse("adaptive_throttle", "window", "1 s to 1 h", detail::seconds_of(window), " s");
  }
};

/// Refuses an attempt, the first of a call too, with the probability
///     max(0, (requests - multiplier x accepts) / (requests + 1))
/// over the window. Every attempt asked for is a request, also one that is refused here, and it counts before it is
/// made: a backend that hangs is noticed before its timeouts. An accept is an attempt that the backend took on: one
/// that ended in success, or in a permanent failure (a 404 is an answer) unless that was `not_applied`. Transient and
/// cancelled ends are none, nor is an attempt that never gets a verdict (dropped by cancellation or by an exception
/// that no classifier knows). The probability stays below 1, so that recovery is noticed.
/// Given positionally, the source of randomness first: `adaptive_throttle throttle{reprise::random_fraction{}};`. It is
/// asked only while the probability is above 0, by several threads at once if the throttle is. Lock-free; no count is
/// lost. Source: Site Reliability Engineering (O'Reilly 2016), chapter 21, "Client-Side Throttling".
template <class Fraction> class adaptive_throttle {
  static_assert(
      fraction_function<Fraction>,
      "reprise::adaptive_throttle requires a fraction: write a function that returns a double in [0,1], such as reprise::random_fraction{}");

 public:
  constexpr explicit adaptive_throttle(Fraction fraction)
      : adaptive_throttle(std::move(fraction), adaptive_throttle_settings{}) {}
  /// Throws `std::invalid_argument` for bad settings.
  constexpr adaptive_throttle(Fraction fraction, const adaptive_throttle_settings& settings)
      : fraction_(std::move(fraction)),
        multiplier_((settings.check(), settings.multiplier)),
        history_(settings.window) {}

  /// Counts a request and says whether it may be made. `now`, here and below, is the time since the clock's epoch.
  bool admit(duration now) {
    const double refusal = refusal_probability(now);
    history_.add(one_request);
    return !(refusal > 0.0) || !(static_cast<double>(fraction_()) < refusal);
  }

  /// An attempt that was admitted has ended.
  void ended(const verdict& end, duration now) noexcept {
    const bool accepted = end.kind == outcome::success || (end.kind == outcome::permanent && !end.not_applied);
    if (!accepted) return;
    history_.turn_to(now);
    history_.add(one_accept);
  }

  /// With which probability the next attempt is refused, in [0, 1).
  double refusal_probability(duration now) noexcept {
    history_.turn_to(now);
    const std::uint64_t recent = history_.sum();
    const auto requests = static_cast<double>(recent / one_request);
    const auto accepts = static_cast<double>(recent % one_request);
    const double excess = requests - multiplier_ * accepts;
    return excess > 0.0 ? excess / (requests + 1.0) : 0.0;
  }

 private:
  // Both counts in one sum, so that they are read as they were at one moment: accepts in the lower half, requests in
  // the upper. 2^32 in a window is out of reach.
  static constexpr std::uint64_t one_accept = 1;
  static constexpr std::uint64_t one_request = std::uint64_t{1} << 32;

  Fraction fraction_;
  double multiplier_;
  detail::recent_total history_;
};

/// Joins a throttle to a policy: attempts that it refuses end the call with `admission_refused`. By reference; the
/// throttle must outlive every call. Given positionally: `throttled_by(throttle)`.
template <class Throttle> class throttled_by {
  static_assert(
      requires(Throttle& throttle, const verdict& end, duration now) {
        { throttle.admit(now) } -> std::same_as<bool>;
        throttle.ended(end, now);
      }, "reprise::throttled_by requires a throttle: write admit(now) -> bool and ended(verdict, now)");

 public:
  static constexpr auto part_role = role::admission;

  constexpr explicit throttled_by(Throttle& throttle) noexcept : throttle_(&throttle) {}
  throttled_by(const Throttle&&) = delete;  // a temporary would be gone before the call

  constexpr bool admit(duration now) const { return throttle_->admit(now); }
  constexpr void ended(const verdict& end, duration now) const { throttle_->ended(end, now); }

 private:
  Throttle* throttle_;
};

}  // namespace reprise::inline REPRISE_VERSION_NAMESPACE
