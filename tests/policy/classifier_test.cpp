// SPDX-License-Identifier: MIT
#include <reprise/policy.hpp>
#include <reprise/result.hpp>
#include <stdexcept>
#include <string>
#include <system_error>

#include "catch.hpp"

using namespace std::chrono_literals;

namespace {

using reprise::outcome;
using reprise::stop_reason;
using reprise::verdict;

enum class status { fine, busy, gone };

struct page {
  bool busy = false;
  int size = 0;
  constexpr bool ready() const { return size > 0; }
  constexpr bool waiting() const noexcept { return size == 0; }
};

/// As std::expected: a value or an error.
struct outcome_of_query {
  int error_code = 0;
  constexpr bool has_value() const { return error_code == 0; }
  constexpr const int& error() const { return error_code; }
};

struct failure_kind {
  int number = 0;
  constexpr verdict meaning() const { return {.kind = outcome::transient, .label = "member", .code = number}; }
};
struct result_with_kind {
  failure_kind kind = {};
  bool good = false;
  constexpr bool has_value() const { return good; }
  constexpr failure_kind error() const { return kind; }
};

/// What an outer layer sees of an inner one.
struct inner_end {
  stop_reason why = stop_reason::succeeded;
  int made = 1;
  verdict last = {.kind = outcome::transient, .label = "http", .code = 503, .retry_after = 2s};
  constexpr stop_reason reason() const { return why; }
  constexpr int attempts() const { return made; }
  constexpr const verdict& last_verdict() const { return last; }
};

struct base_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct derived_error : base_error {
  using base_error::base_error;
};
struct other_error : std::exception {};

template <class... Parts> constexpr verdict judged(const auto& response, const Parts&... classifiers) {
  return reprise::retry_policy{classifiers...}.judge(response);
}

template <class Exception, class... Parts> verdict judged_as(Exception thrown, const Parts&... classifiers) {
  return reprise::retry_policy{classifiers...}.judge(std::make_exception_ptr(thrown));
}

constexpr verdict success{.kind = outcome::success};
constexpr verdict unrecognised{.kind = outcome::permanent, .label = "unrecognised"};
constexpr verdict transient_exception{.kind = outcome::transient, .label = "exception"};
constexpr verdict permanent_exception{.kind = outcome::permanent, .label = "exception"};
constexpr verdict rolled_back_exception{.kind = outcome::transient, .label = "rolled_back", .not_applied = true};

}  // namespace

TEST_CASE("listed codes are transient, the value-initialised one is success, any other is permanent") {
  constexpr reprise::retry_codes codes{-6, -7};
  STATIC_REQUIRE(judged(0, codes) == success);
  STATIC_REQUIRE(judged(-6, codes) == verdict{.kind = outcome::transient, .label = "code", .code = -6});
  STATIC_REQUIRE(judged(-7, codes) == verdict{.kind = outcome::transient, .label = "code", .code = -7});
  STATIC_REQUIRE(judged(-8, codes) == verdict{.kind = outcome::permanent, .label = "code", .code = -8});
  STATIC_REQUIRE(judged(1, codes) == verdict{.kind = outcome::permanent, .label = "code", .code = 1});
}

TEST_CASE("codes may be enumerators") {
  constexpr reprise::retry_codes codes{status::busy};
  STATIC_REQUIRE(judged(status::fine, codes) == success);
  STATIC_REQUIRE(judged(status::busy, codes) == verdict{.kind = outcome::transient, .label = "code", .code = 1});
  STATIC_REQUIRE(judged(status::gone, codes) == verdict{.kind = outcome::permanent, .label = "code", .code = 2});
}

TEST_CASE("a code that does not fit an int is judged all the same, its number is left out") {
  constexpr reprise::retry_codes codes{std::int64_t{5'000'000'000}};
  STATIC_REQUIRE(judged(std::int64_t{5'000'000'000}, codes) ==
                 verdict{.kind = outcome::transient, .label = "code", .code = 0});
}

TEST_CASE("codes may be std::errc, for responses that are std::error_code") {
  const reprise::retry_codes codes{std::errc::connection_refused, std::errc::timed_out};
  CHECK(judged(std::error_code{}, codes) == success);
  const auto refused = judged(std::make_error_code(std::errc::connection_refused), codes);
  CHECK(refused.kind == outcome::transient);
  CHECK(refused.code == static_cast<int>(std::errc::connection_refused));
  CHECK(judged(std::error_code(ETIMEDOUT, std::system_category()), codes).kind == outcome::transient);
  CHECK(judged(std::make_error_code(std::errc::permission_denied), codes).kind == outcome::permanent);
}

TEST_CASE("codes may be std::error_code, which compare with their category") {
  const reprise::retry_codes codes{std::error_code(7, std::system_category())};
  CHECK(judged(std::error_code(7, std::system_category()), codes).kind == outcome::transient);
  CHECK(judged(std::error_code(7, std::generic_category()), codes).kind == outcome::permanent);
  CHECK(judged(std::error_code(7, std::system_category()), codes).code == 7);
}

TEST_CASE("retry_when tries again while its predicate holds, else it is success") {
  constexpr reprise::retry_when busy{[](const page& p) { return p.busy; }};
  STATIC_REQUIRE(judged(page{.busy = true}, busy) == verdict{.kind = outcome::transient, .label = "unready"});
  STATIC_REQUIRE(judged(page{.busy = false}, busy) == success);
}

TEST_CASE("until tries again until its predicate holds, then it is success") {
  constexpr reprise::until full{[](int size) { return size >= 3; }};
  STATIC_REQUIRE(judged(2, full) == verdict{.kind = outcome::transient, .label = "unready"});
  STATIC_REQUIRE(judged(3, full) == success);
}

TEST_CASE("predicates may be pointers to members, data or functions") {
  STATIC_REQUIRE(judged(page{.busy = true}, reprise::retry_when{&page::busy}).kind == outcome::transient);
  STATIC_REQUIRE(judged(page{.busy = false}, reprise::retry_when{&page::busy}).kind == outcome::success);
  STATIC_REQUIRE(judged(page{.size = 0}, reprise::until{&page::ready}).kind == outcome::transient);
  STATIC_REQUIRE(judged(page{.size = 1}, reprise::until{&page::ready}).kind == outcome::success);
  STATIC_REQUIRE(judged(page{.size = 0}, reprise::retry_when{&page::waiting}).kind == outcome::transient);
}

TEST_CASE("a predicate may give anything that reads as a bool") {
  constexpr reprise::until filled{[](const page& p) { return p.size; }};
  STATIC_REQUIRE(judged(page{.size = 4}, filled).kind == outcome::success);
  STATIC_REQUIRE(judged(page{.size = 0}, filled).kind == outcome::transient);
}

TEST_CASE("on_error takes a value for success and asks its function about the error") {
  constexpr reprise::on_error errors{
      [](int code) { return verdict{.kind = outcome::transient, .label = "query", .code = code}; }};
  STATIC_REQUIRE(judged(outcome_of_query{}, errors) == success);
  STATIC_REQUIRE(judged(outcome_of_query{.error_code = 4}, errors) ==
                 verdict{.kind = outcome::transient, .label = "query", .code = 4});
}

TEST_CASE("on_error is partial if its function is, and the next classifier is asked") {
  constexpr reprise::on_error fours{[](int code) -> std::optional<verdict> {
    if (code != 4) return std::nullopt;
    return verdict{.kind = outcome::transient, .label = "four"};
  }};
  constexpr reprise::classify others{[](const outcome_of_query&) { return verdict{.label = "other"}; }};
  STATIC_REQUIRE(judged(outcome_of_query{}, fours, others) == success);
  STATIC_REQUIRE(judged(outcome_of_query{.error_code = 4}, fours, others).label.text() == "four");
  STATIC_REQUIRE(judged(outcome_of_query{.error_code = 5}, fours, others).label.text() == "other");
  STATIC_REQUIRE(judged(outcome_of_query{.error_code = 5}, fours) == unrecognised);
}

TEST_CASE("on_error takes a pointer to a member of the error") {
  constexpr reprise::on_error errors{&failure_kind::meaning};
  STATIC_REQUIRE(judged(result_with_kind{.kind = {.number = 9}}, errors) ==
                 verdict{.kind = outcome::transient, .label = "member", .code = 9});
  STATIC_REQUIRE(judged(result_with_kind{.good = true}, errors) == success);
}

TEST_CASE("classify that gives a verdict has the last word") {
  constexpr reprise::classify total{[](int code) { return verdict{.kind = outcome::cancelled, .code = code}; }};
  STATIC_REQUIRE(judged(7, total) == verdict{.kind = outcome::cancelled, .code = 7});
}

TEST_CASE("classify that gives nothing hands on to the next, and at last to unrecognised") {
  constexpr reprise::classify small{[](int code) -> std::optional<verdict> {
    if (code > 9) return std::nullopt;
    return verdict{.kind = outcome::success, .label = "small"};
  }};
  constexpr reprise::classify even{[](int code) -> std::optional<verdict> {
    if (code % 2 != 0) return std::nullopt;
    return verdict{.kind = outcome::transient, .label = "even"};
  }};
  STATIC_REQUIRE(judged(8, small, even).label.text() == "small");
  STATIC_REQUIRE(judged(8, even, small).label.text() == "even");
  STATIC_REQUIRE(judged(12, small, even).label.text() == "even");
  STATIC_REQUIRE(judged(13, small, even) == unrecognised);
}

TEST_CASE("a classifier behind the one that answers is not asked") {
  int asked = 0;
  const reprise::classify first{[](int) -> std::optional<verdict> { return verdict{.label = "first"}; }};
  const reprise::classify second{[&asked](int) -> std::optional<verdict> {
    ++asked;
    return std::nullopt;
  }};
  CHECK(judged(1, first, second).label.text() == "first");
  CHECK(asked == 0);
  CHECK(judged(1, second, first).label.text() == "first");
  CHECK(asked == 1);
}

TEST_CASE("classify may take the attempt: what is there on the second may be our own first") {
  constexpr reprise::retry_policy policy{reprise::classify{[](int code, const reprise::attempt& current) {
    const bool ours = code == 409 && current.number > 1;
    return verdict{.kind = ours ? outcome::success : outcome::permanent, .code = code};
  }}};
  STATIC_REQUIRE(policy.judge(409).kind == outcome::permanent);
  STATIC_REQUIRE(policy.judge(409, {.number = 2}).kind == outcome::success);
}

TEST_CASE("a lambda with a written-out parameter type is a classifier by its shape") {
  constexpr auto partial = [](const int& code) -> std::optional<verdict> {
    if (code == 0) return std::nullopt;
    return verdict{.kind = outcome::transient, .code = code};
  };
  constexpr auto total = [](int, const reprise::attempt& current) {
    return verdict{.kind = outcome::success, .code = current.number};
  };
  STATIC_REQUIRE(judged(5, partial, total).code == 5);
  STATIC_REQUIRE(reprise::retry_policy{partial, total}.judge(0, {.number = 3}) ==
                 verdict{.kind = outcome::success, .code = 3});
}

TEST_CASE("an inner layer's success is success and its cancellation cancels") {
  constexpr reprise::inner_result inner{};
  STATIC_REQUIRE(inner(inner_end{.why = stop_reason::succeeded}).kind == outcome::success);
  STATIC_REQUIRE(inner(inner_end{.why = stop_reason::cancelled}).kind == outcome::cancelled);
}

TEST_CASE("an inner layer that ran out of attempts, time or patience may be started again") {
  constexpr reprise::inner_result inner{};
  for (const auto why : {stop_reason::attempts_exhausted, stop_reason::retry_after_too_long,
                         stop_reason::wait_limit_reached, stop_reason::deadline_reached}) {
    CAPTURE(to_string(why));
    CHECK(inner(inner_end{.why = why}).kind == outcome::transient);
  }
}

TEST_CASE("what an inner layer would not repeat, and what a budget refused it, is not repeated outside") {
  constexpr reprise::inner_result inner{};
  for (const auto why : {stop_reason::not_retryable, stop_reason::not_replay_safe, stop_reason::budget_exhausted,
                         stop_reason::admission_refused, static_cast<stop_reason>(99)}) {
    CAPTURE(to_string(why));
    CHECK(inner(inner_end{.why = why}).kind == outcome::permanent);
  }
}

TEST_CASE("an inner layer's label, code and hint reach the outer one") {
  constexpr verdict seen = reprise::inner_result{}(inner_end{.why = stop_reason::attempts_exhausted, .made = 3});
  STATIC_REQUIRE(seen == verdict{.kind = outcome::transient, .label = "http", .code = 503, .retry_after = 2s});
}

TEST_CASE("an inner layer's proof that nothing was applied holds only if it made one attempt") {
  constexpr verdict proof{.kind = outcome::transient, .not_applied = true};
  constexpr reprise::inner_result inner{};
  STATIC_REQUIRE(inner(inner_end{.why = stop_reason::attempts_exhausted, .made = 1, .last = proof}).not_applied);
  STATIC_REQUIRE(!inner(inner_end{.why = stop_reason::attempts_exhausted, .made = 2, .last = proof}).not_applied);
}

TEST_CASE("inner_result reads the library's own result") {
  STATIC_REQUIRE(reprise::classifier_part<reprise::inner_result, reprise::retry_result<int>>);
  STATIC_REQUIRE(reprise::classifier_part<reprise::inner_result, reprise::retry_result<void>>);
  CHECK(judged(reprise::retry_result<int>{}, reprise::inner_result{}).kind == outcome::cancelled);
}

TEST_CASE("listed exceptions are transient, permanent, or rolled back") {
  CHECK(judged_as(base_error("x"), reprise::retry_exceptions<base_error>{}) == transient_exception);
  CHECK(judged_as(base_error("x"), reprise::fail_exceptions<base_error>{}) == permanent_exception);
  CHECK(judged_as(base_error("x"), reprise::rolled_back<base_error>{}) == rolled_back_exception);
}

TEST_CASE("a listed exception stands for those derived from it, not for its base") {
  CHECK(judged_as(derived_error("x"), reprise::retry_exceptions<base_error>{}) == transient_exception);
  CHECK(judged_as(base_error("x"), reprise::retry_exceptions<derived_error>{}) == unrecognised);
}

TEST_CASE("several exceptions may share a meaning") {
  const reprise::retry_exceptions<derived_error, other_error> both{};
  CHECK(judged_as(other_error{}, both) == transient_exception);
  CHECK(judged_as(derived_error("x"), both) == transient_exception);
  CHECK(judged_as(std::logic_error("x"), both) == unrecognised);
}

TEST_CASE("exception classifiers are asked in the order written, so the derived one first") {
  const reprise::fail_exceptions<derived_error> narrow{};
  const reprise::retry_exceptions<base_error> wide{};
  CHECK(judged_as(derived_error("x"), narrow, wide) == permanent_exception);
  CHECK(judged_as(base_error("x"), narrow, wide) == transient_exception);
  CHECK(judged_as(derived_error("x"), wide, narrow) == transient_exception);
}

TEST_CASE("on_exception judges by what the exception says") {
  const auto by_text = reprise::on_exception<base_error>([](const base_error& error) {
    const bool busy = std::string_view(error.what()) == "busy";
    return verdict{.kind = busy ? outcome::transient : outcome::permanent, .label = "text"};
  });
  CHECK(judged_as(base_error("busy"), by_text).kind == outcome::transient);
  CHECK(judged_as(derived_error("busy"), by_text).kind == outcome::transient);
  CHECK(judged_as(base_error("gone"), by_text).kind == outcome::permanent);
  CHECK(judged_as(other_error{}, by_text) == unrecognised);
}

TEST_CASE("on_exception that gives nothing hands on to the next") {
  const auto busy_only = reprise::on_exception<base_error>([](const base_error& error) -> std::optional<verdict> {
    if (std::string_view(error.what()) != "busy") return std::nullopt;
    return verdict{.kind = outcome::transient, .label = "busy"};
  });
  const reprise::fail_exceptions<std::exception> rest{};
  CHECK(judged_as(base_error("busy"), busy_only, rest).label.text() == "busy");
  CHECK(judged_as(base_error("gone"), busy_only, rest) == permanent_exception);
  CHECK(judged_as(base_error("gone"), busy_only) == unrecognised);
}

TEST_CASE("on_exception may take the attempt") {
  const reprise::retry_policy policy{
      reprise::on_exception<base_error>([](const base_error&, const reprise::attempt& current) {
        return verdict{.kind = outcome::transient, .code = current.number};
      })};
  CHECK(policy.judge(std::make_exception_ptr(base_error("x")), {.number = 2}).code == 2);
}

TEST_CASE("exceptions of any type can be classified, also those without a common base") {
  CHECK(judged_as(7, reprise::retry_exceptions<int>{}) == transient_exception);
  CHECK(judged_as(7, reprise::retry_exceptions<long>{}) == unrecognised);
  const auto number = reprise::on_exception<int>([](int code) { return verdict{.code = code}; });
  CHECK(judged_as(7, number).code == 7);
}

TEST_CASE("an exception that a classifier itself throws passes on") {
  const auto thrower = reprise::on_exception<base_error>([](const base_error&) -> verdict { throw other_error{}; });
  const reprise::retry_policy policy{thrower, reprise::retry_exceptions<std::exception>{}};
  CHECK_THROWS_AS(policy.judge(std::make_exception_ptr(base_error("x"))), other_error);
}

TEST_CASE("classifiers of responses are not asked about exceptions, nor the other way") {
  const reprise::classify responses{[](int) { return verdict{.kind = outcome::transient, .label = "response"}; }};
  const reprise::fail_exceptions<std::exception> exceptions{};
  CHECK(judged(7, exceptions, responses).label.text() == "response");
  CHECK(judged_as(base_error("x"), responses, exceptions) == permanent_exception);
  CHECK(judged_as(base_error("x"), responses) == unrecognised);
}

TEST_CASE("a policy that speaks of exceptions only takes every response as success") {
  STATIC_REQUIRE(judged(503, reprise::retry_exceptions<base_error>{}) == success);
  STATIC_REQUIRE(judged(page{}, reprise::rolled_back<int>{}, reprise::fail_exceptions<base_error>{}) == success);
}

TEST_CASE("classifiers that never carry a hint say so, so that a policy of them needs no limit for hints") {
  STATIC_REQUIRE(!reprise::retry_policy<reprise::retry_codes<int, 1>>::gives_hints);
  STATIC_REQUIRE(!reprise::retry_policy<reprise::retry_exceptions<base_error>>::gives_hints);
  STATIC_REQUIRE(!decltype(reprise::retry_policy{reprise::until{&page::ready}})::gives_hints);
  STATIC_REQUIRE(reprise::retry_policy<reprise::inner_result>::gives_hints);
  STATIC_REQUIRE(decltype(reprise::retry_policy{reprise::classify{[](int) { return verdict{}; }}})::gives_hints);
}

TEST_CASE("the code that is success cannot be one to retry on") {
  CHECK_THROWS_AS(reprise::retry_codes{0}, std::invalid_argument);
  CHECK_THROWS_AS((reprise::retry_codes{-6, 0}), std::invalid_argument);
}
