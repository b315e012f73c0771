// SPDX-License-Identifier: MIT
#include <reprise/core.hpp>
#include <reprise/testing/fake_clock.hpp>
#include <reprise/testing/script.hpp>
#include <stdexcept>
#include <string>

#include "catch.hpp"

using namespace std::chrono_literals;
using reprise::attempt_log;
using reprise::outcome;
using reprise::testing::fails;
using reprise::testing::fake_clock;
using reprise::testing::reply;
using reprise::testing::script;

namespace {

constexpr reprise::retry_policy policy{reprise::http::retry_statuses{}, reprise::idempotent{},
                                       reprise::constant_backoff{.delay = 100ms},
                                       reprise::attempt_budget{.maximum = 5}};

struct busy : std::runtime_error {
  using std::runtime_error::runtime_error;
};

template <class Policy, class... Steps> constexpr auto log_of(const Policy& with, Steps... steps) {
  fake_clock time;
  time.advance(1h);
  script send{time, steps...};
  return reprise::execute(with, send, time).log();
}

/// A response with a text.
struct page {
  int status = 503;
  std::string body = {};
};

/// What a log keeps of this message.
std::string kept(const std::string& message) {
  auto log = attempt_log<1>{}.messages([](const std::string& text) -> std::string_view { return text; });
  log.note(message);
  log.add({.number = 1});
  return std::string(log[0].message);
}

}  // namespace

TEST_CASE("a log has a record for each attempt: number, start, elapsed, verdict and the wait after it") {
  constexpr auto right = [] {
    const auto log =
        log_of(policy.with(attempt_log<8>{}), reply(503).takes(10ms), reply(429).takes(20ms), reply(200).takes(30ms));
    return log.size() == 3 && log.total() == 3 && log[0].number == 1 && log[0].start == 0s && log[0].elapsed == 10ms &&
           log[0].verdict.code == 503 && log[0].wait_after == 100ms && log[1].number == 2 && log[1].start == 110ms &&
           log[1].elapsed == 20ms && log[1].verdict.code == 429 && log[1].wait_after == 100ms && log[2].number == 3 &&
           log[2].start == 230ms && log[2].elapsed == 30ms && log[2].verdict.kind == outcome::success &&
           !log[2].wait_after.has_value();
  };
  STATIC_REQUIRE(right());
}

TEST_CASE("the last failed attempt has no wait after it") {
  constexpr auto right = [] {
    const auto log = log_of(policy.with(attempt_log<8>{}), reply(503));
    return log.size() == 5 && log[3].wait_after == 100ms && !log[4].wait_after.has_value();
  };
  STATIC_REQUIRE(right());
}

TEST_CASE("a log keeps the last N attempts, oldest first, and tells how many there were") {
  constexpr auto right = [] {
    const auto log = log_of(policy.with(attempt_log<2>{}), reply(503));
    return log.size() == 2 && log.total() == 5 && log[0].number == 4 && log[1].number == 5;
  };
  STATIC_REQUIRE(right());
}

TEST_CASE("a log of one keeps the last attempt with its own wait") {
  constexpr auto right = [] {
    fake_clock time;
    time.interrupts_at(150ms);
    script send{time, reply(503).retry_after("0"), reply(429)};
    const auto log = reprise::execute(policy.with(attempt_log<1>{}), send, time).log();
    return log.size() == 1 && log[0].number == 2 && log[0].verdict.code == 429 && log[0].wait_after == 100ms;
  };
  STATIC_REQUIRE(right());
}

TEST_CASE("a log is walked in a for loop") {
  constexpr auto sum = [] {
    int numbers = 0;
    for (const reprise::attempt_record& record : log_of(policy.with(attempt_log<3>{}), reply(503)))
      numbers = numbers * 10 + record.number;
    return numbers;
  };
  constexpr auto named = [] {
    const auto log = log_of(policy.with(attempt_log<3>{}), reply(503));
    int numbers = 0;
    for (const reprise::attempt_record& record : log) numbers = numbers * 10 + record.number;
    return numbers;
  };
  STATIC_REQUIRE(sum() == 345);
  STATIC_REQUIRE(named() == 345);
}

TEST_CASE("a fresh log is empty") {
  constexpr attempt_log<4> log;
  STATIC_REQUIRE(log.empty());
  STATIC_REQUIRE(log.size() == 0);
  STATIC_REQUIRE(log.total() == 0);
  STATIC_REQUIRE(log.begin() == log.end());
}

TEST_CASE("the log of a call that made no attempt is empty") {
  constexpr auto log = [] {
    return log_of(policy.with(attempt_log<4>{}, reprise::deadline{fake_clock::time_point(1s)}), reply(200));
  };
  STATIC_REQUIRE(log().empty());
}

TEST_CASE("the policy's own log stays empty, so that each call starts with an empty one") {
  constexpr auto right = [] {
    const auto with = policy.with(attempt_log<8>{});
    const auto first = log_of(with, reply(503), reply(200));
    const auto second = log_of(with, reply(200));
    return first.size() == 2 && second.size() == 1 && with.part<reprise::role::log>().empty();
  };
  STATIC_REQUIRE(right());
}

TEST_CASE("without messages a record's message is empty") {
  STATIC_REQUIRE(log_of(policy.with(attempt_log<4>{}), reply(503))[0].message.empty());
}

TEST_CASE("a projection copies a message out of the response") {
  constexpr auto right = [] {
    const auto log = log_of(policy.with(attempt_log<4>{}.messages([](const reprise::testing::response& given) {
      return given.status == 200 ? std::string_view("fine") : std::string_view("overloaded");
    })),
                            reply(503), reply(200));
    return log[0].message == "overloaded" && log[1].message == "fine";
  };
  STATIC_REQUIRE(right());
}

TEST_CASE("a projection may be a pointer to a member or a function, and may give a string") {
  const auto body = [](const auto projection) {
    fake_clock time;
    const auto with = policy.with(attempt_log<4>{}.messages(projection));
    const auto result = reprise::execute(with, [] { return page{.status = 404, .body = "not here"}; }, time);
    return std::string(result.log()[0].message);
  };
  CHECK(body(&page::body) == "not here");
  CHECK(body([](const page& given) { return given.body + "!"; }) == "not here!");
  CHECK(body(+[](const page& given) -> std::string_view { return given.body; }) == "not here");
}

TEST_CASE("a message outlives its response") {
  fake_clock time;
  int calls = 0;
  const auto send = [&] { return page{.status = ++calls == 1 ? 503 : 200, .body = std::string(40, 'x')}; };
  const auto result = reprise::execute(policy.with(attempt_log<4>{}.messages(&page::body)), send, time);
  CHECK(result.log()[0].message == std::string(40, 'x'));
}

TEST_CASE("a projection of std::exception gives the messages of exceptions") {
  const auto with = policy.with(
      reprise::http::retry_statuses{}, reprise::retry_exceptions<busy>{},
      attempt_log<4>{}.messages([](const std::exception& failure) { return std::string_view(failure.what()); }));
  const auto log = log_of(with, fails<busy>("no more threads"), reply(200));
  CHECK(log[0].message == "no more threads");
  CHECK(log[1].message.empty());
}

TEST_CASE("a projection may take both, responses and exceptions") {
  struct text_of {
    std::string_view operator()(const reprise::testing::response&) const { return "a response"; }
    std::string_view operator()(const std::exception& failure) const { return failure.what(); }
  };
  const auto with = policy.with(reprise::http::retry_statuses{}, reprise::retry_exceptions<busy>{},
                                attempt_log<4>{}.messages(text_of{}));
  const auto log = log_of(with, fails<busy>("an exception"), reply(200));
  CHECK(log[0].message == "an exception");
  CHECK(log[1].message == "a response");
}

TEST_CASE("a message of an earlier attempt does not show up at a later one") {
  const auto with = policy.with(
      reprise::http::retry_statuses{}, reprise::retry_exceptions<busy>{},
      attempt_log<1>{}.messages([](const std::exception& failure) { return std::string_view(failure.what()); }));
  CHECK(log_of(with, fails<busy>("first"), reply(200))[0].message.empty());
}

TEST_CASE("a message is cut at 160 bytes") {
  CHECK(kept("") == "");
  CHECK(kept(std::string(160, 'a')) == std::string(160, 'a'));
  CHECK(kept(std::string(161, 'a')) == std::string(160, 'a'));
  CHECK(kept(std::string(100'000, 'a')) == std::string(160, 'a'));
}

TEST_CASE("a message is cut between characters of UTF-8, never inside one") {
  const std::string two = "\xC3\xA4";             // U+00E4
  const std::string three = "\xE2\x82\xAC";       // U+20AC
  const std::string four = "\xF0\x9F\x98\x80";    // U+1F600
  const std::string more = std::string(40, 'z');  // so that there is something to cut
  CHECK(kept(std::string(158, 'a') + two + more) == std::string(158, 'a') + two);
  CHECK(kept(std::string(159, 'a') + two + more) == std::string(159, 'a'));
  CHECK(kept(std::string(157, 'a') + three + more) == std::string(157, 'a') + three);
  CHECK(kept(std::string(158, 'a') + three + more) == std::string(158, 'a'));
  CHECK(kept(std::string(159, 'a') + three + more) == std::string(159, 'a'));
  CHECK(kept(std::string(156, 'a') + four + more) == std::string(156, 'a') + four);
  CHECK(kept(std::string(157, 'a') + four + more) == std::string(157, 'a'));
  CHECK(kept(std::string(159, 'a') + four + more) == std::string(159, 'a'));
}

TEST_CASE("a message of bytes that are no UTF-8 is kept within 160 bytes") {
  CHECK(kept(std::string(300, '\x80')).size() <= 160);
  CHECK(kept(std::string(300, '\xFF')).size() == 160);
}

TEST_CASE("log_to writes into the caller's log") {
  constexpr auto right = [] {
    attempt_log<4> log;
    fake_clock time;
    script send{time, reply(503).takes(10ms), reply(200)};
    const auto result = reprise::execute(policy.with(reprise::log_to(log)), send, time);
    return result.ok() && log.size() == 2 && log[0].elapsed == 10ms && log[0].wait_after == 100ms;
  };
  STATIC_REQUIRE(right());
}

TEST_CASE("log_to leaves no log in the result") {
  attempt_log<4> log;
  fake_clock time;
  script send{time, reply(200)};
  using result = decltype(reprise::execute(policy.with(reprise::log_to(log)), send, time));
  STATIC_REQUIRE(std::same_as<result, reprise::retry_result<reprise::testing::response>>);
}

TEST_CASE("the caller's log survives an exception that passes through, its record and message included") {
  auto log = attempt_log<4>{}.messages([](const std::exception& failure) { return std::string_view(failure.what()); });
  fake_clock time;
  script send{time, reply(503), fails<busy>("broken pipe").takes(10ms)};
  CHECK_THROWS_AS(reprise::execute(policy.with(reprise::log_to(log)), send, time), busy);
  REQUIRE(log.size() == 2);
  CHECK(log[0].wait_after == 100ms);
  CHECK(log[1].elapsed == 10ms);
  CHECK(log[1].verdict.label == reprise::label("unrecognised"));
  CHECK(log[1].message == "broken pipe");
  CHECK(!log[1].wait_after.has_value());
}

TEST_CASE("the caller's log is emptied for each call, also for one that makes no attempt") {
  constexpr auto right = [] {
    attempt_log<4> log;
    const auto with = policy.with(reprise::log_to(log));
    fake_clock time;
    script send{time, reply(503), reply(503), reply(200)};
    (void)reprise::execute(with, send, time);
    const bool three = log.size() == 3;
    (void)reprise::execute(with, send, time);
    const bool one = log.size() == 1 && log.total() == 1 && log[0].number == 1;
    (void)reprise::execute(with.with(reprise::deadline{fake_clock::time_point(0s)}), send, time);
    return three && one && log.empty();
  };
  STATIC_REQUIRE(right());
}

TEST_CASE("log_to takes no temporary") {
  STATIC_REQUIRE(std::is_constructible_v<reprise::log_to<attempt_log<4>>, attempt_log<4>&>);
  STATIC_REQUIRE(!std::is_constructible_v<reprise::log_to<attempt_log<4>>, attempt_log<4>>);
}

TEST_CASE("a log without messages is no larger than its records") {
  STATIC_REQUIRE(sizeof(attempt_log<4>) <= 4 * sizeof(reprise::attempt_record) + 2 * sizeof(std::size_t));
}

TEST_CASE("a message that is absent is empty") {
  struct answer {
    int status = 200;
    const char* body = nullptr;
    std::optional<std::string_view> reason = {};
  };
  fake_clock time;
  const auto send = [] { return answer{}; };
  const reprise::retry_policy logged{reprise::http::retry_statuses{}, reprise::idempotent{}};
  const auto body = reprise::attempt_log<2>{}.messages([](const answer& a) { return a.body; });
  const auto reason = reprise::attempt_log<2>{}.messages([](const answer& a) { return a.reason; });
  CHECK(reprise::execute(logged.with(body), send, time).log()[0].message.empty());
  CHECK(reprise::execute(logged.with(reason), send, time).log()[0].message.empty());
}
