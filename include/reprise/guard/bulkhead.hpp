// SPDX-License-Identifier: MIT
// A fixed number of slots: a stuck downstream holds only its own compartment, a full service says so at once.
// Knows no policy: it wraps one attempt, or admits one request.
#pragma once

#include <condition_variable>
#include <exception>
#include <mutex>

#include "../concepts.hpp"
#include "../detail/send.hpp"
#include "../policy/deadline.hpp"

namespace reprise::inline REPRISE_VERSION_NAMESPACE {

/// Thrown by a guarded send that got no slot. Nothing was sent: `rolled_back<bulkhead_full>{}` makes it a failure that
/// is safe to repeat; without a classifier it passes through like any exception.
class bulkhead_full : public std::exception {
 public:
  const char* what() const noexcept override { return "bulkhead_full"; }
};

/// At most `slots` holders at a time; exact under threads. One count under one mutex: a slot is taken in the step that
/// finds it free and given back by the destructor of whatever holds it, so that none is lost or doubled when a waiter's
/// time runs out, a send throws, or a call is cancelled. Waiters are served in no particular order. Must outlive its
/// slots and guards.
class bulkhead {
 public:
  /// What holds one slot, and gives it back when it goes.
  class slot {
   public:
    slot(slot&& other) noexcept : owner_(std::exchange(other.owner_, nullptr)) {}
    slot& operator=(slot&& other) noexcept {
      if (this != &other) {
        release();
        owner_ = std::exchange(other.owner_, nullptr);
      }
      return *this;
    }
    ~slot() { release(); }

    /// Gives the slot back now.
    void release() noexcept {
      if (bulkhead* owner = std::exchange(owner_, nullptr)) owner->give_back();
    }

   private:
    friend class bulkhead;
    explicit slot(bulkhead& owner) noexcept : owner_(&owner) {}

    bulkhead* owner_;
  };

  /// slots >= 1, else `std::invalid_argument`.
  explicit bulkhead(int slots) : slots_(slots), free_(slots) {
    if (slots < 1) detail::refuse("bulkhead", "slots", "1 or more", slots);
  }
  bulkhead(const bulkhead&) = delete;
  bulkhead& operator=(const bulkhead&) = delete;

  int slots() const noexcept { return slots_; }
  /// How many are free at this instant.
  int free() const {
    const std::lock_guard lock(mutex_);
    return free_;
  }

  /// A slot if one is free, else nothing; never waits. Admission control is this: `if (!inbound.try_acquire()) busy`,
  /// with the slot kept for as long as the request is served.
  [[nodiscard]] std::optional<slot> try_acquire() {
    const std::lock_guard lock(mutex_);
    return take();
  }

  /// A slot, waited for until `deadline` at most, a point of std::chrono::steady_clock; nothing if none came free. One
  /// that is free is given also when the deadline has passed.
  [[nodiscard]] std::optional<slot> acquire_until(std::chrono::steady_clock::time_point deadline) {
    std::unique_lock lock(mutex_);
    for (auto now = real_clock::now(); free_ == 0 && now < deadline; now = real_clock::now()) {
      // A point near the end of its range would overflow inside the library's own wait.
      const auto slice = now + std::chrono::hours(1);
      came_free_.wait_until(lock, deadline < slice ? deadline : slice);
    }
    return take();
  }

  /// The same on the caller's clock: `wait(d)` is called while there is none, and returns after d at the latest; sooner
  /// if something may have come free. A wait that returns `slept::interrupted` ends the waiting without a slot. On a
  /// fake clock nothing sleeps.
  template <class TimePoint, clock_function Clock, sleep_function Wait>
  [[nodiscard]] std::optional<slot> acquire_until(TimePoint deadline, Clock&& clock, Wait&& wait) {
    for (;;) {
      if (std::optional<slot> taken = try_acquire()) return taken;
      const duration left = remaining(deadline, clock());
      if (left == duration::zero()) return std::nullopt;
      if constexpr (std::is_void_v<std::invoke_result_t<Wait&, duration>>) wait(left);
      else if (wait(left) == slept::interrupted) return std::nullopt;
    }
  }

  /// A send that holds a slot while it runs, and throws `bulkhead_full` at once if there is none. Per attempt: the slot
  /// is free again before the wait, so that calls which wait do not keep out calls which could work. It keeps `send` by
  /// value and takes what that takes.
  template <class Send> [[nodiscard]] auto guard(Send send) {
    static_assert(
        detail::exceptions_are_on || detail::always_false<Send>,
        "reprise::bulkhead::guard requires exceptions: build with them, or let send call try_acquire() and return a response that says busy");
    return guarded<Send, at_once>(std::move(send), {this});
  }

  /// A send that queues for its slot, no longer than until the attempt's end, and hands on the timeout that is left;
  /// `bulkhead_full` if no slot came free in time. It waits in real time and measures with `clock`, which is read only
  /// if no slot is free at once.
  template <class Send, class Clock> [[nodiscard]] auto guard(Send send, Clock clock) {
    return guard(std::move(send), std::move(clock), in_real_time());
  }
  /// The same with a wait of the caller's, as in `acquire_until`.
  template <class Send, class Clock, class Wait> [[nodiscard]] auto guard(Send send, Clock clock, Wait wait) {
    static_assert(
        detail::exceptions_are_on || detail::always_false<Send>,
        "reprise::bulkhead::guard requires exceptions: build with them, or let send call try_acquire() and return a response that says busy");
    constexpr bool is_steady = steady<Clock>();
    constexpr bool waits = std::same_as<Wait, in_real_time> || sleep_function<Wait>;
    static_assert(
        is_steady,
        "reprise::bulkhead::guard requires a steady clock: write guard(send, [] { return std::chrono::steady_clock::now(); })");
    static_assert(
        waits,
        "reprise::bulkhead::guard requires a wait that returns nothing or reprise::slept: write guard(send, clock, [](reprise::duration at_most) { ... })");
    if constexpr (is_steady && waits)
      return guarded<Send, in_time<Clock, Wait>>(std::move(send), {this, std::move(clock), std::move(wait)});
  }

 private:
  using real_clock = std::chrono::steady_clock;

  struct in_real_time {};

  /// How a guarded send comes by its slot.
  struct at_once {
    bulkhead* owner;

    std::optional<slot> operator()(attempt&) const { return owner->try_acquire(); }
  };

  /// The same with queueing; takes the time that it queued off the attempt's.
  template <class Clock, class Wait> struct in_time {
    bulkhead* owner;
    Clock clock;
    [[no_unique_address]] Wait wait;

    std::optional<slot> operator()(attempt& current) { return queue(*this, current); }
    std::optional<slot> operator()(attempt& current) const
        requires clock_function<const Clock> && (std::same_as<Wait, in_real_time> || sleep_function<const Wait>)
    {
      return queue(*this, current);
    }

   private:
    template <class Self> static std::optional<slot> queue(Self& self, attempt& current) {
      if (std::optional<slot> taken = self.owner->try_acquire()) return taken;
      const auto start = self.clock();
      std::optional<slot> taken;
      if constexpr (std::same_as<Wait, in_real_time>)
        taken = self.owner->acquire_until(later(real_clock::now(), current.timeout));
      else taken = self.owner->acquire_until(later(start, current.timeout), self.clock, self.wait);
      if (!taken.has_value() || current.timeout == unlimited) return taken;
      current.timeout -= remaining(self.clock(), start);
      if (current.timeout <= duration::zero()) taken.reset();  // it came free when the time was up
      return taken;
    }
  };

  // What it wraps is called as it would be called bare: with the attempt and its points in time, or with the plain one.
  template <class Send, class Entry> class guarded {
    static constexpr bool is_const = std::invocable<const Entry&, attempt&>;

   public:
    guarded(Send send, Entry enter) : send_(std::move(send)), enter_(std::move(enter)) {}

    decltype(auto) operator()(const attempt& current) requires detail::can_be_sent_plainly<Send>
    {
      return sent(*this, detail::with_points(current));
    }
    decltype(auto) operator()(const attempt& current) const
        requires(is_const && detail::can_be_sent_plainly<const Send>)
    {
      return sent(*this, detail::with_points(current));
    }
    template <class TimePoint> decltype(auto) operator()(const attempt_at<TimePoint>& current)
        requires detail::takes_attempt_at<Send, TimePoint>
    {
      return sent(*this, current);
    }
    template <class TimePoint> decltype(auto) operator()(const attempt_at<TimePoint>& current) const
        requires(is_const && detail::takes_attempt_at<const Send, TimePoint>)
    {
      return sent(*this, current);
    }

   private:
    template <class Self, class Attempt> static decltype(auto) sent(Self& self, Attempt current) {
      const std::optional<slot> held = self.enter_(current);
      if (!held.has_value()) detail::raise<bulkhead_full>();
      return detail::call_send(self.send_, std::as_const(current));
    }

    Send send_;
    Entry enter_;
  };

  template <class Clock> static constexpr bool steady() {
    if constexpr (clock_function<Clock>) return std::remove_cvref_t<std::invoke_result_t<Clock&>>::clock::is_steady;
    return false;
  }

  /// `start + wait`, saturating, rounded down to the clock's unit.
  template <class TimePoint> static TimePoint later(TimePoint start, duration wait) {
    const duration end = detail::add(detail::since_epoch(start), wait);
    return TimePoint(detail::from_duration<detail::rounding::down, typename TimePoint::duration>(end));
  }

  std::optional<slot> take() {
    if (free_ == 0) return std::nullopt;
    --free_;
    return slot(*this);
  }

  /// Tells a waiter while the mutex is held: afterwards the slot's holder touches the bulkhead no more.
  void give_back() noexcept {
    const std::lock_guard lock(mutex_);
    ++free_;
    came_free_.notify_one();
  }

  const int slots_;
  int free_;
  mutable std::mutex mutex_;
  std::condition_variable came_free_;
};

}  // namespace reprise::inline REPRISE_VERSION_NAMESPACE
