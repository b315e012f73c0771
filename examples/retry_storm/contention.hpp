// SPDX-License-Identifier: MIT
// The model of the AWS architecture blog's "Exponential Backoff And Jitter": N clients change one row under optimistic
// concurrency control, all at once. A write of a version that is no longer current fails and is retried.
#pragma once

#include <algorithm>
#include <cmath>
#include <reprise/core.hpp>
#include <string_view>
#include <vector>

#include "event_queue.hpp"
#include "random.hpp"

namespace storm::contention {

using namespace std::chrono_literals;

enum class answer { written, conflict };

/// What an answer means.
struct answers {
  static constexpr auto part_role = reprise::role::classifier;
  static constexpr bool gives_hints = false;

  constexpr reprise::verdict operator()(answer given) const {
    if (given == answer::written) return {.kind = reprise::outcome::success};
    return {.kind = reprise::outcome::transient, .label = "conflict", .not_applied = true};
  }
};

constexpr reprise::retry_policy until_written{answers{}, reprise::not_idempotent{}, reprise::unlimited_attempts{},
                                              reprise::no_time_limit{}};

/// The library's decorrelated jitter never draws past its cap; the published simulator draws up to three times the
/// previous wait and cuts then, so that many waits are the cap itself. Above 50 clients the difference shows.
struct cut_after_the_draw : reprise::decorrelated_backoff {
  constexpr reprise::duration draw(int retry, call_state& state, double fraction) const {
    const reprise::decorrelated_backoff uncapped{.base = base, .cap = reprise::unlimited};
    const reprise::duration own = std::min<reprise::duration>(uncapped.range(retry, state).point(fraction), cap);
    advance(state, own);
    return own;
  }
};

// The published simulator counts attempts from 1 in base * 2^attempt, so that with its base of 5 ms the first wait is
// 10 ms. Decorrelated jitter is a formula of its own and keeps the 5 ms.
constexpr reprise::exponential_backoff doubling{.base = 10ms, .cap = 2s};
constexpr auto none = until_written.with(reprise::constant_backoff{.delay = 0ms});
constexpr auto exponential = until_written.with(doubling, reprise::no_jitter{});
constexpr auto equal = until_written.with(doubling, reprise::equal_jitter{});
constexpr auto full = until_written.with(doubling, reprise::full_jitter{});
constexpr auto decorrelated = until_written.with(cut_after_the_draw{{.base = 5ms, .cap = 2s}});

/// One trial: when the last client had its answer, and how many writes it took.
struct figures {
  double completion_ms = 0;
  double calls = 0;
};

enum class happening : std::uint32_t { read_arrives, read_answered, write_arrives, write_answered, wait_over };

/// The library decides: `engine` is driven by hand, one for each client, on the time of the events.
template <class Policy> class trial {
 public:
  trial(const Policy& policy, int clients, std::uint64_t seed) : policy_(policy), uniform_(seed) {
    clients_.reserve(static_cast<std::size_t>(clients));
    for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(clients); ++i) {
      clients_.push_back(client{.call = engine(policy)});
      go_on(i, clients_[i].call.start(time_.now()));
    }
  }

  figures run() {
    while (!queue_.empty()) {
      const event next = queue_.pop();
      time_.advance(next.due - time_.now());
      ++events_;
      happens(next.subject, static_cast<happening>(next.tag));
    }
    return {.completion_ms = std::chrono::duration<double, std::milli>(time_.now().time_since_epoch()).count(),
            .calls = static_cast<double>(writes_)};
  }

  std::uint64_t events() const noexcept { return events_; }

 private:
  using engine = reprise::engine<const Policy&, time_point>;

  struct client {
    engine call;
    int seen = 0;  ///< the version that it read
    bool written = false;
  };

  void happens(std::uint32_t who, happening what) {
    client& that = clients_[who];
    switch (what) {
      case happening::read_arrives: that.seen = version_; return hop(who, happening::read_answered);
      case happening::read_answered: return hop(who, happening::write_arrives);
      case happening::write_arrives:
        ++writes_;
        that.written = that.seen == version_;
        if (that.written) ++version_;
        return hop(who, happening::write_answered);
      case happening::write_answered:
        return go_on(who, that.call.on_verdict(policy_.judge(that.written ? answer::written : answer::conflict),
                                               time_.now(), uniform_));
      case happening::wait_over: return go_on(who, that.call.on_wait_over(time_.now()));
    }
  }

  /// Does what the engine asks for.
  void go_on(std::uint32_t who, const typename engine::action& next) {
    if (next.kind == reprise::step::attempt) hop(who, happening::read_arrives);
    if (next.kind == reprise::step::wait)
      queue_.push({.due = next.due, .subject = who, .tag = static_cast<std::uint32_t>(happening::wait_over)});
  }

  /// Every message takes |Normal(10, 2)| ms.
  void hop(std::uint32_t who, happening what) {
    const double ms = std::abs(10.0 + 2.0 * normal(uniform_));
    const reprise::duration delay = reprise::time_span(std::chrono::duration<double, std::milli>(ms));
    queue_.push({.due = time_.now() + delay, .subject = who, .tag = static_cast<std::uint32_t>(what)});
  }

  const Policy& policy_;
  random_fraction uniform_;
  fake_clock time_;
  event_queue queue_;
  std::vector<client> clients_;
  int version_ = 0;
  int writes_ = 0;
  std::uint64_t events_ = 0;
};

/// Calls `f(name, policy)` for each policy.
template <class Function> void each_policy(const Function& f) {
  f("none", none);
  f("exponential", exponential);
  f("equal", equal);
  f("full", full);
  f("decorrelated", decorrelated);
}

}  // namespace storm::contention
