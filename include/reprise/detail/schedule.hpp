// SPDX-License-Identifier: MIT
// The waits of a policy: its backoff spread by its jitter, as a range for each retry. Engine and bill share it.
// Knows neither hints nor limits.
#pragma once

#include "../policy.hpp"

namespace reprise::inline REPRISE_VERSION_NAMESPACE::detail {

template <class Part> concept keeps_state = requires { typename Part::call_state; };

template <class Policy> class schedule {
  using backoff_type = std::remove_cvref_t<decltype(std::declval<const Policy&>().template part<role::backoff>())>;
  using jitter_type = std::remove_cvref_t<decltype(std::declval<const Policy&>().template part<role::jitter>())>;

  static constexpr bool jitter_keeps_state = keeps_state<jitter_type>;

  static constexpr bool has_cap = requires(const backoff_type& backoff) { backoff.cap; };
  static constexpr bool stays_below_delay =
      !keeps_state<backoff_type> &&
      (!Policy::template has<role::jitter> || requires { requires jitter_type::only_shortens; });

  static constexpr auto state_type() {
    if constexpr (keeps_state<backoff_type>) {
      return typename backoff_type::call_state{};
    } else if constexpr (jitter_keeps_state) {
      static_assert(
          stateful_jitter_part<jitter_type, backoff_type>,
          "reprise::retry_policy requires a backoff that suits its jitter: write chosen_backoff beside chosen_jitter");
      return typename jitter_type::call_state{};
    } else {
      return nothing{};
    }
  }

 public:
  /// What a call remembers of its waits; lives in the engine.
  using call_state = decltype(state_type());

  [[gnu::always_inline]] static constexpr wait_range range(const Policy& policy, int retry, const call_state& state) {
    const auto& backoff = policy.template part<role::backoff>();
    wait_range spread;
    if constexpr (keeps_state<backoff_type>) {
      spread = backoff.range(retry, state);
    } else if constexpr (jitter_keeps_state) {
      spread = policy.template part<role::jitter>().range(backoff, retry, state);
    } else {
      duration delay = time_span(backoff(retry));
      if constexpr (!names_its_role<backoff_type>) delay = longer(delay, duration::zero());  // a lambda's answer
      if constexpr (Policy::template has<role::jitter>) spread = policy.template part<role::jitter>()(delay);
      else if constexpr (requires { requires backoff_type::grows; }) spread = full_jitter{}(delay);
      else spread = no_jitter{}(delay);
    }
    if constexpr (has_cap && !stays_below_delay)
      spread = {shorter(spread.shortest, backoff.cap), shorter(spread.longest, backoff.cap)};
    return spread;
  }

  /// Draws the own wait and remembers it: the point of the range, unless the backoff draws itself.
  [[gnu::always_inline]] static constexpr duration draw(const Policy& policy, int retry, call_state& state,
                                                        wait_range range, double fraction) {
    if constexpr (requires { policy.template part<role::backoff>().draw(retry, state, fraction); }) {
      return policy.template part<role::backoff>().draw(retry, state, fraction);
    } else {
      const duration own = range.point(fraction);
      advance(policy, state, own);
      return own;
    }
  }

  /// A server's hint was honoured: some backoffs begin again after it.
  [[gnu::always_inline]] static constexpr void hinted(const Policy& policy, call_state& state) {
    const auto& backoff = policy.template part<role::backoff>();
    if constexpr (requires { backoff.restart(state); }) backoff.restart(state);
  }

  /// Remembers the own wait that was drawn.
  [[gnu::always_inline]] static constexpr void advance(const Policy& policy, call_state& state, duration own) {
    if constexpr (keeps_state<backoff_type>) policy.template part<role::backoff>().advance(state, own);
    else if constexpr (jitter_keeps_state) policy.template part<role::jitter>().advance(state, own);
  }

  /// Whether no later wait is shorter than an earlier one.
  static constexpr bool grows = requires { requires backoff_type::grows; };

  /// Whether the parts can say that they have settled.
  static constexpr bool can_settle =
      requires(const backoff_type& backoff, const jitter_type& jitter, const call_state& state) {
        requires(keeps_state<backoff_type> && requires { backoff.settled(0, state); }) ||
                    (jitter_keeps_state && requires { jitter.settled(backoff, 0, state); }) ||
                    (!keeps_state<backoff_type> && !jitter_keeps_state && requires { backoff.settled(0); });
      };

  /// Whether the range is the same for this and every later retry.
  static constexpr bool settled(const Policy& policy, int retry, const call_state& state) {
    const auto& backoff = policy.template part<role::backoff>();
    if constexpr (!can_settle) return false;
    else if constexpr (keeps_state<backoff_type>) return backoff.settled(retry, state);
    else if constexpr (jitter_keeps_state) return policy.template part<role::jitter>().settled(backoff, retry, state);
    else return backoff.settled(retry);
  }
};

}  // namespace reprise::inline REPRISE_VERSION_NAMESPACE::detail
