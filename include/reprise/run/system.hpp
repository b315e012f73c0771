// SPDX-License-Identifier: MIT
// The real world: steady clock, real sleep, real randomness. The only header that reads a clock or draws a number.
// Knows no policy.
#pragma once

#include <random>
#include <thread>

#if __has_include(<stop_token>)
#include <stop_token>
#endif
#ifdef __cpp_lib_jthread
#include <condition_variable>
#include <mutex>
#endif
#if __has_include(<unistd.h>)
#include <unistd.h>
#endif

#include "execute.hpp"

namespace reprise::inline REPRISE_VERSION_NAMESPACE {

namespace detail {

/// splitmix64 (Steele, Lea, Flood 2014): eight bytes of state, a handful of instructions, any seed is good.
class splitmix64 {
 public:
  constexpr explicit splitmix64(std::uint64_t seed) noexcept : state_(seed) {}

  constexpr std::uint64_t operator()() noexcept {
    std::uint64_t mixed = (state_ += 0x9E3779B97F4A7C15U);
    mixed = (mixed ^ (mixed >> 30U)) * 0xBF58476D1CE4E5B9U;
    mixed = (mixed ^ (mixed >> 27U)) * 0x94D049BB133111EBU;
    return mixed ^ (mixed >> 31U);
  }
  /// In [0,1): the upper 53 bits.
  constexpr double fraction() noexcept { return static_cast<double>((*this)() >> 11U) * 0x1.0p-53; }

 private:
  std::uint64_t state_;
};

inline std::uint64_t system_seed() {
  std::random_device device;
  return (std::uint64_t{device()} << 32U) ^ device();
}

inline long process_number() noexcept {
#if __has_include(<unistd.h>)
  return static_cast<long>(::getpid());
#else
  return 0;
#endif
}

/// One generator per thread, seeded once from the system; again after a fork, or parent and child would jitter alike.
inline double system_fraction() {
  thread_local splitmix64 generator(system_seed());
  thread_local long owner = process_number();
  if (const long process = process_number(); process != owner) {
    owner = process;
    generator = splitmix64(system_seed());
  }
  return generator.fraction();
}

/// Sleeps until `due` in slices of at most an hour: a duration near the end of its range would overflow inside the
/// library's own sleep.
inline void sleep_until(std::chrono::steady_clock::time_point due) {
  for (auto now = std::chrono::steady_clock::now(); now < due; now = std::chrono::steady_clock::now()) {
    const auto left = due - now;
    std::this_thread::sleep_for(
        left < std::chrono::hours(1) ? left : std::chrono::steady_clock::duration(std::chrono::hours(1)));
  }
}

inline std::chrono::steady_clock::time_point due_in(duration wait) {
  const auto now = std::chrono::steady_clock::now();
  const auto left = from_duration<rounding::up, std::chrono::steady_clock::duration>(wait);
  return left > (std::chrono::steady_clock::time_point::max)() - now ? (std::chrono::steady_clock::time_point::max)()
                                                                     : now + left;
}

}  // namespace detail

/// A fraction in [0,1). Default-made it draws from one small generator per thread, seeded once from the system and anew
/// after a fork; safe to share by threads. `random_fraction{seed}` has its own, for tests: the same seed, the same
/// draws.
class random_fraction {
 public:
  random_fraction() = default;
  explicit random_fraction(std::uint64_t seed) noexcept : own_(detail::splitmix64(seed)) {}

  double operator()() { return own_.has_value() ? own_->fraction() : detail::system_fraction(); }

 private:
  std::optional<detail::splitmix64> own_;
};

/// std::chrono::steady_clock, a sleep that lasts until its due time, and the system's randomness.
struct system_environment {
  std::chrono::steady_clock::time_point now() const noexcept { return std::chrono::steady_clock::now(); }
  void sleep(duration wait) const { detail::sleep_until(detail::due_in(wait)); }
  double fraction() const { return detail::system_fraction(); }
};

#ifdef __cpp_lib_jthread

/// The same, with waits that end at once when a stop is requested.
class stoppable_environment {
 public:
  explicit stoppable_environment(std::stop_token stop) : stop_(std::move(stop)) {}

  std::chrono::steady_clock::time_point now() const noexcept { return std::chrono::steady_clock::now(); }
  double fraction() const { return detail::system_fraction(); }
  bool cancelled() const noexcept { return stop_.stop_requested(); }

  slept sleep(duration wait) const {
    const auto due = detail::due_in(wait);
    std::mutex mutex;
    std::condition_variable stopped;  // condition_variable_any would take a stop_token, and a block of the heap
    const std::stop_callback wake(stop_, [&] {
      const std::lock_guard lock(mutex);
      stopped.notify_all();
    });
    std::unique_lock lock(mutex);
    for (auto now = this->now(); now < due && !cancelled(); now = this->now()) {
      const auto slice = now + std::chrono::hours(1);
      stopped.wait_until(lock, due < slice ? due : slice);
    }
    return cancelled() ? slept::interrupted : slept::fully;
  }

 private:
  std::stop_token stop_;
};

/// `execute` on the real clock, cancelled by a stop token: before an attempt, during a wait, and after a failed
/// attempt.
template <class Policy, class Send> auto execute(const Policy& policy, Send&& send, std::stop_token stop) {
  stoppable_environment environment(std::move(stop));
  return execute(policy, send, environment);
}

#endif

/// `execute` on the real clock.
template <class Policy, class Send> auto execute(const Policy& policy, Send&& send) {
  system_environment environment;
  return execute(policy, send, environment);
}

/// `execute` with the caller's clock and sleep, and the system's randomness.
template <class Policy, class Send, class Clock, class Sleep>
auto execute(const Policy& policy, Send&& send, Clock&& clock, Sleep&& sleep) {
  random_fraction fraction;
  return execute(policy, send, clock, sleep, fraction);
}

}  // namespace reprise::inline REPRISE_VERSION_NAMESPACE
