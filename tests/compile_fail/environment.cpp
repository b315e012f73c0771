// SPDX-License-Identifier: MIT
// What is asked of send, clock, sleep, fraction and environment.
#include <reprise/core.hpp>
#include <reprise/testing/fake_clock.hpp>

using namespace std::chrono_literals;

namespace {

struct response {
  int status = 200;
};

using steady = std::chrono::steady_clock;

const reprise::retry_policy policy{reprise::http::retry_statuses{}, reprise::idempotent{}};
const auto send = [](const reprise::attempt&) { return response{}; };
const auto now = [] { return steady::now(); };
const auto pause = [](reprise::duration) {};
const auto half = [] { return 0.5; };
response shared;

// WRONG_SEND: reprise::execute requires a send that can be called: let it take const reprise::attempt&, a chrono duration, reprise::attempt_at<time_point> or nothing
// WRONG_SEND_OF_ANOTHER_CLOCK: reprise::execute requires a send that can be called: let it take const reprise::attempt&, a chrono duration, reprise::attempt_at<time_point> or nothing
void send_is_called() {
#if defined(WRONG_SEND)
  (void)reprise::execute(policy, [](int, int) { return response{}; }, now, pause, half);
#elif defined(WRONG_SEND_OF_ANOTHER_CLOCK)
  using point = reprise::testing::fake_clock::time_point;
  (void)reprise::execute(policy, [](const reprise::attempt_at<point>&) { return response{}; }, now, pause, half);
#else
  (void)reprise::execute(policy, send, now, pause, half);
  (void)reprise::execute(
      policy, [](const reprise::attempt_at<steady::time_point>&) { return response{}; }, now, pause, half);
  (void)reprise::execute(policy, [](std::chrono::milliseconds) { return response{}; }, now, pause, half);
  (void)reprise::execute(policy, [] { return response{}; }, now, pause, half);
#endif
}

// WRONG_RESPONSE_BY_REFERENCE: reprise::execute requires a response by value: let send return an object, or a pointer
void response_is_a_value() {
#ifdef WRONG_RESPONSE_BY_REFERENCE
  (void)reprise::execute(policy, []() -> response& { return shared; }, now, pause, half);
#else
  (void)reprise::execute(policy, []() -> response { return shared; }, now, pause, half);
#endif
}

// WRONG_WALL_CLOCK: reprise::execute requires a steady clock: write [] { return std::chrono::steady_clock::now(); }; a wall clock that is set would end or prolong calls
// WRONG_CLOCK: reprise::execute requires a clock: write [] { return std::chrono::steady_clock::now(); }, a function that gives a time_point
void clock_is_steady() {
#if defined(WRONG_WALL_CLOCK)
  const auto clock = [] { return std::chrono::system_clock::now(); };
#elif defined(WRONG_CLOCK)
  const auto clock = [] { return 0L; };
#else
  const auto clock = now;
#endif
  (void)reprise::execute(policy, send, clock, pause, half);
}

// WRONG_SLEEP_BOOL: reprise::execute requires a sleep that returns nothing or reprise::slept: write return stopped ? reprise::slept::interrupted : reprise::slept::fully
// WRONG_SLEEP_INT: reprise::execute requires a sleep that returns nothing or reprise::slept: write return stopped ? reprise::slept::interrupted : reprise::slept::fully
// WRONG_SLEEP: reprise::execute requires a sleep: write [](reprise::duration d) { ... }
void sleep_tells_nothing_else() {
#if defined(WRONG_SLEEP_BOOL)
  const auto sleep = [](reprise::duration) { return true; };
#elif defined(WRONG_SLEEP_INT)
  const auto sleep = [](reprise::duration) { return 0; };
#elif defined(WRONG_SLEEP)
  const auto sleep = [](int) {};
#else
  const auto sleep = [](reprise::duration) { return reprise::slept::fully; };
#endif
  (void)reprise::execute(policy, send, now, sleep, half);
}

// WRONG_FRACTION: reprise::execute requires a fraction: write [] { return 0.5; }, a function that gives a number in [0,1], or reprise::random_fraction{}
// WRONG_FRACTION_BOOL: reprise::execute requires a fraction: write [] { return 0.5; }, a function that gives a number in [0,1], or reprise::random_fraction{}
// WRONG_FRACTION_VALUE: reprise::execute requires a fraction: write [] { return 0.5; }, a function that gives a number in [0,1], or reprise::random_fraction{}
void fraction_is_a_number() {
#if defined(WRONG_FRACTION)
  const auto fraction = [] { return "0.5"; };
#elif defined(WRONG_FRACTION_BOOL)
  const auto fraction = [] { return true; };
#elif defined(WRONG_FRACTION_VALUE)
  const double fraction = 0.5;
#else
  const auto fraction = [] { return 0.5F; };
#endif
  (void)reprise::execute(policy, send, now, pause, fraction);
}

// WRONG_ENVIRONMENT: reprise::execute requires an environment: write an object with now(), sleep(duration) and fraction(), or hand in clock, sleep and fraction one by one
// WRONG_ENVIRONMENT_WALL_CLOCK: reprise::execute requires a steady clock: write [] { return std::chrono::steady_clock::now(); }
// WRONG_ENVIRONMENT_SLEEP_BOOL: reprise::execute requires a sleep that returns nothing or reprise::slept
struct surroundings {
#ifdef WRONG_ENVIRONMENT_WALL_CLOCK
  std::chrono::system_clock::time_point now() const { return std::chrono::system_clock::now(); }
#else
  steady::time_point now() const { return steady::now(); }
#endif
#ifdef WRONG_ENVIRONMENT_SLEEP_BOOL
  bool sleep(reprise::duration) const { return true; }
#else
  void sleep(reprise::duration) const {}
#endif
#ifndef WRONG_ENVIRONMENT
  double fraction() const { return 0.5; }
#endif
};

void environment_has_all() {
  surroundings environment;
  (void)reprise::execute(policy, send, environment);
}

}  // namespace

int main() {
  send_is_called();
  response_is_a_value();
  clock_is_steady();
  sleep_tells_nothing_else();
  fraction_is_a_number();
  environment_has_all();
}
