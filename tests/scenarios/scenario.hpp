// SPDX-License-Identifier: MIT
// Reads a scenario (one JSON object), runs it through the public API, and writes its result.
// Knows no rule of retrying: every number of a result comes out of the library.
#pragma once

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <reprise/core.hpp>
#include <reprise/testing/fake_clock.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace scenarios {

using json = nlohmann::ordered_json;

/// Tokens at the start, so many for a retry; nothing comes back.
class token_budget {
 public:
  struct permit {};

  token_budget(double tokens, double cost) : left_(tokens), cost_(cost) {
    if (!(tokens >= 0 && cost >= 0)) throw std::invalid_argument("the budget's tokens and cost must be zero or more");
  }

  void call_started(reprise::duration) {}
  void failed(const reprise::verdict&) {}
  std::optional<permit> try_retry(const reprise::verdict&, reprise::duration) {
    if (left_ < cost_) return std::nullopt;
    left_ -= cost_;
    return permit{};
  }
  void call_ended(bool, std::optional<permit>, reprise::duration) {}

 private:
  double left_;
  double cost_;
};

/// What happens at one attempt.
struct step {
  reprise::time_span takes = {};
  std::optional<int> status = {};
  std::optional<std::string> retry_after = {};
  bool transient = false;
  bool not_applied = false;
  bool overruns = false;
};

/// A scenario: the parts of its policy, and what happens around it.
struct scenario {
  reprise::chosen_backoff backoff = {};
  reprise::chosen_jitter jitter = {.kind = reprise::jitter_kind::none};
  reprise::attempt_budget attempts = {};
  reprise::time_limit time = {};
  reprise::attempt_timeout timeout = {};
  reprise::wait_limit waiting = {};
  reprise::retry_after_limit hints = {};
  reprise::http::retry_statuses statuses = {};
  std::optional<token_budget> budget = {};
  reprise::http::operation operation = {.method = "GET"};
  std::vector<double> fractions = {0.5};
  std::vector<step> steps = {};
  reprise::time_span oversleep = {};
  std::optional<reprise::time_span> interrupt_at = {};
};

/// How a scenario ended.
struct outcome {
  int attempts = 0;
  std::vector<reprise::duration> waits = {};
  std::vector<reprise::duration> timeouts = {};
  std::string stop = {};
  int status = 0;
  int code = 0;
  reprise::duration ends = {};

  friend bool operator==(const outcome&, const outcome&) = default;
};

// --- reading ---------------------------------------------------------------------------------------------------------

/// How a value is read, which gives nothing for one of another type; and what it should be.
template <class Value> struct form {
  std::optional<Value> (*read)(const json&);
  const char* is;
};

inline std::optional<reprise::time_span> read_length(const json& value) {
  const auto milliseconds = [](auto count) {
    return reprise::time_span(std::chrono::duration<decltype(count), std::milli>(count));
  };
  if (value.is_number_unsigned()) return milliseconds(value.get<std::uint64_t>());
  if (value.is_number_integer()) return milliseconds(value.get<std::int64_t>());
  if (value.is_number_float()) return milliseconds(value.get<double>());
  return std::nullopt;
}

inline std::optional<int> read_whole(const json& value) {
  const bool fits = value.is_number_unsigned()
                        ? std::in_range<int>(value.get<std::uint64_t>())
                        : value.is_number_integer() && std::in_range<int>(value.get<std::int64_t>());
  return fits ? std::optional(value.get<int>()) : std::nullopt;
}

/// An optional without a value for null.
template <class Value, const form<Value>& Of> std::optional<std::optional<Value>> read_or_null(const json& value) {
  using nullable = std::optional<std::optional<Value>>;
  if (value.is_null()) return nullable(std::in_place);
  auto read = Of.read(value);
  return read.has_value() ? nullable(std::in_place, *std::move(read)) : nullable();
}

template <class Value, const form<Value>& Of> std::optional<std::vector<Value>> read_list(const json& value) {
  if (!value.is_array()) return std::nullopt;
  std::vector<Value> list;
  for (const json& element : value) {
    auto read = Of.read(element);
    if (!read.has_value()) return std::nullopt;
    list.push_back(*std::move(read));
  }
  return list;
}

/// For the parts of the library, which refuse a negative one themselves.
inline constexpr form<reprise::time_span> a_length = {read_length, "a number of milliseconds"};
inline constexpr form<reprise::time_span> a_limit = {
    [](const json& value) { return value.is_null() ? reprise::time_span(reprise::unlimited) : read_length(value); },
    "a number of milliseconds, or null"};
/// For what no part of the library checks.
inline constexpr form<reprise::time_span> a_span = {
    [](const json& value) {
      const auto read = read_length(value);
      return read.has_value() && *read < reprise::time_span() ? std::nullopt : read;
    },
    "a number of milliseconds from 0"};
inline constexpr form<std::optional<reprise::time_span>> a_span_or_null = {read_or_null<reprise::time_span, a_span>,
                                                                           "a number of milliseconds from 0, or null"};
inline constexpr form<int> a_count = {
    [](const json& value) { return value.is_null() ? std::optional(reprise::unlimited_count) : read_whole(value); },
    "a whole number, or null"};
inline constexpr form<int> a_whole = {read_whole, "a whole number"};
inline constexpr form<std::optional<int>> a_whole_or_null = {read_or_null<int, a_whole>, "a whole number, or null"};
inline constexpr form<std::vector<int>> wholes = {read_list<int, a_whole>, "a list of whole numbers"};
inline constexpr form<double> a_number = {
    [](const json& value) { return value.is_number() ? std::optional(value.get<double>()) : std::nullopt; },
    "a number"};
inline constexpr form<std::vector<double>> numbers = {read_list<double, a_number>, "a list of numbers"};
inline constexpr form<bool> a_flag = {
    [](const json& value) { return value.is_boolean() ? std::optional(value.get<bool>()) : std::nullopt; },
    "true or false"};
inline constexpr form<std::string> a_text = {
    [](const json& value) { return value.is_string() ? std::optional(value.get<std::string>()) : std::nullopt; },
    "text"};
inline constexpr form<std::optional<std::string>> a_text_or_null = {read_or_null<std::string, a_text>, "text, or null"};
template <class Kind> inline constexpr form<Kind> a_kind = {
    [](const json& value) { return value.is_string() ? reprise::parse<Kind>(value.get<std::string>()) : std::nullopt; },
    "a kind that there is"};

[[noreturn]] inline void refuse(const std::string& sentence) { throw std::invalid_argument(sentence); }

/// Reads the value of a key; what stands in `target` is the default.
template <class Target, class Value>
void read(const json& object, const char* key, Target& target, const form<Value>& as) {
  const auto found = object.find(key);
  if (found == object.end()) return;
  auto value = as.read(*found);
  if (!value.has_value()) refuse(std::string(key) + " must be " + as.is + ", is " + found->dump());
  target = *std::move(value);
}

/// Refuses what is no object, and an unknown key: a misspelt one would otherwise read as the default.
inline void require_object(const json& object, const char* name, std::initializer_list<std::string_view> known) {
  if (!object.is_object()) refuse(std::string(name) + " must be an object");
  for (const auto& member : object.items())
    if (std::find(known.begin(), known.end(), member.key()) == known.end())
      refuse(std::string(name) + " has no key " + json(member.key()).dump());
}

/// The object of a key, an empty one if there is none.
inline const json& object_of(const json& parent, const char* key, std::initializer_list<std::string_view> known) {
  static const json none = json::object();
  const auto found = parent.find(key);
  if (found == parent.end()) return none;
  require_object(*found, key, known);
  return *found;
}

inline std::optional<token_budget> read_budget(const json& policy) {
  const auto found = policy.find("budget");
  if (found == policy.end() || found->is_null()) return std::nullopt;
  require_object(*found, "budget", {"tokens", "cost"});
  std::optional<double> tokens;
  std::optional<double> cost;
  read(*found, "tokens", tokens, a_number);
  read(*found, "cost", cost, a_number);
  if (!tokens.has_value() || !cost.has_value()) refuse("budget must have tokens and cost");
  return token_budget(*tokens, *cost);
}

inline step read_step(const json& attempt) {
  require_object(attempt, "an attempt", {"takes_ms", "status", "retry_after", "transient", "not_applied", "overruns"});
  step happens;
  read(attempt, "takes_ms", happens.takes, a_span);
  read(attempt, "status", happens.status, a_whole_or_null);
  read(attempt, "retry_after", happens.retry_after, a_text_or_null);
  read(attempt, "transient", happens.transient, a_flag);
  read(attempt, "not_applied", happens.not_applied, a_flag);
  read(attempt, "overruns", happens.overruns, a_flag);
  return happens;
}

/// The scenario of a line; `std::invalid_argument` if it cannot be used.
inline scenario read_scenario(const json& line) {
  require_object(line, "a scenario", {"id", "policy", "operation", "fractions", "attempts", "sleep", "expect"});
  scenario result;

  const json& policy = object_of(line, "policy",
                                 {"backoff", "jitter", "max_attempts", "time_limit_ms", "attempt_timeout_ms",
                                  "wait_limit_ms", "retry_after_limit_ms", "statuses", "budget"});
  const json& backoff = object_of(policy, "backoff", {"kind", "base_ms", "factor", "cap_ms"});
  read(backoff, "kind", result.backoff.kind, a_kind<reprise::backoff_kind>);
  read(backoff, "base_ms", result.backoff.base, a_length);
  read(backoff, "factor", result.backoff.factor, a_number);
  read(backoff, "cap_ms", result.backoff.cap, a_limit);
  const json& jitter = object_of(policy, "jitter", {"kind", "fraction"});
  read(jitter, "kind", result.jitter.kind, a_kind<reprise::jitter_kind>);
  read(jitter, "fraction", result.jitter.fraction, a_number);
  // The form has no key for its length.
  if (result.jitter.kind == reprise::jitter_kind::added) refuse("kind must be a kind that there is, is \"added\"");
  read(policy, "max_attempts", result.attempts.maximum, a_count);
  read(policy, "time_limit_ms", result.time.total, a_limit);
  read(policy, "attempt_timeout_ms", result.timeout.longest, a_limit);
  read(policy, "wait_limit_ms", result.waiting.total, a_limit);
  read(policy, "retry_after_limit_ms", result.hints.longest, a_limit);
  std::optional<std::vector<int>> statuses;
  read(policy, "statuses", statuses, wholes);
  if (statuses.has_value()) result.statuses = reprise::http::retry_statuses::from(*statuses);
  result.budget = read_budget(policy);

  const json& operation = object_of(line, "operation", {"method", "key"});
  std::string method = "GET";
  std::optional<std::string> key;
  read(operation, "method", method, a_text);
  read(operation, "key", key, a_text_or_null);
  result.operation = {.method = method, .idempotency_key = key};

  read(line, "fractions", result.fractions, numbers);
  if (result.fractions.empty()) refuse("fractions must not be empty");
  const auto attempts = line.find("attempts");
  if (attempts == line.end() || !attempts->is_array() || attempts->empty())
    refuse("attempts must be a list of one attempt or more");
  for (const json& attempt : *attempts) result.steps.push_back(read_step(attempt));

  const json& sleep = object_of(line, "sleep", {"oversleep_ms", "interrupt_at_ms"});
  read(sleep, "oversleep_ms", result.oversleep, a_span);
  read(sleep, "interrupt_at_ms", result.interrupt_at, a_span_or_null);
  return result;
}

// --- running ---------------------------------------------------------------------------------------------------------

/// What an attempt brings back.
struct answer {
  int status = 0;
  std::string_view retry_after = {};
  bool transient = false;
  bool not_applied = false;
};

/// The element at n, counted from 0; the last one repeats.
template <class List> const auto& nth(const List& list, std::size_t n) { return list[std::min(n, list.size() - 1)]; }

/// Runs a scenario of up to `Capacity` waits; more are `std::length_error`, so that an endless one ends too.
template <std::size_t Capacity> outcome run(scenario given) {
  const auto time = std::make_unique<reprise::testing::basic_fake_clock<Capacity>>();
  time->oversleeps(given.oversleep);
  if (given.interrupt_at.has_value()) time->interrupts_at(*given.interrupt_at);

  outcome ended;
  const auto send = [&](const reprise::attempt& current) -> answer {
    ended.timeouts.push_back(current.timeout);
    const step& happens = nth(given.steps, ended.timeouts.size() - 1);
    if (happens.takes > current.timeout && !happens.overruns) {
      time->advance(current.timeout);
      return {.transient = true};  // it may have been applied
    }
    time->advance(happens.takes);
    if (happens.transient) return {.transient = true, .not_applied = happens.not_applied};
    return {.status = happens.status.value_or(0),
            .retry_after = happens.retry_after.has_value() ? std::string_view(*happens.retry_after) : "",
            .not_applied = happens.not_applied};
  };
  // By the number of the retry, not of the draw: a retry that draws nothing uses its fraction up.
  const auto fraction = [&] { return nth(given.fractions, time->waits().size()); };

  const auto without_status = [](const answer& ending) -> std::optional<reprise::verdict> {
    if (!ending.transient) return std::nullopt;
    return reprise::verdict{
        .kind = reprise::outcome::transient, .label = "transport", .not_applied = ending.not_applied};
  };
  const auto not_applied = [statuses = given.statuses](const answer& ending) -> std::optional<reprise::verdict> {
    if (!ending.not_applied) return std::nullopt;
    reprise::verdict proven = statuses(ending);
    proven.not_applied = true;
    return proven;
  };
  const reprise::retry_policy policy{without_status, not_applied,   given.statuses, given.operation,
                                     given.backoff,  given.jitter,  given.attempts, given.time,
                                     given.timeout,  given.waiting, given.hints};
  const auto call = [&](const auto& with) {
    return reprise::execute(with, send, time->clock(), time->sleep(), fraction);
  };
  const auto result =
      given.budget.has_value() ? call(policy.with(reprise::shared_budget(*given.budget))) : call(policy);

  ended.attempts = result.attempts();
  ended.waits.assign(time->waits().begin(), time->waits().end());
  ended.stop = to_string(result.reason());
  ended.status = result.has_response() ? result.response().status : 0;
  ended.code = result.last_verdict().code;
  ended.ends = time->now().time_since_epoch();
  return ended;
}

// --- writing ---------------------------------------------------------------------------------------------------------

/// Milliseconds, exact: a double has too few digits for large ones.
inline std::string text_of(reprise::duration d) {
  constexpr std::int64_t per = 1'000'000;
  std::string text = std::to_string(d.count() / per);
  if (d.count() % per == 0) return text;
  const std::string rest = std::to_string(d.count() % per + per);
  return text + "." + rest.substr(1, rest.find_last_not_of('0'));
}

/// Milliseconds; unlimited is null.
inline std::string text_of_limit(reprise::duration d) { return d == reprise::unlimited ? "null" : text_of(d); }

template <class Text> std::string text_of_list(const std::vector<reprise::duration>& list, Text text) {
  std::string all;
  for (const reprise::duration d : list) all += (all.empty() ? "" : ", ") + text(d);
  return "[" + all + "]";
}

/// The keys of a result with their values as JSON, in the order in which they are written.
inline std::vector<std::pair<std::string, std::string>> rows(const outcome& ended) {
  const auto length = [](reprise::duration d) { return text_of(d); };
  return {{"attempts", std::to_string(ended.attempts)},
          {"waits_ms", text_of_list(ended.waits, length)},
          {"timeouts_ms", text_of_list(ended.timeouts, text_of_limit)},
          {"stop", json(ended.stop).dump()},
          {"status", ended.status == 0 ? "null" : std::to_string(ended.status)},
          {"code", std::to_string(ended.code)},
          {"ends_ms", text_of(ended.ends)}};
}

/// A result without its id: `"attempts": 1, ...`.
inline std::string text_of(const outcome& ended) {
  std::string all;
  for (const auto& [key, value] : rows(ended)) all += (all.empty() ? "\"" : ", \"") + key + "\": " + value;
  return all;
}

// --- comparing -------------------------------------------------------------------------------------------------------

/// Whether a length is the expected one; an expectation between two nanoseconds is met by both.
inline bool matches(const json& expected, reprise::duration got) {
  const auto nearest = read_length(expected);
  if (nearest.has_value() && *nearest == reprise::time_span(got)) return true;
  if (!expected.is_number_float()) return false;
  const double exact = expected.get<double>() * 1e6;
  // Less is what the division into milliseconds leaves over of a whole number of nanoseconds.
  const bool is_between = std::abs(exact - std::round(exact)) > 1e-3;
  return is_between && std::abs(exact - static_cast<double>(got.count())) < 1.0;
}

inline bool matches_limit(const json& expected, reprise::duration got) {
  return expected.is_null() ? got == reprise::unlimited : matches(expected, got);
}

inline bool matches(const json& expected, int got) { return expected.is_number() && expected == got; }

template <class Match> bool matches_all(const json& expected, const std::vector<reprise::duration>& got, Match match) {
  return expected.is_array() && std::equal(expected.begin(), expected.end(), got.begin(), got.end(), match);
}

/// What differs from an expectation, a sentence each; keys that it does not name are not compared.
inline std::vector<std::string> differences(const json& expected, const outcome& ended) {
  if (!expected.is_object() || expected.empty()) return {"expect must be an object with keys of a result"};
  const auto length = [](const json& value, reprise::duration got) { return matches(value, got); };
  const auto results = rows(ended);
  std::vector<std::string> all;
  for (const auto& member : expected.items()) {
    const std::string& key = member.key();
    const json& value = member.value();
    const auto row = std::find_if(results.begin(), results.end(), [&](const auto& each) { return each.first == key; });
    if (row == results.end()) {
      all.push_back("a result has no key " + json(key).dump());
      continue;
    }
    const bool same = (key == "attempts" && matches(value, ended.attempts)) ||
                      (key == "waits_ms" && matches_all(value, ended.waits, length)) ||
                      (key == "timeouts_ms" && matches_all(value, ended.timeouts, matches_limit)) ||
                      (key == "stop" && value == ended.stop) ||
                      (key == "status" && (ended.status == 0 ? value.is_null() : matches(value, ended.status))) ||
                      (key == "code" && matches(value, ended.code)) || (key == "ends_ms" && matches(value, ended.ends));
    if (!same) all.push_back(key + " is " + row->second + ", expected " + value.dump());
  }
  return all;
}

}  // namespace scenarios
