// SPDX-License-Identifier: MIT
// A client of one downstream: a bulkhead, three attempts with full jitter, a hard timeout each, a log line per attempt.
// Knows no transport: `send` takes the attempt, keeps its timeout, and returns an answer or throws.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <reprise/fmt.hpp>
#include <reprise/reprise.hpp>
#include <stdexcept>
#include <string>

namespace bulkheaded {

using namespace std::chrono_literals;

struct answer {
  int status = 0;
  std::string text = {};
};

/// There was no answer within the attempt's timeout.
struct timed_out : std::runtime_error {
  timed_out() : std::runtime_error("no answer in time") {}
};
/// There was no connection, so nothing was sent.
struct not_connected : std::runtime_error {
  not_connected() : std::runtime_error("no connection") {}
};

/// Only what passes by itself is tried again. What is not named here, a programming error say, passes through.
inline constexpr reprise::retry_policy policy{
    reprise::on_exception<timed_out>(
        [](const timed_out&) -> reprise::verdict { return {.kind = reprise::outcome::transient, .label = "timeout"}; }),
    reprise::on_exception<not_connected>([](const not_connected&) -> reprise::verdict {
      return {.kind = reprise::outcome::transient, .label = "not_connected", .not_applied = true};
    }),
    reprise::on_exception<reprise::bulkhead_full>([](const reprise::bulkhead_full&) -> reprise::verdict {
      return {.kind = reprise::outcome::permanent, .label = "bulkhead_full", .not_applied = true};
    }),
    reprise::http::retry_statuses{503, 504},
    reprise::exponential_backoff{.base = 500ms, .cap = 5s},
    reprise::full_jitter{},
    reprise::attempt_budget{.maximum = 3},
    reprise::attempt_timeout{.longest = 2s},
    reprise::time_limit{.total = 8s},
    reprise::idempotent{},  // a question may be asked twice
};
static_assert(reprise::worst_case(policy.with(reprise::no_time_limit{})).own_waits == 1500ms);
static_assert(3 * 2s + 1500ms <= 8s, "the limit leaves room for every attempt");

inline std::string seconds(reprise::duration value) {
  return fmt::format("{:.9g}s", std::chrono::duration<double>(value).count());
}

/// There is one event for each attempt: a retry after it, or the end of the call.
inline std::string log_line(const reprise::event& event) {
  std::string line = fmt::format("at={} attempt={}/{} cause={}", seconds(event.elapsed), event.attempt, event.maximum,
                                 event.verdict.label);
  if (event.verdict.code != 0) line += fmt::format("_{}", event.verdict.code);
  if (event.kind == reprise::event_kind::retry) return line + fmt::format(" wait={}", seconds(event.wait));
  return line + fmt::format(" end={}", event.reason);
}

class client {
 public:
  using log_function = std::function<void(const std::string&)>;

  /// `log` is called by every thread that makes a call.
  client(int max_concurrent, log_function log) : slots_(max_concurrent), log_(std::move(log)) {}

  /// Each attempt takes a slot, and gives it back before the wait; without a free one the call ends at once. A slot
  /// taken here, around `execute`, would be held through the waits.
  template <class Send, class Environment> auto call(Send send, Environment& with) {
    const auto told = reprise::on_event([this](const reprise::event& event) { log_(log_line(event)); });
    return reprise::execute(policy.with(told), slots_.guard(std::move(send)), with);
  }
  /// On the real clock.
  template <class Send> auto call(Send send) {
    reprise::system_environment with;
    return call(std::move(send), with);
  }

  const reprise::bulkhead& slots() const noexcept { return slots_; }

 private:
  reprise::bulkhead slots_;
  log_function log_;
};

}  // namespace bulkheaded
