// SPDX-License-Identifier: MIT
// What is asked where a policy is used.
#include <reprise/core.hpp>
#include <reprise/testing/fake_clock.hpp>

using namespace std::chrono_literals;

namespace {

struct response {
  int status = 200;
};

using steady = std::chrono::steady_clock;

const auto send = [](const reprise::attempt&) { return response{}; };
const auto now = [] { return steady::now(); };
const auto pause = [](reprise::duration) {};
const auto half = [] { return 0.5; };

// WRONG_NO_CLASSIFIER: reprise::execute requires a classifier: write reprise::http::retry_statuses{} or reprise::classify(f) into the policy
void classifier() {
#ifdef WRONG_NO_CLASSIFIER
  const reprise::retry_policy policy{reprise::idempotent{}};
#else
  const reprise::retry_policy policy{reprise::idempotent{}, reprise::http::retry_statuses{}};
#endif
  (void)reprise::execute(policy, send, now, pause, half);
}

// WRONG_JUDGE: reprise::retry_policy::judge requires a classifier: write reprise::http::retry_statuses{} or reprise::classify(f) into the policy
void judge() {
#ifdef WRONG_JUDGE
  const reprise::retry_policy policy{reprise::idempotent{}};
#else
  const reprise::retry_policy policy{reprise::http::retry_statuses{}};
#endif
  (void)policy.judge(response{});
}

// WRONG_NO_IDEMPOTENCY: reprise::execute requires idempotency: write policy.with(reprise::idempotent{}), reprise::not_idempotent{} or reprise::http::operation{.method = "GET"}
void idempotency() {
#ifdef WRONG_NO_IDEMPOTENCY
  const reprise::retry_policy policy{reprise::http::retry_statuses{}, reprise::attempt_budget{.maximum = 2}};
#else
  const reprise::retry_policy policy{reprise::http::retry_statuses{}, reprise::not_idempotent{}};
#endif
  (void)reprise::execute(policy, send, now, pause, half);
}

// WRONG_NO_POLICY: reprise::execute requires a policy: write reprise::retry_policy{reprise::http::retry_statuses{}, ...}
void a_policy() {
  const reprise::retry_policy policy{reprise::http::retry_statuses{}, reprise::idempotent{}};
#ifdef WRONG_NO_POLICY
  (void)reprise::execute(reprise::attempt_budget{.maximum = 2}, send, now, pause, half);
#else
  (void)reprise::execute(policy, send, now, pause, half);
#endif
  (void)policy;
}

// WRONG_HINTS_WITHOUT_LIMIT: reprise::execute requires a limit for the server's hints: write reprise::retry_after_limit{.longest = 60s} (reprise::unlimited says that there is none), a wait_limit or a time_limit
void hints() {
  const reprise::retry_policy endless{reprise::http::retry_statuses{}, reprise::idempotent{}, reprise::no_time_limit{}};
#ifdef WRONG_HINTS_WITHOUT_LIMIT
  (void)reprise::execute(endless, send, now, pause, half);
#else
  (void)reprise::execute(endless.with(reprise::retry_after_limit{.longest = reprise::unlimited}), send, now, pause,
                         half);
  (void)reprise::execute(endless.with(reprise::wait_limit{.total = 10s}), send, now, pause, half);
  (void)reprise::execute(endless.with(reprise::time_limit{.total = 10s}), send, now, pause, half);
#endif
}

// WRONG_DEADLINE_OF_ANOTHER_CLOCK: reprise::execute requires a deadline of its own clock: write reprise::deadline{clock() + 800ms}
void deadline() {
  const reprise::retry_policy policy{reprise::http::retry_statuses{}, reprise::idempotent{}};
#ifdef WRONG_DEADLINE_OF_ANOTHER_CLOCK
  const reprise::deadline end{std::chrono::system_clock::now() + 800ms};
#else
  const reprise::deadline end{now() + 800ms};
#endif
  (void)reprise::execute(policy.with(end), send, now, pause, half);
}

// WRONG_ENGINE_WITHOUT_POLICY: reprise::engine requires a policy: write reprise::engine<decltype(policy), Clock::time_point>
// WRONG_ENGINE_WITHOUT_CLASSIFIER: reprise::engine requires a classifier: write for example reprise::http::retry_statuses{} into the policy
// WRONG_ENGINE_WITHOUT_IDEMPOTENCY: reprise::engine requires idempotency: write policy.with(reprise::idempotent{}) or reprise::not_idempotent{}
// WRONG_ENGINE_WITHOUT_HINT_LIMIT: reprise::engine requires a limit for the server's hints: write reprise::retry_after_limit{.longest = 60s}
// WRONG_ENGINE_WITH_ANOTHER_CLOCK: reprise::engine requires a deadline of its own clock: write reprise::deadline{now + 800ms} with that clock's time
void engine() {
#if defined(WRONG_ENGINE_WITHOUT_POLICY)
  const reprise::attempt_budget policy{};
#elif defined(WRONG_ENGINE_WITHOUT_CLASSIFIER)
  const reprise::retry_policy policy{reprise::idempotent{}};
#elif defined(WRONG_ENGINE_WITHOUT_IDEMPOTENCY)
  const reprise::retry_policy policy{reprise::http::retry_statuses{}};
#elif defined(WRONG_ENGINE_WITHOUT_HINT_LIMIT)
  const reprise::retry_policy policy{reprise::http::retry_statuses{}, reprise::idempotent{}, reprise::no_time_limit{}};
#elif defined(WRONG_ENGINE_WITH_ANOTHER_CLOCK)
  const reprise::retry_policy policy{reprise::http::retry_statuses{}, reprise::idempotent{},
                                     reprise::deadline{reprise::testing::fake_clock::time_point{}}};
#else
  const reprise::retry_policy policy{reprise::http::retry_statuses{}, reprise::idempotent{},
                                     reprise::deadline{steady::time_point{}}};
#endif
  reprise::engine<std::remove_const_t<decltype(policy)>, steady::time_point> engine(policy);
  (void)engine.start(steady::time_point{});
}

}  // namespace

int main() {
  classifier();
  judge();
  idempotency();
  a_policy();
  hints();
  deadline();
  engine();
}
