// SPDX-License-Identifier: MIT
#include <array>
#include <random>
#include <reprise/policy.hpp>
#include <reprise/vocab/http.hpp>
#include <reprise/vocab/idempotency_key.hpp>
#include <string>
#include <vector>

#include "catch.hpp"
#include "support.hpp"

using namespace std::chrono_literals;

namespace {

using reprise::outcome;
using reprise::verdict;

// 1994-11-06 08:49:37 UTC, a Sunday: the example of RFC 9110.
constexpr std::chrono::sys_seconds example_date{784'111'777s};

struct with_status {
  int status = 0;
};
struct with_status_code {
  int status_code = 0;
};
class with_status_function {
 public:
  constexpr explicit with_status_function(int status) : status_(status) {}
  constexpr int status() const { return status_; }

 private:
  int status_;
};
class with_status_code_function {
 public:
  constexpr explicit with_status_code_function(long status) : status_(status) {}
  constexpr long status_code() const { return status_; }

 private:
  long status_;
};

template <class Hint> struct with_hint {
  int status = 503;
  Hint retry_after = {};
};
template <class Hint> class with_hint_function {
 public:
  constexpr explicit with_hint_function(Hint hint) : hint_(hint) {}
  constexpr int status() const { return 429; }
  constexpr Hint retry_after() const { return hint_; }

 private:
  Hint hint_;
};

struct dated {
  int status = 503;
  std::string_view retry_after = {};
  std::string_view date = {};
  std::string_view age = {};
};

/// A client's own shape: nothing has the name that it has elsewhere.
struct foreign {
  int number = 0;
  std::string_view wait = {};
  constexpr int result() const { return number; }
};

template <class Response> constexpr verdict judged(const Response& response) {
  return reprise::http::retry_statuses{}(response);
}
constexpr verdict judged(int status) { return judged(with_status{status}); }
template <class Hint> constexpr std::optional<reprise::duration> hint_in(Hint hint) {
  return judged(with_hint<Hint>{.retry_after = hint}).retry_after;
}

constexpr auto wall_clock = [] { return std::chrono::system_clock::time_point(example_date); };

/// splitmix64: every bit depends on the seed.
struct bits64 {
  std::uint64_t state;
  constexpr std::uint64_t operator()() {
    state += 0x9e3779b97f4a7c15U;
    std::uint64_t z = state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
  }
};
struct bits32 {
  bits64 wide;
  constexpr std::uint32_t operator()() { return static_cast<std::uint32_t>(wide() >> 32); }
};

constexpr bool is_uuid_version_4(std::string_view text) {
  if (text.size() != 36) return false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool dash = at == 8 || at == 13 || at == 18 || at == 23;
    const bool digit = (text[at] >= '0' && text[at] <= '9') || (text[at] >= 'a' && text[at] <= 'f');
    if (dash ? text[at] != '-' : !digit) return false;
  }
  return text[14] == '4' && (text[19] == '8' || text[19] == '9' || text[19] == 'a' || text[19] == 'b');
}

}  // namespace

TEST_CASE("429, 502, 503 and 504 are retryable, no other number is") {
  constexpr auto right = [](int from, int to) {
    for (int status = from; status <= to; ++status)
      if (reprise::http::retryable(status) != (status == 429 || status == 502 || status == 503 || status == 504))
        return false;
    return true;
  };
  STATIC_REQUIRE(right(-1000, 2000));
  STATIC_REQUIRE(!reprise::http::retryable(std::numeric_limits<int>::min()));
  STATIC_REQUIRE(!reprise::http::retryable(std::numeric_limits<int>::max()));
}

TEST_CASE("GET, HEAD, PUT and DELETE are replay-safe in any case") {
  for (const std::string_view method :
       {"GET", "HEAD", "PUT", "DELETE", "get", "head", "put", "delete", "gEt", "Delete"}) {
    CAPTURE(method);
    CHECK(reprise::http::replay_safe(method));
    CHECK(reprise::http::replay_safe(method, ""));
    CHECK(reprise::http::replay_safe(method, "key"));
  }
  STATIC_REQUIRE(reprise::http::replay_safe("GET"));
}

TEST_CASE("POST is replay-safe only with a key that is not empty") {
  STATIC_REQUIRE(!reprise::http::replay_safe("POST"));
  STATIC_REQUIRE(!reprise::http::replay_safe("POST", ""));
  STATIC_REQUIRE(!reprise::http::replay_safe("POST", nullptr));
  STATIC_REQUIRE(!reprise::http::replay_safe("POST", std::optional<std::string_view>{}));
  STATIC_REQUIRE(!reprise::http::replay_safe("POST", std::optional<std::string_view>{""}));
  STATIC_REQUIRE(reprise::http::replay_safe("POST", "k"));
  STATIC_REQUIRE(reprise::http::replay_safe("post", "k"));
  STATIC_REQUIRE(reprise::http::replay_safe("POST", std::optional<std::string_view>{"k"}));
  CHECK(reprise::http::replay_safe("POST", std::string("k")));
  CHECK(reprise::http::replay_safe(std::string("Post"), std::optional<std::string>("k")));
  const char* no_key = nullptr;
  CHECK(!reprise::http::replay_safe("POST", no_key));
}

TEST_CASE("PATCH and whatever is no method known to repeat are not replay-safe, with a key either") {
  for (const std::string_view method : {"PATCH", "patch", "", " ", "GETS", "GE", " GET", "GET ", "CONNECT", "TRACE",
                                        "OPTIONS", "POSTS", "PO", "@ET", "G\xC7T"}) {
    CAPTURE(method);
    CHECK(!reprise::http::replay_safe(method));
    CHECK(!reprise::http::replay_safe(method, "key"));
  }
  STATIC_REQUIRE(!reprise::http::replay_safe(std::string_view("GET\0", 4)));
}

TEST_CASE("an operation is replay-safe as its method and key are") {
  STATIC_REQUIRE(reprise::http::operation{.method = "GET"}.replay_safe());
  STATIC_REQUIRE(reprise::http::operation{.method = "delete"}.replay_safe());
  STATIC_REQUIRE(!reprise::http::operation{.method = "POST"}.replay_safe());
  STATIC_REQUIRE(reprise::http::operation{.method = "POST", .idempotency_key = "k"}.replay_safe());
  STATIC_REQUIRE(!reprise::http::operation{.method = "POST", .idempotency_key = ""}.replay_safe());
  STATIC_REQUIRE(!reprise::http::operation{.method = "PATCH", .idempotency_key = "k"}.replay_safe());
}

TEST_CASE("an operation without a method is not replay-safe") {
  STATIC_REQUIRE(!reprise::http::operation{}.replay_safe());
  STATIC_REQUIRE(!reprise::http::operation{.idempotency_key = "k"}.replay_safe());
  STATIC_REQUIRE(!reprise::http::operation{.method = "", .idempotency_key = "k"}.replay_safe());
  STATIC_REQUIRE(!reprise::http::operation{.method = nullptr}.replay_safe());
}

TEST_CASE("an operation keeps no view: method and key may be temporaries") {
  const reprise::http::operation made{.method = std::string("PO") + "ST", .idempotency_key = std::string(40, 'k')};
  CHECK(made.replay_safe());
  const reprise::http::operation without{.method = std::string("post"), .idempotency_key = std::string()};
  CHECK(!without.replay_safe());
  STATIC_REQUIRE(std::is_trivially_copyable_v<reprise::http::operation>);
  STATIC_REQUIRE(sizeof(reprise::http::operation) < sizeof(std::string_view));
}

TEST_CASE("an operation takes its key as text, optional text or null") {
  const std::string key = "k";
  const char* no_key = nullptr;
  CHECK(reprise::http::operation{.method = "POST", .idempotency_key = key}.replay_safe());
  CHECK(reprise::http::operation{.method = "POST", .idempotency_key = key.c_str()}.replay_safe());
  CHECK(reprise::http::operation{.method = "POST", .idempotency_key = std::optional(key)}.replay_safe());
  CHECK(reprise::http::operation{.method = "POST", .idempotency_key = std::optional<std::string>()}.replay_safe() ==
        false);
  CHECK(!reprise::http::operation{.method = "POST", .idempotency_key = no_key}.replay_safe());
  CHECK(!reprise::http::operation{.method = "POST", .idempotency_key = nullptr}.replay_safe());
  CHECK(reprise::http::operation{.method = "POST", .idempotency_key = reprise::http::idempotency_key(bits64{1})}
            .replay_safe());
}

TEST_CASE("by default 429, 502, 503 and 504 are transient, 100 to 399 success, the rest from 400 permanent") {
  constexpr auto right = [] {
    for (int status = 100; status <= 1000; ++status) {
      const auto kind = reprise::http::retryable(status) ? outcome::transient
                        : status < 400                   ? outcome::success
                                                         : outcome::permanent;
      if (judged(status) != verdict{.kind = kind, .label = "http", .code = status}) return false;
    }
    return true;
  };
  STATIC_REQUIRE(right());
  STATIC_REQUIRE(judged(500).kind == outcome::permanent);
}

TEST_CASE("a number that is no status means that there was no response") {
  for (const int status : {0, -1, 1, 99, std::numeric_limits<int>::min()}) {
    CAPTURE(status);
    CHECK(judged(status) == verdict{.kind = outcome::permanent, .label = "no_response", .code = status});
  }
}

TEST_CASE("listed statuses stand in place of the default ones") {
  constexpr reprise::http::retry_statuses listed{503, 504};
  STATIC_REQUIRE(listed(with_status{503}).kind == outcome::transient);
  STATIC_REQUIRE(listed(with_status{504}).kind == outcome::transient);
  STATIC_REQUIRE(listed(with_status{429}).kind == outcome::permanent);
  STATIC_REQUIRE(listed(with_status{502}).kind == outcome::permanent);
  STATIC_REQUIRE(reprise::http::retry_statuses{202}(with_status{202}).kind == outcome::transient);
}

TEST_CASE("every status from 100 to 599 can be listed, each alone") {
  for (int listed = 100; listed <= 599; ++listed) {
    const reprise::http::retry_statuses one{listed};
    for (const int status : {100, 163, 164, 227, 228, 399, 400, 535, 536, 599, 600, 0, listed}) {
      const bool transient = one(with_status{status}).kind == outcome::transient;
      if (transient != (status == listed)) CHECK(std::pair(listed, status) == std::pair(0, 0));
    }
  }
  CHECK(reprise::http::retry_statuses{100, 599}(with_status{599}).kind == outcome::transient);
}

TEST_CASE("statuses can come from a range at run time, and an empty one lists none") {
  const std::vector<int> numbers{599, 408, 408, 100};
  const auto listed = reprise::http::retry_statuses::from(numbers);
  CHECK(listed(with_status{408}).kind == outcome::transient);
  CHECK(listed(with_status{599}).kind == outcome::transient);
  CHECK(listed(with_status{100}).kind == outcome::transient);
  CHECK(listed(with_status{503}).kind == outcome::permanent);
  STATIC_REQUIRE(reprise::http::retry_statuses::from(std::array<int, 0>{})(with_status{503}).kind ==
                 outcome::permanent);
  STATIC_REQUIRE(reprise::http::retry_statuses::from(std::array{500})(with_status{500}).kind == outcome::transient);
}

TEST_CASE("a listed number that is no status is refused by name and value") {
  CHECK(refusal([] { return reprise::http::retry_statuses{503, 99}; }) ==
        "reprise::http::retry_statuses: a status must be 100 to 599, is 99");
  CHECK(refusal([] { return reprise::http::retry_statuses{600}; }) ==
        "reprise::http::retry_statuses: a status must be 100 to 599, is 600");
  CHECK(refusal([] { return reprise::http::retry_statuses::from(std::vector{-1}); }) ==
        "reprise::http::retry_statuses: a status must be 100 to 599, is -1");
  CHECK_THROWS_AS(reprise::http::retry_statuses{0}, std::invalid_argument);
  CHECK_THROWS_AS(reprise::http::retry_statuses{std::numeric_limits<int>::max()}, std::invalid_argument);
}

TEST_CASE("a response's status is a member or a function, by the names that libraries use") {
  STATIC_REQUIRE(judged(with_status{503}).code == 503);
  STATIC_REQUIRE(judged(with_status_code{503}).code == 503);
  STATIC_REQUIRE(judged(with_status_function(503)).code == 503);
  STATIC_REQUIRE(judged(with_status_code_function(503)).code == 503);
  STATIC_REQUIRE(judged(with_status_code_function(503)).kind == outcome::transient);
}

TEST_CASE("a response without a retry_after gives no hint") {
  STATIC_REQUIRE(!judged(with_status{503}).retry_after.has_value());
}

TEST_CASE("a hint may be text, optional text, or an optional duration; absent and empty are alike") {
  STATIC_REQUIRE(hint_in(std::string_view("2")) == 2s);
  STATIC_REQUIRE(hint_in(std::string_view("0")) == 0s);
  STATIC_REQUIRE(!hint_in(std::string_view{}).has_value());
  STATIC_REQUIRE(hint_in<const char*>("2") == 2s);
  STATIC_REQUIRE(!hint_in<const char*>(nullptr).has_value());
  STATIC_REQUIRE(hint_in(std::optional<std::string_view>("2")) == 2s);
  STATIC_REQUIRE(!hint_in(std::optional<std::string_view>("")).has_value());
  STATIC_REQUIRE(!hint_in(std::optional<std::string_view>()).has_value());
  STATIC_REQUIRE(hint_in(std::optional<std::chrono::seconds>(2s)) == 2s);
  STATIC_REQUIRE(!hint_in(std::optional<std::chrono::seconds>()).has_value());
  STATIC_REQUIRE(hint_in(std::chrono::milliseconds(1500)) == 1500ms);
  STATIC_REQUIRE(hint_in(std::optional<std::chrono::hours>(std::chrono::hours::max())) == reprise::unlimited);
  CHECK(hint_in(std::string("2")) == 2s);
  CHECK(hint_in(std::optional<std::string>("2")) == 2s);
  CHECK(!hint_in(std::optional<std::string>()).has_value());
}

TEST_CASE("a hint may come from a function, by value") {
  STATIC_REQUIRE(judged(with_hint_function(std::string_view("3"))).retry_after == 3s);
  STATIC_REQUIRE(judged(with_hint_function(std::optional<reprise::duration>(3s))).retry_after == 3s);
  CHECK(judged(with_hint_function(std::string("3"))).retry_after == 3s);
  CHECK(judged(with_hint_function(std::optional<std::string>("3"))).retry_after == 3s);
}

TEST_CASE("only a transient verdict carries a hint") {
  STATIC_REQUIRE(!judged(with_hint<std::string_view>{.status = 200, .retry_after = "2"}).retry_after.has_value());
  STATIC_REQUIRE(!judged(with_hint<std::string_view>{.status = 500, .retry_after = "2"}).retry_after.has_value());
  STATIC_REQUIRE(judged(with_hint<std::string_view>{.status = 429, .retry_after = "2"}).retry_after == 2s);
}

TEST_CASE("a response of another shape is read by functions or pointers to members") {
  constexpr auto by_members = reprise::http::retry_statuses{}.reading(&foreign::number, &foreign::wait);
  STATIC_REQUIRE(by_members(foreign{.number = 503, .wait = "2"}).retry_after == 2s);
  STATIC_REQUIRE(by_members(foreign{.number = 404}).code == 404);
  constexpr auto by_function = reprise::http::retry_statuses{500}.reading(
      &foreign::result, [](const foreign& f) { return std::optional<reprise::duration>(f.number * 1ms); });
  STATIC_REQUIRE(by_function(foreign{.number = 500}).retry_after == 500ms);
  STATIC_REQUIRE(by_function(foreign{.number = 503}).kind == outcome::permanent);
  constexpr auto status_only = reprise::http::retry_statuses{}.reading([](int status) { return status; });
  STATIC_REQUIRE(status_only(503) == verdict{.kind = outcome::transient, .label = "http", .code = 503});
}

TEST_CASE("a fractional hint is malformed, unless the reading is lenient") {
  STATIC_REQUIRE(!hint_in(std::string_view("1.5")).has_value());
  constexpr auto lenient = reprise::http::retry_statuses{}.lenient();
  STATIC_REQUIRE(lenient(with_hint<std::string_view>{.retry_after = "1.5"}).retry_after == 1500ms);
  STATIC_REQUIRE(lenient(with_hint<std::string_view>{.retry_after = "2"}).retry_after == 2s);
  constexpr auto both = reprise::http::retry_statuses{}.reading(&foreign::number, &foreign::wait).lenient();
  STATIC_REQUIRE(both(foreign{.number = 503, .wait = "0.25"}).retry_after == 250ms);
}

TEST_CASE("a date is no hint without a wall clock, and counted from it with one") {
  constexpr dated response{.retry_after = "Sun, 06 Nov 1994 08:50:00 GMT"};
  STATIC_REQUIRE(!judged(response).retry_after.has_value());
  constexpr auto by_wall = reprise::http::retry_statuses{}.dated_by(wall_clock);
  STATIC_REQUIRE(by_wall(response).retry_after == 23s);
  STATIC_REQUIRE(by_wall(dated{.retry_after = "7"}).retry_after == 7s);
  STATIC_REQUIRE(!by_wall(dated{}).retry_after.has_value());
  STATIC_REQUIRE(!by_wall(dated{.retry_after = "soon"}).retry_after.has_value());
}

TEST_CASE("a date that has passed is a hint of zero") {
  constexpr auto by_wall = reprise::http::retry_statuses{}.dated_by(wall_clock);
  STATIC_REQUIRE(by_wall(dated{.retry_after = "Sun, 06 Nov 1994 08:49:36 GMT"}).retry_after == 0s);
  STATIC_REQUIRE(by_wall(dated{.retry_after = "Thu, 01 Jan 1970 00:00:00 GMT"}).retry_after == 0s);
}

TEST_CASE("a date is counted from the response's own date, unless it comes from a cache") {
  constexpr auto by_wall = reprise::http::retry_statuses{}.dated_by(wall_clock);
  constexpr std::string_view soon = "Sun, 06 Nov 1994 08:50:00 GMT";
  constexpr std::string_view sent = "Sun, 06 Nov 1994 08:49:50 GMT";
  STATIC_REQUIRE(by_wall(dated{.retry_after = soon, .date = sent}).retry_after == 10s);
  STATIC_REQUIRE(by_wall(dated{.retry_after = soon, .date = sent, .age = "30"}).retry_after == 23s);
  STATIC_REQUIRE(by_wall(dated{.retry_after = soon, .date = "garbage"}).retry_after == 23s);
}

TEST_CASE("an own date that is optional text is read too") {
  struct optionally_dated {
    int status = 503;
    std::optional<std::string_view> retry_after = {};
    std::optional<std::string_view> date = {};
    std::optional<std::string_view> age = {};
  };
  constexpr auto by_wall = reprise::http::retry_statuses{}.dated_by(wall_clock);
  constexpr std::string_view soon = "Sun, 06 Nov 1994 08:50:00 GMT";
  STATIC_REQUIRE(by_wall(optionally_dated{.retry_after = soon}).retry_after == 23s);
  STATIC_REQUIRE(by_wall(optionally_dated{.retry_after = soon, .date = "Sun, 06 Nov 1994 08:49:50 GMT"}).retry_after ==
                 10s);
}

TEST_CASE("whole seconds are digits, with blanks and tabs around them") {
  STATIC_REQUIRE(reprise::http::parse_retry_after("0") == 0s);
  STATIC_REQUIRE(reprise::http::parse_retry_after("120") == 120s);
  STATIC_REQUIRE(reprise::http::parse_retry_after(" 7\t") == 7s);
  STATIC_REQUIRE(reprise::http::parse_retry_after("\t \t7 ") == 7s);
  STATIC_REQUIRE(reprise::http::parse_retry_after("000000000000000000000000000000000007") == 7s);
}

TEST_CASE("any other text is no hint, and never a hint of zero") {
  for (const std::string_view text : {"",
                                      " ",
                                      "\t",
                                      "-1",
                                      "+1",
                                      "-0",
                                      "1.0",
                                      "1.",
                                      ".5",
                                      "\xC2\xB2",
                                      "2814, 2",
                                      "2814,2",
                                      "1 2",
                                      "nan",
                                      "inf",
                                      "infinity",
                                      "1e3",
                                      "0x10",
                                      "1s",
                                      "s1",
                                      "1\n",
                                      "\r1",
                                      "1\v",
                                      "\xA0"
                                      "1",
                                      "1'000",
                                      "1_000",
                                      "\xD9\xA3",
                                      "\"5\"",
                                      "5;",
                                      "soon"}) {
    CAPTURE(text);
    CHECK(!reprise::http::parse_retry_after(text).has_value());
    CHECK(!reprise::http::parse_retry_after(text, example_date).has_value());
    CHECK(!reprise::http::parse_retry_after_ms(text).has_value());
  }
  STATIC_REQUIRE(!reprise::http::parse_retry_after(std::string_view("1\0", 2)).has_value());
  STATIC_REQUIRE(!reprise::http::parse_retry_after(std::string_view("\0", 1)).has_value());
  STATIC_REQUIRE(!reprise::http::parse_retry_after(std::string_view("1\0002", 3)).has_value());
  STATIC_REQUIRE(!reprise::http::parse_retry_after(std::string_view{}).has_value());
}

TEST_CASE("a hint of 30 digits saturates, and so does every number that is too large") {
  STATIC_REQUIRE(reprise::http::parse_retry_after("999999999999999999999999999999") == reprise::unlimited);
  STATIC_REQUIRE(reprise::http::parse_retry_after("9223372036") == std::chrono::seconds(9'223'372'036));
  STATIC_REQUIRE(reprise::http::parse_retry_after("9223372037") == reprise::unlimited);
  STATIC_REQUIRE(reprise::http::parse_retry_after("9223372036854775807") == reprise::unlimited);
  STATIC_REQUIRE(reprise::http::parse_retry_after("9223372036854775808") == reprise::unlimited);
  STATIC_REQUIRE(reprise::http::parse_retry_after("18446744073709551616") == reprise::unlimited);
  STATIC_REQUIRE(reprise::http::parse_retry_after(std::string_view("18446744073709551617")) == reprise::unlimited);
}

TEST_CASE("a lenient reading takes fractional seconds, rounded up to a nanosecond") {
  constexpr auto lenient = [](std::string_view text) {
    return reprise::http::parse_retry_after(text, reprise::http::fractions::round_up);
  };
  STATIC_REQUIRE(lenient("1.5") == 1500ms);
  STATIC_REQUIRE(lenient(" 0.001 ") == 1ms);
  STATIC_REQUIRE(lenient("3") == 3s);
  STATIC_REQUIRE(lenient("1.000000000") == 1s);
  STATIC_REQUIRE(lenient("0.123456789") == 123'456'789ns);
  STATIC_REQUIRE(lenient("0.1234567890000") == 123'456'789ns);
  STATIC_REQUIRE(lenient("0.1234567891") == 123'456'790ns);
  STATIC_REQUIRE(lenient("0.99999999999") == 1s);
  STATIC_REQUIRE(lenient("0.00000000000000000000000000001") == 1ns);
  STATIC_REQUIRE(lenient("999999999999999999999999999999.9") == reprise::unlimited);
  STATIC_REQUIRE(lenient("9223372036.9") == reprise::unlimited);
}

TEST_CASE("a lenient reading takes nothing else") {
  for (const std::string_view text :
       {"", ".", "1.", ".5", "1.5.5", "-1.5", "+1.5", "1,5", "1.5s", "1. 5", "1e3", "1.5e3", "nan", "1.-5", "0x1.8"}) {
    CAPTURE(text);
    CHECK(!reprise::http::parse_retry_after(text, reprise::http::fractions::round_up).has_value());
  }
  STATIC_REQUIRE(
      !reprise::http::parse_retry_after(std::string_view("1.5\0", 4), reprise::http::fractions::round_up).has_value());
}

TEST_CASE("a hint may be a date in each of the three forms, given the time") {
  STATIC_REQUIRE(reprise::http::parse_retry_after("Sun, 06 Nov 1994 08:49:39 GMT", example_date) == 2s);
  STATIC_REQUIRE(reprise::http::parse_retry_after("Sunday, 06-Nov-94 08:49:39 GMT", example_date) == 2s);
  STATIC_REQUIRE(reprise::http::parse_retry_after("Sun Nov  6 08:49:39 1994", example_date) == 2s);
  STATIC_REQUIRE(reprise::http::parse_retry_after(" Sun, 06 Nov 1994 08:49:39 GMT\t", example_date) == 2s);
  STATIC_REQUIRE(reprise::http::parse_retry_after("5", example_date) == 5s);
  STATIC_REQUIRE(reprise::http::parse_retry_after("1.5", example_date, reprise::http::fractions::round_up) == 1500ms);
  STATIC_REQUIRE(!reprise::http::parse_retry_after("1.5", example_date).has_value());
}

TEST_CASE("a date in the farthest year saturates where it does not fit") {
  STATIC_REQUIRE(reprise::http::parse_retry_after("Fri, 31 Dec 9999 23:59:59 GMT", example_date) == reprise::unlimited);
}

TEST_CASE("a date saturates also under a wall clock that is at its lowest") {
  CHECK(reprise::http::parse_retry_after("Sun, 06 Nov 1994 08:49:39 GMT", std::chrono::sys_seconds::min()) ==
        reprise::unlimited);
}

TEST_CASE("milliseconds are read as strictly as seconds") {
  STATIC_REQUIRE(reprise::http::parse_retry_after_ms("0") == 0s);
  STATIC_REQUIRE(reprise::http::parse_retry_after_ms(" 1500\t") == 1500ms);
  STATIC_REQUIRE(!reprise::http::parse_retry_after_ms("1500.0").has_value());
  STATIC_REQUIRE(!reprise::http::parse_retry_after_ms("1500ms").has_value());
  STATIC_REQUIRE(reprise::http::parse_retry_after_ms("9223372036854") == std::chrono::milliseconds(9'223'372'036'854));
  STATIC_REQUIRE(reprise::http::parse_retry_after_ms("9223372036855") == reprise::unlimited);
  STATIC_REQUIRE(reprise::http::parse_retry_after_ms("999999999999999999999999999999") == reprise::unlimited);
}

TEST_CASE("an idempotency key is a UUID of version 4, whatever the random bits") {
  constexpr auto always = [] {
    for (std::uint64_t seed = 0; seed < 50; ++seed)
      if (!is_uuid_version_4(reprise::http::idempotency_key(bits64{seed}).text()) ||
          !is_uuid_version_4(reprise::http::idempotency_key(bits32{seed}).text()))
        return false;
    return true;
  };
  STATIC_REQUIRE(always());
}

TEST_CASE("an idempotency key shows the bits that it was given, but for version and variant") {
  constexpr auto zeros = [] { return std::uint64_t{0}; };
  constexpr auto ones = [] { return ~std::uint32_t{0}; };
  constexpr auto count = [] { return std::uint64_t{0xfedcba9876543210U}; };
  STATIC_REQUIRE(reprise::http::idempotency_key(zeros).text() == "00000000-0000-4000-8000-000000000000");
  STATIC_REQUIRE(reprise::http::idempotency_key(ones).text() == "ffffffff-ffff-4fff-bfff-ffffffffffff");
  STATIC_REQUIRE(reprise::http::idempotency_key(count).text() == "01234567-89ab-4def-8123-456789abcdef");
}

TEST_CASE("idempotency keys of different bits differ, and of the same bits are the same") {
  std::vector<std::string> keys;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    keys.emplace_back(reprise::http::idempotency_key(bits64{seed}).text());
    keys.emplace_back(reprise::http::idempotency_key(bits32{{seed + 1'000'000}}).text());
  }
  for (std::size_t i = 0; i < keys.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (keys[i] == keys[j]) CHECK(keys[i] == "a key of its own");
  STATIC_REQUIRE(reprise::http::idempotency_key(bits64{7}).text() == reprise::http::idempotency_key(bits64{7}).text());
  CHECK(keys.size() == 400);
}

TEST_CASE("an idempotency key draws on a generator that it is given by reference, so the next one differs") {
  bits64 generator{42};
  const reprise::http::idempotency_key first(generator);
  const reprise::http::idempotency_key second(generator);
  CHECK(first.text() != second.text());
  const std::string_view header = first;
  CHECK(header == first.text());
}

TEST_CASE("the parts of this vocabulary fill their roles") {
  STATIC_REQUIRE(reprise::idempotency_part<reprise::http::operation>);
  STATIC_REQUIRE(reprise::classifier_part<reprise::http::retry_statuses, with_status>);
  STATIC_REQUIRE(!reprise::classifier_part<reprise::http::retry_statuses, int>);
  constexpr reprise::retry_policy policy{reprise::http::retry_statuses{}, reprise::http::operation{.method = "GET"}};
  STATIC_REQUIRE(policy.judge(with_status{502}).kind == outcome::transient);
  STATIC_REQUIRE(policy.gives_hints);
}

TEST_CASE("a hint that is not a number is no hint, and loses no response") {
  struct response {
    int status = 503;
    std::optional<std::chrono::duration<double>> retry_after = {};
  };
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(!reprise::http::retry_statuses{}(response{.retry_after = std::chrono::duration<double>(nan)}).retry_after);
  CHECK(reprise::http::retry_statuses{}(response{.retry_after = std::chrono::duration<double>(2.0)}).retry_after ==
        reprise::duration(2s));
}

TEST_CASE("a blank key is no key") {
  STATIC_REQUIRE(!reprise::http::replay_safe("POST", " "));
  STATIC_REQUIRE(!reprise::http::replay_safe("POST", "\t "));
  STATIC_REQUIRE(reprise::http::replay_safe("POST", " k "));
}

TEST_CASE("a key takes as many bits as its source gives, whatever the width of its numbers") {
  std::mt19937 narrow(42);  // numbers of 32 bits, on most machines in 64
  const reprise::http::idempotency_key key(narrow);
  CHECK(key.text().find("0000") == std::string_view::npos);
}
