// SPDX-License-Identifier: MIT
#include <reprise/policy/attempt_budget.hpp>

#include "catch.hpp"

using namespace std::chrono_literals;

TEST_CASE("another attempt may follow while attempts are left and its wait ends before the budget does") {
  STATIC_REQUIRE(reprise::can_attempt(1, 3, 1s, 5s));
  STATIC_REQUIRE(reprise::can_attempt(2, 3, 0s, 1ns));
  STATIC_REQUIRE(reprise::can_attempt(0, 1, 0s, 1s));
}

TEST_CASE("no attempt follows the last one") {
  STATIC_REQUIRE(!reprise::can_attempt(3, 3, 1s, 5s));
  STATIC_REQUIRE(!reprise::can_attempt(4, 3, 1s, 5s));
  STATIC_REQUIRE(!reprise::can_attempt(0, 0, 1s, 5s));
  STATIC_REQUIRE(!reprise::can_attempt(0, -1, 1s, 5s));
}

TEST_CASE("no attempt follows a wait that ends at the budget or after it") {
  STATIC_REQUIRE(!reprise::can_attempt(1, 3, 5s, 5s));
  STATIC_REQUIRE(reprise::can_attempt(1, 3, 5s - 1ns, 5s));
  STATIC_REQUIRE(!reprise::can_attempt(1, 3, 6s, 5s));
  STATIC_REQUIRE(!reprise::can_attempt(1, 3, 0s, 0s));
  STATIC_REQUIRE(!reprise::can_attempt(1, 3, 0s, -1s));
}

TEST_CASE("no attempt follows a negative wait") {
  STATIC_REQUIRE(!reprise::can_attempt(1, 3, -1ns, 5s));
  STATIC_REQUIRE(!reprise::can_attempt(1, 3, std::chrono::hours::min(), 5s));
}

TEST_CASE("no attempt follows an endless wait, not even under an endless budget") {
  STATIC_REQUIRE(!reprise::can_attempt(1, 3, reprise::unlimited, reprise::unlimited));
  STATIC_REQUIRE(!reprise::can_attempt(1, 3, std::chrono::hours::max(), std::chrono::hours::max()));
  STATIC_REQUIRE(reprise::can_attempt(1, 3, 24h, reprise::unlimited));
}

TEST_CASE("an attempt budget counts the first attempt and is 3 by default") {
  STATIC_REQUIRE(reprise::attempt_budget{}.max_attempts() == 3);
  STATIC_REQUIRE(reprise::attempt_budget{.maximum = 1}.max_attempts() == 1);
}

TEST_CASE("unlimited attempts are INT_MAX of them") {
  STATIC_REQUIRE(reprise::unlimited_attempts{}.max_attempts() == std::numeric_limits<int>::max());
  STATIC_REQUIRE(reprise::unlimited_attempts{}.max_attempts() == reprise::unlimited_count);
}
