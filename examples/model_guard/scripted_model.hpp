// SPDX-License-Identifier: MIT
// A model that plays a script instead of calling a network: it throws what the client library would, and takes its
// time on a fake clock. Keeps its timeout, as a client library does.
#pragma once

#include <algorithm>
#include <functional>
#include <reprise/testing/fake_clock.hpp>
#include <vector>

#include "chat_client.hpp"

namespace chat {

/// What one request comes to, and how long that takes.
struct step {
  std::function<completion()> play = {};
  reprise::duration takes = {};

  step taking(reprise::duration cost) const { return {play, cost}; }
};

inline step returns(completion answer) {
  return {[=] { return answer; }};
}

/// Content as the model was asked to write it.
inline step says(std::string_view reply, std::int64_t tokens = 100) {
  return returns({.content = fmt::format("{{\"reply\": \"{}\"}}", reply), .tokens = tokens});
}

template <class Error> step fails(const Error& error) {
  return {[=]() -> completion { throw error; }};
}

inline step fails(int status, const std::string& text) { return fails(status_error(status, text)); }

/// Never answers: the client library's timeout ends it.
inline step hangs() {
  return {[] { return completion{}; }, reprise::unlimited};
}

class scripted_model {
 public:
  /// The last step repeats.
  scripted_model(std::string name, reprise::testing::fake_clock& time, std::vector<step> steps)
      : name_(std::move(name)), time_(&time), steps_(std::move(steps)) {}

  const std::string& name() const { return name_; }

  completion complete(const request& sent) {
    const step& next = steps_[std::min(timeouts_.size(), steps_.size() - 1)];
    timeouts_.push_back(sent.timeout);
    keys_.emplace_back(sent.idempotency_key);
    time_->advance(std::min(next.takes, sent.timeout));
    if (next.takes > sent.timeout) throw timeout_error("no complete answer in time");
    return next.play();
  }

  int calls() const { return static_cast<int>(timeouts_.size()); }
  const std::vector<reprise::duration>& timeouts() const { return timeouts_; }
  const std::vector<std::string>& keys() const { return keys_; }

 private:
  std::string name_;
  reprise::testing::fake_clock* time_;
  std::vector<step> steps_;
  std::vector<reprise::duration> timeouts_;
  std::vector<std::string> keys_;
};

}  // namespace chat
