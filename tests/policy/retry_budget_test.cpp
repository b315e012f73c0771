// SPDX-License-Identifier: MIT
#include <reprise/core.hpp>
#include <reprise/testing/fake_clock.hpp>
#include <reprise/testing/script.hpp>

#include "catch.hpp"

using namespace std::chrono_literals;
using reprise::stop_reason;
using reprise::testing::fake_clock;
using reprise::testing::reply;
using reprise::testing::script;

namespace {

constexpr reprise::retry_policy policy{reprise::http::retry_statuses{}, reprise::idempotent{},
                                       reprise::constant_backoff{.delay = 100ms}};

enum class moment { started, failed, asked, retried, ended };

/// Writes down what it is told, in order.
struct diary {
  reprise::testing::recorded<moment> moments = {};
  reprise::testing::recorded<reprise::duration> times = {};
  bool success = false;

  constexpr void call_started(reprise::duration now) { moments.add(moment::started), times.add(now); }
  constexpr void failed(const reprise::verdict&) { moments.add(moment::failed); }
  constexpr std::optional<int> try_retry(const reprise::verdict&, reprise::duration now) {
    moments.add(moment::asked), times.add(now);
    return 1;
  }
  constexpr void retry_started(int) { moments.add(moment::retried); }
  constexpr void call_ended(bool given, std::optional<int>, reprise::duration now) {
    moments.add(moment::ended), times.add(now);
    success = given;
  }
};

/// So many retries may be under way; without the optional fourth moment.
struct slots {
  class permit {
   public:
    explicit permit(slots* owner) : owner_(owner) { --owner_->free; }
    permit(permit&& other) noexcept : owner_(std::exchange(other.owner_, nullptr)) {}
    permit& operator=(permit&& other) noexcept {
      std::swap(owner_, other.owner_);
      return *this;
    }
    ~permit() {
      if (owner_ != nullptr) ++owner_->free;
    }

   private:
    slots* owner_;
  };

  int free = 1;

  void call_started(reprise::duration) {}
  void failed(const reprise::verdict&) {}
  std::optional<permit> try_retry(const reprise::verdict&, reprise::duration) {
    return free > 0 ? std::optional<permit>(permit(this)) : std::nullopt;
  }
  void call_ended(bool, std::optional<permit>, reprise::duration) {}
};

/// So many retries over all calls.
struct purse {
  int left = 0;
  reprise::verdict last = {};

  constexpr void call_started(reprise::duration) {}
  constexpr void failed(const reprise::verdict&) {}
  constexpr std::optional<int> try_retry(const reprise::verdict& failure, reprise::duration) {
    last = failure;
    if (left == 0) return std::nullopt;
    return --left;
  }
  constexpr void call_ended(bool, std::optional<int>, reprise::duration) {}
};

template <class Policy, class... Steps> constexpr auto play(const Policy& with, Steps... steps) {
  fake_clock time;
  script send{time, steps...};
  return reprise::execute(with, send, time);
}

}  // namespace

static_assert(reprise::retry_budget_model<diary> && reprise::retry_budget_model<slots>);

TEST_CASE("a budget is told its moments in order") {
  constexpr auto moments = [](auto... steps) {
    diary budget;
    (void)play(policy.with(reprise::shared_budget(budget)), steps...);
    return budget.moments;
  };
  using enum moment;
  STATIC_REQUIRE(moments(reply(200)).are({started, ended}));
  STATIC_REQUIRE(moments(reply(404)).are({started, ended}));
  STATIC_REQUIRE(moments(reply(503), reply(200)).are({started, failed, asked, retried, ended}));
  STATIC_REQUIRE(moments(reply(503)).are({started, failed, asked, retried, failed, asked, retried, failed, ended}));
}

TEST_CASE("a budget is told whether the call succeeded") {
  constexpr auto success = [](auto... steps) {
    diary budget;
    (void)play(policy.with(reprise::shared_budget(budget)), steps...);
    return budget.success;
  };
  STATIC_REQUIRE(success(reply(503), reply(200)));
  STATIC_REQUIRE(!success(reply(503)));
  STATIC_REQUIRE(!success(reply(404)));
}

TEST_CASE("a budget's times are those of the clock and never go backwards") {
  constexpr auto times = [] {
    diary budget;
    fake_clock time;
    time.advance(10s);
    script send{time, reply(503).takes(-3s), reply(200).takes(1s)};
    (void)reprise::execute(policy.with(reprise::shared_budget(budget)), send, time);
    return budget.times;
  };
  STATIC_REQUIRE(times().are({10s, 10s, 10s}));
}

TEST_CASE("a budget is shared by reference: one call's retries are missing to the next") {
  constexpr auto reasons = [] {
    purse budget{.left = 3};
    const auto shared = policy.with(reprise::shared_budget(budget));
    reprise::testing::recorded<stop_reason> ends;
    for (int call = 0; call < 3; ++call) ends.add(play(shared, reply(503)).reason());
    return ends;
  };
  STATIC_REQUIRE(
      reasons().are({stop_reason::attempts_exhausted, stop_reason::budget_exhausted, stop_reason::budget_exhausted}));
}

TEST_CASE("a budget that refuses ends the call with its failure and without a wait") {
  constexpr auto right = [] {
    purse budget{.left = 0};
    fake_clock time;
    script send{time, reply(429).retry_after("1")};
    const auto result = reprise::execute(policy.with(reprise::shared_budget(budget)), send, time);
    return result.reason() == stop_reason::budget_exhausted && time.waits().empty() &&
           result.response().status == 429 && budget.last.code == 429 && budget.last.retry_after == 1s;
  };
  STATIC_REQUIRE(right());
}

TEST_CASE("the permit of a retry that failed is given back before the next is asked for") {
  slots budget{.free = 1};
  CHECK(play(policy.with(reprise::shared_budget(budget)), reply(503)).reason() == stop_reason::attempts_exhausted);
  CHECK(budget.free == 1);
}

TEST_CASE("a permit that one call holds is missing to another, until that one ends") {
  slots budget{.free = 1};
  const auto shared = policy.with(reprise::shared_budget(budget));
  using engine = reprise::engine<decltype(shared)&, fake_clock::time_point>;
  constexpr reprise::verdict unavailable{.kind = reprise::outcome::transient};
  const fake_clock::time_point now{};
  {
    engine waiting(shared);
    waiting.start(now);
    CHECK(waiting.on_verdict(unavailable, now, 0.5).kind == reprise::step::wait);
    CHECK(budget.free == 0);
    engine refused(shared);
    refused.start(now);
    CHECK(refused.on_verdict(unavailable, now, 0.5).reason == stop_reason::budget_exhausted);
    waiting.cancel();
    CHECK(budget.free == 1);
    engine granted(shared);
    granted.start(now);
    CHECK(granted.on_verdict(unavailable, now, 0.5).kind == reprise::step::wait);
  }
  CHECK(budget.free == 1);
}

TEST_CASE("a wait that is cut gives the permit back") {
  slots budget{.free = 1};
  fake_clock time;
  time.interrupts_at(1ms);
  script send{time, reply(503), reply(200)};
  CHECK(reprise::execute(policy.with(reprise::shared_budget(budget)), send, time).reason() == stop_reason::cancelled);
  CHECK(budget.free == 1);
}

TEST_CASE("a wait that lasts past the deadline gives the permit back") {
  slots budget{.free = 1};
  fake_clock time;
  time.oversleeps(1h);
  script send{time, reply(503), reply(200)};
  CHECK(reprise::execute(policy.with(reprise::shared_budget(budget)), send, time).reason() ==
        stop_reason::deadline_reached);
  CHECK(budget.free == 1);
}

TEST_CASE("a policy gives away the budget that it was given, and takes no temporary") {
  purse budget;
  CHECK(&reprise::shared_budget(budget).budget() == &budget);
  STATIC_REQUIRE(std::is_constructible_v<reprise::shared_budget<purse>, purse&>);
  STATIC_REQUIRE(!std::is_constructible_v<reprise::shared_budget<purse>, purse>);
  STATIC_REQUIRE(!std::is_constructible_v<reprise::shared_budget<purse>, const purse>);
}

TEST_CASE("another budget of the same type replaces the first one") {
  constexpr auto right = [] {
    purse empty{.left = 0};
    purse full{.left = 9};
    auto shared = policy.with(reprise::shared_budget(empty));
    shared = shared.with(reprise::shared_budget(full));
    return play(shared, reply(503), reply(200)).ok() && full.left == 8;
  };
  STATIC_REQUIRE(right());
}
