// SPDX-License-Identifier: MIT
// What is asked of the service, offered by a supplier, and answered; as JSON and back, strictly.
// Knows neither HTTP nor reprise.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace quotes {

inline constexpr std::array<std::string_view, 3> suppliers{"atlas", "boreal", "cedar"};

struct query {
  std::string sku = "KB-001";
  int quantity = 2;
  std::string scenario = "normal";
};

struct offer {
  std::string supplier;
  std::string sku;
  std::int64_t unit_cents = 0;
  std::int64_t shipping_cents = 0;
  std::int64_t stock = 0;

  std::int64_t total_cents(int quantity) const { return unit_cents * quantity + shipping_cents; }
};

/// Why a supplier has no say in an answer: `timeout`, `transport_error`, `invalid_data`, or `http_` and a status.
struct failure {
  std::string_view supplier;
  std::string code;
};

struct answer {
  std::string request_id;
  query asked;
  std::vector<offer> quotes = {};  ///< enough in stock; the cheapest first, equal ones by supplier
  std::vector<failure> failures = {};
  std::array<int, suppliers.size()> attempts = {};  ///< how many requests were sent, per supplier
  std::chrono::nanoseconds elapsed = {};
};

/// The query in a request's body; or the sentence that says what is wrong with it.
std::variant<query, std::string> read_query(const std::string& body);

/// The offer in a supplier's body; nothing if it is none, or not this supplier's, or for something else.
std::optional<offer> read_offer(const std::string& body, std::string_view supplier, std::string_view sku);

nlohmann::json to_json(const answer& given);

}  // namespace quotes
