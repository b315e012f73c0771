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

/// The limits, unknown to the compiler of either side.
extern std::chrono::nanoseconds base;
extern std::chrono::nanoseconds cap;
extern int maximum;
extern std::chrono::nanoseconds total;
extern bool replay_safe;

}  // namespace outside
