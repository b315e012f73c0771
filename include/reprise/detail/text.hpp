// SPDX-License-Identifier: MIT
// Reads what a server wrote, text or number: never throws, saturates.
// Knows no header by name.
#pragma once

#include <optional>
#include <string_view>

#include "../time_span.hpp"

namespace reprise::inline REPRISE_VERSION_NAMESPACE::detail {

/// Text, optional text, a null pointer: whatever says that something is absent says it here.
template <class Text> constexpr std::string_view text_of(const Text& text) noexcept {
  if constexpr (std::is_null_pointer_v<Text> || std::is_same_v<Text, std::nullopt_t>) return {};
  else if constexpr (std::is_pointer_v<Text>) return text != nullptr ? std::string_view(text) : std::string_view{};
  else if constexpr (std::convertible_to<const Text&, std::string_view>) return text;
  else return text.has_value() ? text_of(*text) : std::string_view{};
}

template <class Text> concept text_or_absent =
    requires(const Text& text) {
      { text_of(text) } -> std::same_as<std::string_view>;
    } && (std::is_null_pointer_v<Text> || std::is_same_v<Text, std::nullopt_t> ||
          std::convertible_to<const Text&, std::string_view> || requires(const Text& text) {
            { *text } -> std::convertible_to<std::string_view>;
          });

constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

constexpr bool is_blank(char c) noexcept { return c == ' ' || c == '\t'; }

/// Without the blanks and tabs around it (RFC 9110 section 5.5: they are no part of a field's value).
constexpr std::string_view trimmed(std::string_view text) noexcept {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

/// 1*DIGIT of the given unit, saturating; nothing for any other text, also for the empty one.
template <class Unit> constexpr std::optional<duration> parse_count(std::string_view text) {
  if (text.empty()) return std::nullopt;
  constexpr std::int64_t most = (std::numeric_limits<std::int64_t>::max)();
  std::int64_t count = 0;
  for (const char c : text) {
    if (!is_digit(c)) return std::nullopt;
    const int digit = c - '0';
    count = count > (most - digit) / 10 ? most : count * 10 + digit;
  }
  return multiply(Unit(1), count);
}

}  // namespace reprise::inline REPRISE_VERSION_NAMESPACE::detail
