// SPDX-License-Identifier: MIT
// The loop that a careful engineer writes by hand, with the duties of the policy that it is measured against: one fixed
// deadline, a set of statuses, exponential backoff with full jitter, Retry-After, attempts, replay safety known
// beforehand.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstring>

#include "outside.hpp"

namespace hand {

enum class end { succeeded, not_retryable, not_replay_safe, attempts_exhausted, deadline_reached };

struct result {
  outside::response response;
  end reason;
  int attempts;
};

/// Retry-After in whole seconds, 0 for anything else.
inline std::chrono::nanoseconds asked_wait(const char* text) {
  std::int64_t seconds = 0;
  const char* const end = text + std::strlen(text);
  const auto parsed = std::from_chars(text, end, seconds);
  if (parsed.ec != std::errc{} || parsed.ptr != end || seconds < 0) return {};
  return std::chrono::seconds(std::min<std::int64_t>(seconds, 1'000'000'000));
}

template <class Send, class Clock, class Sleep, class Fraction>
[[gnu::always_inline]] inline result call(const outside::hand_limits& limit, Send& send, Clock& now, Sleep& sleep,
                                          Fraction& fraction) {
  using std::chrono::nanoseconds;
  const auto start = now();
  const auto deadline = start + limit.total;
  auto left = limit.total;
  for (int attempt = 1;; ++attempt) {
    result ended{send(left), end::succeeded, attempt};
    const int status = ended.response.status;
    if (status >= 100 && status <= 399) return ended;
    if (status != 429 && status != 502 && status != 503 && status != 504)
      return ended.reason = end::not_retryable, ended;
    if (!limit.replay_safe) return ended.reason = end::not_replay_safe, ended;
    if (attempt >= limit.maximum) return ended.reason = end::attempts_exhausted, ended;
    const int retry = attempt - 1;
    const auto delay = retry < 63 && limit.base <= nanoseconds(limit.cap.count() >> retry)
                           ? nanoseconds(limit.base.count() << retry)
                           : limit.cap;
    auto wait = nanoseconds(static_cast<std::int64_t>(static_cast<double>(delay.count()) * fraction()));
    if (ended.response.retry_after != nullptr) wait = std::max(wait, asked_wait(ended.response.retry_after));
    if (wait >= deadline - now()) return ended.reason = end::deadline_reached, ended;
    sleep(wait);
    left = deadline - now();
    if (left <= nanoseconds::zero()) return ended.reason = end::deadline_reached, ended;
  }
}

}  // namespace hand
