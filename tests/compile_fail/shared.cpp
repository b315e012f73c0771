// SPDX-License-Identifier: MIT
// What is asked of a retry budget that many calls share.
#include <reprise/core.hpp>

namespace {

struct permit {};

// WRONG_BUDGET: reprise::shared_budget requires a retry budget: write call_started(now), failed(verdict), try_retry(verdict, now) -> optional<permit>, call_ended(success, permit, now)
// WRONG_BUDGET_ANSWER: reprise::shared_budget requires a retry budget: write call_started(now), failed(verdict), try_retry(verdict, now) -> optional<permit>, call_ended(success, permit, now)
struct own_budget {
  void call_started(reprise::duration) {}
#ifndef WRONG_BUDGET
  void failed(const reprise::verdict&) {}
#endif
#ifdef WRONG_BUDGET_ANSWER
  bool try_retry(const reprise::verdict&, reprise::duration) { return true; }
#else
  std::optional<permit> try_retry(const reprise::verdict&, reprise::duration) { return permit{}; }
#endif
  void call_ended(bool, std::optional<permit>, reprise::duration) {}
};

// WRONG_TEMPORARY_BUDGET: deleted
void by_reference() {
  own_budget budget;
#ifdef WRONG_TEMPORARY_BUDGET
  const reprise::retry_policy policy{reprise::shared_budget(own_budget{})};
#else
  const reprise::retry_policy policy{reprise::shared_budget(budget)};
#endif
  (void)policy, (void)budget;
}

}  // namespace

int main() { by_reference(); }
