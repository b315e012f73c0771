// SPDX-License-Identifier: MIT
// What the guards are told: calls that stand in for each other, and sends that are wrapped.
#include <reprise/reprise.hpp>
#include <reprise/testing/fake_clock.hpp>
#include <string>

namespace {

using std::chrono::seconds;

constexpr reprise::retry_policy policy{
    reprise::classify([](const auto&) -> reprise::verdict { return {.kind = reprise::outcome::success}; }),
    reprise::idempotent{}};

auto call(int answer) {
  return [answer](const auto& until) {
    reprise::testing::fake_clock time;
    return reprise::execute(policy.with(until), [answer] { return answer; }, time);
  };
}

// WRONG_NO_CALLS: reprise::fallback requires calls: write fallback{primary, secondary}, functions of a deadline that return a retry_result
// WRONG_CALL: reprise::fallback requires calls that take the deadline: write [&](const auto& until) { return reprise::execute(policy.with(until), send); }, and not mutable
// WRONG_MUTABLE_CALL: reprise::fallback requires calls that take the deadline: write [&](const auto& until) { return reprise::execute(policy.with(until), send); }, and not mutable
// WRONG_NO_RESULT: reprise::fallback requires calls that answer: return what reprise::execute gives, and let a send that has nothing to return return true
// WRONG_CALL_FOR_NOTHING: reprise::fallback requires calls that answer: return what reprise::execute gives, and let a send that has nothing to return return true
// WRONG_VOID_RESULT: reprise::fallback requires calls that answer: return what reprise::execute gives, and let a send that has nothing to return return true
// WRONG_OTHER_ANSWER: reprise::fallback requires answers that convert to the first call's: let every send return the same type
// WRONG_VIEW: reprise::fallback requires answers that convert to the first call's: let every send return the same type
// WRONG_FILTER: reprise::fallback requires a filter of causes: write stands_in_for([](const reprise::fallback_cause& cause) { return cause.reason == reprise::stop_reason::deadline_reached; })
// WRONG_LAST_RESORT: reprise::fallback requires a last resort that answers as the calls do: write or_else([](const reprise::fallback_cause& cause) { return value; })
// WRONG_LAST_RESORT_ANSWER: reprise::fallback requires a last resort that answers as the calls do: write or_else([](const reprise::fallback_cause& cause) { return value; })
// WRONG_LAST_RESORT_NOTHING: reprise::fallback requires a last resort that answers as the calls do: write or_else([](const reprise::fallback_cause& cause) { return value; })
void stand_in() {
  const reprise::deadline until{reprise::testing::fake_clock::time_point(seconds(1))};
#if defined(WRONG_NO_CALLS)
  const reprise::fallback chain{};
#elif defined(WRONG_CALL)
  const reprise::fallback chain{[] { return reprise::retry_result<int>(); }};
#elif defined(WRONG_MUTABLE_CALL)
  const reprise::fallback chain{[n = 0](const auto& end) mutable { return call(++n)(end); }};
#elif defined(WRONG_NO_RESULT)
  const reprise::fallback chain{call(1), [](const auto&) { return 1; }};
#elif defined(WRONG_CALL_FOR_NOTHING)
  const reprise::fallback chain{[](const auto&) {}, call(1)};
#elif defined(WRONG_VOID_RESULT)
  const reprise::fallback chain{[](const auto&) { return reprise::retry_result<void>(); }};
#elif defined(WRONG_OTHER_ANSWER)
  const reprise::fallback chain{call(1), [](const auto&) { return reprise::retry_result<std::string>(); }};
#elif defined(WRONG_VIEW)
  const reprise::fallback chain{[](const auto&) { return reprise::retry_result<std::string_view>(); },
                                [](const auto&) { return reprise::retry_result<std::string>(); }};
#elif defined(WRONG_FILTER)
  const auto chain = reprise::fallback{call(1)}.stands_in_for([](int) { return true; });
#elif defined(WRONG_LAST_RESORT)
  const auto chain = reprise::fallback{call(1)}.or_else([] { return 2; });
#elif defined(WRONG_LAST_RESORT_ANSWER)
  const auto chain = reprise::fallback{call(1)}.or_else([](const reprise::fallback_cause&) { return "none"; });
#elif defined(WRONG_LAST_RESORT_NOTHING)
  const auto chain = reprise::fallback{call(1)}.or_else([](const reprise::fallback_cause&) {});
#else
  const auto chain = reprise::fallback{call(1), call(2)}.or_else([](const reprise::fallback_cause&) { return 3; });
#endif
  (void)chain(until);
}

// WRONG_QUEUE_CLOCK: reprise::bulkhead::guard requires a steady clock: write guard(send, [] { return std::chrono::steady_clock::now(); })
// WRONG_QUEUE_NO_CLOCK: reprise::bulkhead::guard requires a steady clock: write guard(send, [] { return std::chrono::steady_clock::now(); })
// WRONG_QUEUE_WAIT: reprise::bulkhead::guard requires a wait that returns nothing or reprise::slept: write guard(send, clock, [](reprise::duration at_most) { ... })
// WRONG_SEND: reprise::execute requires a send that can be called: let it take const reprise::attempt&, a chrono duration, reprise::attempt_at<time_point> or nothing
// WRONG_REFERENCE: reprise::execute requires a response by value: let send return an object, or a pointer
void wrap() {
  reprise::bulkhead slots(1);
  reprise::testing::fake_clock time;
#if defined(WRONG_QUEUE_CLOCK)
  auto send = slots.guard([] { return 1; }, [] { return std::chrono::system_clock::now(); });
#elif defined(WRONG_QUEUE_NO_CLOCK)
  auto send = slots.guard([] { return 1; }, seconds(1));
#elif defined(WRONG_QUEUE_WAIT)
  auto send = slots.guard([] { return 1; }, time.clock(), [](reprise::duration) { return true; });
#elif defined(WRONG_SEND)
  auto send = slots.guard([](const std::string&) { return 1; });
#elif defined(WRONG_REFERENCE)
  auto send = slots.guard([answer = 1]() -> const int& { return answer; });
#else
  auto send = slots.guard([] { return 1; }, time.clock(), time.sleep());
#endif
  (void)reprise::execute(policy, send, time);
}

}  // namespace

int main() {
  stand_in();
  wrap();
}
