// SPDX-License-Identifier: MIT
// retry_policy: parts in any order, each the answer to one of the engine's questions, with defaults for the rest.
// Knows no rule of the decision: those are in engine.hpp.
#pragma once

#include "concepts.hpp"
#include "detail/pack.hpp"
#include "policy/attempt_budget.hpp"
#include "policy/backoff.hpp"
#include "policy/classifier.hpp"
#include "policy/deadline.hpp"
#include "policy/idempotency.hpp"
#include "policy/jitter.hpp"
#include "policy/retry_after.hpp"
#include "policy/retry_budget.hpp"

namespace reprise::inline REPRISE_VERSION_NAMESPACE {

template <class... Parts> class retry_policy;

namespace detail {

/// Stands for a role that nobody fills and that has no default.
struct nothing {};

template <class> inline constexpr bool is_retry_policy = false;
template <class... Parts> inline constexpr bool is_retry_policy<retry_policy<Parts...>> = true;

/// The role of each part; what is no part has none.
template <class Part> constexpr std::optional<role> role_if_any() {
  if constexpr (is_part<Part>) return role_of<Part>();
  else return std::nullopt;
}

constexpr bool takes_many(role asked) { return asked == role::classifier || asked == role::events; }

/// How many of the parts have this role.
template <class... Parts> constexpr int count_of([[maybe_unused]] role asked) {
  return (0 + ... + (role_if_any<Parts>() == asked ? 1 : 0));
}

/// Whether a jitter part stands beside a backoff that spreads its own waits.
template <class... Parts> constexpr bool spreads_twice() {
  return (stateful_backoff_part<Parts> || ...) && count_of<Parts...>(role::jitter) > 0;
}

/// Whether verdicts of this classifier can carry a hint: yes, unless it says otherwise.
template <class Part> constexpr bool may_hint() {
  if constexpr (role_if_any<Part>() != role::classifier) return false;
  else if constexpr (requires { Part::gives_hints; }) return Part::gives_hints;
  else return true;
}

template <class... Parts> inline constexpr bool has_no_time_limit = (std::same_as<Parts, no_time_limit> || ...);

template <class... Parts> constexpr bool each_role_once() {
  return ((!is_part<Parts> || takes_many(*role_if_any<Parts>()) || count_of<Parts...>(*role_if_any<Parts>()) == 1) &&
          ...);
}

/// Whether it is a part, and has what its role asks for; what classifiers and events take depends on the call.
template <class Part> constexpr bool is_sound_part() {
  constexpr std::optional<role> asked = role_if_any<Part>();
  if constexpr (asked == role::idempotency) return idempotency_part<Part>;
  else if constexpr (asked == role::backoff) return backoff_part<Part> || stateful_backoff_part<Part>;
  else if constexpr (asked == role::jitter) return jitter_part<Part> || requires { typename Part::call_state; };
  else if constexpr (asked == role::attempts) return attempts_part<Part>;
  else if constexpr (asked == role::time || asked == role::waiting) return limit_part<Part>;
  else if constexpr (asked == role::deadline) return deadline_part<Part>;
  else if constexpr (asked == role::attempt_timeout) return attempt_timeout_part<Part>;
  else if constexpr (asked == role::server_hint) return server_hint_part<Part>;
  else if constexpr (asked == role::admission) return admission_part<Part>;
  else return asked.has_value();
}

template <role Role> constexpr auto default_of() {
  if constexpr (Role == role::backoff) return exponential_backoff{};
  else if constexpr (Role == role::attempts) return attempt_budget{};
  else if constexpr (Role == role::time) return time_limit{};
  else if constexpr (Role == role::attempt_timeout) return attempt_timeout{};
  else if constexpr (Role == role::waiting) return wait_limit{};
  else if constexpr (Role == role::server_hint) return retry_after_limit{};
  else return nothing{};
}
template <role Role> inline constexpr auto default_part = default_of<Role>();

/// Where `with()` takes a part from.
struct source {
  bool given = false;
  std::size_t index = 0;
};

template <std::size_t Most> struct merge_plan {
  source at[Most + 1] = {};
  std::size_t count = 0;

  constexpr void take(bool given, std::size_t index) { at[count++] = {given, index}; }
};

/// Which parts the joined policy has: a role that is given replaces the old parts of that role, in their place, so that
/// a part of the same type leaves the type of the policy as it was; new roles go to the end.
template <class... Old> struct merging {
  template <class... Given> static constexpr auto with() {
    constexpr std::size_t olds = sizeof...(Old);
    constexpr std::size_t givens = sizeof...(Given);
    constexpr role old_roles[olds + 1] = {role_of<Old>()...};
    constexpr role given_roles[givens + 1] = {role_of<Given>()...};
    merge_plan<olds + givens> plan;
    bool placed[givens + 1] = {};
    for (std::size_t i = 0; i < olds; ++i) {
      if (count_of<Given...>(old_roles[i]) == 0) {
        plan.take(false, i);
        continue;
      }
      bool last_place = true;
      for (std::size_t later = i + 1; later < olds; ++later)
        last_place = last_place && old_roles[later] != old_roles[i];
      for (std::size_t g = 0; g < givens; ++g) {
        if (placed[g] || given_roles[g] != old_roles[i]) continue;
        plan.take(true, g);
        placed[g] = true;
        if (!last_place) break;
      }
    }
    for (std::size_t g = 0; g < givens; ++g)
      if (!placed[g]) plan.take(true, g);
    return plan;
  }
};

}  // namespace detail

/// A policy: parts in any order. A regular value, immutable while calls use it: all state of a call is in its engine,
/// so that threads and interleaved calls share one. Defaults: exponential backoff from 500 ms to 4 s with full jitter,
/// 3 attempts, 5 s in all. Classifier and idempotency have none; a policy without them is a fragment that is completed
/// with `with()`. Bad values of parts throw `std::invalid_argument` here; in a constant expression they do not compile.
template <class... Parts> class retry_policy {
  static_assert(
      (detail::is_sound_part<Parts>() && ...),
      "reprise::retry_policy requires parts: write parts such as reprise::attempt_budget{.maximum = 3}, and give a lambda its parameter type: [](int retry) -> reprise::duration");
  static_assert(
      detail::each_role_once<Parts...>(),
      "reprise::retry_policy requires one part a role: write only one of them, or replace the other with policy.with(part)");
  static_assert(!detail::spreads_twice<Parts...>(),
                "reprise::retry_policy requires one spread: write no jitter part beside a backoff that has its own");

 public:
  constexpr retry_policy() noexcept(false) requires(std::default_initializable<Parts> && ...)
      : parts_{} {
    check();
  }

  constexpr explicit retry_policy(Parts... parts) requires(sizeof...(Parts) > 0)
      : parts_{{std::move(parts)}...} {
    check();
  }

  /// How many parts fill a role.
  template <role Role> static constexpr int count = detail::count_of<Parts...>(Role);

  template <role Role> static constexpr bool has = count<Role> > 0;

  /// The part that fills a role, else its default, else `detail::nothing`.
  template <role Role> constexpr const auto& part() const noexcept {
    if constexpr (has<Role>) return detail::get<index_of<Role>()>(parts_);
    else return detail::default_part<Role>;
  }

  /// Calls `visit(part)` for each part of a role, in the order written.
  template <role Role, class Visit> constexpr void each(Visit&& visit) const {
    const auto visit_if = [&](const auto& part) {
      if constexpr (detail::role_of<std::remove_cvref_t<decltype(part)>>() == Role) visit(part);
    };
    apply([&](const auto&... parts) { (visit_if(parts), ...); });
  }

  /// The policy with these parts in place of its own of the same roles (all classifiers at once), or added to them.
  /// A part of the same type keeps the type of the policy, so that `p = p.with(attempt_budget{.maximum = n})` assigns.
  template <class... Given> [[nodiscard]] constexpr auto with(Given... given) const {
    static_assert((detail::is_sound_part<Given>() && ...),
                  "reprise::retry_policy::with requires parts, or one other policy: write with(reprise::idempotent{})");
    static_assert(detail::each_role_once<Given...>(),
                  "reprise::retry_policy::with requires one part a role: write only one of them");
    if constexpr ((detail::is_sound_part<Given>() && ...) && detail::each_role_once<Given...>()) {
      constexpr auto plan = detail::merging<Parts...>::template with<Given...>();
      return joined<plan>(detail::pack<const Given&...>{{given}...}, std::make_index_sequence<plan.count>{});
    }
  }

  /// The policy with the parts of another, whose parts win.
  template <class... Others> [[nodiscard]] constexpr auto with(const retry_policy<Others...>& other) const {
    return other.apply([&](const Others&... parts) { return with(parts...); });
  }

  /// Calls `function(parts...)`.
  template <class Function> constexpr auto apply(Function&& function) const { return parts_.apply(function); }

  /// The verdict that `execute` would reach for this response, in this attempt.
  template <class Response>
  [[gnu::always_inline]] constexpr verdict judge(const Response& response, const attempt& current = {}) const {
    static_assert(
        has<role::classifier>,
        "reprise::retry_policy::judge requires a classifier: write reprise::http::retry_statuses{} or reprise::classify(f) into the policy");
    if constexpr (exception_classifiers == count<role::classifier>) return {.kind = outcome::success};
    else return judge_from<0>(response, current);
  }

  /// The verdict that `execute` would reach for this exception; "unrecognised" stands for one that it would let pass.
  verdict judge(const std::exception_ptr& thrown, [[maybe_unused]] const attempt& current = {}) const
      requires detail::exceptions_are_on
  {
    if (!thrown) return {.kind = outcome::permanent, .label = "unrecognised"};
#if REPRISE_EXCEPTIONS
    try {
      std::rethrow_exception(thrown);
    } catch (...) {
      return judge_in_flight(current).value_or(verdict{.kind = outcome::permanent, .label = "unrecognised"});
    }
#endif
  }

  /// The verdict of the exception in flight, nothing if no classifier recognises it. Called inside a catch block only.
  std::optional<verdict> judge_in_flight(const attempt& current) const {
    std::optional<verdict> judged;
    each<role::classifier>([&](const auto& classifier) {
      if constexpr (detail::exception_classifier<std::remove_cvref_t<decltype(classifier)>>) {
        if (!judged.has_value()) judged = classifier.judge_in_flight(current);
      }
    });
    return judged;
  }

  /// How many of the classifiers speak of exceptions.
  static constexpr int exception_classifiers = (0 + ... + (detail::exception_classifier<Parts> ? 1 : 0));

  /// Whether a server can ask this policy for a wait.
  static constexpr bool gives_hints = (detail::may_hint<Parts>() || ...);

  /// Whether a call has to end at some time. A limit of `unlimited` counts: it is said aloud.
  static constexpr bool limits_time = has<role::deadline> || !detail::has_no_time_limit<Parts...>;

  /// Whether anything asks what time it is; without it no clock is read.
  static constexpr bool needs_clock = limits_time || has<role::attempt_timeout> || has<role::retry_budget> ||
                                      has<role::admission> || has<role::log> || has<role::events>;

 private:
  template <role Role> static constexpr std::size_t index_of() {
    constexpr role roles[] = {detail::role_of<Parts>()...};
    std::size_t index = 0;
    while (roles[index] != Role) ++index;
    return index;
  }

  /// Asks the classifiers from this place on.
  template <std::size_t Index, class Response>
  [[gnu::always_inline]] constexpr verdict judge_from(const Response& response, const attempt& current) const {
    if constexpr (Index == sizeof...(Parts)) {
      return {.kind = outcome::permanent, .label = "unrecognised"};
    } else {
      const auto& part = detail::get<Index>(parts_);
      using part_type = std::remove_cvref_t<decltype(part)>;
      if constexpr (detail::role_of<part_type>() != role::classifier || detail::exception_classifier<part_type>) {
        return judge_from<Index + 1>(response, current);
      } else if constexpr (detail::judges_all<part_type, Response>) {
        return detail::ask(part, response, current);
      } else {
        const std::optional<verdict> judged = detail::ask(part, response, current);
        return judged.has_value() ? *judged : judge_from<Index + 1>(response, current);
      }
    }
  }

  template <auto Plan, class Given, std::size_t... Slot>
  constexpr auto joined(const Given& given, std::index_sequence<Slot...>) const {
    return retry_policy<std::remove_cvref_t<decltype(taken<Plan.at[Slot].given, Plan.at[Slot].index>(given))>...>(
        taken<Plan.at[Slot].given, Plan.at[Slot].index>(given)...);
  }

  template <bool IsGiven, std::size_t Index, class Given> constexpr const auto& taken(const Given& given) const {
    if constexpr (IsGiven) return detail::get<Index>(given);
    else return detail::get<Index>(parts_);
  }

  constexpr void check() const {
    if constexpr ((detail::is_sound_part<Parts>() && ...)) {
      const auto check_one = [](const auto& part) {
        if constexpr (requires { part.check(); }) part.check();
      };
      apply([&](const Parts&... parts) { (check_one(parts), ...); });
    }
  }

  detail::pack<Parts...> parts_;
};

template <class... Parts> retry_policy(Parts...) -> retry_policy<Parts...>;

}  // namespace reprise::inline REPRISE_VERSION_NAMESPACE
