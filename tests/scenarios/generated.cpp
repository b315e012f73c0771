// SPDX-License-Identifier: MIT
// Makes scenarios at random and runs each through the library and through the reference: both must agree on all of
// them. Then the control: a reference that is told another value of a key must be caught, for every key.
#include <array>
#include <charconv>
#include <cstring>
#include <iostream>
#include <map>
#include <random>

#include "reference.hpp"
#include "scenario.hpp"

namespace {

using scenarios::json;

constexpr std::size_t capacity = 1024;

// --- making ----------------------------------------------------------------------------------------------------------

/// Numbers from a seed, the same with every standard library.
class dice {
 public:
  explicit dice(std::uint64_t seed) : numbers_(seed) {}

  std::uint64_t below(std::uint64_t count) { return numbers_() % count; }
  bool one_in(std::uint64_t count) { return below(count) == 0; }
  template <class Value, std::size_t Count> Value one_of(const Value (&values)[Count]) { return values[below(Count)]; }

 private:
  std::mt19937_64 numbers_;
};

constexpr std::int64_t millisecond = 1'000'000;
constexpr std::int64_t second = 1000 * millisecond;

/// Few different lengths, so that waits and limits are often equal to the nanosecond; and some extreme ones.
std::int64_t length(dice& roll) {
  switch (roll.below(12)) {
    case 0: return 0;
    case 1: return static_cast<std::int64_t>(roll.below(10));
    case 2: return static_cast<std::int64_t>(roll.below(10 * second));
    case 3: return roll.one_of({5'000'000'000 * millisecond, 9'223'372'036'854 * millisecond, reference::never});
    case 4: return static_cast<std::int64_t>(1 + roll.below(20)) * millisecond / 2;
    default:
      return roll.one_of({1, 2, 3, 4, 5, 7, 8, 10, 15, 20}) * roll.one_of({millisecond, 100 * millisecond, second});
  }
}

/// One that must not be zero.
std::int64_t positive(dice& roll) { return std::max<std::int64_t>(1, length(roll)); }

std::string retry_after(dice& roll) {
  if (!roll.one_in(3)) return "";
  if (roll.one_in(3))
    return roll.one_of({"-1", "+1", "1.5", "1e3", "0x10", "soon", "1, 2", " ", "\xc2\xb2", "1 2", "--",
                        "Wed, 21 Oct 2015 07:28:00 GMT"});
  return roll.one_of({"0", "00", "1", "2", "3", "5", "007", " 4\t", "10", "120", "9223372036", "9223372037",
                      "999999999999999999999999999999"});
}

reference::step step(dice& roll) {
  reference::step made;
  if (!roll.one_in(3)) made.takes = roll.one_in(40) ? reference::never : length(roll);
  made.status = roll.one_of({503, 503, 503, 503, 503, 503, 503, 429, 502, 504});
  if (roll.one_in(4)) made.status = roll.one_of({200, 204, 304, 399, 100, 202, 400, 404, 500, 599, 600, 99, 0, -1});
  made.retry_after = retry_after(roll);
  made.transient = roll.one_in(8);
  made.not_applied = roll.one_in(6);
  made.overruns = roll.one_in(6);
  return made;
}

reference::scenario scenario(dice& roll) {
  reference::scenario made;
  made.backoff = roll.one_of({"exponential", "exponential", "constant", "linear", "fibonacci"});
  made.base = length(roll);
  made.cap = roll.one_in(3) ? reference::never : length(roll);
  made.jitter = roll.one_of({"none", "none", "full", "equal", "proportional", "decorrelated"});
  made.spread = roll.one_of({0.0, 0.1, 0.25, 0.5, 0.9, 1.0});
  made.max_attempts = roll.one_of({1, 2, 3, 3, 4, 5, 6, 8, 12, 20});
  if (roll.one_in(500)) made.max_attempts = 1000;
  if (roll.one_in(15)) made.max_attempts = INT_MAX;
  made.time_limit = roll.one_in(3) ? reference::never : positive(roll);
  if (roll.one_in(3)) made.attempt_timeout = positive(roll);
  if (roll.one_in(3)) made.wait_limit = length(roll);
  if (roll.one_in(3)) made.retry_after_limit = roll.one_in(3) ? length(roll) : roll.one_of({0, 1, 2, 3, 5}) * second;
  if (roll.one_in(4)) {
    made.statuses.clear();
    for (std::uint64_t n = roll.below(4); n > 0; --n)
      made.statuses.push_back(roll.one_of({503, 500, 404, 429, 202, 304, 100, 599}));
  }
  if (roll.one_in(5)) {
    made.has_budget = true;
    made.cost = roll.one_of({0, 1, 1, 2, 5});
    made.tokens = static_cast<int>(roll.below(12));
  }
  // Whole powers of these factors are exact for as long as they are needed, of 1.1 only the first ones.
  made.factor = roll.one_of({2.0, 2.0, 1.0, 1.5, 3.0, 4.0, 10.0, 1e6, 1.1});
  if (made.factor == 1e6 || made.factor == 1.1) made.max_attempts = std::min(made.max_attempts, 4);
  else if (made.factor != 1.0 && made.factor != 2.0 && made.factor != 4.0)
    made.max_attempts = std::min(made.max_attempts, 20);

  made.method = roll.one_of({"GET", "GET", "GET", "GET", "get", "Head", "PUT", "delete", "POST", "post", "PATCH", ""});
  made.key = roll.one_of({"", "", "k"});
  if (!roll.one_in(4)) {
    made.fractions.clear();
    for (std::uint64_t n = 1 + roll.below(4); n > 0; --n)
      made.fractions.push_back(roll.one_in(5) ? static_cast<double>(roll.below(1000)) / 1000.0
                                              : roll.one_of({0.0, 0.25, 0.5, 0.75, 1.0, -1.0, 2.0}));
  }
  for (std::uint64_t n = 1 + roll.below(5); n > 0; --n) made.steps.push_back(step(roll));
  // Without a limit of the attempts something else has to end it.
  if (made.max_attempts == INT_MAX) made.steps.push_back({.status = 418});
  if (roll.one_in(4)) made.oversleep = length(roll);
  if (roll.one_in(4)) made.interrupt_at = length(roll);
  return made;
}

// --- writing ---------------------------------------------------------------------------------------------------------

json milliseconds(std::int64_t length) {
  if (length == reference::never) return 1e18;  // saturates
  if (length % millisecond == 0) return length / millisecond;
  return static_cast<double>(length) / 1e6;
}

json limit(std::int64_t length, bool as_null) {
  return length == reference::never && as_null ? json() : milliseconds(length);
}

/// The scenario as a line. What is as by default is left out of every other one.
json text_of(const reference::scenario& made, int number) {
  const reference::scenario usual;
  const bool brief = number % 2 == 0;
  const bool as_null = number % 3 != 0;
  const auto put = [&](json& object, const char* key, const json& value, bool is_default) {
    if (!(brief && is_default)) object[key] = value;
  };
  json backoff = json::object();
  put(backoff, "kind", made.backoff, made.backoff == usual.backoff);
  put(backoff, "base_ms", milliseconds(made.base), made.base == usual.base);
  put(backoff, "factor", made.factor, made.factor == usual.factor);
  put(backoff, "cap_ms", limit(made.cap, as_null), made.cap == usual.cap);
  json jitter = json::object();
  put(jitter, "kind", made.jitter, made.jitter == usual.jitter);
  put(jitter, "fraction", made.spread, made.spread == usual.spread || made.jitter != "proportional");

  json policy = json::object();
  put(policy, "backoff", backoff, backoff.empty());
  put(policy, "jitter", jitter, jitter.empty());
  put(policy, "max_attempts", made.max_attempts == INT_MAX ? json() : json(made.max_attempts),
      made.max_attempts == usual.max_attempts);
  put(policy, "time_limit_ms", limit(made.time_limit, as_null), made.time_limit == usual.time_limit);
  put(policy, "attempt_timeout_ms", limit(made.attempt_timeout, as_null),
      made.attempt_timeout == usual.attempt_timeout);
  put(policy, "wait_limit_ms", limit(made.wait_limit, as_null), made.wait_limit == usual.wait_limit);
  put(policy, "retry_after_limit_ms", limit(made.retry_after_limit, as_null),
      made.retry_after_limit == usual.retry_after_limit);
  put(policy, "statuses", made.statuses, made.statuses == usual.statuses);
  if (made.has_budget) policy["budget"] = {{"tokens", made.tokens}, {"cost", made.cost}};

  json operation = json::object();
  put(operation, "method", made.method, made.method == usual.method);
  put(operation, "key", made.key.empty() && as_null ? json() : json(made.key), made.key.empty());

  json attempts = json::array();
  for (const reference::step& happens : made.steps) {
    json attempt = json::object();
    put(attempt, "takes_ms", milliseconds(happens.takes), happens.takes == 0);
    put(attempt, "status", happens.status == 0 && as_null ? json() : json(happens.status), happens.status == 0);
    put(attempt, "retry_after", happens.retry_after, happens.retry_after.empty());
    put(attempt, "transient", happens.transient, !happens.transient);
    put(attempt, "not_applied", happens.not_applied, !happens.not_applied);
    put(attempt, "overruns", happens.overruns, !happens.overruns);
    attempts.push_back(attempt);
  }
  json sleep = json::object();
  put(sleep, "oversleep_ms", milliseconds(made.oversleep), made.oversleep == 0);
  if (made.interrupt_at != reference::never) sleep["interrupt_at_ms"] = milliseconds(made.interrupt_at);

  json line = {{"id", "generated-" + std::to_string(number)}};
  put(line, "policy", policy, policy.empty());
  put(line, "operation", operation, operation.empty());
  put(line, "fractions", made.fractions, made.fractions == usual.fractions);
  line["attempts"] = attempts;
  put(line, "sleep", sleep, sleep.empty());
  return line;
}

// --- comparing -------------------------------------------------------------------------------------------------------

std::vector<reprise::duration> durations(const std::vector<std::int64_t>& counts) {
  std::vector<reprise::duration> all;
  for (const std::int64_t count : counts) all.emplace_back(count);
  return all;
}

scenarios::outcome expected(const reference::scenario& made) {
  const reference::result r = reference::run(made);
  return {.attempts = r.attempts,
          .waits = durations(r.waits),
          .timeouts = durations(r.timeouts),
          .stop = r.stop,
          .status = r.status,
          .code = r.code,
          .ends = reprise::duration(r.ends)};
}

/// Another value of one key. Of a limit it is the next one, and the stop reason has to tell: so that it is seen only
/// where something is exactly as long as the limit.
struct alteration {
  const char* key;
  void (*alter)(reference::scenario&);
  bool is_limit = false;

  bool shows(const scenarios::outcome& before, const scenarios::outcome& after) const {
    return is_limit ? before.stop != after.stop : before != after;
  }
};

void one_more(std::int64_t& length) { length += length != reference::never ? 1 : 0; }

void one_less(std::int64_t& length) { length -= length != reference::never && length > 0 ? 1 : 0; }

constexpr alteration alterations[] = {
    {"backoff.kind", [](auto& s) { s.backoff = s.backoff == "linear" ? "fibonacci" : "linear"; }},
    {"backoff.base_ms", [](auto& s) { one_more(s.base); }},
    {"backoff.factor", [](auto& s) { s.factor = 2; }},
    {"backoff.cap_ms", [](auto& s) { one_more(s.cap); }},
    {"jitter.kind", [](auto& s) { s.jitter = s.jitter == "full" ? "equal" : "full"; }},
    {"jitter.kind decorrelated", [](auto& s) { s.jitter = s.jitter == "decorrelated" ? "full" : s.jitter; }},
    {"jitter.fraction", [](auto& s) { s.spread = 0.1; }},
    {"max_attempts", [](auto& s) { s.max_attempts += s.max_attempts == INT_MAX ? 0 : 1; }, true},
    {"attempt_timeout_ms", [](auto& s) { one_more(s.attempt_timeout); }},
    {"time_limit_ms", [](auto& s) { one_more(s.time_limit); }, true},
    {"wait_limit_ms", [](auto& s) { one_more(s.wait_limit); }, true},
    {"retry_after_limit_ms", [](auto& s) { one_less(s.retry_after_limit); }, true},
    {"statuses", [](auto& s) { s.statuses = {429, 502, 503, 504}; }},
    {"budget.tokens", [](auto& s) { s.tokens += 1; }, true},
    {"budget.cost", [](auto& s) { s.cost += 1; }},
    {"operation.method", [](auto& s) { s.method = "POST"; }},
    {"operation.key", [](auto& s) { s.key = ""; }},
    {"fractions", [](auto& s) { s.fractions.resize(1); }},
    {"attempts", [](auto& s) { s.steps.resize(1); }},
    {"attempts.takes_ms", [](auto& s) { one_more(s.steps[0].takes); }},
    {"attempts.status", [](auto& s) { s.steps[0].status = 503; }},
    {"attempts.retry_after", [](auto& s) { s.steps[0].retry_after = ""; }},
    {"attempts.transient", [](auto& s) { s.steps[0].transient = false; }},
    {"attempts.not_applied", [](auto& s) { s.steps[0].not_applied = false; }},
    {"attempts.overruns", [](auto& s) { s.steps[0].overruns = false; }},
    {"sleep.oversleep_ms", [](auto& s) { one_more(s.oversleep); }},
    {"sleep.interrupt_at_ms", [](auto& s) { one_more(s.interrupt_at); }, true},
};

bool read_number(const char* text, std::uint64_t& number) {
  const char* end = text + std::strlen(text);
  const auto [stopped, failure] = std::from_chars(text, end, number);
  return failure == std::errc() && stopped == end;
}

}  // namespace

int main(int argument_count, char** arguments) {
  std::uint64_t seed = 1;
  std::uint64_t count = 20'000;
  if (argument_count > 3 || (argument_count > 1 && !read_number(arguments[1], seed)) ||
      (argument_count > 2 && (!read_number(arguments[2], count) || count > INT_MAX))) {
    std::cerr << "usage: reprise_scenarios_generated [seed [count]], both whole numbers\n";
    return 2;
  }

  std::map<std::string, int> seen;
  for (int reason = 0; to_string(static_cast<reprise::stop_reason>(reason)) != "unknown"; ++reason)
    seen[std::string(to_string(static_cast<reprise::stop_reason>(reason)))] = 0;
  seen.erase("admission_refused");  // no scenario has a throttle
  std::array<bool, std::size(alterations)> caught = {};

  dice roll(seed);
  for (int number = 0; number < static_cast<int>(count); ++number) {
    const reference::scenario made = scenario(roll);
    const json line = text_of(made, number);
    scenarios::outcome got;
    try {
      got = scenarios::run<capacity>(scenarios::read_scenario(line));
    } catch (const std::exception& failure) {
      std::cout << line.dump() << "\nseed " << seed << ": refused: " << failure.what() << '\n';
      return 1;
    }
    if (const scenarios::outcome wanted = expected(made); got != wanted) {
      std::cout << line.dump() << "\nseed " << seed << ", the library:   {" << scenarios::text_of(got) << "}\nseed "
                << seed << ", the reference: {" << scenarios::text_of(wanted) << "}\n";
      return 1;
    }
    ++seen[got.stop];
    for (std::size_t i = 0; i < std::size(alterations); ++i) {
      if (caught[i] || made.max_attempts == INT_MAX) continue;  // what ends that one may be what is altered
      reference::scenario altered = made;
      alterations[i].alter(altered);
      caught[i] = alterations[i].shows(got, expected(altered));
    }
  }

  std::cout << "seed " << seed << ": library and reference agree on " << count << " scenarios\n";
  bool complete = true;
  for (const auto& [reason, times] : seen) {
    std::cout << "  " << reason << ": " << times << '\n';
    if (times == 0) {
      std::cout << "no scenario ended with " << reason << '\n';
      complete = false;
    }
  }
  for (std::size_t i = 0; i < std::size(alterations); ++i)
    if (!caught[i]) {
      std::cout << "another value of " << alterations[i].key << " would not be noticed\n";
      complete = false;
    }
  return complete ? 0 : 1;
}
