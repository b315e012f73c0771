// SPDX-License-Identifier: MIT
// Calls what may also be a pointer to a member: <functional> alone would double the price of the core.
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

#include "fail.hpp"

namespace reprise::inline REPRISE_VERSION_NAMESPACE::detail {

template <class Callable, class Subject> requires std::invocable<const Callable&, const Subject&>
constexpr decltype(auto) call(const Callable& callable, const Subject& subject) {
  if constexpr (std::is_member_object_pointer_v<Callable>) return (subject.*callable);
  else if constexpr (std::is_member_function_pointer_v<Callable>) return (subject.*callable)();
  else return callable(subject);
}

}  // namespace reprise::inline REPRISE_VERSION_NAMESPACE::detail
