// SPDX-License-Identifier: MIT
// A client with a bulkhead, walked through on a fake clock; what it costs to hold a slot through the wait; and what a
// stuck downstream holds. `--check` runs the named checks instead.
#include "checks.hpp"

namespace {

using namespace bulkheaded;

void print_line(const std::string& line) { fmt::print("  {}\n", line); }

template <class Result> void print_end(const Result& result) {
  if (result.ok()) return fmt::print("  -> {}\n", result.success().text);
  if (result.has_response()) return fmt::print("  -> the last answer: {}\n", result.response().status);
  try {
    (void)result.success();
  } catch (const std::exception& error) {
    fmt::print("  -> the last error: {}\n", error.what());
  }
}

void walk(std::string_view title, turns in_turn, std::initializer_list<double> fractions) {
  fmt::print("\n{}\n", title);
  fake_clock time;
  time.fractions(fractions);
  client guarded(1, print_line);
  print_end(guarded.call(downstream(time, std::move(in_turn)), time));
}

void walk_full() {
  fmt::print("\nFull: the only slot is taken when another call comes\n");
  fake_clock time;
  client guarded(1, print_line);
  const auto first = guarded.call(
      [&] {
        print_end(guarded.call(downstream(time, {says(200)}), time));
        return answer{.status = 200, .text = "fine weather, for the first call"};
      },
      time);
  print_end(first);
}

void print_table(std::string_view title, setting with) {
  const double length = std::chrono::duration<double>(with.length).count();
  fmt::print("\n{}\n             held through the wait    given back before it\n", title);
  fmt::print("  failing    healthy   failing        healthy   failing        healthy calls\n");
  for (const double share : {0.0, 0.05, 0.1, 0.2, 0.3, 0.5}) {
    with.failing = share;
    with.slot = slot_is::held_through_the_wait;
    const measured held = measure(with);
    with.slot = slot_is::given_back_before_the_wait;
    const measured back = measure(with);
    fmt::print("  {:5.0f} %    {:7.1f}   {:7.1f}        {:7.1f}   {:7.1f}        x {:.2f}\n", 100 * share,
               held.healthy / length, held.failing / length, back.healthy / length, back.failing / length,
               static_cast<double>(back.healthy) / held.healthy);
  }
}

void measure_and_print() {
  fmt::print(
      "\nWhat a slot held through the wait costs: an hour of 16 callers in a closed loop, 4 slots, an answer takes\n"
      "0.1 s, 0 to 1 s between two calls. Calls a second that got all the attempts that they needed; the others found\n"
      "no slot.\n");
  print_table("A failing call gets a 503 after 0.1 s, three times:", {});
  print_table("It gets one 503 after 0.1 s, and would succeed the second time:", {.failures = 1});
  print_table("It hangs until the timeout of 2 s, three times:", {.failing_takes = 1min});
  fmt::print(
      "\nWhere failures are quick, a failing call holds its slot mostly for the waits; given back, the slot serves\n"
      "both kinds of calls as soon as failures are frequent. Where attempts hang, slots are scarce: one that is given\n"
      "back is soon taken, most retries find none, and the healthy calls gain at the cost of the failing ones.\n");
}

void walk_compartments() {
  client weather(4, silent);
  client news(4, silent);
  const passed apart = beside_a_stuck_downstream(weather, news, 20);
  fmt::print("\nReal threads: four calls hang in one downstream, 20 are made to another\n");
  fmt::print("  a bulkhead each:      {:2} answered, {:2} refused\n", apart.answered, apart.refused);
  client shared(4, silent);
  const passed together = beside_a_stuck_downstream(shared, shared, 20);
  fmt::print("  one bulkhead for all: {:2} answered, {:2} refused\n", together.answered, together.refused);
}

void walk() {
  fmt::print("policy: {}\n", reprise::worst_case(policy));
  walk("Scenario A: two timeouts, then success (fractions 0.8 and 0.3)", {hangs, hangs, says(200, 600ms)}, {0.8, 0.3});
  walk("Scenario B: never an answer (fractions 0.5)", {hangs}, {0.5});
  walk("Not now: no connection, then 503, then success (fractions 0.5)",
       {no_connection, says(503, 50ms), says(200, 600ms)}, {0.5});
  walk("Never: 401", {says(401, 50ms)}, {0.5});
  walk("Never: 422", {says(422, 50ms)}, {0.5});
  walk_full();
  measure_and_print();
  walk_compartments();
}

}  // namespace

int main(int argc, char** argv) try {
  const bool check = argc == 2 && std::string_view(argv[1]) == "--check";
  if (argc > 1 && !check) {
    fmt::print(stderr, "usage: bulkheaded_client [--check]\n");
    return 2;
  }
  if (check) return run_checks();
  walk();
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "bulkheaded_client: {}\n", error.what());
  return 1;
}
