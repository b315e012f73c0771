// SPDX-License-Identifier: MIT
// What the end of one attempt means: the only thing that the engine is told about a response or an exception.
// Knows neither responses nor protocols.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <type_traits>

#include "time_span.hpp"

namespace reprise::inline REPRISE_VERSION_NAMESPACE {

/// How an attempt ended.
enum class outcome {
  success,    ///< ends the call
  transient,  ///< may work if tried again
  permanent,  ///< trying again cannot help
  cancelled   ///< somebody gave up: no further attempt, whatever the limits allow
};

namespace detail {

/// The name of an enumerator from a table; "unknown" for a number that is none.
template <class Enum, std::size_t Count>
constexpr std::string_view name_in(const std::string_view (&names)[Count], Enum value) noexcept {
  const auto at = static_cast<std::size_t>(value);
  return at < Count ? names[at] : "unknown";
}

}  // namespace detail

/// The enumerator's name.
constexpr std::string_view to_string(outcome kind) noexcept {
  return detail::name_in({"success", "transient", "permanent", "cancelled"}, kind);
}

/// A short fixed name of a kind of failure, for logs and metrics: "http", "timeout", "shape".
/// Made from string literals only: the response that a view would point into dies before the wait, and text from a
/// server must not become the name of a metric. The empty label is the default.
class label {
 public:
  constexpr label() noexcept = default;

  template <std::size_t Size> consteval label(const char (&literal)[Size]) noexcept : text_(literal) {}

  template <class Text> requires(!std::is_array_v<Text> && std::is_convertible_v<const Text&, std::string_view>)
  constexpr label(const Text&) noexcept {
    static_assert(
        detail::always_false<Text>,
        "reprise::label requires a string literal: write label = \"timeout\" and keep run-time text in the response");
  }

  constexpr std::string_view text() const noexcept { return text_; }

  friend constexpr bool operator==(label a, label b) noexcept { return a.text() == b.text(); }

 private:
  const char* text_ = "";
};

/// The meaning of one attempt's end.
struct verdict {
  /// Permanent by default: a forgotten branch must not read as success.
  outcome kind = outcome::permanent;
  /// What kind of failure it was.
  reprise::label label = {};
  /// The number that goes with the label, e.g. 503; 0 where there is none.
  int code = 0;
  /// The server's own minimum wait, counted from now. It never makes a failure retryable.
  std::optional<duration> retry_after = {};
  /// Proof that the request had no effect (never sent, refused before it was processed, rolled back): repeating it is
  /// safe whatever the operation.
  bool not_applied = false;

  friend constexpr bool operator==(const verdict&, const verdict&) = default;
};

}  // namespace reprise::inline REPRISE_VERSION_NAMESPACE
