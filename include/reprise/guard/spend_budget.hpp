// SPDX-License-Identifier: MIT
// A budget of what calls cost (tokens, money): reserved before a call, settled to the real cost after it.
// Knows no policy and sends nothing: what is refused here is never sent.
#pragma once

#include <atomic>
#include <concepts>
#include <cstdint>
#include <limits>
#include <utility>

#include "../time_span.hpp"

namespace reprise::inline REPRISE_VERSION_NAMESPACE {

/// What counts the spending: `try_add(amount, limit)` adds in one atomic step unless the total would pass the limit,
/// and says whether it did; `add(amount)` corrects the total, amounts below zero too; `total()` reads it. It may throw
/// where the count is kept elsewhere and cannot be reached.
template <class Counter> concept spend_counter = requires(Counter& counter, std::int64_t amount) {
  { counter.try_add(amount, amount) } -> std::same_as<bool>;
  counter.add(amount);
  { counter.total() } -> std::convertible_to<std::int64_t>;
};

/// The count of one process: lock-free, exact under contention. A total beyond the range stays at its end: one that
/// wrapped below zero would let everything through.
class memory_counter {
 public:
  bool try_add(std::int64_t amount, std::int64_t limit) noexcept {
    std::int64_t before = total_.load(std::memory_order_relaxed);
    std::int64_t after = 0;
    do {
      if (detail::add_overflows(before, amount, after) || after > limit) return false;
    } while (!total_.compare_exchange_weak(before, after, std::memory_order_relaxed));
    return true;
  }
  void add(std::int64_t amount) noexcept {
    std::int64_t before = total_.load(std::memory_order_relaxed);
    std::int64_t after = 0;
    do {
      if (detail::add_overflows(before, amount, after))
        after = amount < 0 ? (std::numeric_limits<std::int64_t>::min)() : (std::numeric_limits<std::int64_t>::max)();
    } while (!total_.compare_exchange_weak(before, after, std::memory_order_relaxed));
  }
  std::int64_t total() const noexcept { return total_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::int64_t> total_ = 0;
};
static_assert(spend_counter<memory_counter>);

/// Why a reservation was refused.
enum class spend_refusal {
  none,        ///< it was granted
  per_call,    ///< the estimate alone is over the limit of a call
  per_session  ///< the session's total would pass its limit
};

/// Limits what calls may spend: `per_call` each, `per_session` together. The counter is the session; it must outlive
/// the budget and its reservations. Both limits >= 0, in the unit of the caller's costs.
template <spend_counter Counter = memory_counter> class spend_budget {
 public:
  /// Holds what was reserved. Unless it is settled it gives everything back when it goes, whatever ended the call.
  /// Where the counter cannot be reached then, the destructor cannot say so: the session stays charged with the
  /// estimate, which is the harmless side; `give_back()` says it.
  class reservation {
   public:
    reservation(reservation&& other) noexcept
        : counter_(std::exchange(other.counter_, nullptr)), amount_(other.amount_), refusal_(other.refusal_) {}
    reservation& operator=(reservation&&) = delete;
    ~reservation() {
#if REPRISE_EXCEPTIONS
      try {
        give_back();
      } catch (...) {
      }
#else
      give_back();
#endif
    }

    bool granted() const noexcept { return refusal_ == spend_refusal::none; }
    spend_refusal refused_by() const noexcept { return refusal_; }

    /// The call succeeded and cost this much: the session is charged with it instead of the estimate. A cost over the
    /// limits is charged too, since it has been spent. Does nothing for what was refused, settled or given back. What
    /// the counter throws passes on; the session is then charged with the estimate. cost >= 0, else
    /// `std::invalid_argument`.
    void settle(std::int64_t cost) {
      if (cost < 0) detail::refuse("spend_budget", "cost", "zero or more", static_cast<double>(cost));
      if (Counter* counter = std::exchange(counter_, nullptr)) counter->add(cost - amount_);
    }
    /// The call did not happen or did not succeed: nothing was spent.
    void give_back() {
      if (Counter* counter = std::exchange(counter_, nullptr)) counter->add(-amount_);
    }

   private:
    friend class spend_budget;
    reservation(Counter* counter, std::int64_t amount, spend_refusal refusal) noexcept
        : counter_(counter), amount_(amount), refusal_(refusal) {}

    Counter* counter_;
    std::int64_t amount_;
    spend_refusal refusal_;
  };

  spend_budget(Counter& session, std::int64_t per_call, std::int64_t per_session)
      : session_(&session), per_call_(per_call), per_session_(per_session) {
    if (per_call < 0) detail::refuse("spend_budget", "per_call", "zero or more", static_cast<double>(per_call));
    if (per_session < 0)
      detail::refuse("spend_budget", "per_session", "zero or more", static_cast<double>(per_session));
  }

  /// Reserves the estimate before the call, in one atomic step: of two calls that fit only one by one, one is refused.
  /// estimate >= 0, else `std::invalid_argument`.
  [[nodiscard]] reservation reserve(std::int64_t estimate) {
    if (estimate < 0) detail::refuse("spend_budget", "estimate", "zero or more", static_cast<double>(estimate));
    if (estimate > per_call_) return {nullptr, 0, spend_refusal::per_call};
    if (!session_->try_add(estimate, per_session_)) return {nullptr, 0, spend_refusal::per_session};
    return {session_, estimate, spend_refusal::none};
  }

  /// What the session has spent, open reservations included.
  std::int64_t spent() const { return session_->total(); }

 private:
  Counter* session_;
  std::int64_t per_call_;
  std::int64_t per_session_;
};

template <class Counter> spend_budget(Counter&, std::int64_t, std::int64_t) -> spend_budget<Counter>;

}  // namespace reprise::inline REPRISE_VERSION_NAMESPACE
