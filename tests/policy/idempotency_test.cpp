// SPDX-License-Identifier: MIT
#include <reprise/policy/idempotency.hpp>

#include "catch.hpp"

TEST_CASE("idempotent operations are replay-safe and others are not") {
  STATIC_REQUIRE(reprise::idempotent{}.replay_safe());
  STATIC_REQUIRE(!reprise::not_idempotent{}.replay_safe());
}

TEST_CASE("saying whether an operation is idempotent costs no memory") {
  STATIC_REQUIRE(std::is_empty_v<reprise::idempotent>);
  STATIC_REQUIRE(std::is_empty_v<reprise::not_idempotent>);
}

TEST_CASE("both words for idempotency fill the same role, so that one replaces the other") {
  STATIC_REQUIRE(reprise::idempotent::part_role == reprise::role::idempotency);
  STATIC_REQUIRE(reprise::not_idempotent::part_role == reprise::role::idempotency);
}
