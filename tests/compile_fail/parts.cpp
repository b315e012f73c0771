// SPDX-License-Identifier: MIT
// What is asked where a policy is made.
#include <reprise/core.hpp>

using namespace std::chrono_literals;

namespace {

// WRONG_TWO_IN_ONE_ROLE: reprise::retry_policy requires one part a role: write only one of them, or replace the other with policy.with(part)
void one_part_a_role() {
#ifdef WRONG_TWO_IN_ONE_ROLE
  const reprise::retry_policy policy{reprise::attempt_budget{.maximum = 3}, reprise::unlimited_attempts{}};
#else
  const reprise::retry_policy policy{reprise::attempt_budget{.maximum = 3}, reprise::time_limit{.total = 1s}};
#endif
  (void)policy;
}

// WRONG_TWO_OF_ONE_TYPE: reprise::retry_policy requires one part a role: write only one of them, or replace the other with policy.with(part)
void one_part_of_a_type() {
#ifdef WRONG_TWO_OF_ONE_TYPE
  const reprise::retry_policy policy{reprise::wait_limit{.total = 1s}, reprise::wait_limit{.total = 2s}};
#else
  const reprise::retry_policy policy{reprise::wait_limit{.total = 1s}};
#endif
  (void)policy;
}

// WRONG_TWO_IN_WITH: reprise::retry_policy::with requires one part a role: write only one of them
void one_part_a_role_in_with() {
  const reprise::retry_policy policy{reprise::http::retry_statuses{}};
#ifdef WRONG_TWO_IN_WITH
  (void)policy.with(reprise::idempotent{}, reprise::not_idempotent{});
#else
  (void)policy.with(reprise::idempotent{}).with(reprise::not_idempotent{});
  (void)policy.with(reprise::retry_codes{-1}, reprise::retry_codes{-2});
#endif
}

// WRONG_STRANGER: reprise::retry_policy requires parts: write parts such as reprise::attempt_budget{.maximum = 3}, and give a lambda its parameter type: [](int retry) -> reprise::duration
// WRONG_STRANGER_NUMBER: reprise::retry_policy requires parts: write parts such as reprise::attempt_budget{.maximum = 3}
// WRONG_STRANGER_LAMBDA: reprise::retry_policy requires parts: write parts such as reprise::attempt_budget{.maximum = 3}, and give a lambda its parameter type: [](int retry) -> reprise::duration
struct no_part {};

void strangers() {
#if defined(WRONG_STRANGER)
  const reprise::retry_policy policy{no_part{}, reprise::idempotent{}};
#elif defined(WRONG_STRANGER_NUMBER)
  const reprise::retry_policy policy{3, reprise::idempotent{}};
#elif defined(WRONG_STRANGER_LAMBDA)
  const reprise::retry_policy policy{[](auto retry) { return retry * 100ms; }};
#else
  const reprise::retry_policy policy{[](int retry) -> reprise::duration { return retry * 100ms; }};
#endif
  (void)policy;
}

// WRONG_ROLE_WITHOUT_ANSWER: reprise::retry_policy requires parts: write parts such as reprise::attempt_budget{.maximum = 3}
struct own_attempts {
  static constexpr auto part_role = reprise::role::attempts;
#ifdef WRONG_ROLE_WITHOUT_ANSWER
  long most_attempts() const { return 2; }
#else
  int max_attempts() const { return 2; }
#endif
};

void own_part() {
  const reprise::retry_policy policy{own_attempts{}, reprise::idempotent{}};
  (void)policy;
}

// WRONG_STRANGER_IN_WITH: reprise::retry_policy::with requires parts, or one other policy: write with(reprise::idempotent{})
void strangers_in_with() {
  const reprise::retry_policy policy{reprise::http::retry_statuses{}};
#ifdef WRONG_STRANGER_IN_WITH
  (void)policy.with(no_part{});
#else
  (void)policy.with(reprise::idempotent{});
  (void)policy.with(reprise::retry_policy{reprise::idempotent{}});
#endif
}

// WRONG_TWO_SPREADS: reprise::retry_policy requires one spread: write no jitter part beside a backoff that has its own
// WRONG_TWO_SPREADS_BY_WITH: reprise::retry_policy requires one spread: write no jitter part beside a backoff that has its own
void one_spread() {
#if defined(WRONG_TWO_SPREADS)
  const reprise::retry_policy policy{reprise::decorrelated_backoff{}, reprise::full_jitter{}};
#elif defined(WRONG_TWO_SPREADS_BY_WITH)
  const reprise::retry_policy policy =
      reprise::retry_policy{reprise::full_jitter{}}.with(reprise::decorrelated_backoff{});
#else
  const reprise::retry_policy policy{reprise::decorrelated_backoff{}};
#endif
  (void)policy;
}

// WRONG_JITTER_WITHOUT_ITS_BACKOFF: reprise::retry_policy requires a backoff that suits its jitter: write chosen_backoff beside chosen_jitter
void chosen_jitter() {
#ifdef WRONG_JITTER_WITHOUT_ITS_BACKOFF
  const reprise::retry_policy policy{reprise::listed_backoff{1s, 2s}, reprise::chosen_jitter{}};
#else
  const reprise::retry_policy policy{reprise::chosen_backoff{}, reprise::chosen_jitter{}};
#endif
  (void)reprise::wait_ranges<2>(policy);
}

// WRONG_EVENT_HANDLER: reprise::on_event requires a function that takes the event: write on_event([](const reprise::event& e) {})
void events() {
#ifdef WRONG_EVENT_HANDLER
  const reprise::on_event part([](int) {});
#else
  const reprise::on_event part([](const reprise::event&) {});
#endif
  (void)part;
}

// WRONG_LOG_WITHOUT_ROOM: reprise::attempt_log requires room: write attempt_log<8>{}
void log() {
#ifdef WRONG_LOG_WITHOUT_ROOM
  constexpr std::size_t room = 0;
#else
  constexpr std::size_t room = 1;
#endif
  (void)reprise::attempt_log<room>{};
}

// WRONG_TEMPORARY_LOG: deleted
void log_by_reference() {
  reprise::attempt_log<2> log;
#ifdef WRONG_TEMPORARY_LOG
  const reprise::log_to part(reprise::attempt_log<2>{});
#else
  const reprise::log_to part(log);
#endif
  (void)part, (void)log;
}

// WRONG_LIST_WITHOUT_DELAYS: reprise::listed_backoff requires delays: write listed_backoff{100ms, 1s}
void listed() {
#ifdef WRONG_LIST_WITHOUT_DELAYS
  (void)reprise::listed_backoff{};
#else
  (void)reprise::listed_backoff{1s};
#endif
}

// WRONG_NO_WAIT_RANGES: reprise::wait_ranges requires a number of retries: write wait_ranges<3>(policy)
void ranges() {
#ifdef WRONG_NO_WAIT_RANGES
  constexpr std::size_t retries = 0;
#else
  constexpr std::size_t retries = 1;
#endif
  (void)reprise::wait_ranges<retries>(reprise::retry_policy{reprise::constant_backoff{}});
}

}  // namespace

int main() {
  one_part_a_role();
  one_part_of_a_type();
  one_part_a_role_in_with();
  strangers();
  own_part();
  strangers_in_with();
  one_spread();
  chosen_jitter();
  events();
  log();
  log_by_reference();
  listed();
  ranges();
}
