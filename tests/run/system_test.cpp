// SPDX-License-Identifier: MIT
#include <reprise/reprise.hpp>
#include <reprise/testing/fake_clock.hpp>
#include <reprise/testing/script.hpp>
#include <thread>

#if __has_include(<sys/wait.h>)
#include <sys/wait.h>
#include <unistd.h>
#endif

#include "catch.hpp"

using namespace std::chrono_literals;
using reprise::stop_reason;
using reprise::testing::fake_clock;
using reprise::testing::reply;
using reprise::testing::response;
using reprise::testing::script;

namespace {

/// No call of these tests may wait: a wait that is slept by mistake would take an hour.
constexpr reprise::retry_policy patient{reprise::http::retry_statuses{}, reprise::idempotent{},
                                        reprise::constant_backoff{.delay = 1h}, reprise::time_limit{.total = 24h}};

struct real_send {
  int status;
  int* calls;

  response operator()() const { return ++*calls, response{.status = status}; }
};

}  // namespace

TEST_CASE("a seeded fraction gives the same draws for the same seed, others for another") {
  reprise::random_fraction one(7);
  reprise::random_fraction same(7);
  reprise::random_fraction other(8);
  int equal = 0;
  for (int draw = 0; draw < 100; ++draw) {
    const double drawn = one();
    CHECK(drawn == same());
    equal += drawn == other() ? 1 : 0;
  }
  CHECK(equal == 0);
}

TEST_CASE("a fraction lies in [0,1) and fills the range evenly") {
  reprise::random_fraction seeded(42);
  reprise::random_fraction system;
  const auto fills = [](reprise::random_fraction& fraction) {
    int tenths[10] = {};
    for (int draw = 0; draw < 10'000; ++draw) {
      const double drawn = fraction();
      if (!(drawn >= 0.0 && drawn < 1.0)) return false;
      ++tenths[static_cast<int>(drawn * 10)];
    }
    // The standard deviation is 30, so this is wider than eight of them.
    for (const int count : tenths)
      if (count < 750 || count > 1250) return false;
    return true;
  };
  CHECK(fills(seeded));
  CHECK(fills(system));
}

TEST_CASE("a seeded fraction copies its state") {
  reprise::random_fraction one(7);
  (void)one();
  reprise::random_fraction copy = one;
  CHECK(one() == copy());
}

TEST_CASE("the system's draws differ from draw to draw and from thread to thread") {
  reprise::random_fraction fraction;
  const double here[] = {fraction(), fraction(), fraction()};
  double there[3] = {};
  std::thread([&] {
    for (double& drawn : there) drawn = fraction();
  }).join();
  CHECK(here[0] != here[1]);
  for (const double one : here)
    for (const double other : there) CHECK(one != other);
}

#if __has_include(<sys/wait.h>)
TEST_CASE("a forked child does not draw what its parent draws") {
  reprise::random_fraction fraction;
  (void)fraction();  // both would go on from this state
  int ends[2] = {};
  REQUIRE(::pipe(ends) == 0);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const double drawn[] = {fraction(), fraction()};
    const bool written = ::write(ends[1], drawn, sizeof drawn) == static_cast<ssize_t>(sizeof drawn);
    ::_exit(written ? 0 : 1);
  }
  double there[2] = {};
  const ssize_t size = ::read(ends[0], there, sizeof there);
  int status = 1;
  ::waitpid(child, &status, 0);
  ::close(ends[0]);
  ::close(ends[1]);
  REQUIRE(status == 0);
  REQUIRE(size == static_cast<ssize_t>(sizeof there));
  CHECK(fraction() != there[0]);
  CHECK(fraction() != there[1]);
}
#endif

TEST_CASE("execute on the real clock returns a success without a wait") {
  int calls = 0;
  const auto result = reprise::execute(patient, real_send{200, &calls});
  CHECK(result.success().status == 200);
  CHECK(calls == 1);
}

TEST_CASE("execute on the real clock does not sleep a wait that does not fit") {
  int calls = 0;
  const auto result = reprise::execute(patient.with(reprise::time_limit{.total = 1min}), real_send{503, &calls});
  CHECK(result.reason() == stop_reason::deadline_reached);
  CHECK(calls == 1);
}

TEST_CASE("execute on the real clock takes a deadline of the steady clock") {
  int calls = 0;
  const auto past = std::chrono::steady_clock::now() - 1s;
  CHECK(reprise::execute(patient.with(reprise::deadline{past}), real_send{200, &calls}).reason() ==
        stop_reason::deadline_reached);
  CHECK(calls == 0);
}

TEST_CASE("the real sleep lasts at least as long as it was asked to") {
  // The one real sleep of this file.
  const auto before = std::chrono::steady_clock::now();
  const auto quick = patient.with(reprise::constant_backoff{.delay = 2ms}, reprise::attempt_budget{.maximum = 2});
  int calls = 0;
  const auto result = reprise::execute(quick, real_send{503, &calls});
  CHECK(result.reason() == stop_reason::attempts_exhausted);
  CHECK(calls == 2);
  CHECK(result.total_wait() == 2ms);
  CHECK(std::chrono::steady_clock::now() - before >= 2ms);
}

TEST_CASE("a sleep of zero or less returns at once") {
  const reprise::system_environment real;
  real.sleep(0ns);
  real.sleep(reprise::duration::min());
  CHECK(reprise::detail::due_in(-1h) < std::chrono::steady_clock::now());
}

TEST_CASE("the due time of a wait near the end of its range saturates") {
  CHECK(reprise::detail::due_in(reprise::duration::max()) == std::chrono::steady_clock::time_point::max());
  CHECK(reprise::detail::due_in(reprise::duration::max() - 1ns) == std::chrono::steady_clock::time_point::max());
}

TEST_CASE("execute takes the caller's clock and sleep with the system's randomness") {
  fake_clock time;
  script send{time, reply(503), reply(200)};
  const auto result = reprise::execute(patient.with(reprise::full_jitter{}), send, time.clock(), time.sleep());
  CHECK(result.ok());
  REQUIRE(time.waits().size() == 1);
  CHECK(time.waits().front() >= 0s);
  CHECK(time.waits().front() < 1h);
}

TEST_CASE("the system's environment is one, and its fractions lie in [0,1)") {
  STATIC_REQUIRE(reprise::environment<reprise::system_environment>);
  const reprise::system_environment real;
  CHECK(real.fraction() >= 0.0);
  CHECK(real.fraction() < 1.0);
  const auto before = std::chrono::steady_clock::now();
  CHECK(real.now() >= before);
}

#ifdef __cpp_lib_jthread

TEST_CASE("a stop that was requested beforehand makes no attempt") {
  std::stop_source stop;
  stop.request_stop();
  int calls = 0;
  const auto result = reprise::execute(patient, real_send{503, &calls}, stop.get_token());
  CHECK(result.reason() == stop_reason::cancelled);
  CHECK(calls == 0);
  CHECK_THROWS_AS(result.success(), reprise::retry_cancelled);
}

TEST_CASE("the stop token may be a variable") {
  std::stop_source stop;
  stop.request_stop();
  std::stop_token token = stop.get_token();
  const std::stop_token fixed = token;
  int calls = 0;
  CHECK(reprise::execute(patient, real_send{200, &calls}, token).reason() == stop_reason::cancelled);
  CHECK(reprise::execute(patient, real_send{200, &calls}, fixed).reason() == stop_reason::cancelled);
}

TEST_CASE("a stop that is requested during a failing attempt makes no wait, and during a succeeding one does nothing") {
  std::stop_source stop;
  const auto failing = [&] { return stop.request_stop(), response{.status = 503}; };
  const auto failed = reprise::execute(patient, failing, stop.get_token());
  CHECK(failed.reason() == stop_reason::cancelled);
  CHECK(failed.total_wait() == 0s);
  std::stop_source other;
  const auto succeeding = [&] { return other.request_stop(), response{.status = 200}; };
  CHECK(reprise::execute(patient, succeeding, other.get_token()).ok());
}

TEST_CASE("a stop that is requested during the wait ends it at once") {
  std::stop_source stop;
  std::thread stopper;
  const auto told = patient.with(reprise::on_event([&](const reprise::event& happened) {
    if (happened.kind == reprise::event_kind::retry) stopper = std::thread([&] { stop.request_stop(); });
  }));
  int calls = 0;
  const auto result = reprise::execute(told, real_send{503, &calls}, stop.get_token());
  stopper.join();
  CHECK(result.reason() == stop_reason::cancelled);
  CHECK(calls == 1);
  CHECK(result.total_wait() < 1h);
}

TEST_CASE("without a stop the call goes on as without a token") {
  int calls = 0;
  const auto immediate = patient.with(reprise::constant_backoff{.delay = 0s});
  const auto result = reprise::execute(immediate, real_send{503, &calls}, std::stop_token());
  CHECK(result.reason() == stop_reason::attempts_exhausted);
  CHECK(calls == 3);
}

TEST_CASE("a sleep of the stoppable environment tells how it ended") {
  std::stop_source stop;
  const reprise::stoppable_environment real(stop.get_token());
  STATIC_REQUIRE(reprise::environment<reprise::stoppable_environment>);
  CHECK(!real.cancelled());
  CHECK(real.sleep(0ns) == reprise::slept::fully);
  stop.request_stop();
  CHECK(real.cancelled());
  CHECK(real.sleep(reprise::duration::max()) == reprise::slept::interrupted);
}

#endif
