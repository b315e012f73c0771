// SPDX-License-Identifier: MIT
// A retry budget of many processes, on counts that they share, and a local budget for when those cannot be reached.
// Knows no store and no clock: where is counted, and who is told that it cannot be, is the caller's.
#pragma once

#include <atomic>
#include <exception>
#include <string_view>

#include "../concepts.hpp"

namespace reprise::inline REPRISE_VERSION_NAMESPACE {

/// Counts that a fleet shares, one for each window of time. `window(now)` numbers the window, alike in all processes:
/// by a wall clock, since `now` counts from the epoch of the call's own clock. `counter(window)` gives that window's
/// count, a `spend_counter` by value or by reference. Both may throw, and are called from the threads of all calls.
template <class Windows> concept counted_windows = requires(Windows& windows, duration now, std::int64_t number) {
  { windows.window(now) } -> std::same_as<std::int64_t>;
  { windows.counter(number).try_add(number, number) } -> std::same_as<bool>;
  windows.counter(number).add(number);
};

/// Who decides on retries: the shared counts, or the local budget since those cannot be reached.
enum class budget_scope { fleet, local };

/// At most `retries` of the whole fleet in each window, exactly; around the edge of two windows up to twice that. A
/// retry that never starts is given back to its own window. When a count throws, `local` decides, and the counts are
/// asked again by one call each `ask_again` (default 1 s: what waits for a dead store is one call a second, not all).
/// `observer(budget_scope, why)` is told of each change, once; `why` holds the exception's words for that moment. No
/// exception of a count gets through; those of `local` and of the observer do. All three must outlive the calls and
/// bear several threads. retries, ask_again >= 0, else `std::invalid_argument`.
template <class Windows, class Local, class Observer> class fleet_budget {
  static_assert(
      counted_windows<Windows>,
      "reprise::fleet_budget requires counted windows: write window(now) -> std::int64_t and counter(window) -> a spend_counter");
  static_assert(
      retry_budget_model<Local>,
      "reprise::fleet_budget requires a local budget: write call_started(now), failed(verdict), try_retry(verdict, now) -> optional<permit>, call_ended(success, permit, now)");
  static_assert(
      std::invocable<Observer&, budget_scope, std::string_view>,
      "reprise::fleet_budget requires an observer: write [](reprise::budget_scope decides, std::string_view why) { ... }");
  using local_permit = std::remove_cvref_t<decltype(std::declval<Local&>().try_retry(verdict{}, duration{}))>;

 public:
  /// One retry, of the fleet or of the local budget.
  class permit {
   public:
    permit(permit&& other) noexcept
        : budget_(std::exchange(other.budget_, nullptr)), window_(other.window_), local_(std::move(other.local_)) {}
    permit& operator=(permit&& other) noexcept {
      std::swap(budget_, other.budget_);
      std::swap(window_, other.window_);
      std::swap(local_, other.local_);
      return *this;
    }
    ~permit() {
      if (budget_ != nullptr) budget_->give_back(window_);
    }

   private:
    friend class fleet_budget;
    permit(fleet_budget* budget, std::int64_t window) noexcept : budget_(budget), window_(window) {}
    explicit permit(local_permit local) noexcept : local_(std::move(local)) {}

    fleet_budget* budget_ = nullptr;  // null where there is nothing to give back
    std::int64_t window_ = 0;
    local_permit local_ = {};
  };

  fleet_budget(Windows& windows, std::int64_t retries, Local& local, Observer observer,
               time_span ask_again = std::chrono::seconds(1))
      : windows_(&windows), retries_(retries), local_(&local), observer_(std::move(observer)), ask_again_(ask_again) {
    if (retries < 0) detail::refuse("fleet_budget", "retries", "zero or more", static_cast<double>(retries));
    detail::require_not_negative("fleet_budget", "ask_again", ask_again);
  }

  void call_started(duration now) { local_->call_started(now); }
  void failed(const verdict& failure) { local_->failed(failure); }

  std::optional<permit> try_retry(const verdict& failure, duration now) {
    std::optional<permit> granted;
    if (may_ask(now) && did([&] { granted = ask(now); }, [&](std::string_view why) { lost(now, why); })) {
      if (local_decides_.exchange(false)) observer_(budget_scope::fleet, std::string_view{});
    } else if (local_permit local = local_->try_retry(failure, now); local.has_value()) {
      granted = permit(std::move(local));
    }
    return granted;
  }

  void retry_started(permit& used) {
    used.budget_ = nullptr;
    if constexpr (requires { local_->retry_started(*used.local_); }) {
      if (used.local_.has_value()) local_->retry_started(*used.local_);
    }
  }

  void call_ended(bool success, std::optional<permit> last, duration now) {
    local_->call_ended(success, last.has_value() ? std::move(last->local_) : local_permit{}, now);
  }

  /// Who decides at this moment.
  budget_scope decides() const noexcept { return local_decides_ ? budget_scope::local : budget_scope::fleet; }

 private:
  /// Does the work; false after an exception, of whose words `failed` is told.
  template <class Work, class Failed> static bool did(Work work, [[maybe_unused]] Failed failed) {
#if REPRISE_EXCEPTIONS
    try {
      return work(), true;
    } catch (const std::exception& error) {
      failed(std::string_view(error.what()));
    } catch (...) {
      failed(std::string_view("an exception without words"));
    }
    return false;
#else
    return work(), true;
#endif
  }
  /// While the counts are out of reach one call an interval tries, and the others do not wait for it.
  bool may_ask(duration now) noexcept {
    if (!local_decides_) return true;
    duration due = ask_at_;
    return now >= due && ask_at_.compare_exchange_strong(due, detail::add(now, ask_again_));
  }
  std::optional<permit> ask(duration now) {
    const std::int64_t window = windows_->window(now);
    if (!windows_->counter(window).try_add(1, retries_)) return std::nullopt;
    return permit(this, window);
  }
  void lost(duration now, std::string_view why) {
    ask_at_ = detail::add(now, ask_again_);
    if (!local_decides_.exchange(true)) observer_(budget_scope::local, why);
  }
  /// What cannot be given back stays charged, which is the harmless side; its window passes.
  void give_back(std::int64_t window) noexcept {
    if (!local_decides_) did([&] { windows_->counter(window).add(-1); }, [](std::string_view) {});
  }

  Windows* windows_;
  std::int64_t retries_;
  Local* local_;
  Observer observer_;
  duration ask_again_;
  std::atomic<bool> local_decides_ = false;
  std::atomic<duration> ask_at_ = duration::zero();
};

}  // namespace reprise::inline REPRISE_VERSION_NAMESPACE
