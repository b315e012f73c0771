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

  /// A slot if one is free, else nothing; never waits. Admission control is this: `if (!inbound.try_acquire()) busy`.
  std::optional<slot> try_acquire() {
    const std::lock_guard lock(mutex_);
    return take();
  }

  /// A slot, waited for until `deadline` at most, a point of std::chrono::steady_clock; nothing if none came free.
  std::optional<slot> acquire_until(std::chrono::steady_clock::time_point deadline) {
    std::unique_lock lock(mutex_);
    came_free_.wait_until(lock, deadline, [this] { return free_ > 0; });
    return take();
  }

  /// The same on the caller's clock: `wait(d)` is called while there is none, and returns after d at the latest; sooner
  /// if something may have come free. A wait that returns `slept::interrupted` ends the waiting without a slot. On a
  /// fake clock nothing sleeps.
  template <class TimePoint, clock_function Clock, sleep_function Wait>
  std::optional<slot> acquire_until(TimePoint deadline, Clock&& clock, Wait&& wait) {
    for (;;) {
      if (std::optional<slot> taken = try_acquire()) return taken;
      const duration left = remaining(deadline, clock());
      if (left == duration::zero()) return std::nullopt;
      if constexpr (std::is_void_v<std::invoke_result_t<Wait&, duration>>) wait(left);
      else if (wait(left) == slept::interrupted) return std::nullopt;
    }
  }

  /// A send that holds a slot while it runs, and throws `bulkhead_full` at once if there is none. Per attempt: the slot
  /// is free again before the wait, so that calls which wait do not keep out calls which could work.
  template <class Send> auto guard(Send send) { return refusing<Send>{*this, std::move(send)}; }

  /// A send that queues for its slot until the attempt's end, read from `clock`, and hands on the timeout that is left;
  /// `bulkhead_full` if no slot came free in time. Without a wait of the caller's it waits in real time.
  template <class Send, class Clock> auto guard(Send send, Clock clock) {
    return guard(std::move(send), std::move(clock), waiting{*this});
  }
  template <class Send, class Clock, class Wait> auto guard(Send send, Clock clock, Wait wait) {
    return queueing<Send, Clock, Wait>{*this, std::move(send), std::move(clock), std::move(wait)};
  }

 private:
  /// Waits until a slot may be free, or for this long.
  struct waiting {
    bulkhead& owner;

    void operator()(duration at_most) const {
      std::unique_lock lock(owner.mutex_);
      const auto slice = detail::shorter(at_most, std::chrono::hours(1));  // the library's own wait could overflow
      owner.came_free_.wait_for(lock, slice, [this] { return owner.free_ > 0; });
    }
  };

  // A guarded send takes what the send takes: the attempt with its points in time, or the plain one.
  template <class Send> struct refusing {
    bulkhead& owner;
    Send send;

    auto operator()(const attempt& current) requires detail::can_be_sent_plainly<Send>
    {
      return sent(detail::with_points(current));
    }
    template <class TimePoint> auto operator()(const attempt_at<TimePoint>& current)
        requires detail::takes_attempt_at<Send, TimePoint>
    {
      return sent(current);
    }

   private:
    template <class Attempt> auto sent(const Attempt& current) {
      const std::optional<slot> held = owner.try_acquire();
      if (!held.has_value()) detail::raise<bulkhead_full>();
      return detail::call_send(send, current);
    }
  };

  template <class Send, class Clock, class Wait> struct queueing {
    bulkhead& owner;
    Send send;
    Clock clock;
    Wait wait;

    auto operator()(const attempt& current) requires detail::can_be_sent_plainly<Send>
    {
      return sent(detail::with_points(current));
    }
    template <class TimePoint> auto operator()(const attempt_at<TimePoint>& current)
        requires detail::takes_attempt_at<Send, TimePoint>
    {
      return sent(current);
    }

   private:
    template <class Attempt> auto sent(Attempt current) {
      using time_point = std::remove_cvref_t<std::invoke_result_t<Clock&>>;
      const time_point start = clock();
      const duration end = detail::add(detail::since_epoch(start), current.timeout);
      const time_point deadline(detail::from_duration<detail::rounding::down, typename time_point::duration>(end));
      const std::optional<slot> held = owner.acquire_until(deadline, clock, wait);
      if (!held.has_value()) detail::raise<bulkhead_full>();
      if (current.timeout != unlimited)
        current.timeout = detail::longer(current.timeout - remaining(clock(), start), duration(1));
      return detail::call_send(send, current);
    }
  };

  std::optional<slot> take() {
    if (free_ == 0) return std::nullopt;
    --free_;
    return slot(*this);
  }

  void give_back() noexcept {
    {
      const std::lock_guard lock(mutex_);
      ++free_;
    }
    came_free_.notify_one();
  }

  const int slots_;
  int free_;
  mutable std::mutex mutex_;
  std::condition_variable came_free_;
};

}  // namespace reprise::inline REPRISE_VERSION_NAMESPACE
