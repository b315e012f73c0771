// SPDX-License-Identifier: MIT
// A downstream on a fake clock: it answers in turn, and is left when the attempt's timeout is over.
// Knows no policy.
#pragma once

#include <algorithm>
#include <reprise/testing/fake_clock.hpp>
#include <vector>

#include "client.hpp"

namespace bulkheaded {

using reprise::testing::fake_clock;

/// How it treats one request; no status means that there is no connection.
struct turn {
  int status = 0;
  reprise::duration takes = {};
};
using turns = std::vector<turn>;

inline constexpr turn hangs{.takes = 1min};
inline constexpr turn no_connection{};
constexpr turn says(int status, reprise::duration takes = {}) { return {.status = status, .takes = takes}; }

class downstream {
 public:
  /// The last turn repeats.
  downstream(fake_clock& time, turns in_turn) : time_(time), turns_(std::move(in_turn)) {}

  answer operator()(const reprise::attempt& attempt) {
    const auto at = static_cast<std::size_t>(requests_++);
    const turn& now = turns_[std::min(at, turns_.size() - 1)];
    timeouts_.push_back(attempt.timeout);
    time_.advance(std::min(now.takes, attempt.timeout));
    if (now.takes > attempt.timeout) throw timed_out();
    if (now.status == 0) throw not_connected();
    return {.status = now.status, .text = now.status == 200 ? "fine weather" : ""};
  }

  int requests() const { return requests_; }
  const std::vector<reprise::duration>& timeouts() const { return timeouts_; }

 private:
  fake_clock& time_;
  turns turns_;
  int requests_ = 0;
  std::vector<reprise::duration> timeouts_ = {};
};

}  // namespace bulkheaded
