// SPDX-License-Identifier: MIT
// What is asked of the parts of a retry budget of many processes.
#include <reprise/guard/spend_budget.hpp>
#include <reprise/policy/fleet_budget.hpp>

namespace {

// WRONG_WINDOWS: reprise::fleet_budget requires counted windows: write window(now) -> std::int64_t and counter(window) -> a spend_counter
struct windows {
#ifndef WRONG_WINDOWS
  std::int64_t window(reprise::duration) { return 0; }
#endif
  reprise::memory_counter& counter(std::int64_t) { return count; }

  reprise::memory_counter count = {};
};

struct permit {};

// WRONG_LOCAL_BUDGET: reprise::fleet_budget requires a local budget: write call_started(now), failed(verdict), try_retry(verdict, now) -> optional<permit>, call_ended(success, permit, now)
struct local_budget {
  void call_started(reprise::duration) {}
  void failed(const reprise::verdict&) {}
#ifndef WRONG_LOCAL_BUDGET
  std::optional<permit> try_retry(const reprise::verdict&, reprise::duration) { return permit{}; }
#endif
  void call_ended(bool, std::optional<permit>, reprise::duration) {}
};

// WRONG_OBSERVER: reprise::fleet_budget requires an observer: write [](reprise::budget_scope decides, std::string_view why) { ... }
#ifdef WRONG_OBSERVER
const auto observer = [] {};
#else
const auto observer = [](reprise::budget_scope, std::string_view) {};
#endif

}  // namespace

int main() {
  windows counts;
  local_budget local;
  reprise::fleet_budget budget(counts, 10, local, observer);
  (void)budget;
}
