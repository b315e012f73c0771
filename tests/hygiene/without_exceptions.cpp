// SPDX-License-Identifier: MIT
// A program without exceptions and type information. Without an argument it makes a call that recovers; with one it
// does what would throw, which ends it with one sentence.
#include <reprise/reprise.hpp>
#include <reprise/testing/script.hpp>

#ifdef __cpp_exceptions
#error This program must be built without exceptions.
#endif

namespace {

using namespace std::chrono_literals;
using reprise::testing::reply;

const reprise::retry_policy policy{reprise::http::retry_statuses{}, reprise::idempotent{}};

int recover() {
  reprise::testing::fake_clock time;
  reprise::testing::script send{time, reply(503).takes(10ms).retry_after("2"), reply(200)};
  const auto result = reprise::execute(policy, send, time);
  return result.ok() && result.value().status == 200 && time.waits().are({2s}) ? 0 : 1;
}

/// A call that is over before its first attempt.
auto call_without_attempt() {
  reprise::testing::fake_clock time;
  reprise::testing::script send{time, reply(200)};
  return reprise::execute(policy.with(reprise::deadline{time.now()}), send, time);
}

int refused_value() {
  int maximum = recover();
  (void)policy.with(reprise::attempt_budget{.maximum = maximum});
  return 0;
}

int no_value() { return call_without_attempt().value().status; }

int no_success() {
  reprise::testing::fake_clock time;
  reprise::testing::script send{time, reply(404)};
  return reprise::execute(policy, send, time).success().status;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  if (what == "refused_value") return refused_value();
  if (what == "no_value") return no_value();
  if (what == "no_success") return no_success();
  return recover();
}
