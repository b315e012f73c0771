// SPDX-License-Identifier: MIT
// What went wrong in other systems, the cases told in one line; a tag names the case.
#include <cstdlib>
#include <ctime>
#include <initializer_list>
#include <limits>
#include <optional>
#include <random>
#include <reprise/reprise.hpp>
#include <reprise/testing/fake_clock.hpp>
#include <reprise/testing/script.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "catch.hpp"

using namespace std::chrono_literals;
using reprise::testing::fails;
using reprise::testing::fake_clock;
using reprise::testing::reply;
using reprise::testing::script;

namespace {

using reprise::http::parse_http_date;
using reprise::http::parse_retry_after;

constexpr int last_retry = std::numeric_limits<int>::max();

/// 2019-06-03 11:00:00 UTC, a Monday.
constexpr std::chrono::sys_seconds june = std::chrono::sys_days{std::chrono::year{2019} / 6 / 3} + 11h;

constexpr reprise::retry_policy http_policy{reprise::http::retry_statuses{}, reprise::idempotent{},
                                            reprise::constant_backoff{.delay = 1s}, reprise::time_limit{.total = 1h}};

/// The wait before the second attempt after a 503 with this Retry-After; nothing if there is no second attempt.
template <class Policy>
constexpr std::optional<reprise::duration> wait_after(const Policy& policy, std::string_view retry_after) {
  fake_clock time;
  script send{time, reply(503).retry_after(retry_after), reply(200)};
  (void)reprise::execute(policy, send, time);
  if (send.calls() == 1) return std::nullopt;
  return time.waits().front();
}

/// How a call of always failing attempts ends.
struct failing_call {
  reprise::stop_reason reason = reprise::stop_reason::cancelled;
  int sends = 0;
  reprise::duration end = {};

  friend constexpr bool operator==(const failing_call&, const failing_call&) = default;
};
template <class Policy> constexpr failing_call fail_always(const Policy& policy, reprise::duration each_takes = {}) {
  fake_clock time;
  script send{time, reply(503).takes(each_takes)};
  const auto result = reprise::execute(policy, send, time);
  return {result.reason(), send.calls(), time.now().time_since_epoch()};
}

/// A fake clock with a flag that somebody else sets.
struct cancellable {
  fake_clock& time;
  const bool& stop;

  constexpr auto now() const { return time.now(); }
  constexpr auto sleep(reprise::duration wait) const { return time.sleep(wait); }
  constexpr double fraction() const { return time.fraction(); }
  constexpr bool cancelled() const { return stop; }
};

/// Whether a captureless function of no parameters holds in a constant expression; what is none is reported as a failed
/// check of one test instead of an error of the whole file.
template <class Function> concept holds_at_compile_time =
    requires { requires std::bool_constant<Function{}()>::value; };

/// A budget that counts what it is told; its permits give back what they hold.
struct counting_budget {
  class permit {
   public:
    explicit permit(counting_budget& from) noexcept : from_(&from) { ++from.held; }
    permit(permit&& other) noexcept : from_(std::exchange(other.from_, nullptr)) {}
    permit& operator=(permit&& other) noexcept {
      std::swap(from_, other.from_);
      return *this;
    }
    ~permit() {
      if (from_ != nullptr) --from_->held;
    }

   private:
    counting_budget* from_;
  };

  int most = 1;
  int asked = 0;
  int held = 0;
  int open_calls = 0;

  void call_started(reprise::duration) noexcept { ++open_calls; }
  void failed(const reprise::verdict&) noexcept {}
  std::optional<permit> try_retry(const reprise::verdict&, reprise::duration) {
    ++asked;
    if (held >= most) return std::nullopt;
    return permit(*this);
  }
  void call_ended(bool, std::optional<permit>, reprise::duration) noexcept { --open_calls; }

  bool is_at_rest() const noexcept { return held == 0 && open_calls == 0; }
};

}  // namespace

// --- Retry-After -----------------------------------------------------------------------------------------------------

TEST_CASE("a date is read in UTC whatever the time zone of the machine", "[B-01]") {
  constexpr std::string_view date = "Mon, 03 Jun 2019 11:30:12 GMT";
  STATIC_REQUIRE(parse_retry_after(date, june) == 1812s);

  const char* const before = std::getenv("TZ");
  const std::string kept = before != nullptr ? before : "";
  for (const char* const zone : {"Asia/Jerusalem", "America/New_York", "JST-9", "EST5EDT", "UTC0"}) {
    CAPTURE(zone);
    REQUIRE(::setenv("TZ", zone, 1) == 0);
    ::tzset();
    CHECK(parse_retry_after(std::string(date), june) == 1812s);
  }
  if (before != nullptr) ::setenv("TZ", kept.c_str(), 1);
  else ::unsetenv("TZ");
  ::tzset();
}

TEST_CASE("the obsolete forms of a date are read as UTC too", "[B-02]") {
  STATIC_REQUIRE(parse_retry_after("Monday, 03-Jun-19 11:30:12 GMT", june) == 1812s);
  STATIC_REQUIRE(parse_retry_after("Mon Jun  3 11:30:12 2019", june) == 1812s);
  STATIC_REQUIRE(parse_retry_after(" \tMon, 03 Jun 2019 11:30:12 GMT ", june) == 1812s);
}

TEST_CASE("a date that is now or has passed is a wait of nothing, which is not the same as no wait", "[B-02][B-09]") {
  STATIC_REQUIRE(parse_retry_after("Mon, 03 Jun 2019 11:00:00 GMT", june) == 0s);
  STATIC_REQUIRE(parse_retry_after("Sun, 02 Jun 2019 11:00:00 GMT", june) == 0s);
  STATIC_REQUIRE(parse_retry_after("Thu, 01 Jan 1970 00:00:00 GMT", june) == 0s);
  STATIC_REQUIRE(parse_retry_after("Mon, 03 Jun 2019 11:00:01 GMT", june) == 1s);
}

TEST_CASE("seconds are digits with blanks around, and nothing else", "[B-02]") {
  STATIC_REQUIRE(parse_retry_after("0") == 0s);
  STATIC_REQUIRE(parse_retry_after("\t42 ") == 42s);
  STATIC_REQUIRE(parse_retry_after("007") == 7s);
  constexpr auto is_no_hint = [](std::string_view text) {
    return !parse_retry_after(text).has_value() && !parse_retry_after(text, june).has_value();
  };
  for (const char* const text : {"-1", "+1", "1.0", "\xC2\xB2", "\xD9\xA1", "", " ", "1 2", "0x10", "1e3", "10s", "--1",
                                 "1,000", "\n1", "1\r\n"}) {
    CAPTURE(text);
    CHECK(is_no_hint(text));
    CHECK(wait_after(http_policy, text) == 1s);  // malformed: the own backoff
  }
  STATIC_REQUIRE(is_no_hint("-1"));
  STATIC_REQUIRE(is_no_hint(std::string_view("1\0", 2)));
}

TEST_CASE("fractional seconds are malformed by default and rounded up by a lenient policy", "[B-03]") {
  using enum reprise::http::fractions;
  STATIC_REQUIRE(!parse_retry_after("0.503").has_value());
  STATIC_REQUIRE(parse_retry_after("0.503", round_up) == 503ms);
  STATIC_REQUIRE(parse_retry_after("0.129", round_up) == 129ms);
  STATIC_REQUIRE(parse_retry_after("292.052427053", round_up) == 292052427053ns);
  STATIC_REQUIRE(parse_retry_after("0.0000000001", round_up) == 1ns);
  STATIC_REQUIRE(parse_retry_after("0.0", round_up) == 0s);
  STATIC_REQUIRE(parse_retry_after(" 2.5 ", round_up) == 2500ms);
  STATIC_REQUIRE(parse_retry_after("3", round_up) == 3s);
  for (const char* const text : {".5", "5.", ".", "1.2.3", "-0.5", "+0.5", "1.5e3", "1,5"}) {
    CAPTURE(text);
    CHECK(!parse_retry_after(text, round_up).has_value());
  }

  constexpr auto without_own = http_policy.with(reprise::constant_backoff{.delay = 0s});
  constexpr auto lenient = without_own.with(reprise::http::retry_statuses{}.lenient());
  STATIC_REQUIRE(wait_after(without_own, "0.503") == 0s);
  STATIC_REQUIRE(wait_after(lenient, "0.503") == 503ms);
  STATIC_REQUIRE(wait_after(lenient, "292.052427053") == 292052427053ns);
}

TEST_CASE("a wait of a part of the clock's unit is due at the end of that unit, not before", "[B-03]") {
  constexpr auto due_after = [](reprise::duration hint) {
    using whole_seconds = std::chrono::time_point<fake_clock, std::chrono::seconds>;
    constexpr auto policy = http_policy.with(reprise::constant_backoff{.delay = 0s});
    reprise::engine<std::remove_cvref_t<decltype(policy)>, whole_seconds> call(policy);
    const whole_seconds start(100s);
    call.start(start);
    const auto next = call.on_verdict({.kind = reprise::outcome::transient, .retry_after = hint}, start, 0.5);
    return next.due - start;
  };
  STATIC_REQUIRE(due_after(1500ms) == 2s);
  STATIC_REQUIRE(due_after(400ms) == 1s);
  STATIC_REQUIRE(due_after(0ms) == 0s);
  STATIC_REQUIRE(due_after(2500ms) == 3s);
  STATIC_REQUIRE(due_after(3s) == 3s);
}

TEST_CASE("what a parser of floating numbers would take is no Retry-After", "[B-04]") {
  for (const char* const text : {"nan", "NaN", "inf", "Infinity", "-inf", "-5", "1e10000", "1e-3", "0x1p4", "-0"}) {
    CAPTURE(text);
    CHECK(!parse_retry_after(text).has_value());
    CHECK(!parse_retry_after(text, june).has_value());
    CHECK(!parse_retry_after(text, reprise::http::fractions::round_up).has_value());
    CHECK(wait_after(http_policy, text) == 1s);
  }
}

TEST_CASE("a number that does not fit is too long, not absent and not short", "[B-04]") {
  constexpr std::string_view thirty_digits = "999999999999999999999999999999";
  STATIC_REQUIRE(parse_retry_after(thirty_digits) == reprise::unlimited);
  STATIC_REQUIRE(parse_retry_after("9223372036854775808") == reprise::unlimited);
  STATIC_REQUIRE(parse_retry_after("18446744073709551617") == reprise::unlimited);  // 2^64 + 1 must not read as 1
  STATIC_REQUIRE(parse_retry_after("999999999999999999999999999999.5", reprise::http::fractions::round_up) ==
                 reprise::unlimited);
  constexpr auto ends = [](const auto& policy) {
    fake_clock time;
    script send{time, reply(503).retry_after("999999999999999999999999999999"), reply(200)};
    const auto result = reprise::execute(policy, send, time);
    return failing_call{result.reason(), send.calls(), time.now().time_since_epoch()};
  };
  STATIC_REQUIRE(ends(http_policy.with(reprise::retry_after_limit{.longest = 60s})) ==
                 failing_call{reprise::stop_reason::retry_after_too_long, 1, 0s});
  STATIC_REQUIRE(ends(http_policy) == failing_call{reprise::stop_reason::deadline_reached, 1, 0s});
  STATIC_REQUIRE(ends(http_policy.with(reprise::time_limit{.total = reprise::unlimited})) ==
                 failing_call{reprise::stop_reason::deadline_reached, 1, 0s});
}

TEST_CASE("a hint over the limit stops, is clamped or is ignored, as the policy says", "[B-06]") {
  using reprise::too_long;
  constexpr auto wait = [](too_long beyond, std::string_view hint) {
    return wait_after(http_policy.with(reprise::retry_after_limit{.longest = 60s, .beyond = beyond}), hint);
  };
  STATIC_REQUIRE(wait(too_long::stop, "60") == 60s);
  STATIC_REQUIRE(wait(too_long::stop, "61") == std::nullopt);
  STATIC_REQUIRE(wait(too_long::stop, "3600") == std::nullopt);
  STATIC_REQUIRE(wait(too_long::clamp, "60") == 60s);
  STATIC_REQUIRE(wait(too_long::clamp, "61") == 60s);
  STATIC_REQUIRE(wait(too_long::clamp, "3600") == 60s);
  STATIC_REQUIRE(wait(too_long::ignore, "60") == 60s);
  STATIC_REQUIRE(wait(too_long::ignore, "61") == 1s);
  STATIC_REQUIRE(wait(too_long::ignore, "3600") == 1s);
  // Never sooner than asked is the default.
  STATIC_REQUIRE(wait_after(http_policy.with(reprise::retry_after_limit{.longest = 60s}), "61") == std::nullopt);
}

TEST_CASE("a hint up to and at the limit is honoured, one past it ends the call instead of an early retry", "[B-08]") {
  constexpr auto lenient = http_policy.with(reprise::http::retry_statuses{}.lenient());
  constexpr auto two_minutes = lenient.with(reprise::retry_after_limit{.longest = 120s});
  STATIC_REQUIRE(wait_after(two_minutes, "60") == 60s);
  STATIC_REQUIRE(wait_after(two_minutes, "61") == 61s);
  STATIC_REQUIRE(wait_after(two_minutes, "120") == 120s);
  STATIC_REQUIRE(wait_after(two_minutes, "120.001") == std::nullopt);
  STATIC_REQUIRE(wait_after(two_minutes, "120.000000001") == std::nullopt);
  constexpr auto one_minute = lenient.with(reprise::retry_after_limit{.longest = 60s});
  STATIC_REQUIRE(wait_after(one_minute, "60") == 60s);
  STATIC_REQUIRE(wait_after(one_minute, "60.001") == std::nullopt);
}

TEST_CASE("a Retry-After of 0 is present, and no Retry-After is absent", "[B-09]") {
  STATIC_REQUIRE(parse_retry_after("0").has_value());
  STATIC_REQUIRE(!parse_retry_after("").has_value());
  STATIC_REQUIRE(http_policy.judge(reprise::testing::response{.status = 503, .retry_after = "0"}).retry_after == 0s);
  STATIC_REQUIRE(http_policy.judge(reprise::testing::response{.status = 503}).retry_after == std::nullopt);
  // It shortens no own wait, and makes nothing retryable that is not.
  STATIC_REQUIRE(wait_after(http_policy, "0") == 1s);
  constexpr auto at_once = http_policy.with(reprise::constant_backoff{.delay = 0s});
  STATIC_REQUIRE(wait_after(at_once, "0") == 0s);
  constexpr auto denied = [] {
    fake_clock time;
    script send{time, reply(403).retry_after("0")};
    return reprise::execute(http_policy, send, time).reason() == reprise::stop_reason::not_retryable &&
           send.calls() == 1;
  };
  STATIC_REQUIRE(denied());
  // A limit of 0 lets it through and nothing longer.
  constexpr auto none = http_policy.with(reprise::retry_after_limit{.longest = 0s});
  STATIC_REQUIRE(wait_after(none, "0") == 1s);
  STATIC_REQUIRE(wait_after(none, "1") == std::nullopt);
}

TEST_CASE("a list where one value belongs is malformed", "[B-11]") {
  for (const char* const text : {"2814, 2", "2814,2", "2, 2", ",", "2,", "Mon, 03 Jun 2019 11:30:12 GMT, 5"}) {
    CAPTURE(text);
    CHECK(!parse_retry_after(text).has_value());
    CHECK(!parse_retry_after(text, june).has_value());
    CHECK(!parse_retry_after(text, june, reprise::http::fractions::round_up).has_value());
    CHECK(wait_after(http_policy, text) == 1s);
  }
}

TEST_CASE("what is almost a date is none", "[B-12]") {
  constexpr auto by_wall_clock = http_policy.with(
      reprise::http::retry_statuses{}.dated_by([] { return std::chrono::system_clock::time_point(june); }));
  STATIC_REQUIRE(wait_after(by_wall_clock, "Mon, 03 Jun 2019 11:30:12 GMT") == 1812s);
  for (const char* const text : {
           "Sep 2027",
           "Jan 1 2030",
           "1 Jan 2099 00:00:00",
           "Mon, 03 Jun 2019 11:30:12 XYZ",
           "Mon, 03 Jun 2019 11:30:12 UTC",
           "Mon, 03 Jun 2019 11:30:12 +0000",
           "Mon, 03 Jun 2019 11:30:12 gmt",
           "Mon, 03 Jun 2019 11:30:12",
           "Mon, 03 Jun 2019 11:30 GMT",
           "Mon, 3 Jun 2019 11:30:12 GMT",
           "Mon, 03 Jun 19 11:30:12 GMT",
           "Mon, 03 Jun 2019 11:30:12 GMT x",
           "mon, 03 jun 2019 11:30:12 GMT",
           "03 Jun 2019 11:30:12 GMT",
           "Mon, 03 Jun 2019 24:00:00 GMT",
           "Mon, 03 Jun 2019 11:60:00 GMT",
           "Mon, 03 Jun 2019 11:30:61 GMT",
           "Mon, 31 Jun 2019 11:30:12 GMT",
           "Fri, 29 Feb 2019 11:30:12 GMT",
           "Mon, 00 Jun 2019 11:30:12 GMT",
           "Monday, 03-Jun-2019 11:30:12 GMT",
           "Monday, 03 Jun 19 11:30:12 GMT",
           "Mon Jun 03 11:30:12 2019 GMT",
           "2019-06-03T11:30:12Z",
       }) {
    CAPTURE(text);
    CHECK(!parse_http_date(text, june).has_value());
    CHECK(!parse_retry_after(text, june).has_value());
    CHECK(wait_after(by_wall_clock, text) == 1s);
  }
}

TEST_CASE("a two-digit year more than 50 years ahead is the past one", "[B-14]") {
  constexpr auto year_of = [](std::string_view text) {
    const auto date = parse_http_date(text, june);
    return date ? static_cast<int>(std::chrono::year_month_day(std::chrono::floor<std::chrono::days>(*date)).year())
                : 0;
  };
  STATIC_REQUIRE(year_of("Sunday, 06-Nov-94 08:49:37 GMT") == 1994);
  STATIC_REQUIRE(year_of("Monday, 03-Jun-19 11:30:12 GMT") == 2019);
  STATIC_REQUIRE(year_of("Monday, 31-Dec-68 00:00:00 GMT") == 2068);
  STATIC_REQUIRE(year_of("Monday, 03-Jun-69 00:00:00 GMT") == 2069);     // exactly 50 years
  STATIC_REQUIRE(year_of("Wednesday, 04-Jun-69 00:00:00 GMT") == 1969);  // a day more
  STATIC_REQUIRE(year_of("Friday, 01-Jan-99 00:00:00 GMT") == 1999);
  // The weekday must be that of the year which is meant.
  STATIC_REQUIRE(year_of("Tuesday, 04-Jun-69 00:00:00 GMT") == 0);
}

TEST_CASE("a wrong weekday makes a date invalid, a leap second does not, and no date throws", "[B-14]") {
  STATIC_REQUIRE(!parse_http_date("Tue, 03 Jun 2019 11:30:12 GMT", june).has_value());
  STATIC_REQUIRE(!parse_http_date("Tuesday, 03-Jun-19 11:30:12 GMT", june).has_value());
  STATIC_REQUIRE(!parse_http_date("Tue Jun  3 11:30:12 2019", june).has_value());
  STATIC_REQUIRE(parse_http_date("Sat, 31 Dec 2016 23:59:60 GMT", june) ==
                 std::chrono::sys_seconds(std::chrono::sys_days{std::chrono::year{2017} / 1 / 1}));
  STATIC_REQUIRE(!parse_http_date("Sat, 31 Dec 2016 23:59:61 GMT", june).has_value());
  STATIC_REQUIRE(noexcept(parse_http_date("", june)));
  for (std::size_t length = 0; length < 29; ++length) {  // cut anywhere
    CAPTURE(length);
    CHECK(!parse_http_date(std::string_view("Mon, 03 Jun 2019 11:30:12 GMT").substr(0, length), june).has_value());
  }
  // The first and the last year that can be written.
  STATIC_REQUIRE(parse_retry_after("Fri, 31 Dec 9999 23:59:59 GMT", june) > 290 * 365 * 24h);
  STATIC_REQUIRE(parse_retry_after("Sat, 01 Jan 0000 00:00:00 GMT", june) == 0s);
}

TEST_CASE("a date is counted from the server's own Date, not from a skewed local clock", "[B-15]") {
  struct dated_response {
    int status = 503;
    std::string_view retry_after = "Mon, 03 Jun 2019 11:00:30 GMT";
    std::string_view date = {};
    std::string_view age = {};
  };
  constexpr auto policy = http_policy.with(
      reprise::http::retry_statuses{}.dated_by([] { return std::chrono::system_clock::time_point(june - 10min); }));
  constexpr auto hint = [=](const dated_response& response) { return policy.judge(response).retry_after; };

  STATIC_REQUIRE(hint({.date = "Mon, 03 Jun 2019 11:00:00 GMT"}) == 30s);
  STATIC_REQUIRE(hint({}) == 630s);
  STATIC_REQUIRE(hint({.date = "yesterday"}) == 630s);
  // A response from a cache has the Date of when it was stored.
  STATIC_REQUIRE(hint({.date = "Mon, 03 Jun 2019 11:00:00 GMT", .age = "20"}) == 630s);
  // Seconds need no clock at all.
  STATIC_REQUIRE(hint({.retry_after = "7", .date = "Mon, 03 Jun 2019 11:00:00 GMT"}) == 7s);
  // Without a wall clock a date is no hint.
  STATIC_REQUIRE(http_policy.judge(dated_response{.date = "Mon, 03 Jun 2019 11:00:00 GMT"}).retry_after ==
                 std::nullopt);
}

TEST_CASE("a timer that fires early waits for the rest, and execute trusts the caller's sleep", "[B-16]") {
  constexpr auto policy = http_policy.with(reprise::constant_backoff{.delay = 0s});
  using engine = reprise::engine<std::remove_cvref_t<decltype(policy)>, fake_clock::time_point>;
  constexpr reprise::verdict asks_for_wait{.kind = reprise::outcome::transient, .code = 503, .retry_after = 10s};

  const fake_clock::time_point zero{};
  engine call(policy);
  call.start(zero);
  const auto wait = call.on_verdict(asks_for_wait, zero, 0.5);
  REQUIRE(wait.kind == reprise::step::wait);
  const auto early = call.on_wait_over(zero + 9989ms);
  CHECK(early.kind == reprise::step::wait);
  CHECK(early.wait == 11ms);
  CHECK(early.due == wait.due);
  CHECK(call.on_wait_over(zero + 10s).kind == reprise::step::attempt);

  // The contract of a sleep is that it lasts: execute does not ask the clock a second time, so that a clock that stands
  // still cannot hold the call.
  constexpr auto trusts = [] {
    fake_clock time;
    script send{time, reply(503).retry_after("10"), reply(200)};
    int sleeps = 0;
    const auto wakes_early = [&](reprise::duration asked) {
      ++sleeps;
      time.advance(asked - 11ms);
    };
    const auto result =
        reprise::execute(http_policy, send, time.clock(), wakes_early, reprise::testing::fixed_fraction(0.5));
    return result.ok() && sleeps == 1 && result.total_wait() == 10s;
  };
  STATIC_REQUIRE(trusts());
}

TEST_CASE("clients that were given one instant can spread after it, never before", "[B-18]") {
  constexpr auto wait = [](double fraction, reprise::time_span own, std::string_view hint) {
    fake_clock time;
    time.fractions({fraction});
    script send{time, reply(503).retry_after(hint), reply(200)};
    const auto policy = http_policy.with(reprise::constant_backoff{.delay = own},
                                         reprise::retry_after_limit{.longest = 60s, .spread = 2s});
    (void)reprise::execute(policy, send, time);
    return time.waits().front();
  };
  STATIC_REQUIRE(wait(0.0, 1s, "10") == 10s);
  STATIC_REQUIRE(wait(0.5, 1s, "10") == 11s);
  STATIC_REQUIRE(wait(1.0, 1s, "10") == 12s);
  // The limit is for what the server asks; the spread comes on top of it.
  STATIC_REQUIRE(wait(1.0, 1s, "60") == 62s);
  // Without a hint there is nothing to spread.
  STATIC_REQUIRE(wait(1.0, 1s, "") == 1s);
  for (const double fraction : {-1.0, 0.0, 0.001, 0.999, 1.0, 7.0, std::numeric_limits<double>::quiet_NaN()}) {
    CAPTURE(fraction);
    CHECK(wait(fraction, 1s, "10") >= 10s);
    CHECK(wait(fraction, 1s, "10") <= 12s);
  }
}

TEST_CASE("the wait is the longer of the own one and the server's", "[B-20]") {
  constexpr auto own = [](reprise::time_span delay) {
    return http_policy.with(reprise::constant_backoff{.delay = delay});
  };
  STATIC_REQUIRE(wait_after(own(5s), "60") == 60s);
  STATIC_REQUIRE(wait_after(own(120s), "60") == 120s);
  STATIC_REQUIRE(wait_after(own(60s), "60") == 60s);
  STATIC_REQUIRE(wait_after(own(5s), "") == 5s);
}

// --- backoff arithmetic ----------------------------------------------------------------------------------------------

TEST_CASE("every wait of a growing backoff is a real one, up to thousands of retries", "[B-21]") {
  constexpr reprise::exponential_backoff backoff{.base = 1s, .cap = 30s};
  const auto check_all = [](const auto& policy) {
    const auto ranges = reprise::wait_ranges<2048>(policy);
    for (const int attempt : {1, 2, 3, 4, 10, 100, 1000, 1024, 1025, 2048}) {
      CAPTURE(attempt);
      const auto range = ranges[static_cast<std::size_t>(attempt - 1)];
      CHECK(range.shortest >= 0s);
      for (const double fraction : {0.001, 0.5, 0.999, 1.0}) {
        CHECK(range.point(fraction) > 0s);
        CHECK(range.point(fraction) <= 30s);
      }
    }
  };
  check_all(reprise::retry_policy(backoff, reprise::no_jitter{}));
  check_all(reprise::retry_policy(backoff, reprise::full_jitter{}));
  check_all(reprise::retry_policy(backoff, reprise::equal_jitter{}));
  check_all(reprise::retry_policy(backoff, reprise::proportional_jitter{.fraction = 0.5}));
  check_all(reprise::retry_policy(backoff, reprise::added_jitter{.longest = 1s}));
  check_all(reprise::retry_policy(reprise::decorrelated_backoff{.base = 1s, .cap = 30s}));
  check_all(reprise::retry_policy(reprise::exponential_backoff{.base = 1s, .cap = 30s, .factor = 1e10}));
  check_all(reprise::retry_policy(reprise::linear_backoff{.step = 1s, .cap = 30s}));
  check_all(reprise::retry_policy(reprise::fibonacci_backoff{.base = 1s, .cap = 30s}));
}

TEST_CASE("a wait that is too large to count is the cap, not the largest duration", "[B-22]") {
  STATIC_REQUIRE(reprise::exponential_backoff{.base = 2s, .cap = 5min}(1000) == 5min);
  CHECK(reprise::exponential_backoff{.base = 2s, .cap = 5min, .factor = 10.0}(1000) == 5min);
  constexpr auto also_for_the_compiler = [] {
    return reprise::exponential_backoff{.base = 2s, .cap = 5min, .factor = 10.0}(1000) == 5min;
  };
  CHECK(holds_at_compile_time<decltype(also_for_the_compiler)>);
  STATIC_REQUIRE(reprise::linear_backoff{.step = 10h, .cap = 5min}(last_retry) == 5min);
  STATIC_REQUIRE(reprise::fibonacci_backoff{.base = 2s, .cap = 5min}(1000) == 5min);
}

TEST_CASE("waits never get shorter up to the cap, whatever the retry number", "[B-23]") {
  const auto is_monotone = [](const auto& backoff, reprise::duration cap) {
    reprise::duration previous = backoff(0);
    bool right = previous > 0s;
    const auto next_is_fine = [&](int retry) {
      const reprise::duration wait = backoff(retry);
      right = right && wait >= previous && wait <= cap;
      previous = wait;
    };
    for (int retry = 1; retry <= 300; ++retry) next_is_fine(retry);
    for (int power = 9; power < 31; ++power) next_is_fine(static_cast<int>(1U << static_cast<unsigned>(power)));
    next_is_fine(last_retry);
    return right && previous == cap;
  };
  for (const reprise::duration cap : {reprise::duration(1h), reprise::unlimited}) {
    CHECK(is_monotone(reprise::exponential_backoff{.base = 1s, .cap = cap}, cap));
    CHECK(is_monotone(reprise::exponential_backoff{.base = 1s, .cap = cap, .factor = 1.5}, cap));
    CHECK(is_monotone(reprise::fibonacci_backoff{.base = 1s, .cap = cap}, cap));
  }
  CHECK(is_monotone(reprise::linear_backoff{.step = 1s, .cap = 1h}, 1h));
  CHECK(is_monotone(reprise::linear_backoff{.step = 24h, .cap = reprise::unlimited}, reprise::unlimited));
  STATIC_REQUIRE(reprise::exponential_backoff{.base = 1s, .cap = 1h}(34) == 1h);
  STATIC_REQUIRE(reprise::exponential_backoff{.base = 1s, .cap = 1h}(35) == 1h);
}

TEST_CASE("the sum of waits saturates", "[B-23]") {
  constexpr reprise::duration two_centuries = 200 * 365 * 24h;
  constexpr auto policy = http_policy.with(reprise::constant_backoff{.delay = two_centuries}, reprise::no_time_limit{},
                                           reprise::retry_after_limit{.longest = reprise::unlimited});
  constexpr auto waits_four_centuries = [=] {
    fake_clock time;
    script send{time, reply(503)};
    const auto result = reprise::execute(policy, send, time);
    return send.calls() == 3 && time.waits().are({two_centuries, two_centuries}) &&
           result.total_wait() == reprise::unlimited;
  };
  STATIC_REQUIRE(waits_four_centuries());
  STATIC_REQUIRE(reprise::worst_case(policy).own_waits == reprise::unlimited);
}

TEST_CASE("a high retry number costs no more than a low one", "[B-24]") {
  // A constant expression gives up after some hundred thousand steps: no loop over the retries fits.
  STATIC_REQUIRE(reprise::exponential_backoff{.base = 1s, .cap = 1h}(1'000'000) == 1h);
  STATIC_REQUIRE(reprise::exponential_backoff{.base = 1s, .cap = 1h}(last_retry) == 1h);
  constexpr auto slow_growth = [] {
    return reprise::exponential_backoff{.base = 1s, .cap = 1h, .factor = 1.01}(last_retry) == 1h;
  };
  constexpr auto wild_growth = [] {
    return reprise::exponential_backoff{.base = 1s, .cap = 1h, .factor = 1e300}(last_retry) == 1h;
  };
  CHECK((slow_growth() && wild_growth()));
  CHECK(holds_at_compile_time<decltype(slow_growth)>);
  CHECK(holds_at_compile_time<decltype(wild_growth)>);
  STATIC_REQUIRE(reprise::fibonacci_backoff{.base = 1s, .cap = 1h}(last_retry) == 1h);
  STATIC_REQUIRE(reprise::linear_backoff{.step = 1s, .cap = 1h}(last_retry) == 1h);
  STATIC_REQUIRE(reprise::constant_backoff{.delay = 1s}(last_retry) == 1s);
  STATIC_REQUIRE(reprise::listed_backoff{1s, 2s}(last_retry) == 2s);
  // The bill of a million attempts: 1 + 2 + ... + 2048 s, then the cap for the rest.
  constexpr auto bill =
      reprise::worst_case(http_policy.with(reprise::exponential_backoff{.base = 1s, .cap = 1h}, reprise::no_jitter{},
                                           reprise::attempt_budget{.maximum = 1'000'001}));
  STATIC_REQUIRE(bill.own_waits == 4095s + (1'000'000 - 12) * 1h);
}

TEST_CASE("a base of 0 is a wait of 0, also where the growth overflows", "[B-26]") {
  constexpr auto is_always_zero = [](const auto& backoff) {
    for (const int retry : {0, 1, 62, 63, 64, 1000, 1025, last_retry})
      if (reprise::duration(backoff(retry)) != 0s) return false;
    return true;
  };
  STATIC_REQUIRE(is_always_zero(reprise::exponential_backoff{.base = 0s, .cap = 1h}));
  STATIC_REQUIRE(is_always_zero(reprise::exponential_backoff{.base = 0s, .cap = reprise::unlimited, .factor = 1e300}));
  STATIC_REQUIRE(is_always_zero(reprise::linear_backoff{.step = 0s}));
  STATIC_REQUIRE(is_always_zero(reprise::fibonacci_backoff{.base = 0s}));
  STATIC_REQUIRE(is_always_zero(reprise::constant_backoff{.delay = 0s}));
  STATIC_REQUIRE(is_always_zero(reprise::listed_backoff{0s}));
  constexpr auto decorrelated =
      reprise::wait_ranges<8>(reprise::retry_policy{reprise::decorrelated_backoff{.base = 0s}});
  for (const auto& range : decorrelated) CHECK(range == reprise::wait_range{});
  // A cap of 0 is one too.
  STATIC_REQUIRE(is_always_zero(reprise::exponential_backoff{.base = 1s, .cap = 0s}));
}

TEST_CASE("the first wait is the base, and each later one is doubled", "[B-28][B-34]") {
  constexpr auto doubles = [] {
    fake_clock time;
    script send{time, reply(503)};
    const auto policy = http_policy.with(reprise::exponential_backoff{.base = 100ms, .cap = 60s}, reprise::no_jitter{},
                                         reprise::attempt_budget{.maximum = 6});
    (void)reprise::execute(policy, send, time);
    return time.waits().are({100ms, 200ms, 400ms, 800ms, 1600ms});
  };
  STATIC_REQUIRE(doubles());
  // Every kind begins with what it was given.
  STATIC_REQUIRE(reprise::linear_backoff{.step = 100ms}(0) == 100ms);
  STATIC_REQUIRE(reprise::fibonacci_backoff{.base = 100ms}(0) == 100ms);
  STATIC_REQUIRE(reprise::constant_backoff{.delay = 100ms}(0) == 100ms);
  STATIC_REQUIRE(reprise::listed_backoff{100ms, 1s}(0) == 100ms);
  STATIC_REQUIRE(reprise::exponential_backoff{.base = 100ms, .factor = 7.0}(0) == 100ms);
  STATIC_REQUIRE(reprise::backoff(0, 100ms) == 100ms);
}

TEST_CASE("no jitter carries a wait past the cap", "[B-29][B-36]") {
  constexpr reprise::duration cap = 1200ms;
  const auto never_past = [=](const auto& policy) {
    for (const auto& range : reprise::wait_ranges<40>(policy))
      if (range.shortest > range.longest || range.longest > cap || range.point(1.0) > cap) return false;
    return true;
  };
  const reprise::exponential_backoff backoff{.base = 100ms, .cap = cap};
  CHECK(never_past(reprise::retry_policy(backoff, reprise::full_jitter{})));
  CHECK(never_past(reprise::retry_policy(backoff, reprise::equal_jitter{})));
  CHECK(never_past(reprise::retry_policy(backoff, reprise::proportional_jitter{.fraction = 0.44})));
  CHECK(never_past(reprise::retry_policy(backoff, reprise::proportional_jitter{.fraction = 1.0})));
  CHECK(never_past(reprise::retry_policy(backoff, reprise::added_jitter{.longest = 1h})));
  CHECK(never_past(reprise::retry_policy(reprise::decorrelated_backoff{.base = 100ms, .cap = cap})));
  CHECK(never_past(reprise::retry_policy(reprise::linear_backoff{.step = 100ms, .cap = cap})));
  CHECK(never_past(reprise::retry_policy(reprise::fibonacci_backoff{.base = 100ms, .cap = cap})));
  CHECK(never_past(
      reprise::retry_policy(reprise::constant_backoff{.delay = 1s, .cap = cap}, reprise::added_jitter{.longest = 1s})));
  for (const auto kind : {reprise::jitter_kind::full, reprise::jitter_kind::equal, reprise::jitter_kind::proportional,
                          reprise::jitter_kind::added, reprise::jitter_kind::decorrelated}) {
    CAPTURE(to_string(kind));
    CHECK(never_past(reprise::retry_policy(reprise::chosen_backoff{.base = 100ms, .cap = cap},
                                           reprise::chosen_jitter{.kind = kind, .fraction = 0.9, .longest = 1h})));
  }
}

TEST_CASE("waits are still spread when the backoff has reached its cap", "[B-31]") {
  constexpr reprise::exponential_backoff backoff{.base = 100ms, .cap = 4s};
  constexpr auto saturated = [](const auto& policy) { return reprise::wait_ranges<20>(policy)[19]; };
  STATIC_REQUIRE(saturated(reprise::retry_policy(backoff)) == reprise::wait_range{0s, 4s});  // without being asked to
  STATIC_REQUIRE(saturated(reprise::retry_policy(backoff, reprise::equal_jitter{})) == reprise::wait_range{2s, 4s});
  STATIC_REQUIRE(saturated(reprise::retry_policy(backoff, reprise::proportional_jitter{.fraction = 0.25})) ==
                 reprise::wait_range{3s, 4s});
  STATIC_REQUIRE(saturated(reprise::retry_policy(reprise::decorrelated_backoff{.base = 100ms, .cap = 4s})) ==
                 reprise::wait_range{100ms, 4s});
  STATIC_REQUIRE(saturated(reprise::retry_policy(reprise::linear_backoff{.step = 1s, .cap = 4s})) ==
                 reprise::wait_range{0s, 4s});
  // By design an added jitter is cut at the cap like any other, so it belongs to delays without one.
  STATIC_REQUIRE(saturated(reprise::retry_policy(backoff, reprise::added_jitter{.longest = 1s})) ==
                 reprise::wait_range{4s, 4s});
  STATIC_REQUIRE(saturated(reprise::retry_policy(reprise::constant_backoff{.delay = 4s},
                                                 reprise::added_jitter{.longest = 1s})) == reprise::wait_range{4s, 5s});
}

TEST_CASE("decorrelated jitter can stay at its base; equal jitter is the one whose shortest wait grows", "[B-32]") {
  constexpr auto nineteen_waits = [](const auto& backoff, double fraction) {
    fake_clock time;
    time.fractions({fraction});
    script send{time, reply(503)};
    const reprise::retry_policy policy{reprise::http::retry_statuses{}, reprise::idempotent{}, backoff,
                                       reprise::attempt_budget{.maximum = 20}, reprise::time_limit{.total = 24h}};
    (void)reprise::execute(policy, send, time);
    return time.waits();
  };
  // The published formula: the unluckiest client never backs off, but never waits less than the base either.
  constexpr auto unlucky = nineteen_waits(reprise::decorrelated_backoff{.base = 50ms, .cap = 20s}, 0.0);
  STATIC_REQUIRE(unlucky.size() == 19);
  for (const reprise::duration wait : unlucky) CHECK(wait == 50ms);
  constexpr auto lucky = nineteen_waits(reprise::decorrelated_backoff{.base = 50ms, .cap = 20s}, 1.0);
  STATIC_REQUIRE(lucky[0] == 150ms);
  STATIC_REQUIRE(lucky.back() == 20s);

  constexpr auto lower_envelope = reprise::wait_ranges<6>(
      reprise::retry_policy{reprise::exponential_backoff{.base = 100ms, .cap = 1s}, reprise::equal_jitter{}});
  const std::vector<reprise::duration> grows{50ms, 100ms, 200ms, 400ms, 500ms, 500ms};
  for (std::size_t retry = 0; retry < grows.size(); ++retry) CHECK(lower_envelope[retry].shortest == grows[retry]);
}

TEST_CASE("a jitter larger than the delay is refused, and no wait is negative", "[B-33]") {
  // 200 ms around 100 ms is a fraction of 2.
  CHECK_THROWS_AS(reprise::retry_policy(reprise::proportional_jitter{.fraction = 2.0}), std::invalid_argument);
  CHECK_THROWS_AS(reprise::retry_policy(reprise::proportional_jitter{.fraction = -0.1}), std::invalid_argument);
  CHECK_THROWS_AS(reprise::retry_policy(reprise::added_jitter{.longest = -1ms}), std::invalid_argument);
  CHECK_THROWS_AS(reprise::retry_policy(reprise::chosen_jitter{.fraction = 2.0}), std::invalid_argument);
  CHECK_THROWS_AS(reprise::jitter(100ms, 2.0), std::invalid_argument);
  // The widest that is allowed reaches 0 and stays there.
  STATIC_REQUIRE(reprise::proportional_jitter{.fraction = 1.0}(100ms) == reprise::wait_range{0ms, 200ms});
  // A function may compute anything; less than nothing is nothing.
  constexpr auto negative = http_policy.with([](int) -> reprise::duration { return -1s; });
  STATIC_REQUIRE(wait_after(negative, "") == 0s);
  STATIC_REQUIRE(wait_after(negative.with(reprise::proportional_jitter{}), "") == 0s);
}

TEST_CASE("the largest duration that a user can write is no limit, and never a short wait", "[B-35]") {
  STATIC_REQUIRE(reprise::duration(reprise::time_span(std::chrono::hours::max())) == reprise::unlimited);
  constexpr auto in_floating_point = [] {
    using seconds = std::chrono::duration<double>;
    return reprise::duration(reprise::time_span(seconds(1e300))) == reprise::unlimited &&
           reprise::duration(reprise::time_span(seconds::max())) == reprise::unlimited;
  };
  CHECK(in_floating_point());
  CHECK(holds_at_compile_time<decltype(in_floating_point)>);
  constexpr auto endless = http_policy.with(
      reprise::time_limit{.total = std::chrono::hours::max()}, reprise::wait_limit{.total = std::chrono::hours::max()},
      reprise::attempt_timeout{.longest = std::chrono::hours::max()},
      reprise::retry_after_limit{.longest = std::chrono::hours::max(), .spread = std::chrono::hours::max()});
  STATIC_REQUIRE(fail_always(endless) == failing_call{reprise::stop_reason::attempts_exhausted, 3, 2s});
  STATIC_REQUIRE(fail_always(endless.with(reprise::deadline{fake_clock::time_point::max()})) ==
                 failing_call{reprise::stop_reason::attempts_exhausted, 3, 2s});
  // A wait without end is not begun.
  STATIC_REQUIRE(fail_always(endless.with(reprise::constant_backoff{.delay = std::chrono::hours::max()})) ==
                 failing_call{reprise::stop_reason::deadline_reached, 1, 0s});
  STATIC_REQUIRE(fail_always(endless.with(
                     reprise::exponential_backoff{.base = std::chrono::hours::max(), .cap = std::chrono::hours::max()},
                     reprise::no_jitter{})) == failing_call{reprise::stop_reason::deadline_reached, 1, 0s});
  CHECK_THROWS_AS(reprise::retry_policy(reprise::time_limit{.total = std::chrono::hours::min()}),
                  std::invalid_argument);
}

TEST_CASE("a spread delay stays under the maximum and scales with the wait", "[B-36]") {
  // Jitter that is tied to the first delay would mean nothing at the last.
  constexpr auto ranges = reprise::wait_ranges<6>(
      reprise::retry_policy{reprise::exponential_backoff{.base = 1s, .cap = 16s}, reprise::equal_jitter{}});
  STATIC_REQUIRE(ranges[0] == reprise::wait_range{500ms, 1s});
  STATIC_REQUIRE(ranges[3] == reprise::wait_range{4s, 8s});
  STATIC_REQUIRE(ranges[5] == reprise::wait_range{8s, 16s});

  constexpr auto fibonacci = [] {
    fake_clock time;
    script send{time, reply(503)};
    const auto policy = http_policy.with(reprise::fibonacci_backoff{.base = 1s, .cap = 4s}, reprise::no_jitter{},
                                         reprise::attempt_budget{.maximum = 7});
    (void)reprise::execute(policy, send, time);
    return time.waits().are({1s, 1s, 2s, 3s, 4s, 4s});
  };
  STATIC_REQUIRE(fibonacci());
}

// --- deadline, counting, listeners, cancellation ---------------------------------------------------------------------

TEST_CASE("the time that an attempt took counts before the next one is made", "[B-39]") {
  constexpr auto one_second = http_policy.with(reprise::time_limit{.total = 1s});
  STATIC_REQUIRE(fail_always(one_second, 2s) == failing_call{reprise::stop_reason::deadline_reached, 1, 2s});
  STATIC_REQUIRE(fail_always(one_second.with(reprise::constant_backoff{.delay = 0s}), 1s) ==
                 failing_call{reprise::stop_reason::deadline_reached, 1, 1s});
  // The answer that came late has come.
  constexpr auto late_answer = [=] {
    fake_clock time;
    script send{time, reply(200).takes(2s)};
    return reprise::execute(one_second, send, time).ok();
  };
  STATIC_REQUIRE(late_answer());
}

TEST_CASE("a sleep that would end at or after the deadline is not begun", "[B-40][B-42]") {
  constexpr auto growing = http_policy.with(reprise::exponential_backoff{.base = 1s, .cap = 60s}, reprise::no_jitter{},
                                            reprise::unlimited_attempts{});
  constexpr auto within = [=](reprise::time_span total) {
    return fail_always(growing.with(reprise::time_limit{.total = total}));
  };
  using enum reprise::stop_reason;
  STATIC_REQUIRE(within(5s) == failing_call{deadline_reached, 3, 3s});
  STATIC_REQUIRE(within(7s) == failing_call{deadline_reached, 3, 3s});  // 1 + 2 + 4 leaves no time for an attempt
  STATIC_REQUIRE(within(7s + 1ns) == failing_call{deadline_reached, 4, 7s});
  STATIC_REQUIRE(within(500ms) == failing_call{deadline_reached, 1, 0s});
  // Of the ten minutes that are asked for five remain: none is slept.
  STATIC_REQUIRE(
      fail_always(http_policy.with(reprise::constant_backoff{.delay = 10min}, reprise::time_limit{.total = 5min})) ==
      failing_call{deadline_reached, 1, 0s});
  // The same for a deadline that was handed down.
  STATIC_REQUIRE(fail_always(growing.with(reprise::deadline{fake_clock::time_point(5s)})) ==
                 failing_call{deadline_reached, 3, 3s});
}

TEST_CASE("a wall clock that is set changes neither attempts nor waits", "[B-43]") {
  const auto waits_when_wall_jumps_by = [](std::chrono::hours jump) {
    fake_clock time;
    std::chrono::system_clock::time_point wall(june);
    const auto policy = http_policy.with(reprise::http::retry_statuses{}.dated_by([&] { return wall; }),
                                         reprise::time_limit{.total = 5s}, reprise::attempt_budget{.maximum = 10});
    script plays{time, reply(503), reply(503).retry_after("2"), reply(503)};
    const auto send = [&](const reprise::attempt& current) {
      wall += jump;
      return plays(current);
    };
    const auto result = reprise::execute(policy, send, time);
    CHECK(result.reason() == reprise::stop_reason::deadline_reached);
    return std::vector<reprise::duration>(time.waits().begin(), time.waits().end());
  };
  const std::vector<reprise::duration> expected{1s, 2s, 1s};
  CHECK(waits_when_wall_jumps_by(0h) == expected);
  CHECK(waits_when_wall_jumps_by(1h) == expected);
  CHECK(waits_when_wall_jumps_by(-1h) == expected);
}

TEST_CASE("a clock that goes backwards gives the call no time back", "[B-43]") {
  constexpr auto policy = http_policy.with(reprise::time_limit{.total = 5s});
  using engine = reprise::engine<std::remove_cvref_t<decltype(policy)>, fake_clock::time_point>;
  const fake_clock::time_point start(10s);
  engine call(policy);
  call.start(start);
  const auto wait = call.on_verdict({.kind = reprise::outcome::transient}, start + 3s, 0.5);
  CHECK(wait.wait == 1s);
  const auto next = call.on_slept(start - 5s);
  REQUIRE(next.kind == reprise::step::attempt);
  CHECK(next.attempt.timeout == 2s);

  constexpr auto bounded = [] {
    fake_clock time;
    int sends = 0;
    const auto send = [&] {
      ++sends;
      time.advance(-1h);
      return reprise::testing::response{.status = 503};
    };
    const auto result = reprise::execute(http_policy, send, time);
    return result.reason() == reprise::stop_reason::attempts_exhausted && sends == 3 && time.waits().are({1s, 1s});
  };
  STATIC_REQUIRE(bounded());
}

namespace {

/// What a policy's event handlers were told, in short.
struct told {
  reprise::event_kind kind = reprise::event_kind::end;
  int attempt = 0;
  reprise::duration wait = {};
  reprise::stop_reason reason = reprise::stop_reason::cancelled;

  friend bool operator==(const told&, const told&) = default;
};
constexpr told retry_after_attempt(int attempt, reprise::duration wait) {
  return {.kind = reprise::event_kind::retry, .attempt = attempt, .wait = wait};
}
constexpr told end_after_attempt(int attempt, reprise::stop_reason reason) {
  return {.kind = reprise::event_kind::end, .attempt = attempt, .reason = reason};
}

auto writes_to(std::vector<told>& events) {
  return reprise::on_event([&events](const reprise::event& e) {
    const bool ends = e.kind == reprise::event_kind::end;
    events.push_back({e.kind, e.attempt, e.wait, ends ? e.reason : reprise::stop_reason::cancelled});
  });
}

/// What is told of a call that plays these statuses.
template <class Policy, class... Statuses> std::vector<told> events_of(const Policy& policy, Statuses... statuses) {
  fake_clock time;
  std::vector<told> events;
  script send{time, reply(statuses)...};
  (void)reprise::execute(policy.with(writes_to(events)), send, time);
  return events;
}

}  // namespace

TEST_CASE("a retry is announced only where one follows", "[B-44]") {
  using enum reprise::stop_reason;
  CHECK(events_of(http_policy, 503) ==
        std::vector{retry_after_attempt(1, 1s), retry_after_attempt(2, 1s), end_after_attempt(3, attempts_exhausted)});
  CHECK(events_of(http_policy.with(reprise::attempt_budget{.maximum = 1}), 503) ==
        std::vector{end_after_attempt(1, attempts_exhausted)});
  CHECK(events_of(http_policy.with(reprise::time_limit{.total = 1s}), 503) ==
        std::vector{end_after_attempt(1, deadline_reached)});
  CHECK(events_of(http_policy.with(reprise::wait_limit{.total = 1s}), 503) ==
        std::vector{retry_after_attempt(1, 1s), end_after_attempt(2, wait_limit_reached)});
  CHECK(events_of(http_policy.with(reprise::not_idempotent{}), 503) ==
        std::vector{end_after_attempt(1, not_replay_safe)});
  CHECK(events_of(http_policy, 400) == std::vector{end_after_attempt(1, not_retryable)});
  counting_budget budget{.most = 0};
  CHECK(events_of(http_policy.with(reprise::shared_budget(budget)), 503) ==
        std::vector{end_after_attempt(1, budget_exhausted)});
}

TEST_CASE("one end is told a call, and results and exceptions tell the same story", "[B-45]") {
  using enum reprise::stop_reason;
  // A result that the predicate still rejects at the last attempt is no success.
  const auto by_result =
      http_policy.with(reprise::retry_when([](const reprise::testing::response& r) { return r.status != 200; }));
  const std::vector never{retry_after_attempt(1, 1s), retry_after_attempt(2, 1s),
                          end_after_attempt(3, attempts_exhausted)};
  const std::vector second{retry_after_attempt(1, 1s), end_after_attempt(2, succeeded)};
  CHECK(events_of(by_result, 202) == never);
  CHECK(events_of(by_result, 202, 200) == second);
  CHECK(events_of(by_result, 200) == std::vector{end_after_attempt(1, succeeded)});

  const auto events_of_exceptions = [](auto... steps) {
    fake_clock time;
    std::vector<told> events;
    const auto policy = http_policy.with(reprise::retry_exceptions<std::runtime_error>{}, writes_to(events));
    script send{time, steps...};
    (void)reprise::execute(policy, send, time);
    return events;
  };
  CHECK(events_of_exceptions(fails<std::runtime_error>("busy")) == never);
  CHECK(events_of_exceptions(fails<std::runtime_error>("busy"), reply(200)) == second);
  CHECK(events_of_exceptions(reply(200)) == std::vector{end_after_attempt(1, succeeded)});

  // An exception that nobody knows passes through, and its end is told once.
  fake_clock time;
  std::vector<told> events;
  script send{time, fails<std::logic_error>("bug")};
  const auto policy = http_policy.with(reprise::retry_exceptions<std::runtime_error>{}, writes_to(events));
  CHECK_THROWS_AS(reprise::execute(policy, send, time), std::logic_error);
  CHECK(events == std::vector{end_after_attempt(1, not_retryable)});
}

TEST_CASE("a failure and a cancellation together are a cancellation, a success is a success", "[B-47]") {
  constexpr auto cancelled_during_attempt = [](int status) {
    fake_clock time;
    bool stop = false;
    int sends = 0;
    const auto send = [&] {
      ++sends;
      stop = true;
      return reprise::testing::response{.status = status};
    };
    cancellable environment{time, stop};
    const auto result = reprise::execute(http_policy, send, environment);
    return std::pair(result.reason(), sends == 1 && time.waits().empty() && result.last_verdict().code == status &&
                                          result.response().status == status);
  };
  STATIC_REQUIRE(cancelled_during_attempt(503) == std::pair(reprise::stop_reason::cancelled, true));
  STATIC_REQUIRE(cancelled_during_attempt(200) == std::pair(reprise::stop_reason::succeeded, true));

  // The last attempt's failure too: cancelled, not exhausted.
  constexpr auto at_the_last_attempt = [] {
    fake_clock time;
    bool stop = false;
    const auto send = [&](const reprise::attempt& current) {
      stop = current.number == current.maximum;
      return reprise::testing::response{.status = 503};
    };
    cancellable environment{time, stop};
    const auto result = reprise::execute(http_policy, send, environment);
    return result.reason() == reprise::stop_reason::cancelled && result.attempts() == 3;
  };
  STATIC_REQUIRE(at_the_last_attempt());
}

TEST_CASE("a cancelled call announces no retry, since none follows", "[B-47]") {
  // Where the case wants the retry hook called all the same, the design's order decides: cancelled comes first.
  fake_clock time;
  bool stop = false;
  std::vector<told> events;
  const auto send = [&] {
    stop = true;
    return reprise::testing::response{.status = 503};
  };
  cancellable environment{time, stop};
  (void)reprise::execute(http_policy.with(writes_to(events)), send, environment);
  CHECK(events == std::vector{end_after_attempt(1, reprise::stop_reason::cancelled)});
}

TEST_CASE("an abort in the middle of the wait leaves no further attempt", "[B-48]") {
  constexpr auto half_way = [] {
    fake_clock time;
    time.interrupts_at(500ms);
    script send{time, reply(503), reply(200)};
    const auto result = reprise::execute(http_policy, send, time);
    return result.reason() == reprise::stop_reason::cancelled && send.calls() == 1 && time.waits().are({500ms});
  };
  STATIC_REQUIRE(half_way());
  // So does an abort that the sleep itself does not notice.
  constexpr auto unnoticed = [] {
    fake_clock time;
    bool stop = false;
    script send{time, reply(503), reply(200)};
    struct sleeps_through : cancellable {
      bool& set;
      constexpr auto sleep(reprise::duration wait) const { return set = true, time.sleep(wait); }
    };
    sleeps_through environment{{time, stop}, stop};
    return reprise::execute(http_policy, send, environment).reason() == reprise::stop_reason::cancelled &&
           send.calls() == 1;
  };
  STATIC_REQUIRE(unnoticed());
  // And a wait that lasted past the time limit: no attempt is made late.
  constexpr auto overslept = [] {
    fake_clock time;
    time.oversleeps(10s);
    script send{time, reply(503), reply(200)};
    const auto result = reprise::execute(http_policy.with(reprise::time_limit{.total = 5s}), send, time);
    return result.reason() == reprise::stop_reason::deadline_reached && send.calls() == 1;
  };
  STATIC_REQUIRE(overslept());
}

TEST_CASE("a call that is cancelled before it starts makes no attempt and is no success", "[B-49]") {
  constexpr auto none = [] {
    fake_clock time;
    const bool stop = true;
    script send{time, reply(200)};
    cancellable environment{time, stop};
    const auto result = reprise::execute(http_policy, send, environment);
    return result.reason() == reprise::stop_reason::cancelled && !result.ok() && send.calls() == 0 &&
           result.attempts() == 0 && !result.has_response() && result.last_verdict().label.text() == "none";
  };
  STATIC_REQUIRE(none());

  fake_clock time;
  const bool stop = true;
  script send{time, reply(200)};
  cancellable environment{time, stop};
  CHECK_THROWS_AS(reprise::execute(http_policy, send, environment).success(), reprise::retry_cancelled);

#ifdef __cpp_lib_jthread
  std::stop_source source;
  source.request_stop();
  const auto result = reprise::execute(http_policy, send, source.get_token());
  CHECK(result.reason() == reprise::stop_reason::cancelled);
  CHECK(send.calls() == 0);
#endif

  reprise::engine<std::remove_cvref_t<decltype(http_policy)>, fake_clock::time_point> call(http_policy);
  CHECK(call.cancel().reason == reprise::stop_reason::cancelled);
  CHECK(call.start(time.now()).kind == reprise::step::stop);
  CHECK(call.attempts() == 0);
}

TEST_CASE("an exception of a classifier or a handler comes out once, and permits are given back", "[B-51]") {
  struct bug : std::exception {};
  fake_clock time;
  counting_budget budget;
  int sends = 0;
  const auto send = [&] { return reprise::testing::response{.status = ++sends == 1 ? 503 : 500}; };
  const auto policy = http_policy.with(reprise::shared_budget(budget));

  SECTION("of a classifier, while the retry that it judges holds a permit") {
    int asked = 0;
    const auto use = policy.with(reprise::classify([&](const reprise::testing::response& r) -> reprise::verdict {
      ++asked;
      if (r.status == 500) throw bug{};
      return {.kind = reprise::outcome::transient};
    }));
    CHECK_THROWS_AS(reprise::execute(use, send, time), bug);
    CHECK(sends == 2);
    CHECK(asked == 2);
  }
  SECTION("of a classifier of exceptions") {
    const auto use = policy.with(
        reprise::on_exception<std::runtime_error>([](const std::runtime_error&) -> reprise::verdict { throw bug{}; }));
    const auto throws = [&] {
      ++sends;
      throw std::runtime_error("reset");
    };
    CHECK_THROWS_AS(reprise::execute(use, throws, time), bug);
    CHECK(sends == 1);
  }
  SECTION("of a handler that is told of a retry") {
    const auto use = policy.with(reprise::on_event([](const reprise::event& e) {
      if (e.kind == reprise::event_kind::retry) throw bug{};
    }));
    CHECK_THROWS_AS(reprise::execute(use, send, time), bug);
    CHECK(sends == 1);
    CHECK(budget.asked == 1);
  }
  SECTION("of a handler that is told of the end") {
    const auto use = policy.with(reprise::on_event([](const reprise::event& e) {
      if (e.kind == reprise::event_kind::end) throw bug{};
    }));
    CHECK_THROWS_AS(reprise::execute(use, send, time), bug);
    CHECK(sends == 2);
  }
  SECTION("of the sleep") {
    const auto broken = [](reprise::duration) { throw bug{}; };
    CHECK_THROWS_AS(reprise::execute(policy, send, time.clock(), broken, reprise::testing::fixed_fraction(0.5)), bug);
    CHECK(sends == 1);
  }
  CHECK(budget.is_at_rest());
}

TEST_CASE("a wrapped exception is judged by its cause, and the original comes out", "[B-52]") {
  struct wrapper : std::runtime_error {
    using std::runtime_error::runtime_error;
  };
  struct connection_lost : std::runtime_error {
    using std::runtime_error::runtime_error;
  };
  const auto by_cause = [](const std::exception& outer) -> std::optional<reprise::verdict> {
    try {
      std::rethrow_if_nested(outer);
    } catch (const connection_lost&) {
      return reprise::verdict{.kind = reprise::outcome::transient, .label = "connection"};
    } catch (...) {
      return reprise::verdict{.kind = reprise::outcome::permanent, .label = "nested"};
    }
    return std::nullopt;
  };
  const auto policy = http_policy.with(reprise::on_exception<std::exception>(by_cause));
  const auto wraps = [](auto cause) {
    try {
      throw cause;
    } catch (...) {
      std::throw_with_nested(wrapper("the client's own words"));
    }
  };
  fake_clock time;

  int sends = 0;
  const auto result = reprise::execute(policy, [&] { ++sends, wraps(connection_lost("reset")); }, time);
  CHECK(sends == 3);
  CHECK(result.reason() == reprise::stop_reason::attempts_exhausted);
  std::string original;
  try {
    result.success();
  } catch (const wrapper& thrown) {
    original = thrown.what();
    CHECK(by_cause(thrown)->label.text() == "connection");  // with its cause
  }
  CHECK(original == "the client's own words");

  const auto refused = reprise::execute(policy, [&] { wraps(std::logic_error("bad request")); }, time);
  CHECK(refused.reason() == reprise::stop_reason::not_retryable);
  CHECK(refused.attempts() == 1);
  CHECK_THROWS_AS(refused.success(), wrapper);

  // Without a cause nobody recognises it: it passes through unchanged.
  CHECK_THROWS_AS(reprise::execute(policy, [] { throw wrapper("no cause"); }, time), wrapper);
}

TEST_CASE("the maximum counts all attempts, the first one included", "[B-54]") {
  constexpr auto sends_of = [](int maximum) {
    return fail_always(http_policy.with(reprise::attempt_budget{.maximum = maximum})).sends;
  };
  STATIC_REQUIRE(sends_of(3) == 3);
  STATIC_REQUIRE(sends_of(1) == 1);
  STATIC_REQUIRE(fail_always(http_policy).sends == 3);  // the default
  STATIC_REQUIRE(reprise::worst_case(http_policy).attempts == 3);
  constexpr auto told_to_send = [] {
    fake_clock time;
    int sum = 0;
    const auto send = [&](const reprise::attempt& current) {
      sum += 10 * current.maximum + current.number;
      return reprise::testing::response{.status = 503};
    };
    (void)reprise::execute(http_policy, send, time);
    return sum;
  };
  STATIC_REQUIRE(told_to_send() == 31 + 32 + 33);
}

TEST_CASE("a POST is repeated if it was never sent or carries a key, not after a read timeout", "[B-55]") {
  using reprise::http::operation;
  enum class failure { none, read_timeout, connect_refused };
  constexpr auto sends_of = [](const operation& request, failure first) {
    constexpr reprise::retry_policy policy{reprise::classify([](const failure& ended) -> reprise::verdict {
                                             if (ended == failure::none) return {.kind = reprise::outcome::success};
                                             return {.kind = reprise::outcome::transient,
                                                     .label = "transport",
                                                     .not_applied = ended == failure::connect_refused};
                                           }),
                                           reprise::constant_backoff{.delay = 1s}};
    fake_clock time;
    script send{time, reply(first), reply(failure::none)};
    (void)reprise::execute(policy.with(request), send, time);
    return send.calls();
  };
  STATIC_REQUIRE(sends_of(operation{.method = "POST"}, failure::read_timeout) == 1);
  STATIC_REQUIRE(sends_of(operation{.method = "POST"}, failure::connect_refused) == 2);
  STATIC_REQUIRE(sends_of(operation{.method = "POST", .idempotency_key = "k"}, failure::read_timeout) == 2);
  STATIC_REQUIRE(sends_of(operation{.method = "post", .idempotency_key = ""}, failure::read_timeout) == 1);
  STATIC_REQUIRE(sends_of(operation{.method = "PATCH", .idempotency_key = "k"}, failure::read_timeout) == 1);
  STATIC_REQUIRE(sends_of(operation{.method = "PATCH"}, failure::connect_refused) == 2);
  STATIC_REQUIRE(sends_of(operation{}, failure::read_timeout) == 1);
  for (const char* const method : {"GET", "get", "HEAD", "PUT", "DELETE"}) {
    CAPTURE(method);
    CHECK(sends_of(operation{.method = method}, failure::read_timeout) == 2);
  }
}

TEST_CASE("all attempts of a call carry one key, another call another, whatever the payload", "[B-56]") {
  fake_clock time;
  std::mt19937 generator(1);
  int draws = 0;
  const auto bits = [&] { return ++draws, static_cast<std::uint32_t>(generator()); };
  std::vector<std::string> seen;
  const auto pay = [&] {
    const reprise::http::idempotency_key key(bits);
    const int drawn = draws;
    const auto send = [&](const reprise::attempt& current) {
      const std::string body = "sent at attempt " + std::to_string(current.number);  // differs each time
      seen.emplace_back(key.text());
      return reprise::testing::response{.status = body.ends_with("3") ? 200 : 503};
    };
    const auto policy = http_policy.with(reprise::http::operation{.method = "POST", .idempotency_key = key});
    CHECK(reprise::execute(policy, send, time).ok());
    CHECK(draws == drawn);
  };
  pay();
  pay();
  REQUIRE(seen.size() == 6);
  CHECK(seen[0] == seen[1]);
  CHECK(seen[0] == seen[2]);
  CHECK(seen[3] != seen[0]);
  CHECK(seen[3] == seen[4]);
  CHECK(seen[3] == seen[5]);
  CHECK(seen[0].size() == 36);
}

TEST_CASE("send is called as it is each time: nothing is moved out of it", "[B-57]") {
  struct request {
    std::string body = "order 7";
    std::vector<std::string>* sent = nullptr;

    reprise::testing::response operator()() & {
      sent->push_back(body);
      return {.status = 503};
    }
    reprise::testing::response operator()() && {  // what a driver that forwards would call
      sent->push_back(std::move(body));
      return {.status = 503};
    }
  };
  fake_clock time;
  std::vector<std::string> sent;
  const std::vector<std::string> expected(3, "order 7");
  (void)reprise::execute(http_policy, request{.sent = &sent}, time);
  CHECK(sent == expected);

  sent.clear();
  request kept{.sent = &sent};
  (void)reprise::execute(http_policy, kept, time);
  CHECK(sent == expected);
  CHECK(kept.body == "order 7");

  sent.clear();
  (void)reprise::execute(http_policy, request{.sent = &sent}, time.clock(), time.sleep(),
                         reprise::testing::fixed_fraction(0.5));
  CHECK(sent == expected);
}

// --- retry budgets ---------------------------------------------------------------------------------------------------

TEST_CASE("a budget is asked before the sleep, and only for a retry that nothing else forbids", "[B-65]") {
  fake_clock time;
  counting_budget budget{.most = 0};
  const auto policy = http_policy.with(reprise::shared_budget(budget));
  script send{time, reply(503)};
  CHECK(reprise::execute(policy, send, time).reason() == reprise::stop_reason::budget_exhausted);
  CHECK(time.waits().empty());
  CHECK(send.calls() == 1);
  CHECK(budget.asked == 1);

  budget = {};
  const auto not_asked = [&](const auto& use) {
    (void)fail_always(use);
    return budget.asked == 0;
  };
  CHECK(not_asked(policy.with(reprise::attempt_budget{.maximum = 1})));
  CHECK(not_asked(policy.with(reprise::time_limit{.total = 1s})));
  CHECK(not_asked(policy.with(reprise::wait_limit{.total = 0s})));
  CHECK(not_asked(policy.with(reprise::not_idempotent{})));
  CHECK(budget.is_at_rest());
}

TEST_CASE("a permit is given back by a success, a failure, an exception and a cancellation", "[B-65]") {
  fake_clock time;
  counting_budget budget;
  const auto policy = http_policy.with(reprise::shared_budget(budget));
  int held_in_send = 0;
  const auto second_is = [&](auto&& second) {
    return [&](const reprise::attempt& current) {
      if (current.number == 1) return reprise::testing::response{.status = 503};
      held_in_send = budget.held;
      return second();
    };
  };

  SECTION("by a success") {
    const auto succeeds = [] { return reprise::testing::response{.status = 200}; };
    CHECK(reprise::execute(policy, second_is(succeeds), time).ok());
    CHECK(held_in_send == 1);
  }
  SECTION("by a failure, before the next retry takes one") {
    const auto still_fails = [] { return reprise::testing::response{.status = 503}; };
    CHECK(reprise::execute(policy, second_is(still_fails), time).attempts() == 3);
    CHECK(held_in_send == 1);
    CHECK(budget.asked == 2);
  }
  SECTION("by an exception that passes through") {
    const auto throws = []() -> reprise::testing::response { throw std::runtime_error("reset"); };
    CHECK_THROWS_AS(reprise::execute(policy, second_is(throws), time), std::runtime_error);
    CHECK(held_in_send == 1);
  }
  SECTION("by a cancellation during the wait") {
    time.interrupts_at(500ms);
    script send{time, reply(503)};
    CHECK(reprise::execute(policy, send, time).reason() == reprise::stop_reason::cancelled);
    CHECK(budget.asked == 1);
  }
  SECTION("by an engine that is destroyed while it waits") {
    using engine = reprise::engine<std::remove_cvref_t<decltype(policy)>, fake_clock::time_point>;
    {
      engine call(policy);
      call.start(time.now());
      CHECK(call.on_verdict({.kind = reprise::outcome::transient}, time.now(), 0.5).kind == reprise::step::wait);
      engine moved(std::move(call));
      CHECK(budget.held == 1);
    }
    CHECK(budget.asked == 1);
  }
  CHECK(budget.is_at_rest());
}
