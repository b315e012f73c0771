// SPDX-License-Identifier: MIT
#include "outside.hpp"

namespace outside {

namespace {
int failures_before_success = 0;
int failures_left = 0;
clock::time_point time{};
}  // namespace

void fail_first(int failures) { failures_before_success = failures_left = failures; }

response send(std::chrono::nanoseconds) {
  if (failures_left > 0) {
    --failures_left;
    return {.status = 503};
  }
  failures_left = failures_before_success;
  return {.status = 200};
}

clock::time_point now() { return time; }
void sleep(std::chrono::nanoseconds wait) { time += wait; }
double fraction() { return 0.5; }

const hand_limits limits{.base = std::chrono::milliseconds(1),
                         .cap = std::chrono::milliseconds(4),
                         .maximum = 3,
                         .total = std::chrono::seconds(5),
                         .replay_safe = true};

const policy_type policy{reprise::http::retry_statuses{},
                         reprise::exponential_backoff{.base = limits.base, .cap = limits.cap},
                         reprise::full_jitter{},
                         reprise::attempt_budget{.maximum = limits.maximum},
                         reprise::time_limit{.total = limits.total},
                         reprise::http::operation{.method = limits.replay_safe ? "GET" : "POST"}};

}  // namespace outside
