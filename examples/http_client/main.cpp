// SPDX-License-Identifier: MIT
// A real HTTP client (cpp-httplib) under reprise, on the real clock, against servers that misbehave. Each function
// below makes one claim, prints the attempts of its call, and has the claim confirmed by what the *server* wrote down.
#include <fmt/format.h>

#include <exception>
#include <memory>
#include <random>
#include <reprise/fmt.hpp>
#include <reprise/reprise.hpp>

#include "httplib_classifier.hpp"
#include "servers.hpp"

namespace {

using namespace std::chrono_literals;
using servers::server;
using steady = std::chrono::steady_clock;

std::string message_of(const httplib::Result& result) { return result ? result->reason : to_string(result.error()); }

// Declared once, completed per call.
constexpr auto client_policy = httplib_results.with(
    reprise::exponential_backoff{.base = 20ms, .cap = 200ms}, reprise::attempt_budget{.maximum = 3},
    reprise::time_limit{.total = 3s}, reprise::attempt_log<8>{}.messages(message_of));

constexpr auto get = client_policy.with(reprise::http::operation{.method = "GET"});
constexpr auto post_without_key = client_policy.with(reprise::http::operation{.method = "POST"});

/// A client that obeys the attempt's timeout. To httplib it is one for each phase and for each read: see the trickle.
httplib::Client client(int port, const reprise::attempt& attempt) {
  httplib::Client made(server::host, port);
  const std::chrono::milliseconds timeout(attempt.timeout_ms());
  made.set_connection_timeout(timeout);
  made.set_read_timeout(timeout);
  made.set_write_timeout(timeout);
  return made;
}

auto getting_from(const server& from) {
  return [port = from.port()](const reprise::attempt& attempt) { return client(port, attempt).Get("/"); };
}

auto posting_to(int port, std::string key = {}) {
  return [=](const reprise::attempt& attempt) {
    const auto headers = key.empty() ? httplib::Headers{} : httplib::Headers{{"Idempotency-Key", key}};
    return client(port, attempt).Post("/", headers, "{}", "application/json");
  };
}

struct times {
  steady::time_point start;
  reprise::duration took;
};

/// Makes the call and prints its attempts and its end. All that it tells the claims is when it was.
template <class Policy, class Send> times call(const Policy& policy, const Send& send) {
  const auto start = steady::now();
  const auto result = reprise::execute(policy, send);
  const auto took = steady::now() - start;
  fmt::print("{}{}\n", result.log(), result);
  return {start, took};
}

double ms(reprise::duration d) { return std::chrono::duration<double, std::milli>(d).count(); }

/// Says of each claim whether it is so, and counts.
class tally {
 public:
  template <class... Values> void claim(bool so, fmt::format_string<Values...> text, Values&&... values) {
    fmt::print("{}: {}\n\n", so ? "ok" : "NOT SO", fmt::format(text, std::forward<Values>(values)...));
    ++(so ? confirmed : denied);
  }

  int confirmed = 0;
  int denied = 0;
};

void a_503_is_tried_again(tally& checked) {
  const server busy(servers::answers({503, 200}));
  call(get, getting_from(busy));
  checked.claim(busy.arrivals().size() == 2, "a 503 and then a 200: 2 requests arrive");
}

void a_404_ends_the_call(tally& checked) {
  const server empty(servers::answers({404, 200}));
  call(get, getting_from(empty));
  checked.claim(empty.arrivals().size() == 1, "a 404 ends the call: 1 request arrives");
}

void retry_after_is_honoured(tally& checked) {
  const server busy(servers::answers({503, 200}, "1"));
  call(get, getting_from(busy));
  const auto seen = busy.arrivals();
  const auto apart = seen.size() == 2 ? seen[1].at - seen[0].at : 0s;
  checked.claim(apart >= 1s, "`Retry-After: 1` keeps the requests at least 1 s apart: {:.1f} ms", ms(apart));
}

void a_post_without_key_is_not_repeated(tally& checked) {
  const server busy(servers::answers({503, 200}));
  call(post_without_key, posting_to(busy.port()));
  checked.claim(busy.arrivals().size() == 1, "a POST without a key is not repeated after a 503: 1 request arrives");
}

void a_post_with_key_is_applied_once(tally& checked) {
  const reprise::http::idempotency_key key(std::random_device{});  // one for all attempts of the call
  const server shop(servers::applies_then_fails);
  call(client_policy.with(reprise::http::operation{.method = "POST", .idempotency_key = key}),
       posting_to(shop.port(), fmt::format("\"{}\"", key.text())));
  const auto seen = shop.arrivals();
  const bool same_key = seen.size() == 2 && seen[0].key == seen[1].key && !seen[0].key.empty();
  checked.claim(same_key && shop.effects() == 1,
                "a POST that was applied and then answered with 503 is repeated with the same key: applied {} time(s)",
                shop.effects());
}

void a_refused_connection_proves_that_nothing_was_done(tally& checked) {
  const int port = server(servers::answers({200})).port();  // open a moment ago, and closed again
  auto late = std::async(std::launch::async, [=] {
    std::this_thread::sleep_for(150ms);
    return std::make_unique<server>(servers::answers({200}), port);
  });
  const auto [start, took] =
      call(post_without_key.with(reprise::constant_backoff{.delay = 40ms}, reprise::attempt_budget{.maximum = 20}),
           posting_to(port));
  const auto seen = late.get()->arrivals();
  checked.claim(seen.size() == 1 && seen[0].at - start >= 100ms,
                "a refused connection is tried again, even for a POST without a key: {} request(s) after {:.0f} ms",
                seen.size(), ms(took));
}

void a_silent_server_cannot_hold_the_call(tally& checked) {
  const server silent(servers::never_answers);
  const auto [start, took] =
      call(get.with(reprise::time_limit{.total = 800ms}, reprise::attempt_timeout{.longest = 300ms},
                    reprise::attempt_budget{.maximum = 5}),
           getting_from(silent));
  const auto seen = silent.arrivals();
  const bool again = seen.size() >= 2 && seen[1].at - seen[0].at >= 300ms && seen.back().at - start < 800ms;
  checked.claim(again && took <= 800ms + 50ms,
                "a server that never answers holds the call for 800 ms at most: {:.1f} ms, {} requests", ms(took),
                seen.size());
}

void a_hung_first_attempt_leaves_time_for_a_second(tally& checked) {
  const server sleepy(servers::ignores_the_first);
  const auto [start, took] =
      call(get.with(reprise::time_limit{.total = 900ms}, reprise::divided_timeout{}), getting_from(sleepy));
  const auto seen = sleepy.arrivals();
  checked.claim(seen.size() == 2 && seen[1].at - start < 900ms && took < 900ms,
                "with divided_timeout the second attempt succeeds when the first one's connection hangs: {:.0f} ms",
                ms(took));
}

constexpr auto interval = 200ms;

void a_trickling_server_outlasts_the_timeout(tally& checked) {
  // Each read gets its byte in time, so httplib's timeout never strikes: a deadline is as good as send's use of it.
  const server dripping(servers::trickles(6, interval));
  const auto [start, took] = call(get.with(reprise::time_limit{.total = 500ms}), getting_from(dripping));
  const auto seen = dripping.arrivals();
  checked.claim(
      took > 500ms && seen.size() == 1,
      "a trickling server outlasts a limit of 500 ms by {:.0f} ms (httplib's timeout is one for each read), but no "
      "attempt begins after it: {} request(s)",
      ms(took) - 500, seen.size());
}

void a_progress_callback_cuts_a_trickle(tally& checked) {
  const server dripping(servers::trickles(20, interval));
  const auto cut_at_deadline = [&](const reprise::attempt_at<steady::time_point>& attempt) {
    return client(dripping.port(), attempt).Get("/", [&](std::uint64_t, std::uint64_t) {
      return steady::now() < attempt.deadline;
    });
  };
  const auto [start, took] = call(get.with(reprise::time_limit{.total = 500ms}), cut_at_deadline);
  checked.claim(took <= 500ms + interval + 50ms,
                "a progress callback that looks at the deadline ends such a call at the next byte: {:.0f} ms",
                ms(took));
}

}  // namespace

int main() try {
  tally checked;
  for (const auto claim :
       {a_503_is_tried_again, a_404_ends_the_call, retry_after_is_honoured, a_post_without_key_is_not_repeated,
        a_post_with_key_is_applied_once, a_refused_connection_proves_that_nothing_was_done,
        a_silent_server_cannot_hold_the_call, a_hung_first_attempt_leaves_time_for_a_second,
        a_trickling_server_outlasts_the_timeout, a_progress_callback_cuts_a_trickle})
    claim(checked);
  fmt::print("{} claims: {} ok, {} not so\n", checked.confirmed + checked.denied, checked.confirmed, checked.denied);
  return checked.denied == 0 ? 0 : 1;
} catch (const std::exception& error) {
  fmt::print(stderr, "http_client: {}\n", error.what());
  return 1;
}
