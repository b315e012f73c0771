// SPDX-License-Identifier: MIT
// What the README's recipes take for granted: the includes, and small stand-ins for what a service has.
#pragma once

#undef NDEBUG
#include <fmt/core.h>

#include <cassert>
#include <random>
#include <reprise/fmt.hpp>
#include <reprise/reprise.hpp>
#include <reprise/testing/script.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

using namespace std::chrono_literals;

struct reply {
  int status;
};

struct page {
  int status;
  std::string body;
};

/// As std::expected, which C++20 has not yet.
template <class Value, class Error> class expected {
 public:
  expected(Value value) : content_(std::in_place_index<0>, value) {}
  expected(Error error) : content_(std::in_place_index<1>, error) {}
  bool has_value() const { return content_.index() == 0; }
  const Value& operator*() const { return std::get<0>(content_); }
  const Error& error() const { return std::get<1>(content_); }

 private:
  std::variant<Value, Error> content_;
};

inline double half() { return 0.5; }

/// Runs transfers as a multi handle does: each ends at the next poll, its first try with a 503.
struct fake_multi {
  reprise::testing::fake_clock& time;
  std::vector<std::pair<std::size_t, int>> ended = {};
  std::vector<int> tries = {};
  int started = 0;

  void start(std::size_t transfer, reprise::duration timeout) {
    assert(timeout > 0s);
    if (tries.size() <= transfer) tries.resize(transfer + 1);
    ended.emplace_back(transfer, ++tries[transfer] == 1 ? 503 : 200);
    ++started;
  }
  std::vector<std::pair<std::size_t, int>> poll() { return std::exchange(ended, {}); }
};
