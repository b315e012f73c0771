// SPDX-License-Identifier: MIT
// Who is told of retries and of the end: for logs, metrics and traces.
// Decides nothing.
#pragma once

#include "../concepts.hpp"

namespace reprise::inline REPRISE_VERSION_NAMESPACE {

enum class event_kind {
  retry,  ///< a failed attempt will be tried again after `wait`
  end     ///< the call is over: once a call
};

/// What an event handler is told.
struct event {
  event_kind kind = event_kind::end;
  /// The attempt that has just ended, from 1; 0 if the call ended before the first.
  int attempt = 0;
  /// The most attempts; `unlimited_count` without a limit.
  int maximum = unlimited_count;
  /// What the end of that attempt meant; permanent, label "none", before the first.
  reprise::verdict verdict = {};
  /// For a retry: how long the wait before it is, as it will be slept.
  duration wait = duration::zero();
  /// Since the start of the call.
  duration elapsed = duration::zero();
  /// Until the call must end; `unlimited` without a limit.
  duration remaining = unlimited;
  /// For the end: why.
  stop_reason reason = stop_reason::cancelled;
};

/// Calls `f(const event&)` after each failed attempt that will be tried again (after the last one there is no retry, so
/// at most maximum - 1 times) and once at the end. An exception of f propagates at once. Given positionally:
/// `on_event([](const reprise::event& e) { ... })`; any number in one policy.
template <class Function> class on_event {
  static_assert(
      std::invocable<const Function&, const event&>,
      "reprise::on_event requires a function that takes the event: write on_event([](const reprise::event& e) {})");

 public:
  static constexpr auto part_role = role::events;

  constexpr explicit on_event(Function function) : function_(std::move(function)) {}
  constexpr void operator()(const event& happened) const { function_(happened); }

 private:
  Function function_;
};

}  // namespace reprise::inline REPRISE_VERSION_NAMESPACE
