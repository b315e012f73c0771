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

 private:
  template <class, class, class...> friend class fallback_chain;

  fallback_cause causes_[Count] = {};
  std::size_t size_ = 0;
};

/// What a chain answered.
template <class T, std::size_t Count> struct [[nodiscard]] fallback_answer {
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

template <class...> struct first_of {
  using type = void;
};
template <class First, class... More> struct first_of<First, More...> {
  using type = First;
};

/// What a call of a chain returns, without const and reference; void for one that cannot be called.
template <class Call, class Deadline> struct called {
  using type = void;
};
template <class Call, class Deadline> requires std::invocable<const Call&, const Deadline&>
struct called<Call, Deadline> {
  using type = std::remove_cvref_t<std::invoke_result_t<const Call&, const Deadline&>>;
};

/// The response in a call's result; void for what is no result, or holds no response.
template <class Result> struct answer_in {
  using type = void;
};
template <class Result> requires requires(Result& result) {
  { result.reason() } -> std::same_as<stop_reason>;
  { result.last_verdict() } -> std::convertible_to<verdict>;
  result.response();
  std::move(result).success();
}
struct answer_in<Result> {
  using type = std::remove_cvref_t<decltype(std::declval<Result&>().response())>;
};

/// Whether one can be given for the other; a view of what is gone by then cannot (a std::string as a string_view).
template <class From, class To> concept answers_as =
    std::convertible_to<From, To> &&
    (std::same_as<From, To> || std::is_trivially_copyable_v<From> || !std::is_trivially_copyable_v<To>);

}  // namespace detail

/// Calls tried in order until one succeeds: `fallback chain{primary, secondary};`, each a function that takes the
/// `reprise::deadline` to join to its policy and returns its `retry_result`; it is called as const. The answer is of
/// the first call's type. Whatever ends a call moves on to the next, a permanent error at once; a cancellation ends the
/// chain, since a caller who gave up wants no substitute. What a call throws passes through: a programming error is not
/// disguised. A failed call's result is gone before the next call is made: it may hold a pooled connection.
template <class LastResort, class Filter, class... Calls> class fallback_chain {
  using call_indices = std::index_sequence_for<Calls...>;

 public:
  static constexpr std::size_t count = sizeof...(Calls);
  using causes = fallback_causes<count>;

  constexpr fallback_chain(LastResort last_resort, Filter filter, Calls... calls)
      : last_resort_(std::move(last_resort)), filter_(std::move(filter)), calls_{{std::move(calls)}...} {}

  /// What answers when all calls failed: `f(cause)` takes the last `fallback_cause` and gives a value. What it throws
  /// passes through as it is; the causes stay readable where they were handed in.
  template <class Function> [[nodiscard]] constexpr auto or_else(Function function) const& {
    return fallback_chain(*this).with(std::move(function), filter_, call_indices());
  }
  template <class Function> [[nodiscard]] constexpr auto or_else(Function function) && {
    return with(std::move(function), std::move(filter_), call_indices());
  }

  /// The causes for which another call, or the last resort, stands in: `f(cause)` says whether. All by default, but
  /// never for a cancellation.
  template <class Predicate> [[nodiscard]] constexpr auto stands_in_for(Predicate predicate) const& {
    return fallback_chain(*this).with(last_resort_, std::move(predicate), call_indices());
  }
  template <class Predicate> [[nodiscard]] constexpr auto stands_in_for(Predicate predicate) && {
    return with(std::move(last_resort_), std::move(predicate), call_indices());
  }

  /// Makes the calls until one answers.
  template <class Deadline> auto operator()(const Deadline& until) const {
    causes seen;
    return (*this)(until, seen);
  }
  /// The same; `seen` is the caller's, so that the causes survive an exception of the last resort.
  template <class Deadline> auto operator()(const Deadline& until, causes& seen) const {
    if constexpr (is_sound<Deadline>()) {
      fallback_answer<value_type<Deadline>, count> answer;
      seen.size_ = 0;
      const bool all_failed = make_calls(until, answer, seen, call_indices());
      if constexpr (!std::same_as<LastResort, detail::no_last_resort>) {
        if (all_failed) {
          answer.value.emplace(last_resort_(seen.last()));
          answer.index = static_cast<int>(count);
          answer.degraded = true;
        }
      }
      answer.causes = seen;
      return answer;
    }
  }

 private:
  template <class, class, class...> friend class fallback_chain;

  template <class Call, class Deadline> using answer_type =
      typename detail::answer_in<typename detail::called<Call, Deadline>::type>::type;
  template <class Deadline> using value_type = answer_type<typename detail::first_of<Calls...>::type, Deadline>;

  /// The sentences of a chain that is run; true if it can go on.
  template <class Deadline> static constexpr bool is_sound() {
    using value = value_type<Deadline>;
    constexpr bool callable = (std::invocable<const Calls&, const Deadline&> && ...);
    constexpr bool answer = !callable || (!std::is_void_v<answer_type<Calls, Deadline>> && ...);
    constexpr bool alike = !callable || !answer || (detail::answers_as<answer_type<Calls, Deadline>, value> && ...);
    constexpr bool judges = std::is_invocable_r_v<bool, const Filter&, const fallback_cause&>;
    constexpr bool resorts = !callable || !answer || has_last_resort_for<value>();
    static_assert(
        callable,
        "reprise::fallback requires calls that take the deadline: write [&](const auto& until) { return reprise::execute(policy.with(until), send); }, and not mutable");
    static_assert(
        answer,
        "reprise::fallback requires calls that answer: return what reprise::execute gives, and let a send that has nothing to return return true");
    static_assert(
        alike,
        "reprise::fallback requires answers that convert to the first call's: let every send return the same type");
    static_assert(
        judges,
        "reprise::fallback requires a filter of causes: write stands_in_for([](const reprise::fallback_cause& cause) { return cause.reason == reprise::stop_reason::deadline_reached; })");
    static_assert(
        resorts,
        "reprise::fallback requires a last resort that answers as the calls do: write or_else([](const reprise::fallback_cause& cause) { return value; })");
    return count > 0 && callable && answer && alike && judges && resorts;
  }

  template <class Value> static constexpr bool has_last_resort_for() {
    if constexpr (std::same_as<LastResort, detail::no_last_resort>) return true;
    else if constexpr (std::invocable<const LastResort&, const fallback_cause&>)
      return detail::answers_as<std::remove_cvref_t<std::invoke_result_t<const LastResort&, const fallback_cause&>>,
                                Value>;
    return false;
  }

  template <class OtherResort, class OtherFilter, std::size_t... Index>
  constexpr auto with(OtherResort last_resort, OtherFilter filter, std::index_sequence<Index...>) {
    return fallback_chain<OtherResort, OtherFilter, Calls...>(std::move(last_resort), std::move(filter),
                                                              std::move(get<Index>(calls_))...);
  }

  /// Makes the calls in order; true if all failed and something may still stand in.
  template <class Deadline, class Answer, std::size_t... Index>
  bool make_calls(const Deadline& until, Answer& answer, causes& seen, std::index_sequence<Index...>) const {
    return (fails<Index>(until, answer, seen) && ...);
  }

  /// Makes one call; true if it failed and something may stand in for it.
  template <std::size_t Index, class Deadline, class Answer>
  bool fails(const Deadline& until, Answer& answer, causes& seen) const {
    auto result = get<Index>(calls_)(until);
    if (result.reason() == stop_reason::succeeded) {
      answer.value.emplace(std::move(result).success());
      answer.index = static_cast<int>(Index);
      return false;
    }
    seen.causes_[seen.size_++] = detail::cause_of(result);
    return result.reason() != stop_reason::cancelled && static_cast<bool>(filter_(seen.last()));
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
