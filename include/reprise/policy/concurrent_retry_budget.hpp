// SPDX-License-Identifier: MIT
// How many retries may be under way at one time, as a share of the calls under way: Envoy's retry budget.
// Knows no clock.
#pragma once

#include <atomic>
#include <cstdint>

#include "../concepts.hpp"

namespace reprise::inline REPRISE_VERSION_NAMESPACE {

/// The settings of a `concurrent_retry_budget`, with Envoy's defaults.
struct concurrent_retry_budget_settings {
  /// Retries under way for each call under way. Six decimals count. In [0, 1].
  double share = 0.2;
  /// So many may be under way however few calls there are (Envoy's min_retry_concurrency). >= 0; with a share of 0 too
  /// there are no retries.
  int min_retries = 3;

  constexpr void check() const {
    if (!(share >= 0.0 && share <= 1.0)) detail::refuse("concurrent_retry_budget", "share", "in [0, 1]", share);
    if (min_retries < 0) detail::refuse("concurrent_retry_budget", "min_retries", "0 or more", min_retries);
  }
};

/// A retry is granted while fewer than max(floor(share x calls under way), min_retries) are under way. A call is under
/// way from its first attempt to its end, its waits included; a retry from its grant, so that one that still waits
/// counts, to its end: when it fails, when its call ends, or when the call is dropped because send, a classifier or an
/// event handler throws. Asks for no rate and no time. Lock-free and exact: both numbers are in one word, so that
/// they are compared as they were at one moment. Source: Envoy's retry_budget.
class concurrent_retry_budget {
 public:
  /// One retry under way; its end when destroyed. Move-only.
  class permit {
   public:
    permit(permit&& other) noexcept : counts_(std::exchange(other.counts_, nullptr)) {}
    permit& operator=(permit&& other) noexcept {
      std::swap(counts_, other.counts_);
      return *this;
    }
    ~permit() {
      if (counts_ != nullptr) counts_->fetch_sub(one_retry, std::memory_order_relaxed);
    }

   private:
    friend class concurrent_retry_budget;
    explicit permit(std::atomic<std::uint64_t>& counts) noexcept : counts_(&counts) {}

    std::atomic<std::uint64_t>* counts_;
  };

  constexpr concurrent_retry_budget() : concurrent_retry_budget(concurrent_retry_budget_settings{}) {}
  /// Throws `std::invalid_argument` for bad settings.
  constexpr explicit concurrent_retry_budget(const concurrent_retry_budget_settings& settings)
      : millionths_((settings.check(), static_cast<std::uint64_t>(settings.share * 1e6 + 0.5))),
        min_retries_(static_cast<std::uint64_t>(settings.min_retries)) {}

  void call_started(duration) noexcept { counts_.fetch_add(one_call, std::memory_order_relaxed); }
  void failed(const verdict&) noexcept {}
  std::optional<permit> try_retry(const verdict&, duration) noexcept {
    std::uint64_t seen = counts_.load(std::memory_order_relaxed);
    do {
      if (retries_in(seen) >= limit(calls_in(seen))) return std::nullopt;
    } while (!counts_.compare_exchange_weak(seen, seen + one_retry, std::memory_order_relaxed));
    return permit(counts_);
  }
  void call_ended(bool, std::optional<permit> last_retry, duration) noexcept {
    last_retry.reset();  // first, so that there is at no moment a retry without its call
    counts_.fetch_sub(one_call, std::memory_order_relaxed);
  }

  /// Retries a call that it lets through for long when every attempt fails, beside the minimum; what `describe` shows.
  constexpr double lasting_share() const noexcept { return static_cast<double>(millionths_) / 1e6; }

  /// Calls that have started and not ended.
  int calls() const noexcept { return static_cast<int>(calls_in(counts_.load(std::memory_order_relaxed))); }
  /// Retries that were granted and have not ended.
  int retries() const noexcept { return static_cast<int>(retries_in(counts_.load(std::memory_order_relaxed))); }

 private:
  // Retries in the lower half of the word, calls in the upper.
  static constexpr std::uint64_t one_retry = 1;
  static constexpr std::uint64_t one_call = std::uint64_t{1} << 32;

  static constexpr std::uint64_t retries_in(std::uint64_t counts) noexcept { return counts % one_call; }
  static constexpr std::uint64_t calls_in(std::uint64_t counts) noexcept { return counts / one_call; }

  /// In integers: 0.29 * 100 is 28.999999999999996.
  constexpr std::uint64_t limit(std::uint64_t calls) const noexcept {
    const std::uint64_t shared = calls * millionths_ / 1'000'000;
    return shared > min_retries_ ? shared : min_retries_;
  }

  std::uint64_t millionths_;
  std::uint64_t min_retries_;
  alignas(64) std::atomic<std::uint64_t> counts_ = 0;  // not beside what is only read
};

static_assert(retry_budget_model<concurrent_retry_budget>);

}  // namespace reprise::inline REPRISE_VERSION_NAMESPACE
