// SPDX-License-Identifier: MIT
// What both sides of the comparison share: a response, and functions and limits that live in another translation unit,
// so that no compiler can see through them.
#pragma once

#include <reprise/core.hpp>

namespace outside {

struct response {
  int status = 0;
  const char* retry_after = nullptr;  ///< the header's text, null where there is none
};

using clock = std::chrono::steady_clock;

response send(std::chrono::nanoseconds timeout);
clock::time_point now();
void sleep(std::chrono::nanoseconds wait);
double fraction();

/// How many failures `send` gives before each success.
void fail_first(int failures);

/// The limits of either side, unknown to its compiler.
struct hand_limits {
  std::chrono::nanoseconds base;
  std::chrono::nanoseconds cap;
  int maximum;
  std::chrono::nanoseconds total;
  bool replay_safe;
};
using policy_type = decltype(reprise::retry_policy{reprise::http::retry_statuses{}, reprise::exponential_backoff{},
                                                   reprise::full_jitter{}, reprise::attempt_budget{},
                                                   reprise::time_limit{}, reprise::http::operation{}});

extern const hand_limits limits;
extern const policy_type policy;

}  // namespace outside
