// SPDX-License-Identifier: MIT
#include <reprise/policy/jitter.hpp>
#include <string>

#include "catch.hpp"
#include "support.hpp"

using namespace std::chrono_literals;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// Whether no delay leads to a range that is negative or turned around.
template <class Jitter> constexpr bool is_sound(const Jitter& spread) {
  const reprise::duration delays[] = {
      0ns, 1ns, 2ns, 3ns, 9ns, 1s, 24h * 365, reprise::unlimited - 1ns, reprise::unlimited};
  for (const reprise::duration delay : delays) {
    const reprise::wait_range range = spread(delay);
    if (range.shortest < 0ns || range.longest < range.shortest) return false;
    for (const double fraction : {0.0, 0.1, 0.5, 0.999, 1.0})
      if (range.point(fraction) < range.shortest || range.point(fraction) > range.longest) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("jitter is the delay times the fraction") {
  STATIC_REQUIRE(reprise::jitter(4s, 0.0) == 0s);
  STATIC_REQUIRE(reprise::jitter(4s, 0.25) == 1s);
  STATIC_REQUIRE(reprise::jitter(4s, 0.5) == 2s);
  STATIC_REQUIRE(reprise::jitter(4s, 1.0) == 4s);
  STATIC_REQUIRE(reprise::jitter(0s, 1.0) == 0s);
  STATIC_REQUIRE(reprise::jitter(0.5s, 0.5) == 250ms);
  STATIC_REQUIRE(reprise::jitter(reprise::unlimited, 1.0) == reprise::unlimited);
  STATIC_REQUIRE(reprise::jitter(std::chrono::hours::max(), 0.999999) < reprise::unlimited);
}

TEST_CASE("jitter refuses fractions outside [0,1], NaN among them, by name and value") {
  CHECK(refusal([] { return reprise::jitter(1s, -0.25); }) == "reprise::jitter: fraction must be in [0,1], is -0.25");
  CHECK(refusal([] { return reprise::jitter(1s, 1.5); }) == "reprise::jitter: fraction must be in [0,1], is 1.5");
  CHECK(refusal([] { return reprise::jitter(1s, not_a_number); }) ==
        "reprise::jitter: fraction must be in [0,1], is nan");
  CHECK(refusal([] { return reprise::jitter(1s, std::numeric_limits<double>::infinity()); }) ==
        "reprise::jitter: fraction must be in [0,1], is inf");
  CHECK_THROWS_AS(reprise::jitter(1s, 1.0000000000000002), std::invalid_argument);
  CHECK_THROWS_AS(reprise::jitter(1s, -5e-324), std::invalid_argument);
}

TEST_CASE("jitter refuses a negative delay by name and value") {
  CHECK(refusal([] { return reprise::jitter(-1s, 0.5); }) == "reprise::jitter: delay must be zero or longer, is -1 s");
}

TEST_CASE("no jitter leaves the delay") {
  STATIC_REQUIRE(reprise::no_jitter{}(3s) == reprise::wait_range{3s, 3s});
  STATIC_REQUIRE(reprise::no_jitter{}(0s) == reprise::wait_range{});
}

TEST_CASE("full jitter spreads from zero to the delay") {
  STATIC_REQUIRE(reprise::full_jitter{}(3s) == reprise::wait_range{0s, 3s});
  STATIC_REQUIRE(reprise::full_jitter{}(3s).point(0.5) == reprise::jitter(3s, 0.5));
}

TEST_CASE("equal jitter spreads from half the delay to the delay") {
  STATIC_REQUIRE(reprise::equal_jitter{}(4s) == reprise::wait_range{2s, 4s});
  STATIC_REQUIRE(reprise::equal_jitter{}(3ns) == reprise::wait_range{1ns, 3ns});
  STATIC_REQUIRE(reprise::equal_jitter{}(4s).point(0.5) == 3s);
}

TEST_CASE("proportional jitter spreads by its share to both sides, a tenth by default") {
  STATIC_REQUIRE(reprise::proportional_jitter{}(10s) == reprise::wait_range{9s, 11s});
  STATIC_REQUIRE(reprise::proportional_jitter{.fraction = 0.5}(4s) == reprise::wait_range{2s, 6s});
  STATIC_REQUIRE(reprise::proportional_jitter{.fraction = 1.0}(4s) == reprise::wait_range{0s, 8s});
  STATIC_REQUIRE(reprise::proportional_jitter{.fraction = 0.0}(4s) == reprise::wait_range{4s, 4s});
  STATIC_REQUIRE(reprise::proportional_jitter{}(10s).point(0.5) == 10s);
}

TEST_CASE("proportional jitter keeps its ends where a share is no whole number of bits") {
  CHECK(reprise::proportional_jitter{.fraction = 0.9}(1s) == reprise::wait_range{100ms, 1900ms});
  CHECK(reprise::proportional_jitter{.fraction = 0.3}(1s) == reprise::wait_range{700ms, 1300ms});
  CHECK(reprise::proportional_jitter{.fraction = 0.8}(1s) == reprise::wait_range{200ms, 1800ms});
}

TEST_CASE("proportional jitter of a few nanoseconds, or of none, is a legal range") {
  STATIC_REQUIRE(reprise::proportional_jitter{}(0ns) == reprise::wait_range{0ns, 0ns});
  STATIC_REQUIRE(reprise::proportional_jitter{}(1ns) == reprise::wait_range{1ns, 1ns});
  STATIC_REQUIRE(reprise::proportional_jitter{}(9ns) == reprise::wait_range{9ns, 9ns});
}

TEST_CASE("proportional jitter of the longest delay saturates") {
  STATIC_REQUIRE(reprise::proportional_jitter{}(reprise::unlimited).longest == reprise::unlimited);
  STATIC_REQUIRE(reprise::proportional_jitter{.fraction = 1.0}(reprise::unlimited).shortest == 0s);
}

TEST_CASE("added jitter is never less than the delay, and 100 ms more at most by default") {
  STATIC_REQUIRE(reprise::added_jitter{}(3s) == reprise::wait_range{3s, 3100ms});
  STATIC_REQUIRE(reprise::added_jitter{.longest = 1s}(3s) == reprise::wait_range{3s, 4s});
  STATIC_REQUIRE(reprise::added_jitter{.longest = 0s}(3s) == reprise::wait_range{3s, 3s});
  STATIC_REQUIRE(reprise::added_jitter{.longest = 1s}(0s) == reprise::wait_range{0s, 1s});
  STATIC_REQUIRE(reprise::added_jitter{}(reprise::unlimited) ==
                 reprise::wait_range{reprise::unlimited, reprise::unlimited});
}

TEST_CASE("every jitter of every delay is a range whose points lie within it") {
  STATIC_REQUIRE(is_sound(reprise::no_jitter{}));
  STATIC_REQUIRE(is_sound(reprise::full_jitter{}));
  STATIC_REQUIRE(is_sound(reprise::equal_jitter{}));
  STATIC_REQUIRE(is_sound(reprise::proportional_jitter{}));
  STATIC_REQUIRE(is_sound(reprise::proportional_jitter{.fraction = 0.0}));
  STATIC_REQUIRE(is_sound(reprise::proportional_jitter{.fraction = 1.0}));
  STATIC_REQUIRE(is_sound(reprise::added_jitter{}));
  STATIC_REQUIRE(is_sound(reprise::added_jitter{.longest = reprise::unlimited}));
}

TEST_CASE("jitters without numbers are empty") {
  STATIC_REQUIRE(std::is_empty_v<reprise::no_jitter>);
  STATIC_REQUIRE(std::is_empty_v<reprise::full_jitter>);
  STATIC_REQUIRE(std::is_empty_v<reprise::equal_jitter>);
}
