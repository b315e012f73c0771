// SPDX-License-Identifier: MIT
// A second writing of the decision: numbers in, numbers out. It shares nothing with the library, not even a header.
#pragma once

#include <climits>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace reference {

/// Times are nanoseconds; this one is "no limit".
inline constexpr std::int64_t never = INT64_MAX;

struct step {
  std::int64_t takes = 0;
  int status = 0;
  std::string retry_after = {};
  bool transient = false;
  bool not_applied = false;
  bool overruns = false;
};

struct scenario {
  std::string backoff = "exponential";
  std::int64_t base = 500'000'000;
  double factor = 2;
  std::int64_t cap = 4'000'000'000;
  std::string jitter = "none";
  double spread = 0.1;
  int max_attempts = 3;  // INT_MAX: no limit
  std::int64_t time_limit = 5'000'000'000;
  std::int64_t attempt_timeout = never;
  std::int64_t wait_limit = never;
  std::int64_t retry_after_limit = never;
  std::vector<int> statuses = {429, 502, 503, 504};
  bool has_budget = false;
  int tokens = 0;
  int cost = 0;
  std::string method = "GET";
  std::string key;
  std::vector<double> fractions = {0.5};
  std::vector<step> steps;
  std::int64_t oversleep = 0;
  std::int64_t interrupt_at = never;
};

struct result {
  int attempts = 0;
  std::vector<std::int64_t> waits;
  std::vector<std::int64_t> timeouts;
  std::string stop;
  int status = 0;
  int code = 0;
  std::int64_t ends = 0;
};

result run(const scenario& s);

}  // namespace reference
