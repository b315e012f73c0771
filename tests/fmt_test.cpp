// SPDX-License-Identifier: MIT
#include <reprise/core.hpp>
#include <reprise/fmt.hpp>
#include <reprise/testing/fake_clock.hpp>
#include <reprise/testing/script.hpp>
#include <string>

#include "catch.hpp"

using namespace std::chrono_literals;
using reprise::outcome;
using reprise::stop_reason;
using reprise::testing::fake_clock;
using reprise::testing::reply;
using reprise::testing::script;

namespace {

constexpr reprise::retry_policy policy{reprise::http::retry_statuses{}, reprise::idempotent{},
                                       reprise::constant_backoff{.delay = 100ms}};

constexpr reprise::verdict unavailable{.kind = outcome::transient, .label = "http", .code = 503};

template <class Policy, class... Steps> auto play(const Policy& with, Steps... steps) {
  fake_clock time;
  script send{time, steps...};
  return reprise::execute(with, send, time);
}

/// How a duration is printed, seen in a record.
std::string elapsed(reprise::duration taken) {
  const std::string line = fmt::format("{}", reprise::attempt_record{.number = 1, .elapsed = taken});
  return line.substr(std::string("attempt 1: FAIL, ").size());
}

/// How a message is printed, seen in a record.
std::string quoted(std::string_view message) {
  const std::string line = fmt::format("{}", reprise::attempt_record{.number = 1, .message = message});
  return line.substr(std::string("attempt 1: FAIL, 0 ms, ").size());
}

}  // namespace

TEST_CASE("an outcome prints as its name and is aligned like a string") {
  CHECK(fmt::format("{}", outcome::success) == "success");
  CHECK(fmt::format("{}", outcome::transient) == "transient");
  CHECK(fmt::format("{}", outcome::permanent) == "permanent");
  CHECK(fmt::format("{}", outcome::cancelled) == "cancelled");
  CHECK(fmt::format("{:>10}|", outcome::success) == "   success|");
  CHECK(fmt::format("{:<10}|", outcome::success) == "success   |");
}

TEST_CASE("a stop reason prints as its name and is aligned like a string") {
  CHECK(fmt::format("{}", stop_reason::retry_after_too_long) == "retry_after_too_long");
  CHECK(fmt::format("{:*^13}", stop_reason::succeeded) == "**succeeded**");
  CHECK(fmt::format("{}", static_cast<stop_reason>(99)) == "unknown");
}

TEST_CASE("a label prints as its text, an empty one as a dash") {
  CHECK(fmt::format("{}", reprise::label("http")) == "http");
  CHECK(fmt::format("{}", reprise::label()) == "-");
}

TEST_CASE("a verdict prints its kind and label, and the rest where there is any") {
  CHECK(fmt::format("{}", unavailable) == "transient http 503");
  CHECK(fmt::format("{}", reprise::verdict{.kind = outcome::success}) == "success -");
  CHECK(fmt::format("{}", reprise::verdict{.label = "none"}) == "permanent none");
  CHECK(fmt::format(
            "{}",
            reprise::verdict{
                .kind = outcome::transient, .label = "http", .code = 503, .retry_after = 2s, .not_applied = true}) ==
        "transient http 503, retry after 2000 ms, not applied");
  CHECK(fmt::format("{}", reprise::verdict{.kind = outcome::transient, .label = "refused", .not_applied = true}) ==
        "transient refused, not applied");
  CHECK(fmt::format("{}", reprise::verdict{.label = "code", .code = -6}) == "permanent code -6");
}

TEST_CASE("a duration prints in milliseconds, as short as it can be said") {
  CHECK(elapsed(0s) == "0 ms");
  CHECK(elapsed(1500ms) == "1500 ms");
  CHECK(elapsed(250us) == "0.25 ms");
  CHECK(elapsed(1ns) == "0.000001 ms");
  CHECK(elapsed(12345us) == "12.345 ms");
  CHECK(elapsed(24h) == "86400000 ms");
  CHECK(elapsed(reprise::unlimited) == "unlimited");
}

TEST_CASE("a long duration that is no whole number of milliseconds keeps its milliseconds") {
  // A jittered wait is hardly ever whole, and 1.235e+04 ms is for no reader.
  CHECK(elapsed(1'234'567us) == "1234.567 ms");
  CHECK(elapsed(12'345'678us).substr(0, 4) == "1234");
  CHECK(elapsed(123'456'789us).substr(0, 5) == "12345");
}

TEST_CASE("a record prints in one line, with what there is") {
  reprise::attempt_record record{.number = 1, .start = 0s, .elapsed = 12ms, .verdict = unavailable};
  CHECK(fmt::format("{}", record) == "attempt 1: FAIL, 12 ms, http 503");
  record.wait_after = 500ms;
  CHECK(fmt::format("{}", record) == "attempt 1: FAIL, 12 ms, http 503, then waits 500 ms");
  record.message = "overloaded";
  CHECK(fmt::format("{}", record) == "attempt 1: FAIL, 12 ms, http 503, \"overloaded\", then waits 500 ms");
  CHECK(
      fmt::format("{}", reprise::attempt_record{.number = 2, .elapsed = 3ms, .verdict = {.kind = outcome::success}}) ==
      "attempt 2: ok, 3 ms");
}

TEST_CASE("a message cannot break out of its line or its quotes") {
  CHECK(quoted("plain") == "\"plain\"");
  CHECK(quoted("a\nattempt 2: ok") == "\"a\\nattempt 2: ok\"");
  CHECK(quoted("a\tb") == "\"a\\tb\"");
  CHECK(quoted("a\rb") == "\"a\\x0db\"");
  CHECK(quoted("say \"no\"") == "\"say \\\"no\\\"\"");
  CHECK(quoted("back\\slash") == "\"back\\\\slash\"");
  CHECK(quoted("\x1B[31mred") == "\"\\x1b[31mred\"");
  CHECK(quoted("\x7F") == "\"\\x7f\"");
  CHECK(quoted(std::string_view("nul\0nul", 7)) == "\"nul\\x00nul\"");
  CHECK(quoted("{} {0}") == "\"{} {0}\"");
}

TEST_CASE("a message keeps its UTF-8") { CHECK(quoted("\xC3\xA4 \xE2\x82\xAC") == "\"\xC3\xA4 \xE2\x82\xAC\""); }

TEST_CASE("a log prints one line an attempt") {
  const auto result = play(policy.with(reprise::attempt_log<8>{}), reply(503).takes(10ms), reply(200).takes(20ms));
  CHECK(fmt::format("{}", result.log()) ==
        "attempt 1: FAIL, 10 ms, http 503, then waits 100 ms\n"
        "attempt 2: ok, 20 ms, http 200\n");
  CHECK(fmt::format("{}", reprise::attempt_log<8>{}) == "");
}

TEST_CASE("a log tells how many earlier attempts it has no room for") {
  const auto result = play(policy.with(reprise::attempt_log<1>{}), reply(503));
  CHECK(fmt::format("{}", result.log()) ==
        "(2 earlier attempts)\n"
        "attempt 3: FAIL, 0 ms, http 503\n");
}

TEST_CASE("a log with messages prints them escaped") {
  const auto with = policy.with(reprise::attempt_log<8>{}.messages(
      [](const reprise::testing::response&) -> std::string_view { return "two\nlines"; }));
  CHECK(fmt::format("{}", play(with, reply(404)).log()) == "attempt 1: FAIL, 0 ms, http 404, \"two\\nlines\"\n");
}

TEST_CASE("a retry event prints attempt, verdict, wait and what remains") {
  reprise::event retry{.kind = reprise::event_kind::retry,
                       .attempt = 1,
                       .maximum = 3,
                       .verdict = unavailable,
                       .wait = 500ms,
                       .elapsed = 10ms,
                       .remaining = 4500ms};
  CHECK(fmt::format("{}", retry) == "retry after attempt 1 of 3 (transient http 503): waits 500 ms, remaining 4500 ms");
  retry.maximum = reprise::unlimited_count;
  retry.remaining = reprise::unlimited;
  CHECK(fmt::format("{}", retry) == "retry after attempt 1 (transient http 503): waits 500 ms, remaining unlimited");
}

TEST_CASE("an end event prints attempt, verdict, reason and what was taken") {
  const reprise::event end{.kind = reprise::event_kind::end,
                           .attempt = 3,
                           .maximum = 3,
                           .verdict = unavailable,
                           .elapsed = 1510ms,
                           .reason = stop_reason::attempts_exhausted};
  CHECK(fmt::format("{}", end) == "end after attempt 3 of 3 (transient http 503): attempts_exhausted, 1510 ms elapsed");
}

TEST_CASE("a result prints reason, attempts, waiting and the last verdict") {
  CHECK(fmt::format("{}", play(policy, reply(503))) ==
        "attempts_exhausted after 3 attempts and 200 ms of waiting: transient http 503");
  CHECK(fmt::format("{}", play(policy, reply(404))) ==
        "not_retryable after 1 attempt and 0 ms of waiting: permanent http 404");
  CHECK(fmt::format("{}", play(policy.with(reprise::attempt_log<2>{}), reply(503), reply(200))) ==
        "succeeded after 2 attempts and 100 ms of waiting: success http 200");
  CHECK(fmt::format("{}", reprise::retry_result<void>()) ==
        "cancelled after 0 attempts and 0 ms of waiting: permanent none");
}

TEST_CASE("a bill prints its four figures") {
  CHECK(fmt::format("{}", reprise::bill{3, 1500ms, 5s, 5s}) ==
        "at most 3 attempts, own waits 1500 ms, waits 5000 ms, total 5000 ms");
  CHECK(fmt::format("{}", reprise::bill{reprise::unlimited_count, reprise::unlimited, 5s, reprise::unlimited}) ==
        "unlimited attempts, own waits unlimited, waits 5000 ms, total unlimited");
}
