// SPDX-License-Identifier: MIT
// What the end of an attempt means: from a returned response or a thrown exception to a verdict.
// Knows no protocol; the tables of the known ones are in vocab/.
#pragma once

#include <exception>

#include "../concepts.hpp"
#include "../detail/call.hpp"

namespace reprise::inline REPRISE_VERSION_NAMESPACE {

namespace detail {

/// The number inside a code, for logs: an int, an enumerator, or what `value()` gives (std::error_code).
template <class Code> constexpr int number_of(const Code& code) {
  if constexpr (std::is_enum_v<Code>) {
    return static_cast<int>(code);
  } else if constexpr (std::is_integral_v<Code>) {
    return std::in_range<int>(code) ? static_cast<int>(code) : 0;
  } else if constexpr (requires {
                         { code.value() } -> std::convertible_to<int>;
                       }) {
    return code.value();
  } else {
    return 0;
  }
}

}  // namespace detail

// --- returned responses ----------------------------------------------------------------------------------------------

/// A classifier from any callable: `classify(f)` where f takes the response, or response and `attempt`, and gives a
/// `verdict` (total) or an `std::optional<verdict>` (partial: nothing means "ask the next one").
template <class Function> class classify {
 public:
  static constexpr auto part_role = role::classifier;

  constexpr explicit classify(Function function) : function_(std::move(function)) {}

  template <class Response> requires classifier_part<Function, Response>
  constexpr auto operator()(const Response& response, const attempt& current) const {
    return detail::ask(function_, response, current);
  }

 private:
  Function function_;
};

/// For codes: the value-initialised one (0, an empty std::error_code) is success, the listed ones are transient, any
/// other is permanent. Total. Given positionally: `retry_codes{-6}`.
template <class Code, std::size_t Count> class retry_codes {
 public:
  static constexpr auto part_role = role::classifier;
  static constexpr bool gives_hints = false;

  template <std::same_as<Code>... More> requires(sizeof...(More) + 1 == Count)
  constexpr explicit retry_codes(Code first, More... more) : codes_{first, more...} {
    for (const Code& code : codes_)
      if (code == Code{})
        detail::refuse("retry_codes", "a code", "other than the value-initialised one, which is success",
                       detail::number_of(code));
  }

  template <class Response> requires requires(const Response& response, const Code& code) {
    { response == code } -> std::convertible_to<bool>;
    { response == Response{} } -> std::convertible_to<bool>;
  }
  constexpr verdict operator()(const Response& response) const {
    if (response == Response{}) return {.kind = outcome::success};
    for (const Code& code : codes_)
      if (response == code) return {.kind = outcome::transient, .label = "code", .code = detail::number_of(response)};
    return {.kind = outcome::permanent, .label = "code", .code = detail::number_of(response)};
  }

 private:
  Code codes_[Count];
};
template <class Code, class... More> retry_codes(Code, More...) -> retry_codes<Code, 1 + sizeof...(More)>;

namespace detail {

template <class Predicate, bool TransientWhen> class retry_if {
 public:
  static constexpr auto part_role = role::classifier;
  static constexpr bool gives_hints = false;

  constexpr explicit retry_if(Predicate predicate) : predicate_(std::move(predicate)) {}

  template <class Response> requires requires(const Predicate& predicate, const Response& response) {
    { detail::call(predicate, response) } -> std::convertible_to<bool>;
  }
  constexpr verdict operator()(const Response& response) const {
    if (static_cast<bool>(detail::call(predicate_, response)) == TransientWhen)
      return {.kind = outcome::transient, .label = "unready"};
    return {.kind = outcome::success};
  }

 private:
  Predicate predicate_;
};

}  // namespace detail

/// Tries again while the predicate holds for the response; otherwise it is a success. Total.
template <class Predicate> class retry_when : public detail::retry_if<Predicate, true> {
 public:
  constexpr explicit retry_when(Predicate predicate) : detail::retry_if<Predicate, true>(std::move(predicate)) {}
};

/// Tries again until the predicate holds for the response; then it is a success. Total.
template <class Predicate> class until : public detail::retry_if<Predicate, false> {
 public:
  constexpr explicit until(Predicate predicate) : detail::retry_if<Predicate, false>(std::move(predicate)) {}
};

/// For anything with `has_value()` and `error()` (std::expected and its relatives): a value is success, `f(error)`
/// gives the verdict of an error; total or partial as f is.
template <class Function> class on_error {
 public:
  static constexpr auto part_role = role::classifier;

  constexpr explicit on_error(Function function) : function_(std::move(function)) {}

  template <class Response> requires requires(const Function& function, const Response& response) {
    { response.has_value() } -> std::convertible_to<bool>;
    { detail::call(function, response.error()) } -> std::convertible_to<std::optional<verdict>>;
  }
  constexpr auto operator()(const Response& response) const {
    using answer = decltype(detail::call(function_, response.error()));
    return response.has_value() ? answer(verdict{.kind = outcome::success})
                                : answer(detail::call(function_, response.error()));
  }

 private:
  Function function_;
};

/// For a response that is a nested layer's `retry_result`: its success is success and its cancellation cancels. Where
/// the inner layer ran out of attempts, time or patience the outer may start it again, with the inner verdict's label,
/// code and hint. Everything else is permanent: what the inner layer would not repeat, and a refusal by a budget or a
/// throttle, which an outer layer must not get around. Total.
struct inner_result {
  static constexpr auto part_role = role::classifier;

  template <class Result> requires requires(const Result& result) {
    { result.reason() } -> std::same_as<stop_reason>;
    { result.last_verdict() } -> std::convertible_to<verdict>;
  }
  constexpr verdict operator()(const Result& result) const {
    verdict inner = result.last_verdict();
    inner.kind = kind_of(result.reason());
    // The last attempt's proof says nothing of the attempts before it.
    inner.not_applied = inner.not_applied && result.attempts() == 1;
    return inner;
  }

 private:
  static constexpr outcome kind_of(stop_reason reason) noexcept {
    switch (reason) {
      case stop_reason::succeeded: return outcome::success;
      case stop_reason::cancelled: return outcome::cancelled;
      case stop_reason::attempts_exhausted:
      case stop_reason::retry_after_too_long:
      case stop_reason::wait_limit_reached:
      case stop_reason::deadline_reached: return outcome::transient;
      case stop_reason::not_retryable:
      case stop_reason::not_replay_safe:
      case stop_reason::budget_exhausted:
      case stop_reason::admission_refused: return outcome::permanent;
    }
    return outcome::permanent;
  }
};

// --- thrown exceptions -----------------------------------------------------------------------------------------------

namespace detail {

template <class...> struct types {};

/// The verdict of the exception in flight, if it is an `Exception`. Called inside a catch block only.
template <class Exception, class Function>
std::optional<verdict> judge_if([[maybe_unused]] const Function& function, [[maybe_unused]] const attempt& current) {
#if REPRISE_EXCEPTIONS
  try {
    throw;
  } catch (const Exception& exception) {
    return ask(function, exception, current);
  } catch (...) {
  }
#endif
  return std::nullopt;
}

/// One of several exception types, all with the same meaning.
template <outcome Kind, bool RolledBack, class... Exceptions> struct exceptions_mean {
  static_assert(sizeof...(Exceptions) > 0,
                "reprise exception classifiers require exception types: write retry_exceptions<timeout_error>{}");
  static_assert(exceptions_are_on || (always_false<Exceptions> || ...),
                "reprise::on_exception requires exceptions: build with them, or return failures and write classify(f)");
  static constexpr auto part_role = role::classifier;
  static constexpr bool gives_hints = false;
  using settles = types<Exceptions...>;
  using catches = types<Exceptions...>;

  std::optional<verdict> judge_in_flight(const attempt& current) const {
    std::optional<verdict> judged;
    constexpr auto meaning = [](const auto&) -> verdict {
      return {.kind = Kind, .label = RolledBack ? label("rolled_back") : label("exception"), .not_applied = RolledBack};
    };
    (void)((judged = judge_if<Exceptions>(meaning, current)).has_value() || ...);
    return judged;
  }
};

template <class Exception, class Function> class exception_rule {
  static_assert(exceptions_are_on || always_false<Exception>,
                "reprise::on_exception requires exceptions: build with them, or return failures and write classify(f)");
  static_assert(
      classifier_part<Function, Exception>,
      "reprise::on_exception requires a function from the exception to a verdict: write on_exception<E>([](const E& e) -> reprise::verdict { ... })");

 public:
  static constexpr auto part_role = role::classifier;
  using catches = types<Exception>;
  /// What a later classifier would never be asked about.
  using settles = std::conditional_t<judges_all<Function, Exception>, types<Exception>, types<>>;

  constexpr explicit exception_rule(Function function) : function_(std::move(function)) {}

  std::optional<verdict> judge_in_flight(const attempt& current) const {
    return judge_if<Exception>(function_, current);
  }

 private:
  Function function_;
};

template <class Part> concept exception_classifier = requires(const Part& part, const attempt& current) {
  { part.judge_in_flight(current) } -> std::same_as<std::optional<verdict>>;
};

}  // namespace detail

/// Exceptions of type E, or derived from it: f takes the exception, or exception and `attempt`, and gives a verdict
/// (total for E), or an optional one (partial).
/// Asked in the order written, so the derived type first.
template <class Exception, class Function> constexpr auto on_exception(Function function) {
  return detail::exception_rule<Exception, Function>(std::move(function));
}

/// These exceptions are transient.
template <class... Exceptions> struct retry_exceptions
    : detail::exceptions_mean<outcome::transient, false, Exceptions...> {};

/// These exceptions are permanent: the call ends and keeps them.
template <class... Exceptions> struct fail_exceptions
    : detail::exceptions_mean<outcome::permanent, false, Exceptions...> {};

/// These exceptions are transient and prove that nothing was applied (a transaction rolled back): safe to repeat.
template <class... Exceptions> struct rolled_back : detail::exceptions_mean<outcome::transient, true, Exceptions...> {};

}  // namespace reprise::inline REPRISE_VERSION_NAMESPACE
