// SPDX-License-Identifier: MIT
// gRPC's retry throttling: retries only while most of the recent calls went well.
// Knows no clock: tokens come back with successes, not with time.
#pragma once

#include "../concepts.hpp"
#include "../detail/clamped_count.hpp"

namespace reprise::inline REPRISE_VERSION_NAMESPACE {

/// The settings of a `token_budget`. gRPC has no defaults (its example is 10 and 0.1); these are the ones of userver's
/// utils::RetryBudget.
struct token_budget_settings {
  /// So many tokens there are at first and at most. max_tokens >= 1 (gRPC takes up to 1000).
  int max_tokens = 100;
  /// What a successful call brings back. Three decimals count, further ones are cut, as in gRPC. token_ratio >= 0.001.
  double token_ratio = 0.1;

  constexpr void check() const {
    if (max_tokens < 1) detail::refuse("token_budget", "max_tokens", "1 or more", max_tokens);
    if (!(token_ratio >= 0.001) || token_ratio > (std::numeric_limits<double>::max)())
      detail::refuse("token_budget", "token_ratio", "0.001 or more, and finite", token_ratio);
  }
};

/// Every transient failure costs one token, every successful call brings `token_ratio` back, and there are retries only
/// while more than half of the tokens are left. So all retries stop when more than about `token_ratio` of the attempts
/// fail, and come back by themselves with successes. Nothing is charged for a retry as such. Lock-free and exact: each
/// change is one atomic step. Source: gRFC A6 (retryThrottling), counted in thousandths as there.
class token_budget {
 public:
  /// A retry costs nothing by itself, there is nothing to give back.
  struct permit {};

  constexpr token_budget() : token_budget(token_budget_settings{}) {}
  /// Throws `std::invalid_argument` for bad settings.
  constexpr explicit token_budget(const token_budget_settings& settings)
      : thousandths_(checked(settings).max_tokens * one_token), gain_(gain_of(settings)) {}

  void call_started(duration) noexcept {}
  /// Costs one token; never below zero.
  void failed(const verdict&) noexcept { thousandths_.add(-one_token); }
  /// After the failure has been paid: whether more than half of the tokens are left.
  std::optional<permit> try_retry(const verdict&, duration) noexcept {
    return thousandths_.value() > thousandths_.most() / 2 ? std::optional<permit>(permit{}) : std::nullopt;
  }
  /// A success brings `token_ratio` back, never above the maximum: a quiet day saves up nothing.
  void call_ended(bool success, std::optional<permit>, duration) noexcept {
    if (success) thousandths_.add(gain_);
  }

  /// Retries a call that it lets through for long when every attempt fails (none, since nothing brings tokens back);
  /// what `describe` shows.
  constexpr double lasting_share() const noexcept { return 0.0; }

  /// The tokens that are left, in [0, max_tokens].
  double tokens() const noexcept { return static_cast<double>(thousandths_.value()) / double(one_token); }

 private:
  static constexpr std::int64_t one_token = 1000;

  static constexpr const token_budget_settings& checked(const token_budget_settings& settings) {
    settings.check();
    return settings;
  }

  static constexpr std::int64_t gain_of(const token_budget_settings& settings) {
    // More than all of it fills it up, no more.
    if (settings.token_ratio >= settings.max_tokens) return settings.max_tokens * one_token;
    // 0.57 * 1000 is 569.9999999999999: the addend keeps a third decimal that was written.
    return static_cast<std::int64_t>(settings.token_ratio * double(one_token) + 1e-6);
  }

  detail::clamped_count thousandths_;
  std::int64_t gain_;
};

static_assert(retry_budget_model<token_budget>);

}  // namespace reprise::inline REPRISE_VERSION_NAMESPACE
