// SPDX-License-Identifier: MIT
// The AWS SDKs' retry quota: every retry takes tokens, a success gives them back.
// Knows no clock; the kind of a failure is told by its verdict.
#pragma once

#include "../concepts.hpp"
#include "../detail/clamped_count.hpp"

namespace reprise::inline REPRISE_VERSION_NAMESPACE {

/// The settings of a `quota_budget`: the AWS SDKs' standard mode of 2026. The one before it ("legacy standard") is
/// `{.cost = 5, .timeout_cost = 10, .throttling_cost = 5}`.
struct quota_budget_settings {
  /// So many tokens there are at first and at most. capacity >= 1.
  int capacity = 500;
  /// A retry after any other transient failure. Costs are >= 0.
  int cost = 14;
  /// A retry after a timeout: a verdict with the label "timeout".
  int timeout_cost = 14;
  /// A retry after the service asked for fewer calls: a verdict with code 429, or the label "throttling".
  int throttling_cost = 5;

  constexpr void check() const {
    if (capacity < 1) detail::refuse("quota_budget", "capacity", "1 or more", capacity);
    if (cost < 0) detail::refuse("quota_budget", "cost", "0 or more", cost);
    if (timeout_cost < 0) detail::refuse("quota_budget", "timeout_cost", "0 or more", timeout_cost);
    if (throttling_cost < 0) detail::refuse("quota_budget", "throttling_cost", "0 or more", throttling_cost);
  }

  /// What a retry after this failure costs.
  constexpr int cost_of(const verdict& failure) const noexcept {
    if (failure.code == 429 || failure.label == "throttling") return throttling_cost;
    return failure.label == "timeout" ? timeout_cost : cost;
  }
};

/// Each retry takes its cost, and is refused where that is not there: from full, 35 retries after failures, 100 after
/// throttling. A call that succeeds at last gives back the cost of its *last* retry, one that succeeds at the first try
/// brings 1; a call that fails gives nothing back. A retry that was granted and then not made (cancelled in its wait)
/// gives its cost back. Lock-free and exact: each change is one atomic step. Source: the AWS SDKs' retry behaviour,
/// standard mode.
class quota_budget {
 public:
  /// Holds the cost of one retry until the retry is made. Move-only.
  class permit {
   public:
    permit(permit&& other) noexcept
        : tokens_(std::exchange(other.tokens_, nullptr)), cost_(other.cost_), used_(other.used_) {}
    permit& operator=(permit&& other) noexcept {
      std::swap(tokens_, other.tokens_);
      std::swap(cost_, other.cost_);
      std::swap(used_, other.used_);
      return *this;
    }
    ~permit() {
      if (!used_) give_back();
    }

   private:
    friend class quota_budget;
    permit(detail::clamped_count& tokens, std::int64_t cost) noexcept : tokens_(&tokens), cost_(cost) {}
    void give_back() noexcept {
      if (tokens_ != nullptr) std::exchange(tokens_, nullptr)->add(cost_);
    }

    detail::clamped_count* tokens_;
    std::int64_t cost_;
    bool used_ = false;
  };

  constexpr quota_budget() : quota_budget(quota_budget_settings{}) {}
  /// Throws `std::invalid_argument` for bad settings.
  constexpr explicit quota_budget(const quota_budget_settings& settings)
      : settings_((settings.check(), settings)), tokens_(settings.capacity) {}

  void call_started(duration) noexcept {}
  void failed(const verdict&) noexcept {}
  /// Takes the cost of a retry after this failure, or refuses.
  std::optional<permit> try_retry(const verdict& failure, duration) noexcept {
    const std::int64_t cost = settings_.cost_of(failure);
    return tokens_.take(cost) ? std::optional<permit>(permit(tokens_, cost)) : std::nullopt;
  }
  void retry_started(permit& retry) noexcept { retry.used_ = true; }
  void call_ended(bool success, std::optional<permit> last_retry, duration) noexcept {
    if (!success) return;
    if (last_retry.has_value()) last_retry->give_back();
    else tokens_.add(first_try_gain);
  }

  /// Retries a call that it lets through for long when every attempt fails (none, since nothing brings tokens back);
  /// what `describe` shows.
  constexpr double lasting_share() const noexcept { return 0.0; }

  /// The tokens that are left, in [0, capacity].
  int tokens() const noexcept { return static_cast<int>(tokens_.value()); }

 private:
  static constexpr std::int64_t first_try_gain = 1;

  quota_budget_settings settings_;
  detail::clamped_count tokens_;
};

static_assert(retry_budget_model<quota_budget>);

}  // namespace reprise::inline REPRISE_VERSION_NAMESPACE
