// SPDX-License-Identifier: MIT
#include "quote_service.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <random>
#include <tuple>

#include "supplier_policy.hpp"

namespace quotes {

namespace {

reply read(const httplib::Result& result, const supplier_call& call) {
  if (!result) return {.error = result.error()};
  reply got{.status = result->status};
  if (got.status == 200) got.offered = read_offer(result->body, call.supplier, call.asked.sku);
  return got;
}

/// The word for a call that failed. The policy's labels are chosen to be those words.
std::string code_of(const reprise::verdict& last) {
  return last.label == "http" ? fmt::format("http_{}", last.code) : std::string(last.label.text());
}

/// Counts up for as long as it lives.
class counted {
 public:
  explicit counted(std::atomic<int>& count) : count_(count) {}
  ~counted() { --count_; }
  counted(const counted&) = delete;
  counted& operator=(const counted&) = delete;

 private:
  std::atomic<int>& count_;
};

}  // namespace

transport over_http(int port) {
  return [port](const supplier_call& call, const reprise::attempt& attempt) {
    httplib::Client client(host, port);
    const std::chrono::milliseconds timeout(attempt.timeout_ms());  // rounded up: never before the deadline
    client.set_connection_timeout(timeout);
    client.set_read_timeout(timeout);
    client.set_write_timeout(timeout);
    client.set_tcp_nodelay(true);
    // A body that httplib cannot unpack looks like a broken connection to it, and would be asked for again. Left
    // packed it is what it is: not an offer.
    client.set_decompress(false);
    return client.Get("/quotes/" + std::string(call.supplier),
                      httplib::Params{{"sku", call.asked.sku}, {"scenario", call.asked.scenario}},
                      httplib::Headers{{"X-Request-ID", call.request_id}, {"Accept-Encoding", "identity"}});
  };
}

quote_service::quote_service(transport send, const limits& limit, std::function<void(reprise::duration)> sleep)
    : send_(std::move(send)),
      budget_(limit.budget),
      inbound_(limit.inbound),
      outbound_(limit.outbound),
      sleep_(std::move(sleep)) {}

std::optional<answer> quote_service::quote(const query& asked) {
  const auto place = inbound_.try_acquire();
  if (!place) return std::nullopt;

  const steady::time_point start = steady::now();
  const steady::time_point deadline = start + budget_;
  const std::string request_id(reprise::http::idempotency_key(std::random_device{}).text());
  std::array<std::future<supplier_end>, suppliers.size()> asking;  // they wait for their threads when they go
  for (std::size_t i = 0; i < suppliers.size(); ++i)
    asking[i] = std::async(std::launch::async, [&, i] { return ask({suppliers[i], asked, request_id}, deadline); });

  answer given{.request_id = request_id, .asked = asked};
  for (std::size_t i = 0; i < suppliers.size(); ++i) {
    supplier_end end = asking[i].get();
    given.attempts[i] = end.attempts;
    if (!end.offered) given.failures.push_back({suppliers[i], std::move(end.failure_code)});
    else if (end.offered->stock >= asked.quantity) given.quotes.push_back(std::move(*end.offered));
  }
  const auto rank = [&](const offer& of) { return std::tuple(of.total_cents(asked.quantity), of.supplier); };
  std::sort(given.quotes.begin(), given.quotes.end(),
            [&](const offer& left, const offer& right) { return rank(left) < rank(right); });
  given.elapsed = steady::now() - start;
  return given;
}

quote_service::supplier_end quote_service::ask(const supplier_call& call, steady::time_point deadline) {
  supplier_end end;
  const auto send = [&](const reprise::attempt& attempt) {
    ++end.attempts;
    return read(send_counted(call, attempt), call);
  };
  // Each attempt queues for a slot, at most until the deadline, and gives it back before the wait.
  auto result = reprise::execute(supplier_policy.with(reprise::deadline{deadline}), outbound_.guard(send, steady::now),
                                 steady::now, sleep_);
  if (result.ok()) {
    end.offered = std::move(result).success().offered;
  } else {
    // A second attempt that the deadline cut short has used up the attempts, but it ran out of time.
    const bool cut = result.last_verdict().kind == reprise::outcome::transient && steady::now() >= deadline;
    const bool late = result.reason() == reprise::stop_reason::deadline_reached || cut;
    end.failure_code = late ? "timeout" : code_of(result.last_verdict());
  }
  return end;
}

httplib::Result quote_service::send_counted(const supplier_call& call, const reprise::attempt& attempt) {
  const int now = ++in_flight_;
  const counted until_the_end(in_flight_);
  int most = most_in_flight_;
  while (now > most && !most_in_flight_.compare_exchange_weak(most, now)) {
  }
  return send_(call, attempt);
}

quote_api::quote_api(quote_service& service)
    : http_(256, [&service](httplib::Server& http) {
        const auto send = [](httplib::Response& reply, int status, const nlohmann::json& body) {
          reply.status = status;
          reply.set_content(body.dump(), "application/json");
        };
        http.Post("/api/quotes", [&service, send](const httplib::Request& request, httplib::Response& reply) {
          const auto asked = read_query(request.body);
          if (const auto* sentence = std::get_if<std::string>(&asked)) return send(reply, 422, {{"detail", *sentence}});
          if (const auto given = service.quote(std::get<query>(asked))) return send(reply, 200, to_json(*given));
          reply.set_header("Retry-After", "1");
          send(reply, 503, {{"detail", "All places are taken; try again later."}});
        });
        http.Get("/health",
                 [send](const httplib::Request&, httplib::Response& reply) { send(reply, 200, {{"status", "ok"}}); });
        http.set_exception_handler([send](const httplib::Request&, httplib::Response& reply, std::exception_ptr) {
          send(reply, 500, {{"detail", "internal_error"}});
        });
      }) {}

}  // namespace quotes
