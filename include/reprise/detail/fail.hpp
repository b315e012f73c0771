// SPDX-License-Identifier: MIT
// The one place that asks whether exceptions are on, and how a refused value is told.
// Knows nothing of policies: it gets names and a value.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <utility>

#include "../version.hpp"

#ifdef __cpp_exceptions
#define REPRISE_EXCEPTIONS 1
// Code built with and without exceptions differs; two names keep a program that mixes both within the one-definition
// rule.
#define REPRISE_VERSION_NAMESPACE v0
#else
#define REPRISE_EXCEPTIONS 0
#define REPRISE_VERSION_NAMESPACE v0_noexcept
#endif

namespace reprise::inline REPRISE_VERSION_NAMESPACE::detail {

inline constexpr bool exceptions_are_on = REPRISE_EXCEPTIONS == 1;

/// Throws `Exception(arguments...)`; without exceptions it prints its `what()` and aborts.
/// Not constexpr on purpose: reaching it in a constant expression is a compile error.
template <class Exception, class... Arguments> [[noreturn]] inline void raise(Arguments&&... arguments) {
#if REPRISE_EXCEPTIONS
  throw Exception(std::forward<Arguments>(arguments)...);
#else
  const Exception failure(std::forward<Arguments>(arguments)...);
  std::fputs(failure.what(), stderr);
  std::fputc('\n', stderr);
  std::abort();
#endif
}

/// Refuses a value of a part: `std::invalid_argument` that names part, member, rule and value.
[[noreturn]] inline void refuse(const char* part, const char* member, const char* rule, double value,
                                const char* unit = "") {
  char sentence[256];
  std::snprintf(sentence, sizeof sentence, "reprise::%s: %s must be %s, is %.12g%s", part, member, rule, value, unit);
  raise<std::invalid_argument>(sentence);
}

template <class...> inline constexpr bool always_false = false;

}  // namespace reprise::inline REPRISE_VERSION_NAMESPACE::detail
