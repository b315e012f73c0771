// SPDX-License-Identifier: MIT
// A chat assistant asks a language model that fails in four ways. Prints what the guard made of each, attempt by
// attempt, and what kinds of failure there were. On a fake clock: nothing is sent and nothing sleeps.
#include <fmt/ranges.h>

#include "model_guard.hpp"
#include "scripted_model.hpp"

namespace {

using namespace std::chrono_literals;
using assistant::statistics;
using chat::scripted_model;

double seconds(reprise::duration span) { return std::chrono::duration<double>(span).count(); }

void print(std::string_view title, const assistant::reply& answer) {
  fmt::print("{}\n", title);
  std::vector<double> waits;
  for (const assistant::model_log& each : answer.asked) {
    for (const reprise::attempt_record& attempt : each.attempts) {
      fmt::print("  {} [{}] {}\n", each.model, assistant::nature_of(attempt.verdict), attempt);
      if (attempt.wait_after.has_value()) waits.push_back(seconds(*attempt.wait_after));
    }
    fmt::print("  {} ends: {}\n", each.model, each.reason);
  }
  fmt::print("  {} request(s), waits [{:.2f}] s, {:.2f} s in all, {} tokens: {}", answer.requests(),
             fmt::join(waits, ", "), seconds(answer.took), answer.tokens, to_string(answer.kind));
  if (!answer.reason.empty()) fmt::print(" ({})", answer.reason);
  fmt::print("\n  \"{}\"\n\n", answer.text);
}

void print(std::string_view title, const statistics& counted) {
  fmt::print("{}: {} requests", title, counted.requests());
  for (const auto* nature : {"ok", "transient", "shape", "permanent"})
    fmt::print(", {:.0f} % {}", counted.percent(nature), nature);
  fmt::print("\n");
}

/// One day of the assistant: a clock and a budget.
struct day {
  reprise::testing::fake_clock time;
  reprise::memory_counter spent;
  reprise::spend_budget<> budget{spent, 500, 20'000};
  // Waits from 50 ms, so that the log is short of breath.
  assistant::default_policy policy = assistant::guard_policy.with(reprise::exponential_backoff{.base = 50ms});
  assistant::model_guard<assistant::default_policy, decltype(budget), decltype(time)> guard{policy, budget, time};

  day() { time.fractions({0.5, 1.0, 0.5, 1.0}); }
};

const assistant::question sentence{.text = "He go to school by bus every day."};
const chat::step corrected = chat::says("He goes to school by bus every day.", 71).taking(900ms);
const chat::step unavailable = chat::fails(503, "Service Unavailable").taking(40ms);

void four_scripts(statistics& counted) {
  const auto play = [&](std::string_view title, auto ask) {
    day today;
    const assistant::reply answer = ask(today);
    print(title, answer);
    counted.add(answer);
  };
  play("1. Two timeouts, then an answer", [](day& today) {
    scripted_model flash("flash", today.time, {chat::hangs(), chat::hangs(), corrected});
    return today.guard.ask(sentence, flash);
  });
  play("2. The key has expired: 401 ends it at once", [](day& today) {
    scripted_model flash("flash", today.time, {chat::fails(401, "Invalid API key").taking(80ms)});
    return today.guard.ask(sentence, flash);
  });
  play("3. Half a JSON, then an answer", [](day& today) {
    const chat::step half = chat::returns({.content = "{\"reply\": \"He goes to sch"}).taking(700ms);
    scripted_model flash("flash", today.time, {half, corrected});
    return today.guard.ask(sentence, flash);
  });
  play("4. Both models are down", [](day& today) {
    scripted_model flash("flash", today.time, {unavailable});
    scripted_model reserve("reserve", today.time, {unavailable});
    return today.guard.ask(sentence, flash, reserve);
  });
}

/// 85 questions, of which 12 are answered only after a 503, and 3 after half a JSON.
void busy_day(statistics& counted) {
  day today;
  for (int asked = 0; asked < 85; ++asked) {
    std::vector<chat::step> steps{corrected};
    if (asked % 7 == 0 && asked < 84) steps.insert(steps.begin(), unavailable);
    if (asked % 28 == 1 && asked < 84) steps.insert(steps.begin(), chat::returns({.content = "{\"reply\": \"He"}));
    scripted_model flash("flash", today.time, steps);
    counted.add(today.guard.ask(sentence, flash));
  }
}

}  // namespace

int main() {
  statistics scripts;
  four_scripts(scripts);
  print("the four scripts", scripts);

  statistics day;
  busy_day(day);
  print("a busy day", day);
}
