// SPDX-License-Identifier: MIT
// How a call ended, and what its last attempt left: response, verdict, exception, log.
// Decides nothing.
#pragma once

#include <exception>

#include "action.hpp"
#include "detail/pack.hpp"
#include "policy/attempt_log.hpp"
#include "verdict.hpp"

namespace reprise::inline REPRISE_VERSION_NAMESPACE {

/// Thrown by `success()` and `value()` for a call that has neither a response nor an exception to give.
class retry_failed : public std::exception {
 public:
  retry_failed(stop_reason reason, int attempts, const reprise::verdict& last) noexcept
      : reason_(reason), attempts_(attempts), last_(last) {}

  /// Names the stop reason.
  const char* what() const noexcept override { return to_string(reason_).data(); }

  stop_reason reason() const noexcept { return reason_; }
  int attempts() const noexcept { return attempts_; }
  const reprise::verdict& last_verdict() const noexcept { return last_; }

 private:
  stop_reason reason_;
  int attempts_;
  reprise::verdict last_;
};

/// The time was up before an attempt could be made or repeated.
class deadline_exceeded : public retry_failed {
 public:
  using retry_failed::retry_failed;
};

/// The caller gave up.
class retry_cancelled : public retry_failed {
 public:
  using retry_failed::retry_failed;
};

namespace detail {

/// What stands in a result for the response of a `send` that returns nothing.
struct no_response {};

/// The last attempt's exception, null if it threw none.
struct kept_exception {
  std::exception_ptr thrown = {};
};

template <class Kept> inline constexpr bool is_log = false;
template <std::size_t Capacity, bool HasMessages> inline constexpr bool is_log<attempt_records<Capacity, HasMessages>> =
    true;

/// What an engine says of a call that is over.
struct call_end {
  verdict last = {.kind = outcome::permanent, .label = "none"};
  duration total_wait = duration::zero();
  int attempts = 0;
  stop_reason reason = stop_reason::cancelled;
};

}  // namespace detail

/// What `execute` returns. `Keeps...` are what a policy asked to keep besides the response: an exception, a log; a
/// result converts to the plain `retry_result<T>` without them.
template <class T, class... Keeps> class [[nodiscard]] retry_result {
  static constexpr bool returns_nothing = std::is_void_v<T>;
  using stored_type = std::conditional_t<returns_nothing, detail::no_response, T>;
  static constexpr bool keeps_exception = (std::same_as<Keeps, detail::kept_exception> || ...);
  static constexpr bool keeps_log = (detail::is_log<Keeps> || ...);

 public:
  constexpr retry_result() = default;

  /// For drivers: makes the call. `loop(response, kept)` puts the last response into the optional that it is handed and
  /// returns how the call ended, so that nothing is written twice and no response is moved again.
  template <std::invocable<std::optional<stored_type>&, detail::pack<Keeps...>&> Loop>
  [[gnu::always_inline]] constexpr explicit retry_result(Loop&& loop) : end_(loop(response_, kept_)) {}

  /// Without exception and log.
  template <class... Others> requires(sizeof...(Keeps) == 0 && sizeof...(Others) > 0)
  constexpr retry_result(retry_result<T, Others...> other) : response_(std::move(other.response_)), end_(other.end_) {}

  /// The call succeeded.
  constexpr bool ok() const noexcept { return reason() == stop_reason::succeeded; }
  constexpr stop_reason reason() const noexcept { return end_.reason; }
  /// How many attempts were made.
  constexpr int attempts() const noexcept { return end_.attempts; }
  /// All waits together; of a wait that was cut, the part that was waited (as far as the clock was read).
  constexpr duration total_wait() const noexcept { return end_.total_wait; }
  /// What the last attempt's end meant; permanent, label "none", before any attempt.
  constexpr const verdict& last_verdict() const noexcept { return end_.last; }

  /// Whether the last attempt's response is here. It is not when the attempt threw, when no attempt was made, and when
  /// it was let go before a wait that no attempt followed. For void: the last attempt returned.
  constexpr bool has_response() const noexcept { return response_.has_value(); }

  /// The last response, also that of a failed call. Only if `has_response()`.
  template <class Self = T> requires(!std::is_void_v<Self>)
  constexpr const Self& response() const& noexcept {
    return *response_;
  }
  template <class Self = T> requires(!std::is_void_v<Self>)
  constexpr Self& response() & noexcept {
    return *response_;
  }
  template <class Self = T> requires(!std::is_void_v<Self>)
  constexpr Self response() && {
    return std::move(*response_);
  }

  /// The response of a call that succeeded. Otherwise the last attempt's own exception, rethrown, else `retry_failed`
  /// (`deadline_exceeded`, `retry_cancelled` where that is the reason).
  constexpr decltype(auto) success() const& { return require(succeeded()), value_of(*this); }
  constexpr decltype(auto) success() & { return require(succeeded()), value_of(*this); }
  constexpr T success() && { return require(succeeded()), moved(); }

  /// The last response where there is one, *also that of a failed call*; otherwise it throws as `success()` does.
  constexpr decltype(auto) value() const& { return require(has_response()), value_of(*this); }
  constexpr decltype(auto) value() & { return require(has_response()), value_of(*this); }
  constexpr T value() && { return require(has_response()), moved(); }

  /// The last attempt's exception, null if it threw none; kept where a part classifies exceptions.
  const std::exception_ptr& exception() const noexcept requires keeps_exception
  {
    return detail::get<0>(kept_).thrown;
  }

  /// The attempts, where the policy has an `attempt_log`.
  constexpr const auto& log() const noexcept requires keeps_log
  {
    return detail::get<sizeof...(Keeps) - 1>(kept_);
  }

 private:
  template <class, class...> friend class retry_result;

  /// An exception that a classifier took for success leaves no response to give.
  constexpr bool succeeded() const noexcept { return ok() && (returns_nothing || has_response()); }

  template <class Self> static constexpr decltype(auto) value_of(Self& self) {
    if constexpr (!returns_nothing) return (*self.response_);
  }

  constexpr T moved() {
    if constexpr (!returns_nothing) return std::move(*response_);
  }

  constexpr void require(bool given) const {
    if (!given) fail();
  }

  [[noreturn]] void fail() const {
#if REPRISE_EXCEPTIONS
    if constexpr (keeps_exception) {
      if (exception()) std::rethrow_exception(exception());
    }
#endif
    const auto& [last, total_wait, attempts, reason] = end_;
    if (reason == stop_reason::deadline_reached) detail::raise<deadline_exceeded>(reason, attempts, last);
    if (reason == stop_reason::cancelled) detail::raise<retry_cancelled>(reason, attempts, last);
    detail::raise<retry_failed>(reason, attempts, last);
  }

  std::optional<stored_type> response_ = {};
  [[no_unique_address]] detail::pack<Keeps...> kept_ = {};
  detail::call_end end_ = {};
};

}  // namespace reprise::inline REPRISE_VERSION_NAMESPACE
