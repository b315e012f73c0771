// SPDX-License-Identifier: MIT
// A number shared by threads that stays within 0 and its maximum, whatever is added or taken.
// Knows nothing of budgets, nor what it counts.
#pragma once

#include <atomic>
#include <cstdint>

#include "../version.hpp"
#include "fail.hpp"

namespace reprise::inline REPRISE_VERSION_NAMESPACE::detail {

/// Lock-free and exact: every change is one step on one word. It orders nothing else, hence relaxed throughout.
/// On a cache line of its own, so that counting slows down nothing that happens to lie beside it.
class alignas(64) clamped_count {
 public:
  /// Starts full.
  constexpr explicit clamped_count(std::int64_t most) noexcept : value_(most), most_(most) {}

  std::int64_t value() const noexcept { return value_.load(std::memory_order_relaxed); }
  std::int64_t most() const noexcept { return most_; }

  /// clamp(value + change, 0, most). Where that changes nothing it does not write: a full count, as in good times, is
  /// only read, and threads do not contend for it.
  void add(std::int64_t change) noexcept {
    std::int64_t seen = value();
    while (true) {
      const std::int64_t sum = seen + change;
      const std::int64_t next = sum < 0 ? 0 : (sum > most_ ? most_ : sum);
      if (next == seen || exchanged(seen, next)) return;
    }
  }

  /// Takes all of it or nothing.
  bool take(std::int64_t cost) noexcept {
    std::int64_t seen = value();
    while (seen >= cost)
      if (exchanged(seen, seen - cost)) return true;
    return false;
  }

 private:
  bool exchanged(std::int64_t& seen, std::int64_t next) noexcept {
    return value_.compare_exchange_weak(seen, next, std::memory_order_relaxed, std::memory_order_relaxed);
  }

  std::atomic<std::int64_t> value_;
  std::int64_t most_;
};

}  // namespace reprise::inline REPRISE_VERSION_NAMESPACE::detail
