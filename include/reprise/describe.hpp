// SPDX-License-Identifier: MIT
// The description of a policy: what its attempts and waits can be, and what ends a call, computed without running it.
// Prints nothing: with {fmt}, fmt.hpp turns a description into a table.
#pragma once

#include "worst_case.hpp"

namespace reprise::inline REPRISE_VERSION_NAMESPACE {

/// One attempt of a call whose every attempt fails at once and whose every wait is the longest.
struct described_attempt {
  /// Counted from 1.
  int number = 1;
  /// What the attempt may take.
  duration timeout = unlimited;
  /// The wait before the next attempt, whatever was drawn before it; nothing after the last attempt.
  std::optional<wait_range> wait = {};
  /// All waits so far together, this one included.
  duration waits = duration::zero();
  /// What ends the call here; nothing if it goes on.
  std::optional<stop_reason> end = {};

  friend constexpr bool operator==(const described_attempt&, const described_attempt&) = default;
};

/// How a call ends in which every attempt fails.
struct described_end {
  /// `attempts_exhausted`, `wait_limit_reached` or `deadline_reached`; nothing if the last attempt may last for ever,
  /// or if no end was found within 1,000 attempts.
  std::optional<stop_reason> reason = {};
  int attempts = 0;
  /// Attempts and waits together; `unlimited` if the last attempt may last for ever.
  duration elapsed = duration::zero();

  friend constexpr bool operator==(const described_end&, const described_end&) = default;
};

namespace detail {

/// What the part's budget lets through for long, in retries a call, when every attempt fails; nothing if it cannot say.
template <class Policy> constexpr std::optional<double> lasting_share_of(const Policy& policy) {
  if constexpr (!Policy::template has<role::retry_budget>) return std::nullopt;
  else if constexpr (requires { policy.template part<role::retry_budget>().budget().lasting_share(); })
    return static_cast<double>(policy.template part<role::retry_budget>().budget().lasting_share());
  else return std::nullopt;
}

}  // namespace detail

/// A policy's description; made by `describe`. Holds a copy of the policy.
template <class Policy> class description {
  using schedule = detail::schedule<Policy>;
  static constexpr int most_attempts = 1000;

 public:
  constexpr description(const Policy& policy, std::optional<double> budget_share)
      : policy_(policy), budget_share_(budget_share) {}

  /// Calls `visit(described_attempt)` for the first attempts, `most` at most; true if these were all. They end where
  /// the longest waits end the call; after shorter ones there may be more.
  template <class Visit> constexpr bool each(int most, Visit&& visit) const {
    return walk(true, false, most, visit).reason.has_value();
  }
  /// If every attempt fails at once, after the shortest waits.
  constexpr described_end soonest() const { return walk(false, false, most_attempts, ignore); }
  /// If every attempt fails at once, after the longest waits.
  constexpr described_end latest() const { return walk(true, false, most_attempts, ignore); }
  /// If every attempt lasts until its timeout, after the longest waits.
  constexpr described_end hanging() const { return walk(true, true, most_attempts, ignore); }

  constexpr bill worst_case() const { return reprise::worst_case(policy_); }

  /// The longest wait that a server may ask for before each retry; nothing if it cannot ask.
  constexpr std::optional<duration> longest_hint() const {
    if constexpr (!Policy::gives_hints) return std::nullopt;
    else return policy_.template part<role::server_hint>().longest_wait();
  }

  /// Retries a call when every attempt fails, without the retry budget: attempts - 1.
  constexpr int retries() const {
    const int attempts = policy_.template part<role::attempts>().max_attempts();
    return attempts == unlimited_count ? attempts : attempts - 1;
  }
  static constexpr bool has_budget = Policy::template has<role::retry_budget>;
  /// The same in the long run with the retry budget; nothing if there is none, or if it does not say.
  constexpr std::optional<double> retries_with_budget() const {
    if (!budget_share_.has_value()) return std::nullopt;
    const double without = retries();
    return *budget_share_ < without ? *budget_share_ : without;
  }

 private:
  static constexpr auto ignore = [](const described_attempt&) {};

  /// The waits of one way of drawing.
  struct way {
    typename schedule::call_state state{};
    wait_range range = {};
  };

  /// The engine's rules 5, 7 and 8, on a call without hints.
  template <class Visit> constexpr described_end walk(bool longest, bool hangs, int most, const Visit& visit) const {
    const int maximum = policy_.template part<role::attempts>().max_attempts();
    const duration limit = policy_.template part<role::time>().limit();
    const duration wait_limit = policy_.template part<role::waiting>().limit();
    way shorter{};
    way longer{};
    described_end end{};
    duration waits = duration::zero();
    while (end.attempts < most) {
      const duration remaining = limit == unlimited ? unlimited : limit - end.elapsed;
      const int left = maximum == unlimited_count ? maximum : maximum - end.attempts;
      const duration own = policy_.template part<role::attempt_timeout>()(remaining, left);
      described_attempt line{.number = ++end.attempts, .timeout = remaining, .waits = waits};
      if (own < remaining) line.timeout = detail::longer(own, duration(1));
      if (hangs) end.elapsed = detail::add(end.elapsed, line.timeout);
      if (end.elapsed == unlimited) break;
      if (end.attempts >= maximum) {
        line.end = stop_reason::attempts_exhausted;
      } else {
        shorter.range = schedule::range(policy_, end.attempts - 1, shorter.state);
        longer.range = schedule::range(policy_, end.attempts - 1, longer.state);
        schedule::advance(policy_, shorter.state, shorter.range.shortest);
        schedule::advance(policy_, longer.state, longer.range.longest);
        line.wait = wait_range{detail::shorter(shorter.range.shortest, longer.range.shortest),
                               detail::longer(shorter.range.longest, longer.range.longest)};
        const duration wait = longest ? longer.range.longest : shorter.range.shortest;
        line.waits = detail::add(waits, wait);
        if (line.waits > wait_limit) line.end = stop_reason::wait_limit_reached;
        else if (detail::add(end.elapsed, wait) >= limit) line.end = stop_reason::deadline_reached;
        else end.elapsed = detail::add(end.elapsed, wait);
      }
      end.reason = line.end;
      visit(line);
      if (line.end.has_value()) break;
      waits = line.waits;
    }
    return end;
  }

  Policy policy_;
  std::optional<double> budget_share_;
};

/// Describes a policy, complete or a fragment; a deadline, being a point in time, is left out. A retry budget is asked
/// for its `lasting_share()`, the retries a call that it lets through for long when every attempt fails, if it has
/// that.
template <class... Parts> constexpr auto describe(const retry_policy<Parts...>& policy) {
  return description<retry_policy<Parts...>>(policy, detail::lasting_share_of(policy));
}

/// The same with a given budget's share, for example 0.2 retries a call, whether it is joined to the policy or not.
template <class... Parts> constexpr auto describe(const retry_policy<Parts...>& policy, double budget_share) {
  if (!(budget_share >= 0.0)) detail::refuse("describe", "budget_share", "zero or more", budget_share);
  return description<retry_policy<Parts...>>(policy, budget_share);
}

}  // namespace reprise::inline REPRISE_VERSION_NAMESPACE
