// SPDX-License-Identifier: MIT
// The second source of the program: with the cheap include only.
#include "part.hpp"

#include <reprise/core.hpp>

namespace {

struct response {
  int status = 503;
};

struct still_clock {
  using duration = reprise::duration;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<still_clock>;
  static constexpr bool is_steady = true;
};

struct environment {
  still_clock::time_point now() const { return {}; }
  void sleep(reprise::duration) const {}
  double fraction() const { return 0.0; }
};

}  // namespace

int attempts_in_part() {
  environment with;
  return reprise::execute(client_policy.with(reprise::idempotent{}), [] { return response{}; }, with).attempts();
}

bool worst_case_agrees() { return reprise::worst_case(client_policy).attempts == 2; }
