// SPDX-License-Identifier: MIT
// A row of values by position, empty ones at no cost: <tuple> alone would be a third of the core's price.
// Knows nothing of what it holds.
#pragma once

#include <cstddef>
#include <utility>

#include "fail.hpp"

namespace reprise::inline REPRISE_VERSION_NAMESPACE::detail {

template <std::size_t Index, class Value> struct slot {
  [[no_unique_address]] Value value;
};

template <class Indices, class... Values> struct slots;
template <std::size_t... Index, class... Values> struct slots<std::index_sequence<Index...>, Values...>
    : slot<Index, Values>... {
  static constexpr std::size_t size = sizeof...(Values);

  /// Calls `function(values...)`.
  template <class Function> constexpr decltype(auto) apply(Function&& function) const {
    return function(static_cast<const slot<Index, Values>&>(*this).value...);
  }
};

template <class... Values> using pack = slots<std::index_sequence_for<Values...>, Values...>;

template <std::size_t Index, class Value> constexpr const Value& get(const slot<Index, Value>& held) noexcept {
  return held.value;
}
template <std::size_t Index, class Value> constexpr Value& get(slot<Index, Value>& held) noexcept { return held.value; }

}  // namespace reprise::inline REPRISE_VERSION_NAMESPACE::detail
