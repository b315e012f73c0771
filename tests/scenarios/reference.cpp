// SPDX-License-Identifier: MIT
// The order of the decision, from top to bottom in one function.
#include "reference.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>

namespace reference {

namespace {

std::int64_t plus(std::int64_t a, std::int64_t b) { return a > never - b ? never : a + b; }

std::int64_t times(std::int64_t a, double b) {
  const double product = static_cast<double>(a) * b;
  return product >= 9.2233720368547758e18 ? never : static_cast<std::int64_t>(product);
}

/// A fraction of a length, in whole nanoseconds, rounded down.
std::int64_t part(std::int64_t length, double fraction) {
  if (fraction >= 1) return length;
  return fraction > 0 ? std::min(times(length, fraction), length) : 0;
}

/// The point that a fraction picks in a range of this length, to the nearest nanosecond.
std::int64_t point(std::int64_t length, double fraction) {
  if (fraction >= 1 || fraction <= 0) return part(length, fraction);
  return std::min(static_cast<std::int64_t>(std::floor(static_cast<double>(length) * fraction + 0.5)), length);
}

}  // namespace

result run(const scenario& s) {
  result r;
  std::int64_t now = 0;
  std::int64_t waited = 0;
  std::int64_t previous = s.base;  // decorrelated
  std::int64_t fib = s.base;       // fibonacci
  std::int64_t next_fib = s.base;
  std::int64_t linear = s.base;   // linear
  double power = 1;               // exponential
  std::int64_t doubled = s.base;  // exponential, where the factor is 2
  int tokens = s.tokens;

  for (;;) {
    // An attempt. Without a limit the call ends where time does: at `never`, to which all sums saturate.
    if (now >= s.time_limit) {
      r.stop = "deadline_reached";
      break;
    }
    const std::int64_t left = s.time_limit == never ? never : s.time_limit - now;
    const std::int64_t timeout = std::min(s.attempt_timeout, left);
    const step& happens = s.steps[std::min(static_cast<std::size_t>(r.attempts), s.steps.size() - 1)];
    r.attempts += 1;
    r.timeouts.push_back(timeout);

    bool success = false;
    bool transient = false;
    bool not_applied = false;
    std::int64_t hint = 0;  // no hint and a hint of zero come to the same
    r.status = 0;
    if (happens.takes > timeout && !happens.overruns) {
      now = plus(now, timeout);
      transient = true;
    } else {
      now = plus(now, happens.takes);
      not_applied = happens.not_applied;
      if (happens.transient) {
        transient = true;
      } else {
        r.status = happens.status;
        transient = std::find(s.statuses.begin(), s.statuses.end(), r.status) != s.statuses.end();
        success = !transient && r.status >= 100 && r.status < 400;
        std::string text = happens.retry_after;
        while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.pop_back();
        while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.erase(0, 1);
        if (std::all_of(text.begin(), text.end(), [](unsigned char c) { return c >= '0' && c <= '9'; })) {
          text.erase(0, text.find_first_not_of('0'));  // all of it, if there is nothing but zeros
          if (text.size() > 10) hint = never;
          else if (!text.empty()) hint = std::stoll(text) > 9'223'372'036 ? never : std::stoll(text) * 1'000'000'000;
        }
      }
    }
    r.code = r.status;

    // What its end means.
    if (success) {
      r.stop = "succeeded";
      break;
    }
    if (!transient) {
      r.stop = "not_retryable";
      break;
    }
    std::string method;
    for (const char c : s.method) method += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    const bool repeatable = method == "GET" || method == "HEAD" || method == "PUT" || method == "DELETE" ||
                            (method == "POST" && !s.key.empty());
    if (!repeatable && !not_applied) {
      r.stop = "not_replay_safe";
      break;
    }
    if (s.max_attempts != INT_MAX && r.attempts >= s.max_attempts) {
      r.stop = "attempts_exhausted";
      break;
    }

    // The own wait: the delay of this retry, which is then moved on to that of the next one.
    std::int64_t delay = 0;
    if (s.backoff == "constant") delay = s.base;
    if (s.backoff == "linear") {
      delay = linear;
      linear = plus(linear, s.base);
    }
    if (s.backoff == "fibonacci") {
      delay = fib;
      fib = next_fib;
      next_fib = plus(delay, next_fib);
    }
    if (s.backoff == "exponential") {
      if (s.factor == 2) delay = doubled;
      else if (power == 1 || s.base == 0) delay = s.base;
      else delay = times(s.base, power);
      doubled = plus(doubled, doubled);
      power *= s.factor;
    }
    delay = std::min(delay, s.cap);

    std::int64_t low = delay;
    std::int64_t high = delay;
    if (s.jitter == "full") low = 0;
    if (s.jitter == "equal") low = delay / 2;
    if (s.jitter == "proportional") {
      low = delay - part(delay, s.spread);
      high = plus(delay, part(delay, s.spread));
    }
    if (s.jitter == "decorrelated") {
      low = std::min(s.base, s.cap);
      high = plus(plus(previous, previous), previous);
    }
    low = std::min(low, s.cap);
    high = std::max(low, std::min(high, s.cap));
    const double fraction = s.fractions[std::min(r.waits.size(), s.fractions.size() - 1)];
    const std::int64_t own = low + point(high - low, fraction);
    previous = own;

    // The limits.
    if (hint > s.retry_after_limit) {
      r.stop = "retry_after_too_long";
      break;
    }
    const std::int64_t wait = std::max(own, hint);
    if (plus(waited, wait) > s.wait_limit) {
      r.stop = "wait_limit_reached";
      break;
    }
    if (wait >= s.time_limit - now) {
      r.stop = "deadline_reached";
      break;
    }
    if (s.has_budget && tokens < s.cost) {
      r.stop = "budget_exhausted";
      break;
    }
    tokens -= s.cost;

    // The wait. The response is let go before it.
    r.status = 0;
    waited = plus(waited, wait);
    const std::int64_t wakes = plus(now, plus(wait, s.oversleep));
    if (s.interrupt_at != never && wakes >= s.interrupt_at) {
      const std::int64_t slept = std::max<std::int64_t>(0, s.interrupt_at - now);
      r.waits.push_back(slept);
      now += slept;
      r.stop = "cancelled";
      break;
    }
    r.waits.push_back(wait);
    now = wakes;
  }
  r.ends = now;
  return r;
}

}  // namespace reference
