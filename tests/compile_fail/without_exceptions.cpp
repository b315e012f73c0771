// SPDX-License-Identifier: MIT
// What does not compile without exceptions.
// FLAGS: -fno-exceptions
#include <reprise/core.hpp>
#include <reprise/testing/fake_clock.hpp>

namespace {

struct failure {};

// WRONG_EXCEPTION_RULE: reprise::on_exception requires exceptions: build with them, or return failures and write classify(f)
// WRONG_EXCEPTION_TYPES: reprise::on_exception requires exceptions: build with them, or return failures and write classify(f)
int attempts() {
  const reprise::retry_policy policy{
#if defined(WRONG_EXCEPTION_RULE)
      reprise::on_exception<failure>([](const failure&) { return reprise::verdict{}; }),
#elif defined(WRONG_EXCEPTION_TYPES)
      reprise::retry_exceptions<failure>{},
#endif
      reprise::retry_codes{-1}, reprise::idempotent{}};
  reprise::testing::fake_clock time;
  return reprise::execute(policy, [] { return -1; }, time).attempts() + static_cast<int>(sizeof(failure));
}

}  // namespace

int main() { return attempts() == 4 ? 0 : 1; }
