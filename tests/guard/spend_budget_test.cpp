// SPDX-License-Identifier: MIT
#include <limits>
#include <optional>
#include <reprise/core.hpp>
#include <reprise/guard/spend_budget.hpp>
#include <reprise/testing/fake_clock.hpp>
#include <reprise/testing/script.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "catch.hpp"

using namespace std::chrono_literals;
using reprise::memory_counter;
using reprise::spend_budget;
using reprise::spend_refusal;
using reprise::stop_reason;
using reprise::testing::fake_clock;
using reprise::testing::reply;
using reprise::testing::response;
using reprise::testing::script;

namespace {

constexpr std::int64_t most = (std::numeric_limits<std::int64_t>::max)();

/// A count that is kept elsewhere: each step is seen, and it can be out of reach.
struct remote_counter {
  std::int64_t sum = 0;
  bool reachable = true;
  std::vector<std::string> steps = {};

  void step(const char* what, std::int64_t amount) {
    if (!reachable) throw std::runtime_error("counter");
    steps.push_back(what + std::to_string(amount));
  }
  bool try_add(std::int64_t amount, std::int64_t limit) {
    step("try ", amount);
    if (sum + amount > limit) return false;
    sum += amount;
    return true;
  }
  void add(std::int64_t amount) {
    step("add ", amount);
    sum += amount;
  }
  std::int64_t total() const { return sum; }
};
static_assert(reprise::spend_counter<remote_counter>);

/// What a counter must say.
struct says_nothing {
  void try_add(std::int64_t, std::int64_t) {}
  void add(std::int64_t) {}
  std::int64_t total() const { return 0; }
};
static_assert(!reprise::spend_counter<says_nothing>);
static_assert(!reprise::spend_counter<int>);

template <class Function> std::string refusal_of(Function function) {
  try {
    function();
  } catch (const std::invalid_argument& refused) {
    return refused.what();
  }
  return "";
}

}  // namespace

TEST_CASE("what is reserved is charged to the session before the call") {
  memory_counter session;
  spend_budget budget(session, 100, 250);
  CHECK(budget.spent() == 0);
  const auto first = budget.reserve(100);
  CHECK(first.granted());
  CHECK(first.refused_by() == spend_refusal::none);
  CHECK(budget.spent() == 100);
  const auto second = budget.reserve(30);
  CHECK(second.granted());
  CHECK(session.total() == 130);
}

TEST_CASE("an estimate over the limit of a call is refused without a look at the session") {
  remote_counter session;
  spend_budget budget(session, 100, 1000);
  const auto refused = budget.reserve(101);
  CHECK(!refused.granted());
  CHECK(refused.refused_by() == spend_refusal::per_call);
  CHECK(session.steps.empty());
}

TEST_CASE("an estimate that would take the session over its limit is refused, and nothing is charged") {
  memory_counter session;
  spend_budget budget(session, 100, 150);
  const auto first = budget.reserve(100);
  const auto second = budget.reserve(51);
  CHECK(!second.granted());
  CHECK(second.refused_by() == spend_refusal::per_session);
  CHECK(budget.spent() == 100);
  CHECK(budget.reserve(50).granted());
}

TEST_CASE("limits can be reached exactly") {
  memory_counter session;
  spend_budget budget(session, 100, 100);
  auto exact = budget.reserve(100);
  CHECK(exact.granted());
  exact.settle(100);
  CHECK(budget.reserve(0).granted());
  CHECK(budget.reserve(1).refused_by() == spend_refusal::per_session);
}

TEST_CASE("where both limits refuse, the call's is named") {
  memory_counter session;
  spend_budget budget(session, 10, 5);
  CHECK(budget.reserve(11).refused_by() == spend_refusal::per_call);
}

TEST_CASE("a reservation is one step at the counter, a settlement another") {
  remote_counter session;
  spend_budget budget(session, 100, 1000);
  auto reserved = budget.reserve(80);
  reserved.settle(60);
  CHECK(session.steps == std::vector<std::string>{"try 80", "add -20"});
  CHECK(session.sum == 60);
}

TEST_CASE("a settled call costs what it cost: less, the same, or more than the estimate") {
  memory_counter session;
  spend_budget budget(session, 100, 1000);
  const std::int64_t cost = GENERATE(0, 1, 79, 80, 81, 500);
  {
    auto reserved = budget.reserve(80);
    reserved.settle(cost);
  }
  CHECK(budget.spent() == cost);
}

TEST_CASE("a cost over the session's limit is charged, and from then on everything is refused") {
  memory_counter session;
  spend_budget budget(session, 100, 150);
  auto reserved = budget.reserve(100);
  reserved.settle(200);
  CHECK(budget.spent() == 200);
  CHECK(budget.reserve(1).refused_by() == spend_refusal::per_session);
  CHECK(budget.reserve(0).refused_by() == spend_refusal::per_session);
}

TEST_CASE("what is neither settled nor given back is given back when it goes, also by an exception") {
  memory_counter session;
  spend_budget budget(session, 100, 100);
  {
    const auto forgotten = budget.reserve(100);
  }
  CHECK(budget.spent() == 0);
  CHECK_THROWS_AS(
      [&] {
        const auto reserved = budget.reserve(100);
        CHECK(budget.spent() == 100);
        throw std::runtime_error("call");
      }(),
      std::runtime_error);
  CHECK(budget.spent() == 0);
}

TEST_CASE("a reservation ends once: settled or given back, then no more") {
  memory_counter session;
  spend_budget budget(session, 100, 1000);
  auto settled = budget.reserve(50);
  settled.settle(20);
  settled.settle(20);
  settled.give_back();
  CHECK(budget.spent() == 20);
  auto returned = budget.reserve(50);
  returned.give_back();
  returned.give_back();
  returned.settle(50);
  CHECK(budget.spent() == 20);
}

TEST_CASE("what was refused has nothing to settle or to give back") {
  memory_counter session;
  spend_budget budget(session, 10, 1000);
  {
    auto refused = budget.reserve(11);
    refused.settle(11);
    refused.give_back();
  }
  CHECK(budget.spent() == 0);
}

TEST_CASE("a reservation that moves is held once") {
  memory_counter session;
  spend_budget budget(session, 100, 1000);
  {
    auto reserved = budget.reserve(50);
    auto moved = std::move(reserved);
    CHECK(moved.granted());
    reserved.give_back();
    CHECK(budget.spent() == 50);
    moved.settle(40);
  }
  CHECK(budget.spent() == 40);
  std::optional<spend_budget<>::reservation> kept;
  kept.emplace(budget.reserve(5));
  CHECK(budget.spent() == 45);
  kept.reset();
  CHECK(budget.spent() == 40);
}

TEST_CASE("several budgets may share a session, each with its own limits") {
  memory_counter session;
  spend_budget careful(session, 10, 20);
  spend_budget generous(session, 100, 200);
  auto large = generous.reserve(100);
  large.settle(100);
  CHECK(careful.reserve(1).refused_by() == spend_refusal::per_session);
  CHECK(generous.reserve(100).granted());
}

TEST_CASE("a limit of zero lets through only what is free") {
  memory_counter session;
  spend_budget budget(session, 0, 0);
  CHECK(budget.reserve(0).granted());
  CHECK(budget.reserve(1).refused_by() == spend_refusal::per_call);
}

TEST_CASE("the largest numbers neither wrap nor let anything through") {
  memory_counter session;
  spend_budget budget(session, most, most);
  auto first = budget.reserve(most);
  CHECK(first.granted());
  CHECK(budget.reserve(1).refused_by() == spend_refusal::per_session);
  first.settle(most);
  SECTION("a second cost stays at the end of the range") {
    memory_counter other;
    spend_budget open(other, most, most);
    auto one = open.reserve(0);
    auto two = open.reserve(0);
    one.settle(most);
    two.settle(most);
    CHECK(open.spent() == most);
    CHECK(open.reserve(1).refused_by() == spend_refusal::per_session);
  }
  SECTION("a counter stays at the lower end too") {
    memory_counter low;
    low.add(-most);
    low.add(-most);
    CHECK(low.total() == (std::numeric_limits<std::int64_t>::min)());
  }
}

TEST_CASE("numbers below zero are refused in words") {
  memory_counter session;
  CHECK(refusal_of([&] { spend_budget(session, -1, 5); }) ==
        "reprise::spend_budget: per_call must be zero or more, is -1");
  CHECK(refusal_of([&] { spend_budget(session, 5, -2); }) ==
        "reprise::spend_budget: per_session must be zero or more, is -2");
  spend_budget budget(session, 5, 5);
  CHECK(refusal_of([&] { (void)budget.reserve(-3); }) == "reprise::spend_budget: estimate must be zero or more, is -3");
  auto reserved = budget.reserve(4);
  CHECK(refusal_of([&] { reserved.settle(-1); }) == "reprise::spend_budget: cost must be zero or more, is -1");
  CHECK(budget.spent() == 4);
}

TEST_CASE("a counter that cannot be reached sends nothing: the reservation throws what it throws") {
  remote_counter session;
  session.reachable = false;
  spend_budget budget(session, 100, 1000);
  CHECK_THROWS_AS((void)budget.reserve(10), std::runtime_error);
}

TEST_CASE("a counter that is out of reach at the end leaves the session charged with the estimate") {
  remote_counter session;
  spend_budget budget(session, 100, 1000);
  SECTION("the destructor keeps silent") {
    auto reserved = std::make_optional(budget.reserve(10));
    session.reachable = false;
    reserved.reset();
  }
  SECTION("a settlement says it") {
    auto reserved = budget.reserve(10);
    session.reachable = false;
    CHECK_THROWS_AS(reserved.settle(5), std::runtime_error);
  }
  SECTION("giving back says it") {
    auto reserved = budget.reserve(10);
    session.reachable = false;
    CHECK_THROWS_AS(reserved.give_back(), std::runtime_error);
  }
  CHECK(session.sum == 10);
}

TEST_CASE("each attempt of a call reserves for itself: what failed is given back, what succeeded is settled") {
  memory_counter session;
  spend_budget budget(session, 100, 120);
  fake_clock time;
  script model{time, reply(503), reply(503), reply(200)};
  const auto send = [&](const reprise::attempt& current) {
    auto reserved = budget.reserve(100);
    CHECK(reserved.granted());
    const response answer = model(current);
    if (answer.status == 200) reserved.settle(90);
    return answer;
  };
  const reprise::retry_policy policy{reprise::http::retry_statuses{}, reprise::idempotent{}};
  CHECK(reprise::execute(policy, send, time).ok());
  CHECK(model.calls() == 3);
  CHECK(budget.spent() == 90);
}

TEST_CASE("nothing is sent when the budget refuses, and the refusal ends the call") {
  memory_counter session;
  spend_budget budget(session, 100, 150);
  fake_clock time;
  script model{time, reply(200)};
  const auto send = [&](const reprise::attempt& current) {
    auto reserved = budget.reserve(100);
    if (!reserved.granted()) return response{.status = 402};
    const response answer = model(current);
    reserved.settle(100);
    return answer;
  };
  const reprise::retry_policy policy{reprise::http::retry_statuses{}, reprise::idempotent{}};
  CHECK(reprise::execute(policy, send, time).ok());
  const auto refused = reprise::execute(policy, send, time);
  CHECK(refused.reason() == stop_reason::not_retryable);
  CHECK(refused.attempts() == 1);
  CHECK(model.calls() == 1);
  CHECK(budget.spent() == 100);
}
