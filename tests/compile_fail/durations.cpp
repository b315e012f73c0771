// SPDX-License-Identifier: MIT
// Durations of whatever unit, but of numbers.
#include <reprise/policy/deadline.hpp>

namespace {

/// A count that is no number.
struct own_count {
  long value = 0;
};

// WRONG_COUNT: reprise durations require an arithmetic count: cast the duration first
// WRONG_PERIOD: reprise durations require a period of an ordinary size
#if defined(WRONG_COUNT)
using unit = std::chrono::duration<own_count>;
#elif defined(WRONG_PERIOD)
using unit = std::chrono::duration<long, std::ratio<9'000'000'000, 7>>;
#else
using unit = std::chrono::duration<long, std::ratio<86'400, 7>>;
#endif

reprise::duration left(std::chrono::time_point<std::chrono::steady_clock, unit> end) {
  return reprise::remaining(end, std::chrono::steady_clock::time_point{});
}

}  // namespace

int main() { return left({}) == reprise::duration::zero() ? 0 : own_count{.value = 1}.value > 0; }
