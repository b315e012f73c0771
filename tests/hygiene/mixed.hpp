// SPDX-License-Identifier: MIT
// One program of two halves, of which only one is built with exceptions. Both include this.
#pragma once

#include <reprise/reprise.hpp>
#include <reprise/testing/script.hpp>

int attempts_with_exceptions();
int attempts_without_exceptions();

namespace mixed {

/// The attempts of a call that recovers after two failures. Not inline: each half has its own.
static int attempts() {
  using namespace std::chrono_literals;
  reprise::testing::fake_clock time;
  reprise::testing::script send{time, reprise::testing::reply(503), reprise::testing::reply(503),
                                reprise::testing::reply(200)};
  const reprise::retry_policy policy{reprise::http::retry_statuses{}, reprise::idempotent{},
                                     reprise::exponential_backoff{.base = 100ms}, reprise::attempt_log<4>{}};
  const auto result = reprise::execute(policy, send, time);
  return result.success().status == 200 ? result.attempts() : 0;
}

}  // namespace mixed
