// SPDX-License-Identifier: MIT
#include <reprise/core.hpp>
#include <reprise/testing/script.hpp>
#include <string>

#include "catch.hpp"

using namespace std::chrono_literals;

namespace {

using reprise::backoff_kind;
using reprise::jitter_kind;

constexpr backoff_kind all_backoffs[] = {backoff_kind::exponential, backoff_kind::constant, backoff_kind::linear,
                                         backoff_kind::fibonacci};
constexpr jitter_kind all_jitters[] = {jitter_kind::none,         jitter_kind::full,  jitter_kind::equal,
                                       jitter_kind::proportional, jitter_kind::added, jitter_kind::decorrelated};

using client_policy = reprise::configured_policy<reprise::http::retry_statuses, reprise::idempotent>;

constexpr reprise::chosen_backoff chosen(backoff_kind kind) {
  return {.kind = kind, .base = 300ms, .cap = 7s, .factor = 3.0};
}
constexpr reprise::chosen_jitter chosen(jitter_kind kind) { return {.kind = kind, .fraction = 0.25, .longest = 40ms}; }

constexpr std::size_t retries = 12;

template <class... Parts> constexpr auto ranges_of(Parts... parts) {
  return reprise::wait_ranges<retries>(reprise::retry_policy{parts...});
}

constexpr bool same(const reprise::wait_range_list<retries>& a, const reprise::wait_range_list<retries>& b) {
  for (std::size_t retry = 0; retry < retries; ++retry)
    if (a[retry] != b[retry]) return false;
  return true;
}

/// Whether the chosen parts agree with the parts of that name, for every jitter beside one backoff.
template <class Backoff> constexpr bool agrees(backoff_kind kind, Backoff backoff) {
  const auto with = [&](jitter_kind jitter) { return ranges_of(chosen(kind), chosen(jitter)); };
  return same(with(jitter_kind::none), ranges_of(backoff, reprise::no_jitter{})) &&
         same(with(jitter_kind::full), ranges_of(backoff, reprise::full_jitter{})) &&
         same(with(jitter_kind::equal), ranges_of(backoff, reprise::equal_jitter{})) &&
         same(with(jitter_kind::proportional), ranges_of(backoff, reprise::proportional_jitter{.fraction = 0.25})) &&
         same(with(jitter_kind::added), ranges_of(backoff, reprise::added_jitter{.longest = 40ms})) &&
         same(with(jitter_kind::decorrelated), ranges_of(reprise::decorrelated_backoff{.base = 300ms, .cap = 7s}));
}

/// What a client does: the policy has a type that can be named, and is filled later.
class client {
 public:
  void configure(int attempts, reprise::time_span base, reprise::time_span total) {
    policy_ = policy_.with(reprise::attempt_budget{.maximum = attempts}, reprise::chosen_backoff{.base = base},
                           reprise::time_limit{.total = total});
  }
  void wait_without_jitter() { policy_ = policy_.with(reprise::chosen_jitter{.kind = jitter_kind::none}); }
  const client_policy& policy() const { return policy_; }

 private:
  client_policy policy_;
};

}  // namespace

TEST_CASE("every kind is parsed from the name that it prints as") {
  constexpr auto round_trips = [] {
    for (const auto kind : all_backoffs)
      if (reprise::parse<backoff_kind>(to_string(kind)) != kind) return false;
    for (const auto kind : all_jitters)
      if (reprise::parse<jitter_kind>(to_string(kind)) != kind) return false;
    return true;
  };
  STATIC_REQUIRE(round_trips());
}

TEST_CASE("the kinds have the names of their parts") {
  STATIC_REQUIRE(to_string(backoff_kind::exponential) == "exponential");
  STATIC_REQUIRE(to_string(backoff_kind::constant) == "constant");
  STATIC_REQUIRE(to_string(backoff_kind::linear) == "linear");
  STATIC_REQUIRE(to_string(backoff_kind::fibonacci) == "fibonacci");
  STATIC_REQUIRE(to_string(jitter_kind::none) == "none");
  STATIC_REQUIRE(to_string(jitter_kind::full) == "full");
  STATIC_REQUIRE(to_string(jitter_kind::equal) == "equal");
  STATIC_REQUIRE(to_string(jitter_kind::proportional) == "proportional");
  STATIC_REQUIRE(to_string(jitter_kind::added) == "added");
  STATIC_REQUIRE(to_string(jitter_kind::decorrelated) == "decorrelated");
}

TEST_CASE("any other text is no kind") {
  for (const std::string_view text : {"", "Linear", "linear ", " linear", "lin", "linearly", "unknown", "full", "0"}) {
    CAPTURE(text);
    CHECK(!reprise::parse<backoff_kind>(text).has_value());
  }
  for (const std::string_view text : {"", "Full", "full ", "unknown", "linear", "1"}) {
    CAPTURE(text);
    CHECK(!reprise::parse<jitter_kind>(text).has_value());
  }
  STATIC_REQUIRE(!reprise::parse<jitter_kind>(std::string_view("full\0", 5)).has_value());
}

TEST_CASE("chosen parts wait as the parts of that name do, for every pair of kinds") {
  STATIC_REQUIRE(
      agrees(backoff_kind::exponential, reprise::exponential_backoff{.base = 300ms, .cap = 7s, .factor = 3.0}));
  STATIC_REQUIRE(agrees(backoff_kind::constant, reprise::constant_backoff{.delay = 300ms, .cap = 7s}));
  STATIC_REQUIRE(agrees(backoff_kind::linear, reprise::linear_backoff{.step = 300ms, .cap = 7s}));
  STATIC_REQUIRE(agrees(backoff_kind::fibonacci, reprise::fibonacci_backoff{.base = 300ms, .cap = 7s}));
}

TEST_CASE("the kinds differ from one another") {
  STATIC_REQUIRE(!agrees(backoff_kind::linear, reprise::fibonacci_backoff{.base = 300ms, .cap = 7s}));
  STATIC_REQUIRE(!agrees(backoff_kind::exponential, reprise::linear_backoff{.step = 300ms, .cap = 7s}));
}

TEST_CASE("chosen parts that say nothing are an exponential backoff with full jitter, as a policy without parts") {
  STATIC_REQUIRE(
      same(ranges_of(reprise::chosen_backoff{}, reprise::chosen_jitter{}), ranges_of(reprise::idempotent{})));
  STATIC_REQUIRE(same(ranges_of(reprise::chosen_backoff{}), ranges_of(reprise::idempotent{})));
}

TEST_CASE("chosen parts settle where the parts of that name do, so that bills agree") {
  constexpr auto agree = [](auto backoff, auto part) {
    constexpr reprise::unlimited_attempts all{};
    return reprise::worst_case(reprise::retry_policy{backoff, all}) ==
           reprise::worst_case(reprise::retry_policy{part, all});
  };
  STATIC_REQUIRE(
      agree(chosen(backoff_kind::exponential), reprise::exponential_backoff{.base = 300ms, .cap = 7s, .factor = 3.0}));
  STATIC_REQUIRE(agree(chosen(backoff_kind::constant), reprise::constant_backoff{.delay = 300ms}));
  STATIC_REQUIRE(agree(chosen(backoff_kind::linear), reprise::linear_backoff{.step = 300ms, .cap = 7s}));
  STATIC_REQUIRE(agree(chosen(backoff_kind::fibonacci), reprise::fibonacci_backoff{.base = 300ms, .cap = 7s}));
}

TEST_CASE("a drawn wait is remembered by a decorrelated choice") {
  constexpr auto waits = [](double fraction) {
    reprise::testing::fake_clock time;
    time.fractions({fraction});
    reprise::testing::script send{time, reprise::testing::reply(503)};
    const auto policy =
        client_policy{}.with(reprise::chosen_jitter{.kind = jitter_kind::decorrelated},
                             reprise::chosen_backoff{.base = 100ms, .cap = 1s}, reprise::attempt_budget{.maximum = 5});
    (void)reprise::execute(policy, send, time);
    return time.waits();
  };
  STATIC_REQUIRE(waits(1.0).are({300ms, 900ms, 1s, 1s}));
  STATIC_REQUIRE(waits(0.5).are({200ms, 350ms, 550ms, 550ms}));
  STATIC_REQUIRE(waits(0.0).are({100ms, 100ms, 100ms, 100ms}));
}

TEST_CASE("a configured policy made without arguments has every part's default") {
  constexpr client_policy policy{};
  STATIC_REQUIRE(policy.part<reprise::role::attempts>().maximum == 3);
  STATIC_REQUIRE(policy.part<reprise::role::time>().total == 5s);
  STATIC_REQUIRE(policy.part<reprise::role::backoff>().base == 500ms);
  STATIC_REQUIRE(policy.part<reprise::role::backoff>().cap == 4s);
  STATIC_REQUIRE(policy.part<reprise::role::jitter>().kind == jitter_kind::full);
  STATIC_REQUIRE(policy.part<reprise::role::attempt_timeout>().longest == reprise::unlimited);
  STATIC_REQUIRE(policy.part<reprise::role::waiting>().total == reprise::unlimited);
  STATIC_REQUIRE(policy.part<reprise::role::server_hint>().longest == reprise::unlimited);
}

TEST_CASE("a configured policy that says nothing behaves as a policy of its classifier and idempotency alone") {
  constexpr reprise::retry_policy plain{reprise::http::retry_statuses{}, reprise::idempotent{}};
  STATIC_REQUIRE(reprise::worst_case(client_policy{}) == reprise::worst_case(plain));
  STATIC_REQUIRE(same(reprise::wait_ranges<retries>(client_policy{}), reprise::wait_ranges<retries>(plain)));
}

TEST_CASE("a configured policy is filled without a change of its type") {
  using filled = decltype(client_policy{}.with(
      reprise::chosen_backoff{}, reprise::chosen_jitter{}, reprise::attempt_budget{}, reprise::time_limit{},
      reprise::attempt_timeout{}, reprise::wait_limit{}, reprise::retry_after_limit{}, reprise::idempotent{},
      reprise::http::retry_statuses{}));
  STATIC_REQUIRE(std::is_same_v<filled, client_policy>);
}

TEST_CASE("a policy held in a class is configured by assignment") {
  client held;
  held.configure(2, 50ms, 1s);
  held.wait_without_jitter();
  CHECK(held.policy().part<reprise::role::attempts>().maximum == 2);
  CHECK(held.policy().part<reprise::role::time>().total == 1s);
  CHECK(held.policy().part<reprise::role::server_hint>().longest == reprise::unlimited);

  reprise::testing::fake_clock time;
  reprise::testing::script send{time, reprise::testing::reply(503)};
  const auto result = reprise::execute(held.policy(), send, time);
  CHECK(result.attempts() == 2);
  CHECK(time.waits().are({50ms}));
}

TEST_CASE("a configuration that is refused leaves the policy as it was") {
  client held;
  held.configure(2, 50ms, 1s);
  CHECK_THROWS_AS(held.configure(0, 50ms, 1s), std::invalid_argument);
  CHECK_THROWS_AS(held.configure(4, -50ms, 1s), std::invalid_argument);
  CHECK(held.policy().part<reprise::role::attempts>().maximum == 2);
  CHECK(held.policy().part<reprise::role::backoff>().base == 50ms);
}
