// SPDX-License-Identifier: MIT
// A chain of calls that stand in for each other, under one deadline; at its end a last resort.
// Makes no attempt and reads no clock: each call is an `execute` of its own, which is handed the deadline.
#pragma once

#include <exception>

#include "../detail/pack.hpp"
#include "../policy/deadline.hpp"
#include "../result.hpp"

namespace reprise::inline REPRISE_VERSION_NAMESPACE {

/// Why a call of the chain did not answer.
struct fallback_cause {
  stop_reason reason = stop_reason::cancelled;
  reprise::verdict verdict = {};
  /// The attempt's own exception, where the call's result kept one.
  std::exception_ptr exception = {};
};

/// The causes of a chain of `Count` calls, in order.
template <std::size_t Count> class fallback_causes {
 public:
  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  const fallback_cause& operator[](std::size_t at) const noexcept { return causes_[at]; }
  const fallback_cause* begin() const noexcept { return causes_; }
  const fallback_cause* end() const noexcept { return causes_ + size_; }
  /// The cause of the last call that was made; only if there is one.
  const fallback_cause& last() const noexcept { return causes_[size_ - 1]; }

  void add(fallback_cause cause) { causes_[size_++] = std::move(cause); }
  void clear() noexcept { size_ = 0; }

 private:
  fallback_cause causes_[Count] = {};
  std::size_t size_ = 0;
};

/// What a chain answered.
template <class T, std::size_t Count> struct fallback_answer {
  /// Nothing if the call was cancelled, if the filter kept the fallback from standing in, or if all failed and there is
  /// no last resort.
  std::optional<T> value = {};
  /// Which call answered, from 0; the number of calls where it was the last resort; -1 if nobody did.
  int index = -1;
  /// The value is the last resort's: to be marked as such.
  bool degraded = false;
  /// Why the calls before it did not.
  fallback_causes<Count> causes = {};

  bool ok() const noexcept { return value.has_value(); }
};

namespace detail {

struct no_last_resort {};

struct stands_in_always {
  constexpr bool operator()(const fallback_cause&) const noexcept { return true; }
};

template <class Result> fallback_cause cause_of(const Result& result) {
  fallback_cause cause{.reason = result.reason(), .verdict = result.last_verdict()};
  if constexpr (requires { result.exception(); }) cause.exception = result.exception();
  return cause;
}

}  // namespace detail

/// Calls tried in order until one succeeds: `fallback chain{primary, secondary};`, each a function that takes the
/// `reprise::deadline` to join to its policy and returns its `retry_result`. Whatever ends a call moves on to the next,
/// a permanent error at once; a cancellation ends the chain, since a caller who gave up wants no substitute. What a
/// call throws passes through: a programming error is not disguised.
template <class LastResort, class Filter, class... Calls> class fallback_chain {
 public:
  static constexpr std::size_t count = sizeof...(Calls);
  using causes = fallback_causes<count>;

  constexpr fallback_chain(LastResort last_resort, Filter filter, Calls... calls)
      : last_resort_(std::move(last_resort)), filter_(std::move(filter)), calls_{{std::move(calls)}...} {}

  /// What answers when all calls failed: `f(cause)` takes the last `fallback_cause` and gives a value. What it throws
  /// passes through as it is; the causes stay readable where they were handed in.
  template <class Function> constexpr auto or_else(Function function) const {
    return calls_.apply([&](const Calls&... calls) {
      return fallback_chain<Function, Filter, Calls...>(std::move(function), filter_, calls...);
    });
  }

  /// The causes for which another call, or the last resort, stands in: `f(cause)` says whether. All by default, but
  /// never for a cancellation.
  template <class Predicate> constexpr auto stands_in_for(Predicate predicate) const {
    return calls_.apply([&](const Calls&... calls) {
      return fallback_chain<LastResort, Predicate, Calls...>(last_resort_, std::move(predicate), calls...);
    });
  }

  /// Makes the calls until one answers.
  template <class Deadline> auto operator()(const Deadline& until) const {
    causes seen;
    return (*this)(until, seen);
  }
  /// The same; `seen` is the caller's, so that the causes survive an exception of the last resort.
  template <class Deadline> auto operator()(const Deadline& until, causes& seen) const {
    using first_type = std::remove_cvref_t<decltype(get<0>(calls_)(until))>;
    using value_type = std::remove_cvref_t<decltype(std::declval<first_type&>().response())>;
    fallback_answer<value_type, count> answer;
    seen.clear();
    const bool goes_on = try_from<0>(until, answer, seen);
    if constexpr (!std::same_as<LastResort, detail::no_last_resort>) {
      if (goes_on) {
        answer.value.emplace(last_resort_(seen.last()));
        answer.index = static_cast<int>(count);
        answer.degraded = true;
      }
    }
    answer.causes = seen;
    return answer;
  }

 private:
  /// Makes the calls from this one on; true if all failed and something may still stand in.
  template <std::size_t Index, class Deadline, class Answer>
  bool try_from(const Deadline& until, Answer& answer, causes& seen) const {
    auto result = get<Index>(calls_)(until);
    if (result.ok()) {
      answer.value.emplace(std::move(result).success());
      answer.index = static_cast<int>(Index);
      return false;
    }
    seen.add(detail::cause_of(result));
    if (result.reason() == stop_reason::cancelled || !filter_(seen.last())) return false;
    if constexpr (Index + 1 < count) return try_from<Index + 1>(until, answer, seen);
    return true;
  }

  [[no_unique_address]] LastResort last_resort_;
  [[no_unique_address]] Filter filter_;
  detail::pack<Calls...> calls_;
};

/// A chain of calls; see `fallback_chain`. Given positionally: `fallback{primary, secondary}.or_else(text)`.
template <class... Calls> class fallback
    : public fallback_chain<detail::no_last_resort, detail::stands_in_always, Calls...> {
  static_assert(
      sizeof...(Calls) > 0,
      "reprise::fallback requires calls: write fallback{primary, secondary}, functions of a deadline that return a retry_result");

 public:
  constexpr explicit fallback(Calls... calls)
      : fallback_chain<detail::no_last_resort, detail::stands_in_always, Calls...>({}, {}, std::move(calls)...) {}
};

}  // namespace reprise::inline REPRISE_VERSION_NAMESPACE
