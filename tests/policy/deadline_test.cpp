// SPDX-License-Identifier: MIT
#include <reprise/policy/deadline.hpp>

#include "catch.hpp"

using namespace std::chrono_literals;

namespace {

using steady = std::chrono::steady_clock;
constexpr steady::time_point epoch{};

}  // namespace

TEST_CASE("what remains is the deadline less now, and never negative") {
  STATIC_REQUIRE(reprise::remaining(5s, 2s) == 3s);
  STATIC_REQUIRE(reprise::remaining(5s, 5s) == 0s);
  STATIC_REQUIRE(reprise::remaining(5s, 7s) == 0s);
  STATIC_REQUIRE(reprise::remaining(-1s, -3s) == 2s);
  STATIC_REQUIRE(reprise::remaining(1.5s, 1s) == 500ms);
}

TEST_CASE("what remains saturates") {
  STATIC_REQUIRE(reprise::remaining(reprise::unlimited, -1s) == reprise::unlimited);
  STATIC_REQUIRE(reprise::remaining(std::chrono::hours::max(), std::chrono::hours::min()) == reprise::unlimited);
  STATIC_REQUIRE(reprise::remaining(reprise::duration::min(), reprise::duration::max()) == 0s);
  STATIC_REQUIRE(reprise::remaining(reprise::duration::min(), reprise::duration::min()) == 0s);
  STATIC_REQUIRE(reprise::remaining(reprise::unlimited, 1s) == reprise::unlimited - 1s);
}

TEST_CASE("what remains is told of two points of one clock too, whatever their units") {
  using whole_seconds = std::chrono::time_point<steady, std::chrono::seconds>;
  STATIC_REQUIRE(reprise::remaining(epoch + 5s, epoch + 2s) == 3s);
  STATIC_REQUIRE(reprise::remaining(epoch + 2s, epoch + 5s) == 0s);
  STATIC_REQUIRE(reprise::remaining(whole_seconds(5s), epoch + 4999ms) == 1ms);
  STATIC_REQUIRE(reprise::remaining(steady::time_point::max(), steady::time_point::min()) == reprise::unlimited);
  STATIC_REQUIRE(reprise::remaining(whole_seconds::max(), epoch) == reprise::unlimited);
}

TEST_CASE("a time limit is 5 s by default, and no time limit is unlimited") {
  STATIC_REQUIRE(reprise::time_limit{}.limit() == 5s);
  STATIC_REQUIRE(reprise::time_limit{.total = 1min}.limit() == 1min);
  STATIC_REQUIRE(reprise::no_time_limit{}.limit() == reprise::unlimited);
}

TEST_CASE("a wait limit is unlimited by default") {
  STATIC_REQUIRE(reprise::wait_limit{}.limit() == reprise::unlimited);
  STATIC_REQUIRE(reprise::wait_limit{.total = 0s}.limit() == 0s);
}

TEST_CASE("a deadline keeps the point that it was given") {
  constexpr reprise::deadline end{epoch + 800ms};
  STATIC_REQUIRE(end.time == epoch + 800ms);
  STATIC_REQUIRE(!std::is_convertible_v<steady::time_point, reprise::deadline<steady, steady::duration>>);
}

TEST_CASE("an attempt timeout is the same whatever remains, unlimited by default") {
  STATIC_REQUIRE(reprise::attempt_timeout{}(5s, 3) == reprise::unlimited);
  STATIC_REQUIRE(reprise::attempt_timeout{.longest = 2s}(5s, 3) == 2s);
  STATIC_REQUIRE(reprise::attempt_timeout{.longest = 2s}(1s, 1) == 2s);
}

TEST_CASE("a divided timeout is an equal share of what remains for each attempt left") {
  constexpr reprise::divided_timeout divided{};
  STATIC_REQUIRE(divided(6s, 3) == 2s);
  STATIC_REQUIRE(divided(4s, 2) == 2s);
  STATIC_REQUIRE(divided(2s, 1) == 2s);
  STATIC_REQUIRE(divided(2s, 0) == 2s);
}

TEST_CASE("a divided timeout stays within its bounds") {
  constexpr reprise::divided_timeout bounded{.longest = 3s, .shortest = 1s};
  STATIC_REQUIRE(bounded(30s, 3) == 3s);
  STATIC_REQUIRE(bounded(6s, 3) == 2s);
  STATIC_REQUIRE(bounded(300ms, 3) == 1s);
  STATIC_REQUIRE(bounded(6s, reprise::unlimited_count) == 1s);
}

TEST_CASE("a divided timeout with nothing to share out is its longest") {
  STATIC_REQUIRE(reprise::divided_timeout{}(reprise::unlimited, 3) == reprise::unlimited);
  STATIC_REQUIRE(reprise::divided_timeout{.longest = 3s}(reprise::unlimited, 3) == 3s);
  STATIC_REQUIRE(reprise::divided_timeout{.longest = 3s, .shortest = 1s}(reprise::unlimited, 3) == 3s);
}
