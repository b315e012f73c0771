// SPDX-License-Identifier: MIT
// One side of the comparison, to be counted by callgrind: instructions hand|policy <failures before success> <calls>.
#include <cstdlib>
#include <string_view>

#include "hand_loop.hpp"

// Named so that callgrind can be told to count them and their callees only.
extern "C" [[gnu::noinline]] bool by_hand(const outside::hand_limits& limits) {
  return hand::call(limits, outside::send, outside::now, outside::sleep, outside::fraction).reason ==
         hand::end::succeeded;
}

extern "C" [[gnu::noinline]] bool by_policy(const outside::policy_type& policy) {
  return reprise::execute(policy, outside::send, outside::now, outside::sleep, outside::fraction).ok();
}

int main(int count, char** arguments) {
  if (count != 4) return 2;
  const bool hand_side = arguments[1] == std::string_view("hand");
  outside::fail_first(std::atoi(arguments[2]));
  const int calls = std::atoi(arguments[3]);
  int succeeded = 0;
  for (int i = 0; i < calls; ++i)
    succeeded += (hand_side ? by_hand(outside::limits) : by_policy(outside::policy)) ? 1 : 0;
  return succeeded == calls ? 0 : 1;
}
