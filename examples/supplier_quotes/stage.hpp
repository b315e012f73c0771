// SPDX-License-Identifier: MIT
// Suppliers, service and its HTTP front, up and running; and a browser that asks.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "quote_service.hpp"
#include "supplier.hpp"

namespace quotes {

/// What a browser got. Status 0: no answer.
struct http_answer {
  int status = 0;
  nlohmann::json body = {};
  std::string retry_after = {};
  reprise::duration took = {};

  double ms() const { return std::chrono::duration<double, std::milli>(took).count(); }
};

/// POST /api/quotes.
inline http_answer post(httplib::Client& client, const std::string& body) {
  const auto start = steady::now();
  const httplib::Result result = client.Post("/api/quotes", body, "application/json");
  http_answer got{.took = steady::now() - start};
  if (!result) return got;
  got.status = result->status;
  got.body = nlohmann::json::parse(result->body, nullptr, false);
  got.retry_after = result->get_header_value("Retry-After");
  return got;
}

inline http_answer post(int port, const std::string& body) {
  httplib::Client client(host, port);
  client.set_tcp_nodelay(true);
  return post(client, body);
}

/// All of it on 127.0.0.1.
struct stage {
  supplier_server supplier = {};
  quote_service service{over_http(supplier.port())};
  quote_api api{service};

  http_answer post(const std::string& body) const { return quotes::post(api.port(), body); }
};

/// Every place and every slot is free again.
inline bool all_free(quote_service& service) {
  return service.inbound().free() == service.inbound().slots() &&
         service.outbound().free() == service.outbound().slots();
}

}  // namespace quotes
