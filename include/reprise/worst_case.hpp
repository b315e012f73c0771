// SPDX-License-Identifier: MIT
// The bill of a policy: the most that one call can cost, computed without running it.
// Asks the parts the questions that the engine asks; knows no clock and no server.
#pragma once

#include <cstddef>

#include "detail/schedule.hpp"
#include "policy.hpp"

namespace reprise::inline REPRISE_VERSION_NAMESPACE {

/// The most that one call can cost, if `send` keeps its timeout and `sleep` is punctual. `unlimited` is
/// unbounded.
struct bill {
  /// The most attempts; INT_MAX for unlimited ones.
  int attempts = 0;
  /// The longest own waits (backoff and jitter) together.
  duration own_waits = duration::zero();
  /// The longest waits together, those that a server may ask for included; at most the wait limit and the time limit.
  duration waits = duration::zero();
  /// Attempts and waits together; at most the time limit.
  duration total = duration::zero();

  friend constexpr bool operator==(const bill&, const bill&) = default;
};

/// The possible waits before the first `Count` retries.
template <std::size_t Count> struct wait_range_list {
  wait_range ranges[Count] = {};

  constexpr const wait_range& operator[](std::size_t retry) const noexcept { return ranges[retry]; }
  constexpr const wait_range* begin() const noexcept { return ranges; }
  constexpr const wait_range* end() const noexcept { return ranges + Count; }
  static constexpr std::size_t size() noexcept { return Count; }
};

/// Lists the ranges of the first `Count` own waits (retry 0 is the first). Where a range depends on the wait before it
/// (decorrelated jitter), that wait is taken to have been the longest.
template <std::size_t Count, class... Parts>
constexpr wait_range_list<Count> wait_ranges(const retry_policy<Parts...>& policy) {
  static_assert(Count > 0, "reprise::wait_ranges requires a number of retries: write wait_ranges<3>(policy)");
  using schedule = detail::schedule<retry_policy<Parts...>>;
  typename schedule::call_state state{};
  wait_range_list<Count> list;
  for (std::size_t retry = 0; retry < Count; ++retry) {
    list.ranges[retry] = schedule::range(policy, static_cast<int>(retry), state);
    schedule::advance(policy, state, list.ranges[retry].longest);
  }
  return list;
}

namespace detail {

struct wait_sums {
  duration own = duration::zero();
  duration with_hints = duration::zero();
};

/// The longest waits before `retries` retries, each at least `hint`. Multiplies as soon as the range has settled. A
/// growing backoff that takes thousands of retries to settle is billed with its last wait for the rest (an upper
/// bound); a function without `settled` that is asked for more is unbounded.
template <class Policy> constexpr wait_sums longest_waits(const Policy& policy, int retries, duration hint) {
  using schedule = detail::schedule<Policy>;
  constexpr int most_steps = 4096;
  typename schedule::call_state state{};
  wait_sums sums;
  for (int retry = 0; retry < retries; ++retry) {
    const wait_range range = schedule::range(policy, retry, state);
    const bool settled = schedule::settled(policy, retry, state);
    const bool repeats = settled || retry >= most_steps;
    const std::int64_t times = repeats ? std::int64_t{retries} - retry : 1;
    duration own = range.longest;
    if (repeats && !settled) own = schedule::range(policy, retries - 1, state).longest;
    if (repeats && !settled && !schedule::grows) own = unlimited;
    sums.own = add(sums.own, multiply(own, times));
    sums.with_hints = add(sums.with_hints, multiply(longer(own, hint), times));
    if (repeats) break;
    schedule::advance(policy, state, range.longest);
  }
  return sums;
}

template <class Policy> constexpr duration longest_hint(const Policy& policy) {
  if constexpr (!Policy::gives_hints) return duration::zero();
  return policy.template part<role::server_hint>().longest_wait();
}

}  // namespace detail

/// The bill of a policy. A deadline, being a point in time, can only make it less.
/// So a service writes `static_assert(reprise::worst_case(policy).total <= 800ms)`.
template <class... Parts> constexpr bill worst_case(const retry_policy<Parts...>& policy) {
  const int attempts = policy.template part<role::attempts>().max_attempts();
  const duration limit = policy.template part<role::time>().limit();
  const detail::wait_sums sums = detail::longest_waits(policy, attempts - 1, detail::longest_hint(policy));
  const duration waits =
      detail::shorter(detail::shorter(sums.with_hints, limit), policy.template part<role::waiting>().limit());
  const duration attempt = detail::shorter(limit, policy.template part<role::attempt_timeout>()(limit, 1));
  const duration in_attempts = detail::multiply(attempt, attempts);
  return {attempts, sums.own, waits, detail::shorter(limit, detail::add(in_attempts, waits))};
}

/// The bill of a policy whose every attempt is a call of that inner bill.
template <class... Parts> constexpr bill worst_case(const retry_policy<Parts...>& outer, const bill& inner) {
  const bill own = worst_case(outer);
  const duration limit = outer.template part<role::time>().limit();
  const std::int64_t attempts = std::int64_t{own.attempts} * inner.attempts;
  const auto nested = [&](duration waits, duration inside) {
    return detail::add(waits, detail::multiply(inside, own.attempts));
  };
  return {attempts < unlimited_count ? static_cast<int>(attempts) : unlimited_count,
          nested(own.own_waits, inner.own_waits), detail::shorter(limit, nested(own.waits, inner.waits)),
          detail::shorter(limit, nested(own.waits, inner.total))};
}

/// Nested layers, the outermost first: their attempts multiply (3 x 3 = 9).
template <class... Outer, class... Inner, class... Innermost>
constexpr bill worst_case(const retry_policy<Outer...>& outer, const retry_policy<Inner...>& inner,
                          const Innermost&... innermost) {
  return worst_case(outer, worst_case(inner, innermost...));
}

}  // namespace reprise::inline REPRISE_VERSION_NAMESPACE
