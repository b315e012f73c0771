// SPDX-License-Identifier: MIT
// A guarded send says with an exception that it got no slot; without exceptions slots are asked for in the open.
// FLAGS: -fno-exceptions -fno-rtti
#include <reprise/reprise.hpp>
#include <reprise/testing/fake_clock.hpp>

namespace {

// WRONG_REFUSING: reprise::bulkhead::guard requires exceptions: build with them, or let send call try_acquire() and return a response that says busy
// WRONG_QUEUEING: reprise::bulkhead::guard requires exceptions: build with them, or let send call try_acquire() and return a response that says busy
// WRONG_QUEUEING_WITH_WAIT: reprise::bulkhead::guard requires exceptions: build with them, or let send call try_acquire() and return a response that says busy
bool sends() {
  reprise::bulkhead slots(1);
  reprise::testing::fake_clock time;
#if defined(WRONG_REFUSING)
  auto send = slots.guard([] { return 0; });
#elif defined(WRONG_QUEUEING)
  auto send = slots.guard([] { return 0; }, time.clock());
#elif defined(WRONG_QUEUEING_WITH_WAIT)
  auto send = slots.guard([] { return 0; }, time.clock(), time.sleep());
#else
  auto send = [&] {
    const auto slot = slots.try_acquire();
    return slot.has_value() ? 0 : -1;
  };
#endif
  const reprise::retry_policy policy{reprise::retry_codes{-1}, reprise::idempotent{}};
  return reprise::execute(policy, send, time).ok();
}

bool stands_in() {
  reprise::testing::fake_clock time;
  const reprise::retry_policy policy{reprise::retry_codes{-1}, reprise::idempotent{}};
  const reprise::fallback chain{
      [&](const auto& until) { return reprise::execute(policy.with(until), [] { return -2; }, time); }};
  const auto answer = chain.or_else([](const reprise::fallback_cause&) { return 1; })(reprise::deadline{time.now()});
  return answer.degraded;
}

bool spends() {
  reprise::memory_counter session;
  reprise::spend_budget budget(session, 10, 10);
  return budget.reserve(10).granted();
}

}  // namespace

int main() { return sends() && stands_in() && spends() ? 0 : 1; }
