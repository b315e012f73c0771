// SPDX-License-Identifier: MIT
// Eight small contracts and the executor made of them, by hand and as a policy, on a fake clock. Prints what both do
// with the same scripts, then every boundary of the contracts. `--check` prints only what is not so, and the counts.
#include <array>
#include <map>
#include <random>

#include "boundaries.hpp"

namespace executor {

using reprise::testing::fake_clock;
using reprise::testing::reply;
using reprise::testing::script;

/// The circumstances of a script.
struct scene {
  call with = {};
  double fraction = 0.5;
  /// How much longer than asked every sleep lasts.
  reprise::duration oversleep = {};
  /// Handed down by the caller, counted from the script's start; instead of the timeout.
  std::optional<reprise::duration> deadline = {};
};

/// How the end of a call is told of both executors, whatever the words of a refusal.
std::string end_of(const std::string& outcome) {
  return outcome.starts_with("refused") ? "refused (std::invalid_argument)" : outcome;
}

/// Lets one executor play the script; everything that can be seen of it, in one line.
template <class Execute, class... Steps> std::string seen(const scene& scene, Execute execute, const Steps&... steps) {
  fake_clock time;
  time.oversleeps(scene.oversleep);
  time.fractions({scene.fraction});
  script send{time, steps...};
  const auto sent = [&](reprise::duration left) { return send({.timeout = left}); };
  const std::string outcome = outcome_of([&] { return execute(sent, time); });
  return fmt::format("{} sent with {}, waits {}, {} at {}", send.calls(), list(send.timeouts()), list(time.waits()),
                     end_of(outcome), text(time.now().time_since_epoch()));
}

template <class... Steps> std::string seen_by_hand(const scene& scene, const Steps&... steps) {
  const auto execute = [&](auto& send, fake_clock& time) {
    const auto fraction = [&] { return time.fraction(); };
    if (!scene.deadline.has_value()) return by_hand::execute(scene.with, send, time.clock(), time.sleep(), fraction);
    return by_hand::execute_until(fake_clock::time_point(*scene.deadline), scene.with, send, time.clock(), time.sleep(),
                                  fraction);
  };
  return seen(scene, execute, steps...);
}

/// Besides what is seen it tells the reason, which only the policy knows.
template <class... Steps>
std::string seen_by_policy(const scene& scene, std::string_view& reason, const Steps&... steps) {
  const auto execute = [&](auto& send, fake_clock& time) {
    const auto fraction = [&] { return time.fraction(); };
    const reprise::retry_result<reprise::testing::response> result =
        scene.deadline.has_value() ? by_policy::execute_until(fake_clock::time_point(*scene.deadline), scene.with, send,
                                                              time.clock(), time.sleep(), fraction)
                                   : by_policy::execute(scene.with, send, time.clock(), time.sleep(), fraction);
    reason = to_string(result.reason());
    return result.value();
  };
  return seen(scene, execute, steps...);
}

/// Plays a script to both and prints the line that both give, and the policy's reason.
template <class... Steps> void play(report& report, std::string_view title, const scene& scene,
                                    std::string_view expected, std::string_view expected_reason,
                                    const Steps&... steps) {
  std::string_view reason = "none";
  const std::string hand = seen_by_hand(scene, steps...);
  const std::string policy = seen_by_policy(scene, reason, steps...);
  report.print("{:<48} {}; {}; {}\n", title, hand, reason, hand == policy ? "both agree" : "THEY DIFFER");
  report.check(fmt::format("by hand: {}", title), hand, expected);
  report.check(fmt::format("by policy: {}", title), policy, expected);
  report.check(fmt::format("reason: {}", title), reason, expected_reason);
}

void scripts(report& report) {
  report.heading("The executor: timeout 5 s, at most 3 attempts, fraction 0.5, unless the script says otherwise\n");
  const scene get;
  play(report, "success", get, "1 sent with [5 s], waits [], returns 200 at 0 s", "succeeded", reply(200));
  play(report, "503, then 200", get, "2 sent with [5 s, 4.75 s], waits [0.25 s], returns 200 at 0.25 s", "succeeded",
       reply(503), reply(200));
  play(report, "attempts used up: the last response", get,
       "3 sent with [5 s, 4.75 s, 4.25 s], waits [0.25 s, 0.5 s], returns 504 at 0.75 s", "attempts_exhausted",
       reply(429), reply(502), reply(504));
  play(report, "maximum 1", {.with = {.maximum = 1}}, "1 sent with [5 s], waits [], returns 503 at 0 s",
       "attempts_exhausted", reply(503));
  play(report, "404 is final, whatever its Retry-After", get, "1 sent with [5 s], waits [], returns 404 at 0 s",
       "not_retryable", reply(404).retry_after("1"));
  play(report, "500 is final", get, "1 sent with [5 s], waits [], returns 500 at 0 s", "not_retryable", reply(500));

  play(report, "POST without a key", {.with = {.method = "POST"}}, "1 sent with [5 s], waits [], returns 503 at 0 s",
       "not_replay_safe", reply(503), reply(200));
  play(report, "POST with an empty key", {.with = {.method = "POST", .key = ""}},
       "1 sent with [5 s], waits [], returns 503 at 0 s", "not_replay_safe", reply(503), reply(200));
  play(report, "POST with a key", {.with = {.method = "POST", .key = "order-7"}},
       "2 sent with [5 s, 4.75 s], waits [0.25 s], returns 201 at 0.25 s", "succeeded", reply(503), reply(201));
  play(report, "PATCH with a key", {.with = {.method = "PATCH", .key = "order-7"}},
       "1 sent with [5 s], waits [], returns 503 at 0 s", "not_replay_safe", reply(503), reply(200));

  play(report, "Retry-After 2 is more than the own wait", get,
       "2 sent with [5 s, 3 s], waits [2 s], returns 200 at 2 s", "succeeded", reply(503).retry_after("2"), reply(200));
  play(report, "Retry-After 7 does not fit in 5 s", get, "1 sent with [5 s], waits [], returns 503 at 0 s",
       "deadline_reached", reply(503).retry_after("7"), reply(200));
  play(report, "Retry-After 7 fits in 10 s", {.with = {.timeout = 10s}},
       "2 sent with [10 s, 3 s], waits [7 s], returns 200 at 7 s", "succeeded", reply(503).retry_after("7"),
       reply(200));
  play(report, "a malformed Retry-After, then a date", get,
       "3 sent with [5 s, 4.75 s, 4.25 s], waits [0.25 s, 0.5 s], returns 200 at 0.75 s", "succeeded",
       reply(503).retry_after("1.5"), reply(503).retry_after("Sun, 06 Nov 2044 08:49:37 GMT"), reply(200));

  play(report, "fraction 0", {.fraction = 0.0}, "3 sent with [5 s, 5 s, 5 s], waits [0 s, 0 s], returns 200 at 0 s",
       "succeeded", reply(503), reply(503), reply(200));
  play(report, "fraction 1", {.fraction = 1.0},
       "3 sent with [5 s, 4.5 s, 3.5 s], waits [0.5 s, 1 s], returns 200 at 1.5 s", "succeeded", reply(503), reply(503),
       reply(200));

  play(report, "the answers' own cost counts", get,
       "3 sent with [5 s, 2.75 s, 1.25 s], waits [0.25 s, 0.5 s], returns 200 at 3.85 s", "succeeded",
       reply(503).takes(2s), reply(503).takes(1s), reply(200).takes(100ms));
  play(report, "a wait that leaves exactly no time", get, "1 sent with [5 s], waits [], returns 503 at 3 s",
       "deadline_reached", reply(503).takes(3s).retry_after("2"), reply(200));
  play(report, "a wait that leaves a nanosecond", get,
       "2 sent with [5 s, 1 ns], waits [2 s], returns 200 at 4.999999999 s", "succeeded",
       reply(503).takes(2999999999ns).retry_after("2"), reply(200));
  play(report, "an answer after the deadline counts", get, "1 sent with [5 s], waits [], returns 200 at 6 s",
       "succeeded", reply(200).takes(6s));
  play(report, "a 503 after the deadline", get, "1 sent with [5 s], waits [], returns 503 at 6 s", "deadline_reached",
       reply(503).takes(6s));
  play(report, "the time is used up during the sleep", {.oversleep = 5s},
       "1 sent with [5 s], waits [0.25 s], deadline_exceeded at 5.25 s", "deadline_reached", reply(503), reply(200));
  play(report, "a sleep that overruns shortens the next timeout", {.oversleep = 1s},
       "2 sent with [5 s, 3.75 s], waits [0.25 s], returns 200 at 1.25 s", "succeeded", reply(503), reply(200));
  play(report, "a deadline handed down", {.deadline = 1s},
       "2 sent with [1 s, 0.75 s], waits [0.25 s], returns 503 at 0.75 s", "deadline_reached", reply(503),
       reply(503).takes(500ms));
  play(report, "a deadline that has passed before the first call", {.deadline = -1s},
       "0 sent with [], waits [], deadline_exceeded at 0 s", "deadline_reached", reply(200));
  play(report, "a deadline that is now", {.deadline = 0s}, "0 sent with [], waits [], deadline_exceeded at 0 s",
       "deadline_reached", reply(200));

  play(report, "timeout 0", {.with = {.timeout = 0s}},
       "0 sent with [], waits [], refused (std::invalid_argument) at 0 s", "none", reply(200));
  play(report, "maximum 0", {.with = {.maximum = 0}},
       "0 sent with [], waits [], refused (std::invalid_argument) at 0 s", "none", reply(200));
}

/// Scripts that nobody thought of.
void random_scripts(report& report) {
  std::minstd_rand random(4);  // the same numbers everywhere
  const auto any_of = [&](auto... values) {
    const std::array choice{values...};
    return choice[random() % choice.size()];
  };
  const auto step = [&] {
    return reply(any_of(200, 404, 429, 429, 500, 502, 503, 503, 503, 504))
        .takes(std::chrono::milliseconds(random() % 2000))
        .retry_after(any_of("", "", "", "0", "1", "2", "7", "-1", "1.5", "soon"));
  };
  constexpr int count = 2000;
  int agreed = 0;
  std::map<std::string_view, int> reasons;
  for (int i = 0; i < count; ++i) {
    const scene scene{.with = {.method = any_of("GET", "put", "Delete", "POST", "PATCH"),
                               .key = any_of("", "order-7"),
                               .timeout = std::chrono::milliseconds(1 + random() % 9000),
                               .maximum = any_of(1, 2, 3, 5, 9)},
                      .fraction = static_cast<double>(random() % 1001) / 1000,
                      .oversleep = std::chrono::milliseconds(any_of(0, 0, 0, 50, 900))};
    const std::array steps{step(), step(), step(), step()};
    std::string_view reason = "none";
    const std::string hand = seen_by_hand(scene, steps[0], steps[1], steps[2], steps[3]);
    const std::string policy = seen_by_policy(scene, reason, steps[0], steps[1], steps[2], steps[3]);
    report.check(fmt::format("random script {}: by hand (expected), by policy (got)", i), policy, hand);
    if (hand == policy) ++agreed;
    ++reasons[reason];
  }
  report.print("\n{} random scripts: by hand and by policy agree on {}\n", count, agreed);
  for (const auto& [reason, times] : reasons) report.print("  {:<20} {}\n", reason, times);
}

/// Both run at compile time too: a policy can be tested by compiling it.
constexpr bool waits_and_succeeds(auto execute) {
  fake_clock time;
  script send{time, reply(503).takes(1s).retry_after("2"), reply(200)};
  const auto sent = [&](reprise::duration left) { return send(reprise::attempt{.timeout = left}); };
  return execute(sent, time).status == 200 && send.timeouts().are({5s, 2s}) && time.waits().are({2s});
}
static_assert(waits_and_succeeds([](auto& send, fake_clock& time) {
  return by_hand::execute(call{}, send, time.clock(), time.sleep());
}));
static_assert(waits_and_succeeds([](auto& send, fake_clock& time) {
  return by_policy::execute(call{}, send, time.clock(), time.sleep()).value();
}));

}  // namespace executor

int main(int argc, char** argv) {
  const bool checks = argc == 2 && std::string_view(argv[1]) == "--check";
  if (argc > 1 && !checks) {
    fmt::print(stderr, "usage: replay_safe_executor [--check]\n");
    return 2;
  }
  executor::report report(checks);
  executor::scripts(report);
  executor::random_scripts(report);
  const int of_scripts = report.checked();
  executor::boundaries(report);
  fmt::print("\nchecked: {} claims of scripts, {} of boundaries; {} not so\n", of_scripts,
             report.checked() - of_scripts, report.failed());
  return report.failed() == 0 ? 0 : 1;
}
