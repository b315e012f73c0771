// SPDX-License-Identifier: MIT
// 2^x, square root and tanh in constant expressions, which <cmath> does not offer; for numbers that are not negative.
// Knows no duration.
#pragma once

#include "fail.hpp"

namespace reprise::inline REPRISE_VERSION_NAMESPACE::detail {

/// e^x for 0 <= x <= 1, by its series.
constexpr double small_exponential(double x) noexcept {
  double sum = 1.0;
  double term = 1.0;
  for (int n = 1; n <= 20; ++n) {
    term *= x / n;
    sum += term;
  }
  return sum;
}

/// 2^x for 0 <= x < 1023.
constexpr double power_of_two(double x) noexcept {
  constexpr double log_2 = 0.693147180559945309417;
  const int whole = static_cast<int>(x);
  double power = small_exponential((x - whole) * log_2);
  double square = 2.0;
  for (int rest = whole; rest > 0; rest /= 2) {
    if (rest % 2 != 0) power *= square;
    if (rest > 1) square *= square;
  }
  return power;
}

/// By Newton's method from above; every step halves at least the distance.
constexpr double square_root(double x) noexcept {
  if (x <= 0.0) return 0.0;
  double root = x > 1.0 ? x : 1.0;
  for (double better = (root + x / root) / 2; better < root; better = (root + x / root) / 2) root = better;
  return root;
}

/// 1 - 2 / (e^2x + 1); from 20 on it is 1 in a double.
constexpr double tanh_of(double x) noexcept {
  constexpr double log2_e = 1.442695040888963407360;
  return x < 20.0 ? 1.0 - 2.0 / (power_of_two(2 * x * log2_e) + 1.0) : 1.0;
}

}  // namespace reprise::inline REPRISE_VERSION_NAMESPACE::detail
