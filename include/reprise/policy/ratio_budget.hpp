// SPDX-License-Identifier: MIT
// Retries as a share of the recent calls, with a few more for quiet times: Finagle's and tower's budget.
// Reads no clock: time comes with the calls.
#pragma once

#include "../concepts.hpp"
#include "../detail/recent_total.hpp"

namespace reprise::inline REPRISE_VERSION_NAMESPACE {

/// The settings of a `ratio_budget`, with the defaults of Finagle's RetryBudget and tower's TpsBudget.
struct ratio_budget_settings {
  /// Retries for each call: .2 is one for five calls. Six decimals count. In [0, 1000], as in Finagle.
  double share = 0.2;
  /// So many retries a second are there in any case, so that clients with few calls can retry at all.
  /// min_per_second >= 0; with a share of 0 too there are no retries.
  int min_per_second = 10;
  /// How long a call and a retry count, in ten slices. In [1 s, 60 s], as in Finagle and tower.
  time_span ttl = std::chrono::seconds(10);

  constexpr void check() const {
    if (!(share >= 0.0 && share <= 1000.0)) detail::refuse("ratio_budget", "share", "in [0, 1000]", share);
    if (min_per_second < 0) detail::refuse("ratio_budget", "min_per_second", "0 or more", min_per_second);
    if (ttl < std::chrono::seconds(1) || ttl > std::chrono::seconds(60))
      detail::refuse("ratio_budget", "ttl", "1 s to 60 s", detail::seconds_of(ttl), " s");
  }
};

/// Each call deposits `share` of a retry when it starts; each retry withdraws one before its wait, and is refused if
/// deposits less withdrawals of the last `ttl`, with a reserve of `min_per_second` x ttl, have not got it. Both expire
/// with the window, so that a budget used up is back at its reserve after `ttl`. One deposit for a call, however many
/// attempts it makes; a retry that was granted and then not made stays withdrawn, as in Finagle. Counted in millionths
/// of a retry: .6 is 60 % (where a deposit is the unit, as in tower, 1/.6 rounds to 1, which is 100 %).
/// Lock-free and exact: a withdrawal is one atomic step. A clock that goes backwards mints nothing: the latest time
/// counts. Source: Finagle's RetryBudget and RetryFilter.
class ratio_budget {
 public:
  /// What was withdrawn expires by itself, there is nothing to give back.
  struct permit {};

  constexpr ratio_budget() : ratio_budget(ratio_budget_settings{}) {}
  /// Throws `std::invalid_argument` for bad settings.
  constexpr explicit ratio_budget(const ratio_budget_settings& settings)
      : deposit_(deposit_of(settings)), reserve_(reserve_of(settings)), millionths_(settings.ttl) {}

  /// The deposit of one logical call. `now`, here and below, is the time since the clock's epoch.
  void call_started(duration now) noexcept {
    millionths_.turn_to(now);
    millionths_.add(deposit_);
  }
  void failed(const verdict&) noexcept {}
  std::optional<permit> try_retry(const verdict&, duration now) noexcept {
    millionths_.turn_to(now);
    return millionths_.take(one_retry, reserve_) ? std::optional<permit>(permit{}) : std::nullopt;
  }
  void call_ended(bool, std::optional<permit>, duration) noexcept {}

  /// Retries a call that it lets through for long when every attempt fails, beside the reserve; what `describe` shows.
  constexpr double lasting_share() const noexcept { return static_cast<double>(deposit_) / double(one_retry); }

  /// How many retries would be granted now. Zero also while deposits have expired and the retries that they paid for
  /// have not.
  double balance(duration now) noexcept {
    millionths_.turn_to(now);
    const std::int64_t sum = static_cast<std::int64_t>(millionths_.sum()) + reserve_;
    return sum > 0 ? static_cast<double>(sum) / double(one_retry) : 0.0;
  }

 private:
  static constexpr std::int64_t one_retry = 1'000'000;

  static constexpr std::uint64_t deposit_of(const ratio_budget_settings& settings) {
    settings.check();
    return static_cast<std::uint64_t>(settings.share * double(one_retry) + 0.5);
  }

  static constexpr std::int64_t reserve_of(const ratio_budget_settings& settings) {
    // A retry a second for a microsecond is a millionth of a retry.
    return settings.min_per_second * (duration(settings.ttl).count() / 1000);
  }

  std::uint64_t deposit_;
  std::int64_t reserve_;
  detail::recent_total millionths_;
};

static_assert(retry_budget_model<ratio_budget>);

}  // namespace reprise::inline REPRISE_VERSION_NAMESPACE
