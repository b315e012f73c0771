// SPDX-License-Identifier: MIT
#include <reprise/policy/retry_after.hpp>
#include <string>

#include "catch.hpp"
#include "support.hpp"

using namespace std::chrono_literals;

namespace {}  // namespace

TEST_CASE("a wait is the longer of the local one and the server's whole seconds") {
  STATIC_REQUIRE(reprise::wait_delay(1s, "2") == 2s);
  STATIC_REQUIRE(reprise::wait_delay(3s, "2") == 3s);
  STATIC_REQUIRE(reprise::wait_delay(2s, "2") == 2s);
  STATIC_REQUIRE(reprise::wait_delay(0s, "0") == 0s);
  STATIC_REQUIRE(reprise::wait_delay(0.25s, "\t1 ") == 1s);
  STATIC_REQUIRE(reprise::wait_delay(0s, "007") == 7s);
}

TEST_CASE("a wait is the local one where the server says nothing that is whole seconds") {
  STATIC_REQUIRE(reprise::wait_delay(1s) == 1s);
  STATIC_REQUIRE(reprise::wait_delay(1s, std::nullopt) == 1s);
  for (const std::string_view text : {"", " ", "-5", "+5", "5.0", "5.", "5s", "5,6", "soon", "0x10", "1e3", "nan",
                                      "inf", "Sun, 06 Nov 1994 08:49:37 GMT"}) {
    CAPTURE(text);
    CHECK(reprise::wait_delay(1s, text) == 1s);
    CHECK(reprise::wait_delay(0s, text) == 0s);
  }
}

TEST_CASE("a server's number of 30 digits saturates and does not turn into a short wait") {
  STATIC_REQUIRE(reprise::wait_delay(1s, "100000000000000000000000000000") == reprise::unlimited);
  STATIC_REQUIRE(reprise::wait_delay(1s, "9223372036") == std::chrono::seconds(9'223'372'036));
  STATIC_REQUIRE(reprise::wait_delay(1s, "9223372037") == reprise::unlimited);
  STATIC_REQUIRE(reprise::wait_delay(1s, "18446744073709551617") == reprise::unlimited);
}

TEST_CASE("a negative local wait is refused by name and value") {
  CHECK(refusal([] { return reprise::wait_delay(-1s, "5"); }) ==
        "reprise::wait_delay: local must be zero or longer, is -1 s");
  CHECK(refusal([] { return reprise::wait_delay(-1ns); }) ==
        "reprise::wait_delay: local must be zero or longer, is -1e-09 s");
}

TEST_CASE("a hint up to its limit is honoured") {
  for (const auto beyond : {reprise::too_long::stop, reprise::too_long::clamp, reprise::too_long::ignore}) {
    const reprise::retry_after_limit limit{.longest = 10s, .beyond = beyond};
    CHECK(!limit.stops(10s));
    CHECK(limit.honoured(10s) == 10s);
    CHECK(limit.honoured(0s) == 0s);
  }
}

TEST_CASE("a hint over its limit stops the call by default") {
  constexpr reprise::retry_after_limit limit{.longest = 10s};
  STATIC_REQUIRE(limit.stops(10s + 1ns));
  STATIC_REQUIRE(limit.stops(reprise::unlimited));
}

TEST_CASE("a hint over its limit is clamped where that is chosen") {
  constexpr reprise::retry_after_limit limit{.longest = 10s, .beyond = reprise::too_long::clamp};
  STATIC_REQUIRE(!limit.stops(1h));
  STATIC_REQUIRE(limit.honoured(1h) == 10s);
}

TEST_CASE("a hint over its limit is ignored where that is chosen") {
  constexpr reprise::retry_after_limit limit{.longest = 10s, .beyond = reprise::too_long::ignore};
  STATIC_REQUIRE(!limit.stops(1h));
  STATIC_REQUIRE(!limit.honoured(1h).has_value());
}

TEST_CASE("a limit that says nothing honours every hint") {
  constexpr reprise::retry_after_limit limit{};
  STATIC_REQUIRE(!limit.stops(reprise::unlimited));
  STATIC_REQUIRE(limit.honoured(reprise::unlimited) == reprise::unlimited);
  STATIC_REQUIRE(limit.spread_by(1.0) == 0s);
}

TEST_CASE("the spread of a hint is its share, and the longest wait counts it") {
  constexpr reprise::retry_after_limit limit{.longest = 10s, .spread = 2s};
  STATIC_REQUIRE(limit.spread_by(0.0) == 0s);
  STATIC_REQUIRE(limit.spread_by(0.5) == 1s);
  STATIC_REQUIRE(limit.spread_by(1.0) == 2s);
  STATIC_REQUIRE(limit.spread_by(std::numeric_limits<double>::quiet_NaN()) == 2s);
  STATIC_REQUIRE(limit.longest_wait() == 12s);
  STATIC_REQUIRE(reprise::retry_after_limit{.spread = 2s}.longest_wait() == reprise::unlimited);
}
