// SPDX-License-Identifier: MIT
// One call's dealings with a shared retry budget: what was started is ended, what was granted is given back.
// Knows no rule of a budget and none of the decision.
#pragma once

#include "../concepts.hpp"

namespace reprise::inline REPRISE_VERSION_NAMESPACE::detail {

/// Without a budget there is nothing to deal with.
template <class Part> struct budget_session {
  constexpr explicit budget_session(const Part&) noexcept {}
};

/// Move-only. A call that is left without an end (an exception passes through) is ended by the destructor.
template <class Part> requires requires(const Part& part) { part.budget(); }
class budget_session<Part> {
  using budget_type = std::remove_reference_t<decltype(std::declval<const Part&>().budget())>;
  using permit_type = std::remove_cvref_t<decltype(std::declval<budget_type&>().try_retry(verdict{}, duration{}))>;

 public:
  constexpr explicit budget_session(const Part& part) noexcept : budget_(&part.budget()) {}
  constexpr budget_session(budget_session&& other) noexcept
      : budget_(std::exchange(other.budget_, nullptr)),
        permit_(std::move(other.permit_)),
        started_(std::exchange(other.started_, false)),
        latest_(other.latest_) {}
  budget_session& operator=(budget_session&&) = delete;
  // Out of line: inlined, g++ takes the permit of an empty optional for an uninitialised one, and warns.
  [[gnu::noinline]] constexpr ~budget_session() { call_ended(false, latest_); }

  constexpr void call_started(duration now) {
    latest_ = now;
    started_ = true;
    budget_->call_started(now);
  }
  constexpr void failed(const verdict& failure) { budget_->failed(failure); }
  constexpr bool try_retry(const verdict& failure, duration now) {
    latest_ = now;
    permit_.reset();  // the retry that has just failed holds its permit no longer
    permit_ = budget_->try_retry(failure, now);
    return permit_.has_value();
  }
  constexpr void retry_started() {
    if constexpr (requires { budget_->retry_started(*permit_); }) {
      if (permit_.has_value()) budget_->retry_started(*permit_);
    }
  }
  constexpr void call_ended(bool success, duration now) {
    if (!std::exchange(started_, false)) return;
    budget_->call_ended(success, std::move(permit_), now);
    permit_.reset();
  }

 private:
  budget_type* budget_;
  permit_type permit_ = {};
  bool started_ = false;
  duration latest_ = duration::zero();
};

}  // namespace reprise::inline REPRISE_VERSION_NAMESPACE::detail
