// SPDX-License-Identifier: MIT
// What several tests ask: how a value was refused, and whether a call is a constant expression.
#pragma once

#include <stdexcept>
#include <string>
#include <type_traits>

/// The sentence of the std::invalid_argument that the function throws.
template <class Function> std::string refusal(Function function) {
  try {
    function();
  } catch (const std::invalid_argument& refused) {
    return refused.what();
  }
  return "nothing was refused";
}

/// Whether the function, a captureless lambda, can be called in a constant expression.
template <auto Function> concept constant_expression = requires { typename std::bool_constant<(Function(), true)>; };
