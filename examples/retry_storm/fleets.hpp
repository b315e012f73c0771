// SPDX-License-Identifier: MIT
// The policies that go through the outage. They differ in one part each.
#pragma once

#include <reprise/policy/adaptive_throttle.hpp>
#include <reprise/policy/concurrent_retry_budget.hpp>
#include <reprise/policy/quota_budget.hpp>
#include <reprise/policy/ratio_budget.hpp>
#include <reprise/policy/token_budget.hpp>

#include "outage.hpp"

namespace storm::outage {

constexpr reprise::retry_policy up_to_three_attempts{answers{}, reprise::idempotent{},
                                                     reprise::attempt_budget{.maximum = 3},
                                                     reprise::attempt_timeout{.longest = 1s}, reprise::no_time_limit{}};

constexpr auto once = up_to_three_attempts.with(reprise::attempt_budget{.maximum = 1});
constexpr auto fixed = up_to_three_attempts.with(reprise::constant_backoff{.delay = 100ms});
constexpr auto exponential =
    up_to_three_attempts.with(reprise::exponential_backoff{.base = 100ms, .cap = 2s}, reprise::no_jitter{});
constexpr auto full_jitter = exponential.with(reprise::full_jitter{});

/// Clients that share nothing.
template <const auto& Policy, bool SendsDeadline = false> struct plain {
  static constexpr bool sends_deadline = SendsDeadline;
  static constexpr auto policy = Policy;

  explicit plain(std::uint64_t) {}
};

/// Clients that share a retry budget with its default settings.
template <class Budget> struct budgeted {
  static constexpr bool sends_deadline = false;
  Budget budget{};
  decltype(full_jitter.with(reprise::shared_budget(budget))) policy = full_jitter.with(reprise::shared_budget(budget));

  explicit budgeted(std::uint64_t) {}
};

/// Clients that share a throttle. Its window is as long as the outage: the default of two minutes would take as long to
/// notice it.
struct throttled {
  static constexpr bool sends_deadline = false;
  reprise::adaptive_throttle<random_fraction> throttle;
  decltype(full_jitter.with(reprise::throttled_by(throttle))) policy =
      full_jitter.with(reprise::throttled_by(throttle));

  explicit throttled(std::uint64_t seed) : throttle(random_fraction{seed}, {.window = 10s}) {}
};

/// Names a fleet's type without making one.
template <class Fleet> struct fleet_type {
  using type = Fleet;
};

/// Calls `f(name, fleet_type)` for each policy.
template <class Function> void each_fleet(const Function& f) {
  f("no retries", fleet_type<plain<once>>{});
  f("fixed 100 ms", fleet_type<plain<fixed>>{});
  f("exponential", fleet_type<plain<exponential>>{});
  f("full jitter", fleet_type<plain<full_jitter>>{});
  f("token budget", fleet_type<budgeted<reprise::token_budget>>{});
  f("quota budget", fleet_type<budgeted<reprise::quota_budget>>{});
  f("ratio budget", fleet_type<budgeted<reprise::ratio_budget>>{});
  f("concurrent budget", fleet_type<budgeted<reprise::concurrent_retry_budget>>{});
  f("adaptive throttle", fleet_type<throttled>{});
  f("sent deadline", fleet_type<plain<full_jitter, true>>{});
}

}  // namespace storm::outage
