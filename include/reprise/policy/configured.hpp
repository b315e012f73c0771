// SPDX-License-Identifier: MIT
// Parts whose kind is chosen at run time, and a policy type to name in a class or a .cpp: for policies from a file.
// Knows no file format: the kinds are parsed from their names.
#pragma once

#include "../policy.hpp"

namespace reprise::inline REPRISE_VERSION_NAMESPACE {

enum class backoff_kind { exponential, constant, linear, fibonacci };
enum class jitter_kind { none, full, equal, proportional, added, decorrelated };

/// The enumerator's name.
constexpr std::string_view to_string(backoff_kind kind) noexcept {
  return detail::name_in({"exponential", "constant", "linear", "fibonacci"}, kind);
}

/// The enumerator's name.
constexpr std::string_view to_string(jitter_kind kind) noexcept {
  return detail::name_in({"none", "full", "equal", "proportional", "added", "decorrelated"}, kind);
}

/// The kind with this name, exactly as written above; nothing for any other text. `parse<backoff_kind>("linear")`.
template <class Kind> requires std::same_as<Kind, backoff_kind> || std::same_as<Kind, jitter_kind>
constexpr std::optional<Kind> parse(std::string_view name) noexcept {
  for (int number = 0; to_string(static_cast<Kind>(number)) != "unknown"; ++number)
    if (to_string(static_cast<Kind>(number)) == name) return static_cast<Kind>(number);
  return std::nullopt;
}

/// A backoff whose kind is a value. `base` is also the constant's delay and the linear's step; `factor` counts for the
/// exponential only. Defaults are those of the exponential, for every kind: also the constant one is capped, and spread
/// unless a jitter says otherwise.
struct chosen_backoff {
  static constexpr auto part_role = role::backoff;
  static constexpr bool grows = true;

  backoff_kind kind = backoff_kind::exponential;
  time_span base = std::chrono::milliseconds(500);
  time_span cap = std::chrono::seconds(4);
  double factor = 2.0;

  constexpr void check() const {
    if (to_string(kind) == "unknown")
      detail::refuse("chosen_backoff", "kind", "a backoff_kind", static_cast<int>(kind));
    detail::require_not_negative("chosen_backoff", "base", base);
    detail::require_not_negative("chosen_backoff", "cap", cap);
    if (!(factor >= 1.0 && factor <= (std::numeric_limits<double>::max)()))
      detail::refuse("chosen_backoff", "factor", "a number from 1", factor);
  }

 private:
  template <class Visit> constexpr auto visit(Visit&& visit) const noexcept {
    switch (kind) {
      case backoff_kind::constant: return visit(constant_backoff{.delay = base, .cap = cap});
      case backoff_kind::linear: return visit(linear_backoff{.step = base, .cap = cap});
      case backoff_kind::fibonacci: return visit(fibonacci_backoff{.base = base, .cap = cap});
      case backoff_kind::exponential: break;
    }
    return visit(exponential_backoff{.base = base, .cap = cap, .factor = factor});
  }

 public:
  constexpr duration operator()(int retry) const noexcept {
    return visit([&](const auto& part) { return part(retry); });
  }
  constexpr bool settled(int retry) const noexcept {
    return visit([&](const auto& part) { return part.settled(retry); });
  }
};

/// A jitter whose kind is a value. `fraction` counts for the proportional, `longest` for the added one. `decorrelated`
/// takes base and cap from the backoff beside it, whose kind then counts for nothing. Full by default.
struct chosen_jitter {
  static constexpr auto part_role = role::jitter;

  jitter_kind kind = jitter_kind::full;
  double fraction = 0.1;
  time_span longest = std::chrono::milliseconds(100);

  using call_state = decorrelated_backoff::call_state;

  constexpr void check() const {
    if (to_string(kind) == "unknown") detail::refuse("chosen_jitter", "kind", "a jitter_kind", static_cast<int>(kind));
    if (!(fraction >= 0.0 && fraction <= 1.0)) detail::refuse("chosen_jitter", "fraction", "in [0,1]", fraction);
    detail::require_not_negative("chosen_jitter", "longest", longest);
  }
  template <class Backoff> requires requires(const Backoff& backoff) {
    { backoff.base } -> std::convertible_to<time_span>;
    { backoff.cap } -> std::convertible_to<time_span>;
  }
  constexpr wait_range range(const Backoff& backoff, int retry, const call_state& state) const noexcept {
    switch (kind) {
      case jitter_kind::none: return no_jitter{}(backoff(retry));
      case jitter_kind::equal: return equal_jitter{}(backoff(retry));
      case jitter_kind::proportional: return proportional_jitter{.fraction = fraction}(backoff(retry));
      case jitter_kind::added: return added_jitter{.longest = longest}(backoff(retry));
      case jitter_kind::decorrelated: return decorrelated(backoff).range(retry, state);
      case jitter_kind::full: break;
    }
    return full_jitter{}(backoff(retry));
  }
  constexpr void advance(call_state& state, duration own) const noexcept { state.previous = own; }
  template <class Backoff>
  constexpr bool settled(const Backoff& backoff, int retry, const call_state& state) const noexcept {
    return kind == jitter_kind::decorrelated ? decorrelated(backoff).settled(retry, state) : backoff.settled(retry);
  }

 private:
  template <class Backoff> static constexpr decorrelated_backoff decorrelated(const Backoff& backoff) noexcept {
    return {.base = backoff.base, .cap = backoff.cap};
  }
};

static_assert(backoff_part<chosen_backoff> && stateful_jitter_part<chosen_jitter, chosen_backoff>);

/// A policy all of whose limits are values: a type to name in a class, filled from a file with `with()`, which keeps
/// the type. Made without arguments it has every part's default: no timeout of its own for an attempt, no limit for the
/// waits together, none for the server's hints.
template <class Classifier, class Idempotency> using configured_policy =
    retry_policy<Classifier, Idempotency, chosen_backoff, chosen_jitter, attempt_budget, time_limit, attempt_timeout,
                 wait_limit, retry_after_limit>;

}  // namespace reprise::inline REPRISE_VERSION_NAMESPACE
