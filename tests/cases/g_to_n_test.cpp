// SPDX-License-Identifier: MIT
// What went wrong in other systems, from classification to fake clocks; a tag names the case.
#include <initializer_list>
#include <optional>
#include <reprise/reprise.hpp>
#include <reprise/testing/fake_clock.hpp>
#include <reprise/testing/script.hpp>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

#include "catch.hpp"

using namespace std::chrono_literals;
using reprise::testing::fails;
using reprise::testing::fake_clock;
using reprise::testing::reply;
using reprise::testing::script;

namespace {

/// How a call ended, and what it cost.
struct end_of_call {
  reprise::stop_reason reason = reprise::stop_reason::cancelled;
  int sends = 0;
  int code = 0;

  friend constexpr bool operator==(const end_of_call&, const end_of_call&) = default;
};

/// Plays these replies, the last one again and again.
template <class Policy, class... Replies> constexpr end_of_call play(const Policy& policy, Replies... replies) {
  fake_clock time;
  script send{time, reply(replies)...};
  const auto result = reprise::execute(policy, send, time);
  return {result.reason(), send.calls(), result.last_verdict().code};
}

/// libcurl reports in two channels: how the transfer went, and what the server said.
struct transfer {
  int curl = 0;
  int status = 0;
};

/// What libcurl's codes mean; of CURLE_OK it says nothing, so that the status is asked.
constexpr auto by_curl_code = [](const transfer& done) -> std::optional<reprise::verdict> {
  switch (done.curl) {
    case 0: return std::nullopt;
    case 5:  // no proxy, no such host, no connection: nothing was sent
    case 6:
    case 7:
      return reprise::verdict{
          .kind = reprise::outcome::transient, .label = "connect", .code = done.curl, .not_applied = true};
    case 28:  // timeout, empty answer, lost while sending or receiving
    case 52:
    case 55:
    case 56: return reprise::verdict{.kind = reprise::outcome::transient, .label = "curl", .code = done.curl};
    case 42: return reprise::verdict{.kind = reprise::outcome::cancelled, .label = "curl", .code = done.curl};
    default: return reprise::verdict{.kind = reprise::outcome::permanent, .label = "curl", .code = done.curl};
  }
};

// 500 is no default: who lists it knows that this server's 500 is worth a retry.
constexpr reprise::retry_policy curl_policy{
    reprise::classify(by_curl_code), reprise::http::retry_statuses{429, 500, 502, 503, 504}, reprise::idempotent{},
    reprise::constant_backoff{.delay = 1s}, reprise::time_limit{.total = 60s}};

constexpr reprise::retry_policy http_policy{reprise::http::retry_statuses{}, reprise::idempotent{},
                                            reprise::constant_backoff{.delay = 1s}, reprise::time_limit{.total = 60s}};

constexpr auto failed = reprise::verdict{.kind = reprise::outcome::transient, .label = "test", .code = 503};

/// The smallest budget: a number of tokens that retries take and nobody gives back.
class small_budget {
 public:
  struct permit {};

  explicit small_budget(int tokens, int cost = 1) : tokens_(tokens), cost_(cost) {}

  void call_started(reprise::duration) noexcept {}
  void failed(const reprise::verdict&) noexcept {}
  std::optional<permit> try_retry(const reprise::verdict&, reprise::duration) noexcept {
    if (tokens_ < cost_) return std::nullopt;
    tokens_ -= cost_;
    return permit{};
  }
  void call_ended(bool, std::optional<permit>, reprise::duration) noexcept {}

  int tokens() const noexcept { return tokens_; }

 private:
  int tokens_;
  int cost_;
};

}  // namespace

// --- G: classification, and who owns a result ------------------------------------------------------------------------

TEST_CASE("a certificate that cannot be trusted is not tried again", "[G01]") {
  using enum reprise::stop_reason;
  STATIC_REQUIRE(play(curl_policy, transfer{.curl = 60}) == end_of_call{not_retryable, 1, 60});
  // Its relatives: handshake refused, bad client certificate, no usable cipher, issuer, CA bundle, pinned key.
  for (const int tls : {35, 58, 59, 77, 83, 90, 91}) {
    CAPTURE(tls);
    CHECK(play(curl_policy, transfer{.curl = tls}) == end_of_call{not_retryable, 1, tls});
  }
}

TEST_CASE("of the 4xx only 429 means later, not never", "[G03][G05]") {
  using enum reprise::stop_reason;
  // 403 is G05, where it looped without end.
  constexpr auto ends_at_once = [](int status) {
    return play(http_policy, reprise::testing::response{.status = status}) == end_of_call{not_retryable, 1, status};
  };
  STATIC_REQUIRE(ends_at_once(403));
  for (const int status : {400, 401, 403, 404, 405, 410, 422}) {
    CAPTURE(status);
    CHECK(ends_at_once(status));
  }
  // The fixed defaults decide what the case leaves open.
  for (const int status : {408, 409, 413, 425, 500, 501}) {
    CAPTURE(status);
    CHECK(ends_at_once(status));
  }
  STATIC_REQUIRE(play(http_policy, reprise::testing::response{.status = 429}) ==
                 end_of_call{attempts_exhausted, 3, 429});
  STATIC_REQUIRE(play(http_policy, reprise::testing::response{.status = 429},
                      reprise::testing::response{.status = 200}) == end_of_call{succeeded, 2, 200});
}

TEST_CASE("a 401 is repaired once a call, and the repaired attempt counts like any other", "[G06]") {
  using enum reprise::stop_reason;
  struct outcome_of_repair {
    end_of_call end;
    int repairs = 0;
    constexpr bool operator==(const outcome_of_repair&) const = default;
  };
  // The repair is done when a retry is announced, so never for a retry that does not happen; its bound is the call's.
  constexpr auto run = [](int maximum, auto... statuses) -> outcome_of_repair {
    int repairs = 0;
    const auto repairable = [&](const reprise::testing::response& r) -> std::optional<reprise::verdict> {
      if (r.status != 401 || repairs > 0) return std::nullopt;
      // The server refused before it did anything.
      return reprise::verdict{.kind = reprise::outcome::transient, .label = "auth", .code = 401, .not_applied = true};
    };
    const auto repair = [&](const reprise::event& e) {
      if (e.kind == reprise::event_kind::retry && e.verdict.code == 401) ++repairs;
    };
    const auto policy =
        http_policy.with(reprise::classify(repairable), reprise::http::retry_statuses{}, reprise::on_event(repair),
                         reprise::attempt_budget{.maximum = maximum}, reprise::not_idempotent{});
    const auto end = play(policy, reprise::testing::response{.status = statuses}...);
    return {end, repairs};
  };
  STATIC_REQUIRE(run(5, 401, 401) == outcome_of_repair{{not_retryable, 2, 401}, 1});
  STATIC_REQUIRE(run(5, 401, 200) == outcome_of_repair{{succeeded, 2, 200}, 1});
  STATIC_REQUIRE(run(1, 401) == outcome_of_repair{{attempts_exhausted, 1, 401}, 0});
  STATIC_REQUIRE(run(5, 401, 503) == outcome_of_repair{{not_replay_safe, 2, 503}, 1});
}

TEST_CASE("a repair does not give the call new attempts", "[G06]") {
  int repairs = 0;
  const auto repairable = [&](const reprise::testing::response& r) -> std::optional<reprise::verdict> {
    if (r.status != 401 || repairs > 0) return std::nullopt;
    ++repairs;
    return reprise::verdict{.kind = reprise::outcome::transient, .label = "auth", .code = 401};
  };
  const auto policy = http_policy.with(reprise::classify(repairable), reprise::http::retry_statuses{});
  const auto end = play(policy, reprise::testing::response{.status = 503}, reprise::testing::response{.status = 401},
                        reprise::testing::response{.status = 503});
  CHECK(end == end_of_call{reprise::stop_reason::attempts_exhausted, 3, 503});
  CHECK(repairs == 1);
}

TEST_CASE("a failure that is retryable under a condition is retried only if the condition holds", "[G07]") {
  using enum reprise::stop_reason;
  struct denial {
    int status = 0;
    bool skew_detected = false;
  };
  constexpr reprise::retry_policy policy{reprise::classify([](const denial& d) -> std::optional<reprise::verdict> {
                                           if (d.status != 403 || !d.skew_detected) return std::nullopt;
                                           return reprise::verdict{
                                               .kind = reprise::outcome::transient, .label = "skew", .code = 403};
                                         }),
                                         reprise::http::retry_statuses{}, reprise::idempotent{}};
  STATIC_REQUIRE(play(policy, denial{.status = 403}) == end_of_call{not_retryable, 1, 403});
  STATIC_REQUIRE(play(policy, denial{.status = 403, .skew_detected = true}, denial{.status = 200}) ==
                 end_of_call{succeeded, 2, 200});
}

TEST_CASE("two result channels are both read: the transport's code first, then the status", "[G09]") {
  using enum reprise::stop_reason;
  STATIC_REQUIRE(play(curl_policy, transfer{.status = 500}, transfer{.status = 200}) == end_of_call{succeeded, 2, 200});
  STATIC_REQUIRE(play(curl_policy, transfer{.status = 200}) == end_of_call{succeeded, 1, 200});
  STATIC_REQUIRE(play(curl_policy, transfer{.curl = 7}, transfer{.status = 200}) == end_of_call{succeeded, 2, 200});
  // A status that came before the transfer broke does not hide that it broke.
  STATIC_REQUIRE(play(curl_policy, transfer{.curl = 56, .status = 200}) == end_of_call{attempts_exhausted, 3, 56});
  // Neither channel has anything to say: no success.
  STATIC_REQUIRE(play(curl_policy, transfer{}) == end_of_call{not_retryable, 1, 0});
}

TEST_CASE("a connection reset while receiving is retried where repeating is safe", "[G10]") {
  using enum reprise::stop_reason;
  STATIC_REQUIRE(play(curl_policy, transfer{.curl = 56}, transfer{.status = 200}) == end_of_call{succeeded, 2, 200});
  STATIC_REQUIRE(play(curl_policy.with(reprise::not_idempotent{}), transfer{.curl = 56}, transfer{.status = 200}) ==
                 end_of_call{not_replay_safe, 1, 56});
  // No connection at all: the request cannot have had an effect.
  STATIC_REQUIRE(play(curl_policy.with(reprise::not_idempotent{}), transfer{.curl = 7}, transfer{.status = 200}) ==
                 end_of_call{succeeded, 2, 200});
}

TEST_CASE("a body that breaks off inside send is a failure of that attempt", "[G12]") {
  struct body_cut : std::runtime_error {
    using std::runtime_error::runtime_error;
  };
  constexpr int size_of_body = 1000;
  fake_clock time;
  int requests = 0;
  const auto request_and_read = [&] {
    const int read = ++requests == 1 ? 500 : size_of_body;
    if (read < size_of_body) throw body_cut("connection lost in the body");
    return read;
  };
  const reprise::retry_policy policy{reprise::retry_exceptions<body_cut>{}, reprise::idempotent{}};
  const auto result = reprise::execute(policy, request_and_read, time);
  CHECK(result.ok());
  CHECK(requests == 2);
  CHECK(result.response() == size_of_body);
}

namespace {

struct pool {
  int free = 1;
};

/// A response that holds its connection until it is destroyed.
class pooled_response {
 public:
  pooled_response(pool& from, int status) : from_(&from), status_(status) {
    if (from.free == 0) throw std::logic_error("the pool is empty: a failed response still holds its connection");
    --from.free;
  }
  pooled_response(pooled_response&& other) noexcept
      : from_(std::exchange(other.from_, nullptr)), status_(other.status_) {}
  pooled_response& operator=(pooled_response&&) = delete;
  ~pooled_response() {
    if (from_ != nullptr) ++from_->free;
  }

  int status() const noexcept { return status_; }

 private:
  pool* from_;
  int status_;
};

}  // namespace

TEST_CASE("a failed response is destroyed before the wait and gives its connection back", "[G14]") {
  fake_clock time;
  pool connections;
  std::vector<int> free_in_sleep;
  const auto sleep = [&](reprise::duration wait) {
    free_in_sleep.push_back(connections.free);
    return time.sleep(wait);
  };
  const auto run = [&](const auto& policy, int first, int second, int last) {
    const auto send = [&](const reprise::attempt& current) {
      return pooled_response(connections, current.number == 1 ? first : current.number == 2 ? second : last);
    };
    return reprise::execute(policy, send, time.clock(), sleep, reprise::testing::fixed_fraction(0.5));
  };

  SECTION("and the next attempt can have it") {
    const auto result = run(http_policy, 503, 200, 200);
    CHECK(result.ok());
    CHECK(result.attempts() == 2);
    CHECK(free_in_sleep == std::vector<int>{1});
    CHECK(connections.free == 0);  // the response of the success is the caller's
  }
  SECTION("also where a log keeps what it said") {
    const auto policy = http_policy.with(
        reprise::attempt_log<4>{}.messages([](const pooled_response&) { return std::string_view("busy"); }));
    const auto result = run(policy, 503, 503, 200);
    CHECK(result.ok());
    CHECK(result.log()[1].message == "busy");
    CHECK(free_in_sleep == std::vector<int>{1, 1});
  }
  SECTION("and the last failed one is handed to the caller") {
    {
      const auto result = run(http_policy, 503, 503, 503);
      CHECK(result.attempts() == 3);
      CHECK(result.has_response());
      CHECK(free_in_sleep == std::vector<int>{1, 1});
      CHECK(connections.free == 0);
    }
    CHECK(connections.free == 1);
  }
}

TEST_CASE("every attempt can make its own handle: send is entered anew for each", "[G15]") {
  constexpr auto fresh_each_time = [] {
    struct handle {
      int number = 0;
      int uses = 0;
      constexpr int perform() { return ++uses == 1 && number == 3 ? 200 : 503; }
    };
    fake_clock time;
    int made = 0;
    reprise::testing::recorded<int> used;
    const auto send = [&] {
      handle own{.number = ++made};
      used.add(own.number);
      return reprise::testing::response{.status = own.perform()};
    };
    return reprise::execute(http_policy, send, time).ok() && used.are({1, 2, 3});
  };
  STATIC_REQUIRE(fresh_each_time());
}

// --- H: state between calls ------------------------------------------------------------------------------------------

TEST_CASE("interleaved calls on one policy have an attempt count each", "[H01]") {
  using policy_type = std::remove_cvref_t<decltype(http_policy)>;
  using engine = reprise::engine<const policy_type&, fake_clock::time_point>;
  constexpr auto three_each = [] {
    const fake_clock::time_point zero{};
    engine first(http_policy);
    engine second(http_policy);
    bool right = first.start(zero).kind == reprise::step::attempt && second.start(zero).kind == reprise::step::attempt;
    for (int retry = 1; retry <= 2; ++retry) {
      const auto now = zero + 1s * retry;
      right = right && first.on_verdict(failed, now - 1s, 0.5).kind == reprise::step::wait;
      right = right && second.on_verdict(failed, now - 1s, 0.5).kind == reprise::step::wait;
      right = right && first.on_wait_over(now).attempt.number == retry + 1;
      right = right && second.on_wait_over(now).attempt.number == retry + 1;
    }
    const auto end = first.on_verdict(failed, zero + 2s, 0.5);
    right = right && end.kind == reprise::step::stop && end.reason == reprise::stop_reason::attempts_exhausted;
    right = right && second.on_verdict(failed, zero + 2s, 0.5).reason == reprise::stop_reason::attempts_exhausted;
    return right && first.attempts() == 3 && second.attempts() == 3;
  };
  STATIC_REQUIRE(three_each());
}

TEST_CASE("a call inside a call of the same policy does not touch the outer one's count", "[H01]") {
  constexpr auto nested = [] {
    fake_clock time;
    int inner_sends = 0;
    int outer_sends = 0;
    const auto inner = [&] { return ++inner_sends, reprise::testing::response{.status = 503}; };
    const auto outer = [&] {
      ++outer_sends;
      const auto result = reprise::execute(http_policy, inner, time);
      return result.attempts() == 3 ? result.response() : reprise::testing::response{.status = 400};
    };
    const auto result = reprise::execute(http_policy, outer, time);
    return result.reason() == reprise::stop_reason::attempts_exhausted && outer_sends == 3 && inner_sends == 9;
  };
  STATIC_REQUIRE(nested());
}

TEST_CASE("the next call of a policy begins with the first wait again", "[H03]") {
  constexpr auto waits_of_two_calls = [](const auto& backoff, std::initializer_list<reprise::duration> expected) {
    fake_clock time;
    const auto policy = http_policy.with(backoff, reprise::no_jitter{}, reprise::attempt_budget{.maximum = 4});
    for (int call = 0; call < 2; ++call) {
      script send{time, reply(503)};
      (void)reprise::execute(policy, send, time);
    }
    return time.waits().are(expected);
  };
  STATIC_REQUIRE(waits_of_two_calls(reprise::exponential_backoff{.base = 1s, .cap = 600s}, {1s, 2s, 4s, 1s, 2s, 4s}));
  STATIC_REQUIRE(waits_of_two_calls(reprise::listed_backoff{1s, 5s, 7s}, {1s, 5s, 7s, 1s, 5s, 7s}));

  // A backoff that remembers its last wait remembers it for one call.
  constexpr auto decorrelated = [] {
    fake_clock time;
    time.fractions({1.0});
    const reprise::retry_policy policy{reprise::http::retry_statuses{}, reprise::idempotent{},
                                       reprise::decorrelated_backoff{.base = 1s, .cap = 600s},
                                       reprise::time_limit{.total = 600s}};
    for (int call = 0; call < 2; ++call) {
      script send{time, reply(503)};
      (void)reprise::execute(policy, send, time);
    }
    return time.waits().are({3s, 9s, 3s, 9s});
  };
  STATIC_REQUIRE(decorrelated());
}

TEST_CASE("a reconnect loop waits shortly again after a connection that worked", "[H04]") {
  // There is no backoff object to reset: each reconnection is a call of its own.
  constexpr auto reconnects = [] {
    fake_clock time;
    const auto policy =
        http_policy.with(reprise::exponential_backoff{.base = 1s, .cap = 60s}, reprise::no_jitter{},
                         reprise::unlimited_attempts{}, reprise::time_limit{.total = reprise::unlimited});
    script first{time, reply(503), reply(503), reply(503), reply(200).takes(1h)};
    script second{time, reply(503), reply(200)};
    return reprise::execute(policy, first, time).ok() && reprise::execute(policy, second, time).ok() &&
           time.waits().are({1s, 2s, 4s, 1s});
  };
  STATIC_REQUIRE(reconnects());

  constexpr auto by_hand = [] {
    const auto policy = http_policy.with(reprise::exponential_backoff{.base = 1s, .cap = 60s}, reprise::no_jitter{},
                                         reprise::attempt_budget{.maximum = 9});
    using engine = reprise::engine<std::remove_cvref_t<decltype(policy)>, fake_clock::time_point>;
    fake_clock time;
    bool right = true;
    for (int connection = 0; connection < 2; ++connection) {
      engine calls(policy);
      calls.start(time.now());
      for (const reprise::duration expected : {1s, 2s, 4s}) {
        const auto next = calls.on_verdict(failed, time.now(), 0.5);
        right = right && next.wait == expected;
        time.advance(next.wait);
        calls.on_wait_over(time.now());
      }
      right = right && calls.on_verdict({.kind = reprise::outcome::success}, time.now(), 0.5).reason ==
                           reprise::stop_reason::succeeded;
    }
    return right;
  };
  STATIC_REQUIRE(by_hand());
}

// --- I: retry budgets ------------------------------------------------------------------------------------------------

TEST_CASE("the shared budget limits a call whose attempts would last much longer", "[I03]") {
  reprise::testing::basic_fake_clock<128> time;
  small_budget budget(500, 5);
  const auto policy = http_policy.with(reprise::shared_budget(budget), reprise::attempt_budget{.maximum = 1000},
                                       reprise::time_limit{.total = reprise::unlimited});
  int sends = 0;
  const auto send = [&] { return ++sends, reprise::testing::response{.status = 503}; };
  const auto result = reprise::execute(policy, send, time);
  CHECK(result.reason() == reprise::stop_reason::budget_exhausted);
  CHECK(sends == 101);
  CHECK(time.waits().size() == 100);
  CHECK(budget.tokens() == 0);

  // The next call has its first attempt and no retry.
  sends = 0;
  CHECK(reprise::execute(policy, send, time).reason() == reprise::stop_reason::budget_exhausted);
  CHECK(sends == 1);
}

TEST_CASE("calls that share a budget share it whatever they send", "[I05]") {
  fake_clock time;
  small_budget budget(2);
  const auto policy = http_policy.with(reprise::shared_budget(budget), reprise::attempt_budget{.maximum = 2});
  int granted = 0;
  for (int payload = 0; payload < 6; ++payload) {
    const auto send = [&] { return reprise::testing::response{.status = payload % 2 == 0 ? 503 : 429}; };
    const auto own_copy = policy;  // a copy of a policy still names the same budget
    granted += reprise::execute(own_copy, send, time).attempts() - 1;
  }
  CHECK(granted == 2);
}

// --- M: cancellation -------------------------------------------------------------------------------------------------

TEST_CASE("a cancellation cuts the wait and keeps the last failure", "[M01]") {
  constexpr auto policy = http_policy.with(reprise::constant_backoff{.delay = 10s});
  constexpr auto cut = [](auto&& use) {
    fake_clock time;
    time.interrupts_at(1s);
    script send{time, reply(503), reply(200)};
    const auto result = reprise::execute(use, send, time);
    return result.reason() == reprise::stop_reason::cancelled && !result.ok() && send.calls() == 1 &&
           time.waits().are({1s}) && time.now() == fake_clock::time_point(1s) && result.total_wait() == 1s &&
           result.last_verdict().code == 503;
  };
  STATIC_REQUIRE(cut(policy));

  // A thrown failure is kept as well.
  fake_clock time;
  time.interrupts_at(1s);
  script send{time, fails<std::runtime_error>("reset")};
  const reprise::retry_policy thrown{reprise::retry_exceptions<std::runtime_error>{}, reprise::idempotent{},
                                     reprise::constant_backoff{.delay = 10s}, reprise::time_limit{.total = 60s}};
  const auto result = reprise::execute(thrown, send, time);
  CHECK(result.reason() == reprise::stop_reason::cancelled);
  CHECK(send.calls() == 1);
  CHECK_THROWS_AS(result.success(), std::runtime_error);
}

TEST_CASE("a cancellation at the very end of the wait still prevents the attempt", "[M02]") {
  constexpr auto sends_until = [](reprise::duration cancelled_at) {
    fake_clock time;
    time.interrupts_at(cancelled_at);
    script send{time, reply(503), reply(200)};
    (void)reprise::execute(http_policy, send, time);
    return send.calls();
  };
  STATIC_REQUIRE(sends_until(1s) == 1);
  STATIC_REQUIRE(sends_until(1s - 1ns) == 1);
  STATIC_REQUIRE(sends_until(1s + 1ns) == 2);
}

TEST_CASE("an interrupted sleep is never taken for a finished one", "[M03]") {
  constexpr auto interrupted = [](reprise::duration wait) {
    fake_clock time;
    int sleeps = 0;
    script send{time, reply(503), reply(200)};
    const auto sleep = [&](reprise::duration) { return ++sleeps, reprise::slept::interrupted; };
    const auto result = reprise::execute(http_policy.with(reprise::constant_backoff{.delay = wait}), send, time.clock(),
                                         sleep, reprise::testing::fixed_fraction(0.5));
    return result.reason() == reprise::stop_reason::cancelled && send.calls() == 1 && sleeps == 1;
  };
  STATIC_REQUIRE(interrupted(1s));
  STATIC_REQUIRE(interrupted(0s));  // also asked for a wait of nothing
}

TEST_CASE("the caller's time limit holds however many attempts are allowed", "[M07]") {
  constexpr auto ends_in_time = [] {
    fake_clock time;
    script send{time, reply(transfer{.curl = 7})};
    const auto policy = curl_policy.with(reprise::attempt_budget{.maximum = 500}, reprise::time_limit{.total = 2s},
                                         reprise::exponential_backoff{.base = 25ms, .cap = 90s}, reprise::no_jitter{});
    const auto result = reprise::execute(policy, send, time);
    return result.reason() == reprise::stop_reason::deadline_reached && send.calls() == 7 &&
           time.waits().are({25ms, 50ms, 100ms, 200ms, 400ms, 800ms}) && time.now() == fake_clock::time_point(1575ms);
  };
  STATIC_REQUIRE(ends_in_time());
}

TEST_CASE("an attempt that was aborted on purpose is not tried again", "[M08]") {
  STATIC_REQUIRE(play(curl_policy, transfer{.curl = 42}) == end_of_call{reprise::stop_reason::cancelled, 1, 42});

  const reprise::retry_policy by_error_code{
      reprise::classify([](const std::error_code& error) -> reprise::verdict {
        if (!error) return {.kind = reprise::outcome::success};
        const bool aborted = error == std::errc::operation_canceled;
        return {.kind = aborted ? reprise::outcome::cancelled : reprise::outcome::transient, .label = "asio"};
      }),
      reprise::idempotent{}};
  CHECK(play(by_error_code, std::make_error_code(std::errc::operation_canceled)).reason ==
        reprise::stop_reason::cancelled);
  CHECK(play(by_error_code, std::make_error_code(std::errc::operation_canceled)).sends == 1);
  CHECK(play(by_error_code, std::make_error_code(std::errc::connection_reset)).sends == 3);
}

TEST_CASE("in one loop a retry goes out at its due time, whatever else wakes the loop", "[M09]") {
  constexpr auto policy = http_policy.with(reprise::constant_backoff{.delay = 2s});
  using engine = reprise::engine<std::remove_cvref_t<decltype(policy)>, fake_clock::time_point>;
  const fake_clock::time_point zero{};
  engine a(policy);
  engine b(policy);
  REQUIRE(a.start(zero).kind == reprise::step::attempt);
  REQUIRE(b.start(zero).kind == reprise::step::attempt);

  const auto waiting = a.on_verdict(failed, zero, 0.5);
  CHECK(waiting.kind == reprise::step::wait);
  CHECK(waiting.wait == 2s);
  CHECK(waiting.due == zero + 2s);

  // B's socket wakes the loop; A is asked too early and answers with the same wait.
  for (const reprise::duration early : {reprise::duration(0s), reprise::duration(500ms), reprise::duration(2s - 1ns)}) {
    const auto again = a.on_wait_over(zero + early);
    CHECK(again.kind == reprise::step::wait);
    CHECK(again.due == zero + 2s);
    CHECK(again.wait == 2s - early);
    CHECK(a.attempts() == 1);
  }
  CHECK(b.on_verdict({.kind = reprise::outcome::success}, zero + 1s, 0.5).reason == reprise::stop_reason::succeeded);
  CHECK(b.attempts() == 1);

  const auto second = a.on_wait_over(zero + 2s);
  CHECK(second.kind == reprise::step::attempt);
  CHECK(second.attempt.number == 2);
  CHECK(a.total_wait() == 2s);
}

// --- N: tests on fake clocks -----------------------------------------------------------------------------------------

TEST_CASE("hours of waiting take no real time on a fake clock", "[N01]") {
  // A constant expression cannot read a real clock, nor sleep.
  constexpr auto half_an_hour = [] {
    fake_clock time;
    script send{time, reply(503)};
    const auto policy = http_policy.with(reprise::exponential_backoff{.base = 1s, .cap = 1h}, reprise::no_jitter{},
                                         reprise::attempt_budget{.maximum = 12}, reprise::time_limit{.total = 24h});
    const auto result = reprise::execute(policy, send, time);
    return send.calls() == 12 && result.total_wait() == 2047s && time.now() == fake_clock::time_point(2047s) &&
           time.waits().are({1s, 2s, 4s, 8s, 16s, 32s, 64s, 128s, 256s, 512s, 1024s});
  };
  STATIC_REQUIRE(half_an_hour());
}

TEST_CASE("on a frozen clock no deadline passes: the given clock is the only one", "[N03]") {
  constexpr auto frozen = [] {
    fake_clock time;
    script send{time, reply(503)};
    const auto policy = http_policy.with(reprise::constant_backoff{.delay = 0s}, reprise::time_limit{.total = 1ms});
    const auto result = reprise::execute(policy, send, time);
    return result.reason() == reprise::stop_reason::attempts_exhausted && send.calls() == 3 &&
           send.timeouts().are({1ms, 1ms, 1ms}) && time.now() == fake_clock::time_point{};
  };
  STATIC_REQUIRE(frozen());
}
