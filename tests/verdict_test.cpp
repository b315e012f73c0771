// SPDX-License-Identifier: MIT
#include <reprise/verdict.hpp>
#include <string>

#include "catch.hpp"

using namespace std::chrono_literals;

TEST_CASE("a verdict that says nothing is a permanent failure, not a success") {
  constexpr reprise::verdict forgotten{};
  STATIC_REQUIRE(forgotten.kind == reprise::outcome::permanent);
  STATIC_REQUIRE(forgotten.label == reprise::label{});
  STATIC_REQUIRE(forgotten.code == 0);
  STATIC_REQUIRE(!forgotten.retry_after.has_value());
  STATIC_REQUIRE(!forgotten.not_applied);
}

TEST_CASE("verdicts are equal only if every member is") {
  constexpr reprise::verdict busy{.kind = reprise::outcome::transient, .label = "http", .code = 503, .retry_after = 2s};
  STATIC_REQUIRE(busy == reprise::verdict{reprise::outcome::transient, "http", 503, 2s, false});
  STATIC_REQUIRE(busy != reprise::verdict{reprise::outcome::permanent, "http", 503, 2s, false});
  STATIC_REQUIRE(busy != reprise::verdict{reprise::outcome::transient, "shape", 503, 2s, false});
  STATIC_REQUIRE(busy != reprise::verdict{reprise::outcome::transient, "http", 429, 2s, false});
  STATIC_REQUIRE(busy != reprise::verdict{reprise::outcome::transient, "http", 503, {}, false});
  STATIC_REQUIRE(busy != reprise::verdict{reprise::outcome::transient, "http", 503, 2s, true});
}

TEST_CASE("a hint of zero is a hint") {
  STATIC_REQUIRE(reprise::verdict{.retry_after = 0s}.retry_after.has_value());
  STATIC_REQUIRE(reprise::verdict{.retry_after = 0s} != reprise::verdict{});
}

TEST_CASE("a label is a literal's text, empty by default") {
  constexpr reprise::label timeout = "timeout";
  STATIC_REQUIRE(timeout.text() == "timeout");
  STATIC_REQUIRE(reprise::label{}.text().empty());
  STATIC_REQUIRE(reprise::label{} == reprise::label(""));
  STATIC_REQUIRE(timeout == reprise::label("timeout"));
  STATIC_REQUIRE(timeout != reprise::label("time"));
}

TEST_CASE("a label lives longer than what it was copied from") {
  reprise::label kept;
  {
    const reprise::verdict short_lived{.label = "shape"};
    kept = short_lived.label;
  }
  CHECK(std::string(kept.text()) == "shape");
}

TEST_CASE("every outcome prints as its enumerator, any other number as unknown") {
  STATIC_REQUIRE(to_string(reprise::outcome::success) == "success");
  STATIC_REQUIRE(to_string(reprise::outcome::transient) == "transient");
  STATIC_REQUIRE(to_string(reprise::outcome::permanent) == "permanent");
  STATIC_REQUIRE(to_string(reprise::outcome::cancelled) == "cancelled");
  STATIC_REQUIRE(to_string(static_cast<reprise::outcome>(4)) == "unknown");
  STATIC_REQUIRE(to_string(static_cast<reprise::outcome>(-1)) == "unknown");
}

TEST_CASE("a verdict is copied as plain memory") {
  STATIC_REQUIRE(std::is_trivially_copyable_v<reprise::verdict>);
  STATIC_REQUIRE(std::is_trivially_destructible_v<reprise::verdict>);
}
