// SPDX-License-Identifier: MIT
// How long a wait a server may ask for, and what becomes of a longer one.
// Knows no header: a classifier has turned the text into a duration.
#pragma once

#include "../concepts.hpp"
#include "../detail/text.hpp"

namespace reprise::inline REPRISE_VERSION_NAMESPACE {

/// max(local, the whole seconds of a Retry-After text). Absent, empty, negative, fractional, a date or any other text
/// counts as 0. local >= 0, else `std::invalid_argument`.
template <detail::text_or_absent Text = std::nullopt_t>
constexpr duration wait_delay(time_span local, const Text& retry_after = std::nullopt) {
  detail::require_not_negative("wait_delay", "local", local);
  const auto asked = detail::parse_count<std::chrono::seconds>(detail::trimmed(detail::text_of(retry_after)));
  return detail::longer(local, asked.value_or(duration::zero()));
}

/// What becomes of a hint over its limit.
enum class too_long {
  stop,   ///< end the call (`retry_after_too_long`): never sooner than the server asked. The default.
  clamp,  ///< wait the limit: sooner than asked
  ignore  ///< wait as if there had been no hint
};

/// The longest wait that a server may ask for; no limit by default, `unlimited` says so aloud. `spread` is added on top
/// of every honoured hint, times the injected fraction, so that a fleet that was given one instant does not return at
/// it; 0 by default. longest, spread >= 0.
struct retry_after_limit {
  static constexpr auto part_role = role::server_hint;

  time_span longest = unlimited;
  too_long beyond = too_long::stop;
  time_span spread = {};

  constexpr void check() const {
    if (beyond != too_long::stop && beyond != too_long::clamp && beyond != too_long::ignore)
      detail::refuse("retry_after_limit", "beyond", "a too_long", static_cast<int>(beyond));
    detail::require_not_negative("retry_after_limit", "longest", longest);
    detail::require_not_negative("retry_after_limit", "spread", spread);
  }
  /// Whether this hint ends the call.
  constexpr bool stops(duration hint) const noexcept { return beyond == too_long::stop && hint > longest; }
  /// The wait asked for, without the spread; nothing if it is not to be honoured.
  constexpr std::optional<duration> honoured(duration hint) const noexcept {
    if (hint <= longest) return hint;
    if (beyond == too_long::clamp) return longest;
    return std::nullopt;
  }
  constexpr duration spread_by(double fraction) const noexcept { return detail::portion(spread, fraction); }
  /// The longest wait that a hint can bring.
  constexpr duration longest_wait() const noexcept { return detail::add(longest, spread); }
};

static_assert(server_hint_part<retry_after_limit>);

}  // namespace reprise::inline REPRISE_VERSION_NAMESPACE
