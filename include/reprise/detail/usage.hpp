// SPDX-License-Identifier: MIT
// What must be true where a policy is used: whether its classifiers fit the response, and none is asked in vain.
// Says nothing itself; the entry points turn each answer into a sentence.
#pragma once

#include "../policy.hpp"

namespace reprise::inline REPRISE_VERSION_NAMESPACE::detail {

/// Whether a part that classifies responses takes this one; what classifies exceptions is not asked about responses.
template <class Part, class Response> constexpr bool takes_response() {
  if constexpr (role_if_any<Part>() != role::classifier || exception_classifier<Part>) return true;
  else if constexpr (std::is_void_v<Response>) return false;
  else return classifier_part<Part, Response>;
}

template <class... Settled, class... Caught> constexpr bool settles_all(types<Settled...>, types<Caught...>) {
  const auto settled = []<class Exception>(std::type_identity<Exception>) {
    return ((std::is_same_v<Settled, Exception> || std::is_base_of_v<Settled, Exception>) || ...);
  };
  return (settled(std::type_identity<Caught>{}) && ...);
}

/// Whether `Later` would never be asked: `Earlier` has an answer for everything that `Later` recognises.
template <class Earlier, class Later, class Response> constexpr bool shadows() {
  if constexpr (role_if_any<Earlier>() != role::classifier || role_if_any<Later>() != role::classifier) return false;
  else if constexpr (exception_classifier<Earlier> && exception_classifier<Later>)
    return settles_all(typename Earlier::settles{}, typename Later::catches{});
  else if constexpr (exception_classifier<Earlier> || exception_classifier<Later> || std::is_void_v<Response>)
    return false;
  else return judges_all<Earlier, Response>;
}

template <class Policy, class Response> struct classifiers_for;
template <class Response> struct classifiers_for<retry_policy<>, Response> {
  static constexpr bool take_the_response = true;
  static constexpr bool are_all_asked = true;
};
template <class Part, class... Later, class Response> struct classifiers_for<retry_policy<Part, Later...>, Response> {
  using behind = classifiers_for<retry_policy<Later...>, Response>;
  static constexpr bool take_the_response = takes_response<Part, Response>() && behind::take_the_response;
  static constexpr bool are_all_asked = !(shadows<Part, Later, Response>() || ...) && behind::are_all_asked;
};

/// Whether the policy's deadline, if it has one, is a point of this clock.
template <class Policy, class TimePoint> constexpr bool deadline_is_of_clock() {
  if constexpr (Policy::template has<role::deadline>) {
    using end = std::remove_cvref_t<decltype(std::declval<const Policy&>().template part<role::deadline>().time)>;
    return std::same_as<typename end::clock, typename TimePoint::clock>;
  } else {
    return true;
  }
}

/// Whether a server cannot ask for an endless wait.
template <class Policy> inline constexpr bool hints_are_limited = !Policy::gives_hints || Policy::limits_time ||
                                                                  Policy::template has<role::server_hint> ||
                                                                  Policy::template has<role::waiting>;

}  // namespace reprise::inline REPRISE_VERSION_NAMESPACE::detail
