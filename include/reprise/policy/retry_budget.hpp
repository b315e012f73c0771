// SPDX-License-Identifier: MIT
// A retry budget shared by many calls, by reference: so that an outage is not multiplied by every caller's retries.
// Knows no budget's rule; the concept `retry_budget_model` (concepts.hpp) says what one is asked.
#pragma once

#include "../concepts.hpp"

namespace reprise::inline REPRISE_VERSION_NAMESPACE {

/// Joins a budget to a policy. Given positionally: `shared_budget(budget)`; the budget must outlive every call.
template <class Budget> class shared_budget {
  static_assert(
      retry_budget_model<Budget>,
      "reprise::shared_budget requires a retry budget: write call_started(now), failed(verdict), try_retry(verdict, now) -> optional<permit>, call_ended(success, permit, now)");

 public:
  static constexpr auto part_role = role::retry_budget;

  constexpr explicit shared_budget(Budget& budget) noexcept : budget_(&budget) {}
  shared_budget(const Budget&&) = delete;  // a temporary would be gone before the call

  constexpr Budget& budget() const noexcept { return *budget_; }

 private:
  Budget* budget_;
};

}  // namespace reprise::inline REPRISE_VERSION_NAMESPACE
