// SPDX-License-Identifier: MIT
// Randomness from a seed: the library's own source of fractions, and two distributions (the standard library's differ
// from one implementation to the next).
#pragma once

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <numbers>
#include <reprise/run/system.hpp>

namespace storm {

using reprise::random_fraction;

/// Another seed for each run, whatever else is run.
inline std::uint64_t seed_of(std::initializer_list<std::uint64_t> numbers) {
  std::uint64_t mixed = 0xcbf29ce484222325U;
  for (const std::uint64_t number : numbers) mixed = (mixed ^ number) * 0x100000001b3U;
  return mixed;
}

/// The natural logarithm of a positive number that is neither tiny nor huge, from sums and products alone: the same on
/// every machine to the last bit, which the standard library does not promise, and so are the figures of a seed.
inline double logarithm(double x) {
  int exponent = 0;
  double mantissa = std::frexp(x, &exponent);  // exact
  if (mantissa < std::numbers::sqrt2 / 2) {
    mantissa *= 2;
    --exponent;
  }
  const double s = (mantissa - 1) / (mantissa + 1);  // log m = 2 (s + s^3/3 + s^5/5 + ...), |s| < 0.172
  double sum = 0;
  for (int power = 21; power >= 1; power -= 2) sum = sum * s * s + 1.0 / power;
  return 2 * s * sum + exponent * std::numbers::ln2;
}

/// The normal distribution, mean 0 and deviation 1 (Marsaglia's polar method).
inline double normal(random_fraction& uniform) {
  while (true) {
    const double x = 2 * uniform() - 1;
    const double y = 2 * uniform() - 1;
    const double square = x * x + y * y;
    if (square > 0 && square < 1) return x * std::sqrt(-2 * logarithm(square) / square);
  }
}

/// The time to the next event of a Poisson process, mean 1.
inline double exponential(random_fraction& uniform) { return -logarithm(1 - uniform()); }

}  // namespace storm
