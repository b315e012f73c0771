// SPDX-License-Identifier: MIT
// What threads have added over the last while: a sum over a sliding window of ten slices.
// Reads no clock; knows nothing of budgets, nor what it sums.
#pragma once

#include <atomic>
#include <cstdint>

#include "../time_span.hpp"

namespace reprise::inline REPRISE_VERSION_NAMESPACE::detail {

/// One total since the beginning, and what it was when each slice of the window began: the sum is the difference. So
/// every addition is one step on one word, exact whoever else adds; nothing has to be carried away when a slice
/// expires, which is where additions get lost or counted twice. The total may wrap, the difference does not mind.
/// An addition counts from now on for nine slices and the rest of its own, as Finagle's WindowedAdder does it: for more
/// than 0.9 and at most 1.0 of the window. The first time that it is told begins the first slice.
class recent_total {
 public:
  static constexpr int slices = 10;

  /// window >= 10 ns.
  constexpr explicit recent_total(duration window) noexcept : slice_(window / slices) {}

  /// Tells the time. An earlier one than before changes nothing. Lock-free: while one thread turns to a new slice, the
  /// others go on with the old one.
  void turn_to(duration now) noexcept {
    if (now.count() >= next_slice_at_.load(std::memory_order_acquire)) [[unlikely]]
      turn(now);
  }

  void add(std::uint64_t amount) noexcept { total_.fetch_add(amount, std::memory_order_relaxed); }

  /// The sum over the window, modulo 2^64.
  std::uint64_t sum() const noexcept { return read().sum(); }

  /// Takes `cost` if the sum with `reserve` has it, in one step.
  bool take(std::int64_t cost, std::int64_t reserve) noexcept {
    while (true) {
      reading seen = read();
      if (static_cast<std::int64_t>(seen.sum()) + reserve < cost) return false;
      if (total_.compare_exchange_weak(seen.total, seen.total - static_cast<std::uint64_t>(cost),
                                       std::memory_order_relaxed, std::memory_order_relaxed))
        return true;
    }
  }

 private:
  /// More than twice the window: while one thread writes the next ten at most, no other loses the one that it reads,
  /// unless so much time has passed that all of the window has expired anyway, which is what it then reads.
  static constexpr std::uint64_t kept = 32;

  struct reading {
    std::uint64_t total = 0;
    std::uint64_t base = 0;
    std::uint64_t sum() const noexcept { return total - base; }
  };

  reading read() const noexcept {
    while (true) {
      const std::int64_t current = slice_number_.load(std::memory_order_acquire);
      reading seen;
      seen.base = at(current - (slices - 1)).load(std::memory_order_acquire);
      // After the base, which was a value of the total: the total that is read is no older.
      seen.total = total_.load(std::memory_order_acquire);
      if (slice_number_.load(std::memory_order_relaxed) == current) return seen;
    }
  }

  void turn(duration now) noexcept {
    if (turning_.exchange(true, std::memory_order_acquire)) return;
    if (now.count() >= next_slice_at_.load(std::memory_order_relaxed)) {
      const std::int64_t before = slice_number_.load(std::memory_order_relaxed);
      if (!begun_) origin_ = now;
      begun_ = true;
      const std::int64_t current = subtract(now, origin_) / slice_;
      const std::uint64_t total = total_.load(std::memory_order_relaxed);
      const std::int64_t oldest = current - (slices - 1);
      for (std::int64_t slice = before < oldest ? oldest : before + 1; slice <= current; ++slice)
        at(slice).store(total, std::memory_order_release);
      slice_number_.store(current, std::memory_order_release);
      next_slice_at_.store(add_saturated(origin_, multiply(slice_, current + 1)), std::memory_order_release);
    }
    turning_.store(false, std::memory_order_release);
  }

  static std::int64_t add_saturated(duration a, duration b) noexcept { return detail::add(a, b).count(); }

  const std::atomic<std::uint64_t>& at(std::int64_t slice) const noexcept {
    return bases_[static_cast<std::uint64_t>(slice) % kept];
  }
  std::atomic<std::uint64_t>& at(std::int64_t slice) noexcept {
    return bases_[static_cast<std::uint64_t>(slice) % kept];
  }

  // Written by every call; what follows on other cache lines is mostly read.
  alignas(64) std::atomic<std::uint64_t> total_ = 0;
  alignas(64) std::atomic<std::int64_t> next_slice_at_ = (duration::min)().count();
  std::atomic<std::int64_t> slice_number_ = 0;
  duration slice_;
  std::atomic<bool> turning_ = false;
  // Only for the one who turns.
  bool begun_ = false;
  duration origin_ = duration::zero();
  /// The total when the slice began, by its number modulo `kept`.
  std::atomic<std::uint64_t> bases_[kept] = {};
};

}  // namespace reprise::inline REPRISE_VERSION_NAMESPACE::detail
