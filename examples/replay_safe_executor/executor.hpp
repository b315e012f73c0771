// SPDX-License-Identifier: MIT
// One executor, written twice: as a loop of reprise's free functions, and as a reprise policy. Status, replay safety,
// attempts and one overall deadline are guarded together. Knows no HTTP client: a response has a `.status` and the text
// of its `.retry_after`.
#pragma once

#include <reprise/core.hpp>

namespace executor {

using namespace std::chrono_literals;

/// One call: what is sent, and what it may cost. The timeout is that of all attempts and waits together.
struct call {
  std::string_view method = "GET";
  std::optional<std::string_view> key = {};
  reprise::duration timeout = 5s;
  int maximum = 3;
};

/// The middle of the jitter's range. A real caller hands in reprise::random_fraction{}.
inline constexpr auto half = [] { return 0.5; };

namespace by_hand {

/// Calls send(time left) until a response is final. Returns the last response, also a bad one, as soon as nothing more
/// can be done; throws `deadline_exceeded` if the time is up when the next attempt is due.
template <class TimePoint, class Send, class Clock, class Sleep, class Fraction = decltype(half)>
constexpr auto execute_until(TimePoint deadline, const call& with, Send&& send, Clock&& clock, Sleep&& sleep,
                             Fraction&& fraction = {}) {
  if (with.maximum < 1) throw std::invalid_argument("executor: maximum must be 1 or more");
  for (int attempts = 0;;) {
    const auto left = reprise::remaining(deadline, clock());
    if (left == 0s) throw reprise::deadline_exceeded(reprise::stop_reason::deadline_reached, attempts, {});

    const auto response = send(left);
    ++attempts;
    if (!reprise::http::retryable(response.status)) return response;
    if (!reprise::http::replay_safe(with.method, with.key)) return response;

    const auto own = reprise::jitter(reprise::backoff(attempts - 1), fraction());
    const auto wait = reprise::wait_delay(own, response.retry_after);
    // The clock is read again: the answer had its own cost.
    const auto budget = reprise::remaining(deadline, clock());
    if (!reprise::can_attempt(attempts, with.maximum, wait, budget)) return response;

    sleep(wait);
  }
}

/// The same within `with.timeout`. The deadline is fixed once: a new timeout for each attempt would prolong the call.
template <class Send, class Clock, class Sleep, class Fraction = decltype(half)>
constexpr auto execute(const call& with, Send&& send, Clock&& clock, Sleep&& sleep, Fraction&& fraction = {}) {
  if (with.timeout <= 0s) throw std::invalid_argument("executor: timeout must be longer than zero");
  return execute_until(clock() + with.timeout, with, send, clock, sleep, fraction);
}

}  // namespace by_hand

namespace by_policy {

/// The rules of every call, declared once.
inline constexpr reprise::retry_policy policy{
    reprise::http::retry_statuses{},  reprise::exponential_backoff{.base = 500ms, .cap = 4s},
    reprise::full_jitter{},           reprise::attempt_budget{.maximum = 3},
    reprise::time_limit{.total = 5s},
};

/// The result's `value()` is what the loop by hand returns, or throws; its `reason()` says why it ended.
template <class TimePoint, class Send, class Clock, class Sleep, class Fraction = decltype(half)>
constexpr auto execute_until(TimePoint deadline, const call& with, Send&& send, Clock&& clock, Sleep&& sleep,
                             Fraction&& fraction = {}) {
  return reprise::execute(policy.with(reprise::http::operation{.method = with.method, .idempotency_key = with.key},
                                      reprise::attempt_budget{.maximum = with.maximum}, reprise::no_time_limit{},
                                      reprise::deadline{deadline}),
                          send, clock, sleep, fraction);
}

template <class Send, class Clock, class Sleep, class Fraction = decltype(half)>
constexpr auto execute(const call& with, Send&& send, Clock&& clock, Sleep&& sleep, Fraction&& fraction = {}) {
  return reprise::execute(
      policy.with(reprise::http::operation{.method = with.method, .idempotency_key = with.key},
                  reprise::attempt_budget{.maximum = with.maximum}, reprise::time_limit{.total = with.timeout}),
      send, clock, sleep, fraction);
}

}  // namespace by_policy

}  // namespace executor
