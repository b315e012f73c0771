// SPDX-License-Identifier: MIT
// Says in words what came of an expression, prints it, and compares it with what was expected.
// Knows neither executor nor policy.
#pragma once

#include <fmt/format.h>

#include <reprise/core.hpp>
#include <reprise/testing/script.hpp>

namespace executor {

inline std::string text(bool value) { return value ? "true" : "false"; }

inline std::string text(reprise::duration value) {
  if (value == reprise::unlimited) return "unlimited";
  if (value != reprise::duration::zero() && value < std::chrono::microseconds(1) &&
      value > -std::chrono::microseconds(1))
    return fmt::format("{} ns", value.count());
  return fmt::format("{:.12g} s", std::chrono::duration<double>(value).count());
}

inline std::string text(const reprise::testing::response& value) { return fmt::format("returns {}", value.status); }

inline std::string quoted(std::optional<std::string_view> value) {
  return value.has_value() ? fmt::format("\"{}\"", *value) : "none";
}

/// Durations in brackets.
template <class Durations> std::string list(const Durations& values) {
  std::string line;
  for (const reprise::duration value : values) line += (line.empty() ? "" : ", ") + text(value);
  return fmt::format("[{}]", line);
}

/// The value of f(), or the refusal in its own words. Any other exception is a fault of this program.
template <class F> std::string outcome_of(F f) {
  try {
    return text(f());
  } catch (const std::invalid_argument& refusal) {
    return fmt::format("refused: {}", refusal.what());
  } catch (const reprise::deadline_exceeded&) {
    return "deadline_exceeded";
  }
}

/// Counts what was checked. Quiet, it prints only what is not so.
class report {
 public:
  explicit report(bool quiet) : quiet_(quiet) {}

  void heading(std::string_view title) const { print("\n{}\n", title); }

  template <class... Values> void print(fmt::format_string<Values...> format, Values&&... values) const {
    if (!quiet_) fmt::print(format, std::forward<Values>(values)...);
  }

  void check(std::string_view what, std::string_view got, std::string_view expected) {
    ++checked_;
    if (got == expected) return;
    ++failed_;
    fmt::print("NOT SO: {}\n  expected {}\n  got      {}\n", what, expected, got);
  }

  /// One line of a table: an expression and what came of it.
  template <class F> void row(std::string_view expression, F f, std::string_view expected) {
    const std::string got = outcome_of(f);
    print("  {:<52} {}\n", expression, got);
    check(expression, got, expected);
  }

  int checked() const { return checked_; }
  int failed() const { return failed_; }

 private:
  bool quiet_;
  int checked_ = 0;
  int failed_ = 0;
};

}  // namespace executor
