// SPDX-License-Identifier: MIT
#include "messages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

namespace quotes {

namespace {

using nlohmann::json;

/// The object in a text; nothing where it is anything else.
std::optional<json> object_in(const std::string& text) {
  json parsed = json::parse(text, nullptr, false);
  if (!parsed.is_object()) return std::nullopt;
  return parsed;
}

/// A field that is not one of these, if there is one.
std::optional<std::string> stranger_in(const json& object, std::initializer_list<std::string_view> known) {
  for (const auto& [name, value] : object.items())
    if (std::find(known.begin(), known.end(), name) == known.end()) return name;
  return std::nullopt;
}

/// A whole number in this range: no text, no boolean, no 2.0.
std::optional<std::int64_t> whole_number(const json& object, const char* name, std::int64_t lowest,
                                         std::int64_t highest) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_number_integer()) return std::nullopt;
  if (found->is_number_unsigned() && found->get<std::uint64_t>() > static_cast<std::uint64_t>(highest))
    return std::nullopt;
  const auto number = found->get<std::int64_t>();
  if (number < lowest || number > highest) return std::nullopt;
  return number;
}

std::optional<std::string> text(const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_string()) return std::nullopt;
  return found->get<std::string>();
}

json to_json(const offer& offered, int quantity) {
  return {{"supplier", offered.supplier},     {"sku", offered.sku},
          {"unit_cents", offered.unit_cents}, {"shipping_cents", offered.shipping_cents},
          {"stock", offered.stock},           {"total_cents", offered.total_cents(quantity)}};
}

}  // namespace

std::variant<query, std::string> read_query(const std::string& body) {
  const auto object = object_in(body);
  if (!object) return "The body must be a JSON object.";
  if (const auto stranger = stranger_in(*object, {"sku", "quantity", "scenario"}))
    return fmt::format("There is no field \"{}\"; the fields are sku, quantity and scenario.", *stranger);
  query asked;
  if (object->contains("sku")) {
    const auto sku = text(*object, "sku");
    if (!sku || sku->empty() || sku->size() > 64) return "sku must be a text of 1 to 64 bytes.";
    asked.sku = *sku;
  }
  if (object->contains("quantity")) {
    const auto quantity = whole_number(*object, "quantity", 1, 100);
    if (!quantity) return "quantity must be a whole number from 1 to 100.";
    asked.quantity = static_cast<int>(*quantity);
  }
  if (object->contains("scenario")) {
    const auto scenario = text(*object, "scenario");
    constexpr std::array<std::string_view, 5> known{"normal", "slow", "broken", "malformed", "flaky"};
    if (!scenario || std::find(known.begin(), known.end(), *scenario) == known.end())
      return "scenario must be normal, slow, broken, malformed or flaky.";
    asked.scenario = *scenario;
  }
  return asked;
}

std::optional<offer> read_offer(const std::string& body, std::string_view supplier, std::string_view sku) {
  constexpr std::int64_t highest = 1'000'000'000'000;  // no total overflows
  const auto object = object_in(body);
  if (!object || stranger_in(*object, {"supplier", "sku", "unit_cents", "shipping_cents", "stock"}))
    return std::nullopt;
  const auto unit = whole_number(*object, "unit_cents", 0, highest);
  const auto shipping = whole_number(*object, "shipping_cents", 0, highest);
  const auto stock = whole_number(*object, "stock", 0, highest);
  if (text(*object, "supplier") != supplier || text(*object, "sku") != sku || !unit || !shipping || !stock)
    return std::nullopt;
  return offer{std::string(supplier), std::string(sku), *unit, *shipping, *stock};
}

json to_json(const answer& given) {
  json quotes = json::array();
  for (const offer& offered : given.quotes) quotes.push_back(to_json(offered, given.asked.quantity));
  json failures = json::array();
  for (const auto& [supplier, code] : given.failures) failures.push_back({{"supplier", supplier}, {"code", code}});
  json attempts;
  for (std::size_t i = 0; i < suppliers.size(); ++i) attempts[std::string(suppliers[i])] = given.attempts[i];
  json best = quotes.empty() ? json() : quotes.front();
  return {{"request_id", given.request_id},
          {"sku", given.asked.sku},
          {"quantity", given.asked.quantity},
          {"quotes", std::move(quotes)},
          {"best", std::move(best)},
          {"failures", std::move(failures)},
          {"attempts", std::move(attempts)},
          {"elapsed_ms", std::chrono::duration<double, std::milli>(given.elapsed).count()}};
}

}  // namespace quotes
