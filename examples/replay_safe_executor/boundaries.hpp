// SPDX-License-Identifier: MIT
// The contracts one by one, at their boundaries: each line is an expression and the value, or the refusal, that it must
// give.
#pragma once

#include "executor.hpp"
#include "report.hpp"

namespace executor {

inline void retryable(report& report) {
  report.heading("1. retryable(status): \"not now\", and nothing else");
  const auto row = [&](int status, std::string_view expected) {
    report.row(fmt::format("retryable({})", status), [=] { return reprise::http::retryable(status); }, expected);
  };
  for (const int status : {429, 502, 503, 504}) row(status, "true");
  for (const int status : {200, 400, 401, 404, 409, 428, 430, 500, 501, 505, 0, -503}) row(status, "false");
}

inline void replay_safe(report& report) {
  report.heading("2. replay_safe(method, key): may it be sent twice?");
  const auto row = [&](std::string_view method, std::optional<std::string_view> key, std::string_view expected) {
    report.row(
        fmt::format("replay_safe({}, {})", quoted(method), quoted(key)),
        [=] { return reprise::http::replay_safe(method, key); }, expected);
  };
  for (const auto* method : {"GET", "HEAD", "PUT", "DELETE", "get", "Delete"}) row(method, std::nullopt, "true");
  row("POST", std::nullopt, "false");
  row("POST", "", "false");
  row("POST", "order-7", "true");
  row("post", "order-7", "true");
  row("PATCH", std::nullopt, "false");
  row("PATCH", "order-7", "false");
  row("OPTIONS", std::nullopt, "false");
  row("", "order-7", "false");
  row("GET ", std::nullopt, "false");
}

inline void remaining(report& report) {
  report.heading("3. remaining(deadline, now): never negative");
  const auto row = [&](reprise::duration deadline, reprise::duration now, std::string_view expected) {
    report.row(
        fmt::format("remaining({}, {})", text(deadline), text(now)), [=] { return reprise::remaining(deadline, now); },
        expected);
  };
  row(5s, 3s, "2 s");
  row(5s, 4999999999ns, "1 ns");
  row(5s, 5s, "0 s");
  row(5s, 5000000001ns, "0 s");
  row(0s, -1s, "1 s");
}

inline void backoff(report& report) {
  report.heading("4. backoff(attempt, base = 0.5 s, cap = 4 s): 0 is the wait after the first failure");
  const auto row = [&](int attempt, std::string_view expected) {
    report.row(fmt::format("backoff({})", attempt), [=] { return reprise::backoff(attempt); }, expected);
  };
  row(0, "0.5 s");
  row(1, "1 s");
  row(2, "2 s");
  row(3, "4 s");
  row(4, "4 s");
  row(30, "4 s");
  row(-1, "refused: reprise::backoff: attempt must be 0 to 30, is -1");
  row(31, "refused: reprise::backoff: attempt must be 0 to 30, is 31");

  const auto sized = [&](int attempt, reprise::duration base, reprise::duration cap, std::string_view expected) {
    report.row(
        fmt::format("backoff({}, {}, {})", attempt, text(base), text(cap)),
        [=] { return reprise::backoff(attempt, base, cap); }, expected);
  };
  sized(30, 1s, reprise::unlimited, "1073741824 s");
  sized(0, 5s, 4s, "4 s");
  sized(30, 0s, 4s, "0 s");
  sized(2, 500ms, 0s, "0 s");
  sized(0, -1s, 4s, "refused: reprise::backoff: base must be zero or longer, is -1 s");
  sized(0, 500ms, -1s, "refused: reprise::backoff: cap must be zero or longer, is -1 s");
}

inline void jitter(report& report) {
  report.heading("5. jitter(delay, fraction): the random number is handed in");
  const auto row = [&](reprise::duration delay, double fraction, std::string_view expected) {
    report.row(
        fmt::format("jitter({}, {})", text(delay), fraction), [=] { return reprise::jitter(delay, fraction); },
        expected);
  };
  row(4s, 0.0, "0 s");
  row(4s, 0.5, "2 s");
  row(4s, 1.0, "4 s");
  row(0s, 0.5, "0 s");
  row(4s, -0.1, "refused: reprise::jitter: fraction must be in [0,1], is -0.1");
  row(4s, 1.1, "refused: reprise::jitter: fraction must be in [0,1], is 1.1");
  row(4s, std::numeric_limits<double>::quiet_NaN(), "refused: reprise::jitter: fraction must be in [0,1], is nan");
  row(-1s, 0.5, "refused: reprise::jitter: delay must be zero or longer, is -1 s");
}

inline void wait_delay(report& report) {
  report.heading("6. wait_delay(local, retry_after): never sooner than the server asked");
  const auto row = [&](reprise::duration local, std::optional<std::string_view> asked, std::string_view expected) {
    report.row(
        fmt::format("wait_delay({}, {})", text(local), quoted(asked)),
        [=] { return reprise::wait_delay(local, asked); }, expected);
  };
  row(500ms, "7", "7 s");
  row(8s, "7", "8 s");
  row(7s, "7", "7 s");
  row(0s, "0", "0 s");
  row(500ms, " 7 ", "7 s");
  row(500ms, std::nullopt, "0.5 s");
  for (const auto* unsupported : {"", "-1", "+7", "1.5", "7s", "soon", "7, 8", "Sun, 06 Nov 2044 08:49:37 GMT"})
    row(500ms, unsupported, "0.5 s");
  row(500ms, "100000000000000000000000000000", "unlimited");
  row(-1s, "7", "refused: reprise::wait_delay: local must be zero or longer, is -1 s");
}

inline void can_attempt(report& report) {
  report.heading("7. can_attempt(made, maximum, wait, budget): count and time together");
  const auto row = [&](int made, int maximum, reprise::duration wait, reprise::duration budget,
                       std::string_view expected) {
    report.row(
        fmt::format("can_attempt({}, {}, {}, {})", made, maximum, text(wait), text(budget)),
        [=] { return reprise::can_attempt(made, maximum, wait, budget); }, expected);
  };
  row(2, 3, 1s, 5s, "true");
  row(3, 3, 1s, 5s, "false");
  row(4, 3, 1s, 5s, "false");
  row(0, 0, 0s, 5s, "false");
  row(1, 3, 4999999999ns, 5s, "true");
  row(1, 3, 5s, 5s, "false");
  row(1, 3, 6s, 5s, "false");
  row(1, 3, 0s, 1ns, "true");
  row(1, 3, 0s, 0s, "false");
  row(1, 3, -1ns, 5s, "false");
}

/// What both executors refuse. Nothing is sent.
inline void execute(report& report) {
  report.heading("8. execute: refused before anything is sent");
  const auto row = [&](std::string_view title, const call& with, std::string_view hand, std::string_view policy) {
    reprise::testing::fake_clock time;
    reprise::testing::script send{time, reprise::testing::reply(200)};
    const auto sent = [&](reprise::duration left) { return send({.timeout = left}); };
    report.row(
        fmt::format("by hand, {}", title), [&] { return by_hand::execute(with, sent, time.clock(), time.sleep()); },
        hand);
    report.row(
        fmt::format("by policy, {}", title),
        [&] { return by_policy::execute(with, sent, time.clock(), time.sleep()).value(); }, policy);
    report.check(fmt::format("nothing sent, {}", title), text(send.calls() == 0), "true");
  };
  row("timeout 0 s", {.timeout = 0s}, "refused: executor: timeout must be longer than zero",
      "refused: reprise::time_limit: total must be longer than zero, is 0 s");
  row("timeout -1 s", {.timeout = -1s}, "refused: executor: timeout must be longer than zero",
      "refused: reprise::time_limit: total must be longer than zero, is -1 s");
  row("maximum 0", {.maximum = 0}, "refused: executor: maximum must be 1 or more",
      "refused: reprise::attempt_budget: maximum must be 1 or more, is 0");
  row("maximum -1", {.maximum = -1}, "refused: executor: maximum must be 1 or more",
      "refused: reprise::attempt_budget: maximum must be 1 or more, is -1");
}

/// The free functions refuse what a running policy cannot: it clamps the fraction, and knows the wait of every retry.
inline void differences(report& report) {
  report.heading("Where a policy goes on and the loop by hand refuses");
  const auto row = [&](std::string_view title, const call& with, double fraction, std::string_view hand,
                       std::string_view policy) {
    const auto busy = [](reprise::duration) { return reprise::testing::response{.status = 503}; };
    const reprise::testing::fixed_fraction given(fraction);
    reprise::testing::fake_clock first;
    report.row(
        fmt::format("by hand, {}", title),
        [&] { return by_hand::execute(with, busy, first.clock(), first.sleep(), given); }, hand);
    reprise::testing::fake_clock second;
    report.row(
        fmt::format("by policy, {}", title),
        [&] { return by_policy::execute(with, busy, second.clock(), second.sleep(), given).value(); }, policy);
  };
  row("fraction 1.1", {}, 1.1, "refused: reprise::jitter: fraction must be in [0,1], is 1.1", "returns 503");
  row("fraction -0.1", {}, -0.1, "refused: reprise::jitter: fraction must be in [0,1], is -0.1", "returns 503");
  row("32 failures", {.timeout = 1000s, .maximum = 40}, 0.5,
      "refused: reprise::backoff: attempt must be 0 to 30, is 31", "returns 503");
}

inline void boundaries(report& report) {
  retryable(report);
  replay_safe(report);
  remaining(report);
  backoff(report);
  jitter(report);
  wait_delay(report);
  can_attempt(report);
  execute(report);
  differences(report);
}

}  // namespace executor
