// SPDX-License-Identifier: MIT
// A clock that moves only when it is told to, and a sleep that moves it: tests of waiting that never wait.
// Usable in constant expressions. Knows no policy.
#pragma once

#include <cstddef>
#include <initializer_list>

#include "../concepts.hpp"

namespace reprise::inline REPRISE_VERSION_NAMESPACE::testing {

/// Values in the order in which they were recorded, in place; more than fit throw `std::length_error`.
template <class Value, std::size_t Capacity = 64> class recorded {
 public:
  constexpr void add(const Value& value) {
    if (size_ == Capacity) detail::raise<std::length_error>("reprise::testing: more values than a record has room for");
    values_[size_++] = value;
  }
  constexpr std::size_t size() const noexcept { return size_; }
  constexpr bool empty() const noexcept { return size_ == 0; }
  constexpr const Value& operator[](std::size_t at) const noexcept { return values_[at]; }
  constexpr const Value& front() const noexcept { return values_[0]; }
  constexpr const Value& back() const noexcept { return values_[size_ - 1]; }
  constexpr const Value* begin() const noexcept { return values_; }
  constexpr const Value* end() const noexcept { return values_ + size_; }

  /// Compares with any range: another record, a std::vector, a std::array.
  template <class Range> requires requires(const Range& range) {
    range.begin();
    range.end();
  }
  friend constexpr bool operator==(const recorded& record, const Range& range) {
    auto other = range.begin();
    for (const Value& value : record) {
      if (other == range.end() || !(value == *other)) return false;
      ++other;
    }
    return other == range.end();
  }
  /// Whether exactly these were recorded: `waits().are({1s, 2s})`.
  constexpr bool are(std::initializer_list<Value> expected) const {
    recorded list;
    for (const Value& value : expected) list.add(value);
    return *this == list;
  }

 private:
  Value values_[Capacity] = {};
  std::size_t size_ = 0;
};

/// Always the same fraction.
struct fixed_fraction {
  double value = 0.5;
  constexpr explicit fixed_fraction(double given) noexcept : value(given) {}
  constexpr double operator()() const noexcept { return value; }
};

/// A steady clock at 0, its sleep and its fractions; itself an environment: `execute(policy, send, time)`.
/// `Capacity` is how many waits it can record.
template <std::size_t Capacity> class basic_fake_clock {
 public:
  using duration = reprise::duration;
  using rep = reprise::duration::rep;
  using period = reprise::duration::period;
  using time_point = std::chrono::time_point<basic_fake_clock>;
  static constexpr bool is_steady = true;

  constexpr basic_fake_clock() = default;
  // The functors below refer to it.
  basic_fake_clock(const basic_fake_clock&) = delete;
  basic_fake_clock& operator=(const basic_fake_clock&) = delete;

  constexpr time_point now() const noexcept { return now_; }

  /// Moves the clock by d (backwards too); saturates.
  constexpr void advance(time_span d) noexcept {
    now_ = time_point(detail::subtract(now_.time_since_epoch(), detail::subtract(duration::zero(), d)));
  }

  /// Every sleep lasts this much longer than asked.
  constexpr void oversleeps(time_span d) noexcept { oversleep_ = d; }

  /// A sleep that reaches this time, counted from the clock's 0, is cut there and reports an interruption.
  constexpr void interrupts_at(time_span since_zero) noexcept { interrupt_ = since_zero; }
  constexpr void interrupts_at(time_point at) noexcept { interrupt_ = at.time_since_epoch(); }

  /// The fractions to give, the last of them again and again; 0.5 by default. Any range of numbers, or a list in
  /// braces.
  template <class Range = std::initializer_list<double>> constexpr void fractions(const Range& given) {
    fractions_ = {};
    drawn_ = 0;
    for (const double fraction : given) fractions_.add(fraction);
  }

  constexpr slept sleep(duration wait) {
    const duration start = now_.time_since_epoch();
    const duration end = detail::add(start, detail::add(wait, oversleep_));
    if (interrupt_.has_value() && end >= *interrupt_) {
      const duration cut = *interrupt_ > start ? *interrupt_ - start : duration::zero();
      waits_.add(cut);
      advance(cut);
      return slept::interrupted;
    }
    waits_.add(wait);
    now_ = time_point(end);
    return slept::fully;
  }
  constexpr double fraction() noexcept {
    if (fractions_.empty()) return 0.5;
    if (drawn_ < fractions_.size()) ++drawn_;
    return fractions_[drawn_ - 1];
  }

  /// Every wait that was asked for; of a cut one the part that was slept.
  constexpr const auto& waits() const noexcept { return waits_; }

  /// The clock as a function object.
  constexpr auto clock() noexcept {
    return [this]() noexcept { return now(); };
  }
  /// The sleep as a function object.
  constexpr auto sleep() noexcept {
    return [this](duration wait) { return sleep(wait); };
  }

 private:
  time_point now_{};
  duration oversleep_ = duration::zero();
  std::optional<duration> interrupt_ = {};
  recorded<duration, Capacity> waits_ = {};
  recorded<double, Capacity> fractions_ = {};
  std::size_t drawn_ = 0;
};

/// Records up to 64 waits.
using fake_clock = basic_fake_clock<64>;

}  // namespace reprise::inline REPRISE_VERSION_NAMESPACE::testing
