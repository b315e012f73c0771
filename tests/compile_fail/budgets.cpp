// SPDX-License-Identifier: MIT
// What is asked of a throttle, and the settings that the budgets refuse. VALUE gives a bad value, or the good one next
// to it.
#include <reprise/core.hpp>
#include <reprise/policy/adaptive_throttle.hpp>
#include <reprise/policy/concurrent_retry_budget.hpp>
#include <reprise/policy/quota_budget.hpp>
#include <reprise/policy/ratio_budget.hpp>
#include <reprise/policy/token_budget.hpp>

using namespace std::chrono_literals;

// WRONG_SETTINGS: each line with VALUE(
#ifdef WRONG_SETTINGS
#define VALUE(bad, good) bad
#else
#define VALUE(bad, good) good
#endif

namespace {

struct own_throttle {
// WRONG_THROTTLE: reprise::throttled_by requires a throttle: write admit(now) -> bool and ended(verdict, now)
// WRONG_THROTTLE_ANSWER: reprise::throttled_by requires a throttle: write admit(now) -> bool and ended(verdict, now)
#ifdef WRONG_THROTTLE_ANSWER
  int admit(reprise::duration) { return 1; }
#else
  bool admit(reprise::duration) { return true; }
#endif
#ifndef WRONG_THROTTLE
  void ended(const reprise::verdict&, reprise::duration) {}
#endif
};

// WRONG_TEMPORARY_THROTTLE: deleted
void by_reference() {
  own_throttle throttle;
#ifdef WRONG_TEMPORARY_THROTTLE
  const reprise::retry_policy policy{reprise::throttled_by(own_throttle{})};
#else
  const reprise::retry_policy policy{reprise::throttled_by(throttle)};
#endif
  (void)policy, (void)throttle;
}

// WRONG_FRACTION: reprise::adaptive_throttle requires a fraction: write a function that returns a double in [0,1], such as reprise::random_fraction{}
#ifdef WRONG_FRACTION
reprise::adaptive_throttle from{0.5};
#else
reprise::adaptive_throttle from{[] { return 0.5; }};
#endif

template <class Settings> constexpr bool good(const Settings& settings) {
  settings.check();
  return true;
}

[[maybe_unused]] constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

[[maybe_unused]] constexpr bool tokens = good(reprise::token_budget_settings{.max_tokens = VALUE(0, 1)});
[[maybe_unused]] constexpr bool ratio = good(reprise::token_budget_settings{.token_ratio = VALUE(0.0009, 0.001)});
[[maybe_unused]] constexpr bool capacity = good(reprise::quota_budget_settings{.capacity = VALUE(0, 1)});
[[maybe_unused]] constexpr bool cost = good(reprise::quota_budget_settings{.cost = VALUE(-1, 0)});
[[maybe_unused]] constexpr bool timeout_cost = good(reprise::quota_budget_settings{.timeout_cost = VALUE(-1, 0)});
[[maybe_unused]] constexpr bool throttled = good(reprise::quota_budget_settings{.throttling_cost = VALUE(-1, 0)});
[[maybe_unused]] constexpr bool share = good(reprise::ratio_budget_settings{.share = VALUE(-0.1, 0.0)});
[[maybe_unused]] constexpr bool share_nan = good(reprise::ratio_budget_settings{.share = VALUE(not_a_number, 1000.0)});
[[maybe_unused]] constexpr bool reserve = good(reprise::ratio_budget_settings{.min_per_second = VALUE(-1, 0)});
[[maybe_unused]] constexpr bool ttl = good(reprise::ratio_budget_settings{.ttl = VALUE(999ms, 1s)});
[[maybe_unused]] constexpr bool long_ttl = good(reprise::ratio_budget_settings{.ttl = VALUE(61s, 60s)});
[[maybe_unused]] constexpr bool part = good(reprise::concurrent_retry_budget_settings{.share = VALUE(1.1, 1.0)});
[[maybe_unused]] constexpr bool least = good(reprise::concurrent_retry_budget_settings{.min_retries = VALUE(-1, 0)});
[[maybe_unused]] constexpr bool factor = good(reprise::adaptive_throttle_settings{.multiplier = VALUE(0.9, 1.0)});
[[maybe_unused]] constexpr bool window = good(reprise::adaptive_throttle_settings{.window = VALUE(2h, 1h)});

}  // namespace

// Constants of the program: settings are checked before it runs.
constinit reprise::token_budget token_budget{{.max_tokens = 10}};
constinit reprise::quota_budget quota_budget{{.cost = 5}};
constinit reprise::ratio_budget ratio_budget{{.ttl = 1s}};
constinit reprise::concurrent_retry_budget concurrent_budget{{.min_retries = 1}};

int main() {
  by_reference();
  return from.admit(0s) ? 0 : 1;
}
