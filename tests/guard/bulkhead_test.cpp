// SPDX-License-Identifier: MIT
#include <memory>
#include <reprise/guard/bulkhead.hpp>
#include <reprise/reprise.hpp>
#include <reprise/testing/fake_clock.hpp>
#include <reprise/testing/script.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "catch.hpp"

using namespace std::chrono_literals;
using reprise::bulkhead;
using reprise::bulkhead_full;
using reprise::slept;
using reprise::stop_reason;
using reprise::testing::fails;
using reprise::testing::fake_clock;
using reprise::testing::reply;
using reprise::testing::response;
using reprise::testing::script;

namespace {

using point = fake_clock::time_point;

constexpr reprise::retry_policy policy{reprise::http::retry_statuses{}, reprise::idempotent{},
                                       reprise::constant_backoff{.delay = 100ms}, reprise::time_limit{.total = 1s}};
/// Full is a failure that is safe to repeat.
constexpr auto patient = policy.with(reprise::http::retry_statuses{}, reprise::rolled_back<bulkhead_full>{});

/// A wait on the fake clock in which somebody gives a slot back at this time, and wakes the waiter.
auto freed_at(fake_clock& time, std::optional<bulkhead::slot>& held, point when) {
  return [&time, &held, when](reprise::duration at_most) {
    if (held.has_value() && when <= time.now() + at_most) {
      time.advance(when - time.now());
      held.reset();
    } else {
      time.advance(at_most);
    }
  };
}

/// An attempt as an engine hands it out.
reprise::attempt within(reprise::duration timeout) { return {.number = 2, .maximum = 3, .timeout = timeout}; }

}  // namespace

// --- slots -----------------------------------------------------------------------------------------------------------

TEST_CASE("a bulkhead without a slot is refused in words") {
  const int slots = GENERATE(0, -1);
  try {
    bulkhead none(slots);
    CHECK(false);
  } catch (const std::invalid_argument& refused) {
    CHECK(refused.what() == "reprise::bulkhead: slots must be 1 or more, is " + std::to_string(slots));
  }
}

TEST_CASE("a bulkhead gives out as many slots as it has, and no more") {
  const int slots = GENERATE(1, 2, 7);
  bulkhead inbound(slots);
  CHECK(inbound.slots() == slots);
  CHECK(inbound.free() == slots);
  std::vector<bulkhead::slot> held;
  for (int taken = 1; taken <= slots; ++taken) {
    auto slot = inbound.try_acquire();
    REQUIRE(slot.has_value());
    held.push_back(std::move(*slot));
    CHECK(inbound.free() == slots - taken);
  }
  CHECK(!inbound.try_acquire().has_value());
  CHECK(inbound.free() == 0);
  held.pop_back();
  CHECK(inbound.try_acquire().has_value());
  held.clear();
  CHECK(inbound.free() == slots);
}

TEST_CASE("a slot is given back when its holder goes, also by an exception") {
  bulkhead inbound(1);
  CHECK_THROWS_AS(
      [&] {
        const auto slot = inbound.try_acquire();
        CHECK(inbound.free() == 0);
        throw std::runtime_error("handler");
      }(),
      std::runtime_error);
  CHECK(inbound.free() == 1);
}

TEST_CASE("a slot that is released is given back at once, and once only") {
  bulkhead inbound(2);
  auto first = inbound.try_acquire();
  auto second = inbound.try_acquire();
  first->release();
  CHECK(inbound.free() == 1);
  first->release();
  first.reset();
  CHECK(inbound.free() == 1);
}

TEST_CASE("a slot that moves is held once, by the one that it moved to") {
  bulkhead inbound(2);
  auto first = inbound.try_acquire();
  bulkhead::slot moved(std::move(*first));
  CHECK(inbound.free() == 1);
  first.reset();
  CHECK(inbound.free() == 1);
  moved.release();
  CHECK(inbound.free() == 2);
}

TEST_CASE("a slot that is assigned over is given back to its own bulkhead") {
  bulkhead one(1);
  bulkhead other(1);
  auto of_one = one.try_acquire();
  auto of_other = other.try_acquire();
  *of_one = std::move(*of_other);
  CHECK(one.free() == 1);
  CHECK(other.free() == 0);
  of_other.reset();
  CHECK(other.free() == 0);
  of_one.reset();
  CHECK(one.free() == 1);
  CHECK(other.free() == 1);
}

TEST_CASE("a slot that is moved to itself is still held") {
  bulkhead inbound(1);
  auto slot = inbound.try_acquire();
  auto& same = *slot;
  *slot = std::move(same);
  CHECK(inbound.free() == 0);
  slot.reset();
  CHECK(inbound.free() == 1);
}

TEST_CASE("a slot over which an empty one is assigned is given back") {
  bulkhead inbound(2);
  auto first = inbound.try_acquire();
  auto second = inbound.try_acquire();
  second->release();
  *first = std::move(*second);
  CHECK(inbound.free() == 2);
}

TEST_CASE("as admission control a request keeps its slot until it is served, and the next is told at once") {
  bulkhead inbound(1);
  struct request {
    explicit request(bulkhead::slot given) : slot(std::move(given)) {}
    bulkhead::slot slot;
  };
  const auto admit = [&]() -> std::unique_ptr<request> {
    auto slot = inbound.try_acquire();
    return slot.has_value() ? std::make_unique<request>(std::move(*slot)) : nullptr;
  };
  auto served = admit();
  REQUIRE(served != nullptr);
  CHECK(admit() == nullptr);
  served.reset();
  CHECK(admit() != nullptr);
  CHECK(inbound.free() == 1);
}

// --- waiting for a slot ----------------------------------------------------------------------------------------------

TEST_CASE("a slot that is free is given without a look at the clock, whatever the deadline") {
  bulkhead inbound(1);
  int looks = 0;
  const auto clock = [&] { return ++looks, point(1h); };
  const auto wait = [&](reprise::duration) { ++looks; };
  CHECK(inbound.acquire_until(point(0s), clock, wait).has_value());
  CHECK(looks == 0);
  CHECK(inbound.acquire_until(std::chrono::steady_clock::time_point()).has_value());
}

TEST_CASE("a waiter is refused at its deadline, not before and not after") {
  bulkhead inbound(1);
  fake_clock time;
  time.advance(7s);
  const reprise::duration left = GENERATE(reprise::duration(100ms), reprise::duration(1ns));
  const auto held = inbound.try_acquire();
  CHECK(!inbound.acquire_until(point(7s + left), time.clock(), time.sleep()).has_value());
  CHECK(time.now() == point(7s + left));
  CHECK(time.waits().are({left}));
}

TEST_CASE("a waiter whose deadline has passed is refused without a wait") {
  bulkhead inbound(1);
  fake_clock time;
  time.advance(7s);
  const auto held = inbound.try_acquire();
  const auto deadline = GENERATE(point(7s), point(6s), point::min());
  CHECK(!inbound.acquire_until(deadline, time.clock(), time.sleep()).has_value());
  CHECK(time.waits().empty());
  CHECK(!inbound.acquire_until(std::chrono::steady_clock::time_point()).has_value());
  CHECK(!inbound.acquire_until((std::chrono::steady_clock::time_point::min)()).has_value());
}

TEST_CASE("a waiter takes the slot that comes free, at that time") {
  bulkhead inbound(1);
  fake_clock time;
  auto held = inbound.try_acquire();
  const auto got = inbound.acquire_until(point(100ms), time.clock(), freed_at(time, held, point(30ms)));
  CHECK(got.has_value());
  CHECK(time.now() == point(30ms));
  CHECK(inbound.free() == 0);
}

TEST_CASE("a waiter that is woken and finds another in its place waits for the rest of its time") {
  bulkhead inbound(1);
  fake_clock time;
  const auto held = inbound.try_acquire();
  std::vector<reprise::duration> asked;
  const auto woken_early = [&](reprise::duration at_most) {
    asked.push_back(at_most);
    time.advance(at_most < 40ms ? at_most : 40ms);
  };
  CHECK(!inbound.acquire_until(point(100ms), time.clock(), woken_early).has_value());
  CHECK(asked == std::vector<reprise::duration>{100ms, 60ms, 20ms});
  CHECK(inbound.free() == 0);
}

TEST_CASE("a slot that comes free as the deadline passes is given") {
  bulkhead inbound(1);
  fake_clock time;
  auto held = inbound.try_acquire();
  CHECK(inbound.acquire_until(point(100ms), time.clock(), freed_at(time, held, point(100ms))).has_value());
}

TEST_CASE("a wait that is interrupted ends without a slot") {
  bulkhead inbound(1);
  fake_clock time;
  time.interrupts_at(30ms);
  const auto held = inbound.try_acquire();
  CHECK(!inbound.acquire_until(point(100ms), time.clock(), time.sleep()).has_value());
  CHECK(time.now() == point(30ms));
}

TEST_CASE("a wait that throws loses nothing") {
  bulkhead inbound(1);
  fake_clock time;
  auto held = inbound.try_acquire();
  const auto broken = [](reprise::duration) { throw std::runtime_error("signal"); };
  CHECK_THROWS_AS((void)inbound.acquire_until(point(100ms), time.clock(), broken), std::runtime_error);
  held.reset();
  CHECK(inbound.free() == 1);
}

TEST_CASE("a waiter without a limit waits as long as it takes") {
  bulkhead inbound(1);
  fake_clock time;
  auto held = inbound.try_acquire();
  CHECK(inbound.acquire_until(point::max(), time.clock(), freed_at(time, held, point(24h * 365))).has_value());
  CHECK(time.now() == point(24h * 365));
}

TEST_CASE("a waiter whose time ran out is not handed the slot later", "[J01]") {
  bulkhead inbound(1);
  fake_clock time;
  auto a = inbound.try_acquire();
  const auto b = inbound.acquire_until(point(100ms), time.clock(), time.sleep());
  CHECK(!b.has_value());
  CHECK(time.now() == point(100ms));
  a.reset();
  auto c = inbound.acquire_until(point(200ms), time.clock(), time.sleep());
  CHECK(c.has_value());
  CHECK(time.now() == point(100ms));
  c.reset();
  CHECK(inbound.free() == 1);
}

TEST_CASE("a call that is cancelled as it gets its slot gives it back", "[J03]") {
  bulkhead outbound(1);
  fake_clock time;
  auto held = outbound.try_acquire();
  SECTION("the wait is cut in the moment in which the slot comes free") {
    const auto cut = [&](reprise::duration) { return held.reset(), slept::interrupted; };
    CHECK(!outbound.acquire_until(point(1s), time.clock(), cut).has_value());
  }
  SECTION("whoever waited throws before it uses its slot") {
    CHECK_THROWS_AS(
        [&] {
          const auto got = outbound.acquire_until(point(1s), time.clock(), freed_at(time, held, point(1ms)));
          REQUIRE(got.has_value());
          throw std::runtime_error("cancelled");
        }(),
        std::runtime_error);
  }
  SECTION("the attempt is cancelled while it holds the slot") {
    held.reset();
    bool stopped = false;
    auto send = outbound.guard([&] {
      stopped = true;
      CHECK(outbound.free() == 0);
      return response{.status = 503};
    });
    const auto when_stopped = reprise::classify([&](const response&) -> std::optional<reprise::verdict> {
      if (!stopped) return std::nullopt;
      return reprise::verdict{.kind = reprise::outcome::cancelled};
    });
    const auto result = reprise::execute(policy.with(when_stopped, reprise::http::retry_statuses{}), send, time);
    CHECK(result.reason() == stop_reason::cancelled);
  }
  CHECK(outbound.free() == 1);
}

TEST_CASE("a slot that goes from one queued call to the next counts as taken again", "[J04]") {
  bulkhead outbound(1);
  fake_clock time;
  int running = 0;
  int most = 0;
  int done = 0;
  // Each call queues while the one before it runs: the wait of a queued call is where the running one goes on.
  std::optional<bulkhead::slot> current = outbound.try_acquire();
  ++running;
  for (int queued = 0; queued < 10; ++queued) {
    auto next = outbound.acquire_until(point::max(), time.clock(), [&](reprise::duration) {
      CHECK(outbound.free() == 0);
      time.advance(5ms);
      --running, ++done;
      current.reset();
      CHECK(outbound.free() == 1);
    });
    REQUIRE(next.has_value());
    ++running;
    most = running > most ? running : most;
    CHECK(!outbound.try_acquire().has_value());
    current = std::move(next);
  }
  current.reset();
  CHECK(done == 10);
  CHECK(most == 1);
  CHECK(time.now() == point(50ms));
  CHECK(outbound.free() == 1);
}

// --- a guarded send that refuses -------------------------------------------------------------------------------------

TEST_CASE("a guarded send holds a slot while it runs, and none during the waits of its call") {
  bulkhead outbound(2);
  fake_clock time;
  int calls = 0;
  auto send = outbound.guard([&] {
    CHECK(outbound.free() == 1);
    return response{.status = ++calls < 3 ? 503 : 200};
  });
  const auto sleep = [&](reprise::duration wait) {
    CHECK(outbound.free() == 2);
    time.advance(wait);
  };
  const auto result = reprise::execute(policy, send, time.clock(), sleep, [] { return 0.5; });
  CHECK(result.ok());
  CHECK(calls == 3);
  CHECK(outbound.free() == 2);
}

TEST_CASE("a guarded send without a slot sends nothing and says so at once") {
  bulkhead outbound(1);
  fake_clock time;
  const auto held = outbound.try_acquire();
  int calls = 0;
  auto send = outbound.guard([&] { return ++calls, response{.status = 200}; });
  SECTION("unclassified it passes through") {
    CHECK_THROWS_AS((void)reprise::execute(policy, send, time), bulkhead_full);
    try {
      send(within(1s));
    } catch (const std::exception& full) {
      CHECK(full.what() == std::string("bulkhead_full"));
    }
  }
  SECTION("as a permanent failure it ends the call") {
    const auto final = policy.with(reprise::http::retry_statuses{}, reprise::fail_exceptions<bulkhead_full>{});
    const auto result = reprise::execute(final, send, time);
    CHECK(result.reason() == stop_reason::not_retryable);
    CHECK_THROWS_AS(result.success(), bulkhead_full);
  }
  CHECK(calls == 0);
  CHECK(time.now() == point(0s));
}

TEST_CASE("being full can be tried again, whatever the operation: nothing was sent") {
  bulkhead outbound(1);
  fake_clock time;
  auto held = outbound.try_acquire();
  int calls = 0;
  auto send = outbound.guard([&] { return ++calls, response{.status = 201}; });
  const auto sleep = [&](reprise::duration wait) {
    time.advance(wait);
    held.reset();
  };
  const auto result = reprise::execute(patient.with(reprise::http::operation{.method = "POST"}), send, time.clock(),
                                       sleep, [] { return 0.5; });
  CHECK(result.ok());
  CHECK(result.attempts() == 2);
  CHECK(calls == 1);
  CHECK(time.now() == point(100ms));
}

TEST_CASE("a guarded send that throws what a part recognises gives its slot back and is tried again") {
  bulkhead outbound(1);
  fake_clock time;
  script steps{time, fails<std::runtime_error>("reset"), reply(200)};
  auto send = outbound.guard([&](const reprise::attempt& current) {
    CHECK(outbound.free() == 0);
    return steps(current);
  });
  const auto retried = policy.with(reprise::http::retry_statuses{}, reprise::retry_exceptions<std::runtime_error>{});
  CHECK(reprise::execute(retried, send, time).ok());
  CHECK(steps.calls() == 2);
  CHECK(outbound.free() == 1);
}

TEST_CASE("an exception of a type that nobody knows passes through, and the slot is free again", "[J06]") {
  bulkhead outbound(1);
  fake_clock time;
  struct of_no_known_type {};
  const auto broken = []() -> response { throw of_no_known_type{}; };
  auto refusing = outbound.guard(broken);
  auto queueing = outbound.guard(broken, time.clock(), time.sleep());
  CHECK_THROWS_AS((void)reprise::execute(policy, refusing, time), of_no_known_type);
  CHECK(outbound.free() == 1);
  CHECK_THROWS_AS((void)reprise::execute(patient, refusing, time), of_no_known_type);
  CHECK(outbound.free() == 1);
  CHECK_THROWS_AS((void)reprise::execute(patient, queueing, time), of_no_known_type);
  CHECK(outbound.free() == 1);
}

TEST_CASE("a guarded send takes what the send takes") {
  bulkhead outbound(1);
  fake_clock time;
  const auto answer = [](reprise::duration told) { return response{.status = told == 1s ? 200 : 400}; };
  const auto all_well = [&](auto send) {
    auto refusing = outbound.guard(send);
    auto queueing = outbound.guard(send, time.clock(), time.sleep());
    const auto fixed = outbound.guard(send);
    const auto in_real_time = outbound.guard(send, time.clock());
    return reprise::execute(policy, refusing, time).ok() && reprise::execute(policy, queueing, time).ok() &&
           reprise::execute(policy, fixed, time).ok() && reprise::execute(policy, in_real_time, time).ok() &&
           reprise::execute(policy, outbound.guard(send), time).ok() && outbound.free() == 1;
  };
  CHECK(all_well([&](const reprise::attempt& current) { return answer(current.timeout); }));
  CHECK(all_well([&](reprise::attempt current) { return answer(current.timeout); }));
  CHECK(all_well([&](const reprise::attempt_at<point>& current) { return answer(current.deadline - time.now()); }));
  CHECK(all_well([&](std::chrono::milliseconds timeout) { return answer(timeout); }));
  CHECK(all_well([&](reprise::duration timeout) { return answer(timeout); }));
  CHECK(all_well([&](std::chrono::duration<double> timeout) { return answer(reprise::time_span(timeout)); }));
  CHECK(all_well([&](const auto& current) { return answer(current.timeout); }));
  CHECK(all_well([&] { return answer(1s); }));
}

TEST_CASE("a send with points in time of its call's clock gets them through a guard unchanged") {
  bulkhead outbound(1);
  fake_clock time;
  time.advance(3s);
  auto send = outbound.guard(
      [&](const reprise::attempt_at<point>& current) {
        CHECK(current.deadline == point(3s + 200ms));
        CHECK(current.call_deadline == point(4s));
        return response{.status = 200};
      },
      time.clock(), time.sleep());
  CHECK(reprise::execute(policy.with(reprise::attempt_timeout{.longest = 200ms}), send, time).ok());
}

TEST_CASE("a guarded send may have state of its own, and may be movable only") {
  bulkhead outbound(1);
  fake_clock time;
  auto counting = [calls = 0]() mutable { return response{.status = ++calls < 3 ? 503 : 200}; };
  auto owning = [status = std::make_unique<int>(200)] { return response{.status = *status}; };
  const auto counted = reprise::execute(policy, outbound.guard(counting), time);
  CHECK(counted.attempts() == 3);
  auto again = outbound.guard(counting, time.clock(), time.sleep());
  CHECK(reprise::execute(policy, again, time).attempts() == 3);
  CHECK(reprise::execute(policy, again, time).attempts() == 1);
  CHECK(reprise::execute(policy, outbound.guard(std::move(owning)), time).ok());
  CHECK(outbound.free() == 1);
}

TEST_CASE("a guarded send may return what can only be moved, or nothing") {
  bulkhead outbound(1);
  fake_clock time;
  const auto boxed = outbound.guard([] { return std::make_unique<int>(7); });
  const reprise::retry_policy there{reprise::until([](const std::unique_ptr<int>& p) { return p != nullptr; }),
                                    reprise::idempotent{}};
  CHECK(*reprise::execute(there, boxed, time).success() == 7);

  int calls = 0;
  const auto silent = outbound.guard([&] {
    if (++calls == 1) throw std::runtime_error("reset");
  });
  const reprise::retry_policy quiet{reprise::retry_exceptions<std::runtime_error>{}, reprise::idempotent{}};
  CHECK(reprise::execute(quiet, silent, time).ok());
  CHECK(calls == 2);
  CHECK(outbound.free() == 1);
}

TEST_CASE("a stuck downstream holds only its own compartment") {
  bulkhead slow(1);
  bulkhead quick(1);
  fake_clock time;
  const auto stuck = slow.try_acquire();
  const auto send = [] { return response{.status = 200}; };
  CHECK_THROWS_AS((void)reprise::execute(policy, slow.guard(send), time), bulkhead_full);
  CHECK(reprise::execute(policy, quick.guard(send), time).ok());
}

TEST_CASE("guards nest, and the outer slot is given back when the inner bulkhead is full") {
  bulkhead inner(1);
  bulkhead outer(1);
  fake_clock time;
  const auto held = inner.try_acquire();
  const auto send = outer.guard(inner.guard([] { return response{.status = 200}; }));
  CHECK_THROWS_AS((void)reprise::execute(policy, send, time), bulkhead_full);
  CHECK(outer.free() == 1);
}

TEST_CASE("a send that needs a second slot of its own full bulkhead is refused, not stuck") {
  bulkhead outbound(1);
  fake_clock time;
  auto inner = outbound.guard([] { return response{.status = 200}; });
  auto outer = outbound.guard([&](const reprise::attempt& current) { return inner(current); });
  CHECK_THROWS_AS((void)reprise::execute(policy, outer, time), bulkhead_full);
  CHECK(outbound.free() == 1);
}

TEST_CASE("a refused attempt stands in the log") {
  bulkhead outbound(1);
  fake_clock time;
  const auto held = outbound.try_acquire();
  const auto send = outbound.guard([] { return response{.status = 200}; });
  const auto result = reprise::execute(patient.with(reprise::attempt_log<4>{}), send, time);
  CHECK(result.reason() == stop_reason::attempts_exhausted);
  REQUIRE(result.log().size() == 3);
  CHECK(result.log()[0].verdict.label == reprise::label("rolled_back"));
  CHECK(result.log()[0].verdict.not_applied);
}

// --- a guarded send that queues --------------------------------------------------------------------------------------

TEST_CASE("a send that need not queue is handed its whole timeout, and the clock is not read") {
  bulkhead outbound(1);
  int looks = 0;
  reprise::attempt told;
  auto send = outbound.guard([&](const reprise::attempt& current) { return told = current, 0; },
                             [&] { return ++looks, point(); }, [&](reprise::duration) { ++looks; });
  send(within(100ms));
  CHECK(looks == 0);
  CHECK(told.timeout == 100ms);
  CHECK(told.number == 2);
  CHECK(told.maximum == 3);
}

TEST_CASE("a send that queued is handed the timeout that is left") {
  bulkhead outbound(1);
  fake_clock time;
  time.advance(5s);
  auto held = outbound.try_acquire();
  reprise::attempt told;
  auto send = outbound.guard([&](const reprise::attempt& current) { return told = current, 0; }, time.clock(),
                             freed_at(time, held, point(5s + 30ms)));
  send(within(100ms));
  CHECK(told.timeout == 70ms);
  CHECK(told.number == 2);
  CHECK(told.maximum == 3);
  CHECK(outbound.free() == 1);
}

TEST_CASE("a send queues until its attempt's end, then it is refused") {
  bulkhead outbound(1);
  fake_clock time;
  const auto held = outbound.try_acquire();
  int calls = 0;
  auto send = outbound.guard([&] { return ++calls, response{.status = 200}; }, time.clock(), time.sleep());
  const auto short_attempts = patient.with(reprise::attempt_timeout{.longest = 50ms});
  const auto result = reprise::execute(short_attempts, send, time);
  CHECK(result.reason() == stop_reason::attempts_exhausted);
  CHECK(calls == 0);
  CHECK(time.waits().are({50ms, 100ms, 50ms, 100ms, 50ms}));
}

TEST_CASE("the time in the queue counts for the call") {
  bulkhead outbound(1);
  fake_clock time;
  const auto held = outbound.try_acquire();
  auto send = outbound.guard([] { return response{.status = 200}; }, time.clock(), time.sleep());
  const auto result = reprise::execute(patient, send, time);
  CHECK(result.reason() == stop_reason::deadline_reached);
  CHECK(result.attempts() == 1);
  CHECK(time.now() == point(1s));
}

TEST_CASE("a slot that comes free when the attempt's time is up is not used, and not lost") {
  bulkhead outbound(1);
  fake_clock time;
  auto held = outbound.try_acquire();
  int calls = 0;
  auto send =
      outbound.guard([&] { return ++calls; }, time.clock(), freed_at(time, held, GENERATE(point(100ms), point(99ms))));
  SECTION("exactly then, or a moment before it") {
    const bool in_time = [&] {
      try {
        return send(within(100ms)) == 1;
      } catch (const bulkhead_full&) {
        return false;
      }
    }();
    CHECK(in_time == (time.now() < point(100ms)));
    CHECK(calls == (in_time ? 1 : 0));
  }
  SECTION("since the wait lasted too long") {
    auto late = outbound.guard([&] { return ++calls; }, time.clock(),
                               [&](reprise::duration at_most) {
                                 time.advance(at_most + 1ns);
                                 held.reset();
                               });
    CHECK_THROWS_AS(late(within(100ms)), bulkhead_full);
    CHECK(calls == 0);
  }
  CHECK(outbound.free() == 1);
}

TEST_CASE("an attempt without a limit queues as long as it takes and stays without one") {
  bulkhead outbound(1);
  fake_clock time;
  time.advance(1h);
  auto held = outbound.try_acquire();
  reprise::duration told = 0s;
  auto send = outbound.guard([&](const reprise::attempt& current) { return told = current.timeout, 0; }, time.clock(),
                             freed_at(time, held, point(1000h)));
  send(within(reprise::unlimited));
  CHECK(told == reprise::unlimited);
  CHECK(time.now() == point(1000h));
}

TEST_CASE("a call that is cancelled in the queue sends nothing and ends cancelled") {
  bulkhead outbound(1);
  fake_clock time;
  time.interrupts_at(30ms);
  const auto held = outbound.try_acquire();
  int calls = 0;
  auto send = outbound.guard([&] { return ++calls, response{.status = 200}; }, time.clock(), time.sleep());
  const auto result = reprise::execute(patient, send, time);
  CHECK(result.reason() == stop_reason::cancelled);
  CHECK(result.attempts() == 1);
  CHECK(calls == 0);
  CHECK(time.now() == point(30ms));
}

TEST_CASE("a clock of another unit measures the queue") {
  using coarse = std::chrono::time_point<std::chrono::steady_clock, std::chrono::milliseconds>;
  using real = std::chrono::time_point<std::chrono::steady_clock, std::chrono::duration<double>>;
  bulkhead outbound(1);
  reprise::duration told = 0s;
  const auto note = [&](const reprise::attempt& current) { return told = current.timeout, 0; };
  auto held = outbound.try_acquire();
  SECTION("milliseconds") {
    coarse now(10s);
    std::vector<reprise::duration> asked;
    auto send = outbound.guard(
        note, [&] { return now; },
        [&](reprise::duration at_most) {
          asked.push_back(at_most);
          now += 3ms;
          held.reset();
        });
    send(within(10'500us));
    CHECK(asked == std::vector<reprise::duration>{10ms});  // the end, rounded down to the clock's unit
    CHECK(told == 7'500us);
  }
  SECTION("seconds with a fraction") {
    real now(10s);
    auto send = outbound.guard(
        note, [&] { return now; },
        [&](reprise::duration) {
          now += 250ms;
          held.reset();
        });
    send(within(1s));
    CHECK(told == 750ms);
  }
}

TEST_CASE("a send that throws after it queued gives its slot back") {
  bulkhead outbound(1);
  fake_clock time;
  auto held = outbound.try_acquire();
  auto send = outbound.guard([]() -> int { throw std::runtime_error("reset"); }, time.clock(),
                             freed_at(time, held, point(30ms)));
  CHECK_THROWS_AS(send(within(100ms)), std::runtime_error);
  CHECK(outbound.free() == 1);
}

TEST_CASE("a clock that throws in the queue loses no slot") {
  bulkhead outbound(1);
  fake_clock time;
  auto held = outbound.try_acquire();
  int looks = 0;
  const int last = GENERATE(1, 2, 3);
  const auto clock = [&] {
    if (++looks == last) throw std::runtime_error("clock");
    return time.now();
  };
  auto send = outbound.guard([] { return 0; }, clock, freed_at(time, held, point(30ms)));
  CHECK_THROWS_AS(send(within(100ms)), std::runtime_error);
  held.reset();
  CHECK(outbound.free() == 1);
}

TEST_CASE("an engine's own loop can hold slots by hand: taken before the attempt, given back before the wait") {
  bulkhead outbound(1);
  fake_clock time;
  reprise::engine<std::remove_const_t<decltype(policy)>, point> engine(policy);
  auto next = engine.start(time.now());
  int attempts = 0;
  while (next.kind != reprise::step::stop) {
    if (next.kind == reprise::step::attempt) {
      const auto slot = outbound.try_acquire();
      REQUIRE(slot.has_value());
      const auto judged = engine.policy().judge(response{.status = ++attempts < 3 ? 503 : 200});
      next = engine.on_verdict(judged, time.now(), 0.5);
    } else {
      CHECK(outbound.free() == 1);
      time.advance(next.wait);
      next = engine.on_wait_over(time.now());
    }
  }
  CHECK(next.reason == stop_reason::succeeded);
  CHECK(outbound.free() == 1);
}
