// SPDX-License-Identifier: MIT
#include <reprise/reprise.hpp>
#include <reprise/testing/fake_clock.hpp>
#include <reprise/testing/script.hpp>

#include "catch.hpp"

using namespace std::chrono_literals;

TEST_CASE("a 503 that is followed by a 200 recovers") {
  constexpr auto recovers = [] {
    reprise::testing::fake_clock time;
    reprise::testing::script send{time, reprise::testing::reply(503).takes(10ms).retry_after("2"),
                                  reprise::testing::reply(200)};
    constexpr reprise::retry_policy policy{reprise::http::retry_statuses{}, reprise::idempotent{}};
    return reprise::execute(policy, send, time).ok() && time.waits().are({2s});
  };
  STATIC_REQUIRE(recovers());
}
