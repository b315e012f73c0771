// SPDX-License-Identifier: MIT
// One side of the comparison, to be counted by callgrind: instructions hand|policy <failures before success> <calls>.
#include <cstdlib>
#include <string_view>

#include "hand_loop.hpp"

using policy_type = decltype(reprise::retry_policy{reprise::http::retry_statuses{}, reprise::exponential_backoff{},
                                                   reprise::full_jitter{}, reprise::attempt_budget{},
                                                   reprise::time_limit{}, reprise::http::operation{}});

// Named so that callgrind can be told to count them and their callees only.
extern "C" [[gnu::noinline]] bool by_hand(const hand::limits& limits) {
  return hand::call(limits, outside::send, outside::now, outside::sleep, outside::fraction).reason ==
         hand::end::succeeded;
}

extern "C" [[gnu::noinline]] bool by_policy(const policy_type& policy) {
  return reprise::execute(policy, outside::send, outside::now, outside::sleep, outside::fraction).ok();
}

int main(int count, char** arguments) {
  if (count != 4) return 2;
  outside::fail_first(std::atoi(arguments[2]));
  const int calls = std::atoi(arguments[3]);
  const hand::limits limits{outside::base, outside::cap, outside::maximum, outside::total, outside::replay_safe};
  const policy_type policy{reprise::http::retry_statuses{},
                           reprise::exponential_backoff{.base = outside::base, .cap = outside::cap},
                           reprise::full_jitter{},
                           reprise::attempt_budget{.maximum = outside::maximum},
                           reprise::time_limit{.total = outside::total},
                           reprise::http::operation{.method = outside::replay_safe ? "GET" : "POST"}};
  int succeeded = 0;
  if (arguments[1] == std::string_view("hand"))
    for (int i = 0; i < calls; ++i) succeeded += by_hand(limits) ? 1 : 0;
  else
    for (int i = 0; i < calls; ++i) succeeded += by_policy(policy) ? 1 : 0;
  return succeeded == calls ? 0 : 1;
}
