// SPDX-License-Identifier: MIT
// Real threads: a downstream that hangs holds the slots of its own bulkhead and no others.
#pragma once

#include <future>
#include <latch>
#include <vector>

#include "client.hpp"

namespace bulkheaded {

inline void silent(const std::string&) {}

struct passed {
  int answered = 0;  ///< calls to the other downstream, while the first one hangs
  int refused = 0;
  int refused_by_stuck = 0;  ///< of one more call to the downstream that hangs
  int stuck_answered = 0;    ///< calls that hung, when it moves again
};

/// Fills every slot of `stuck` with a call that hangs, then makes calls with `other`, which may be the same client.
inline passed beside_a_stuck_downstream(client& stuck, client& other, int calls) {
  passed seen;
  std::latch all_hang(stuck.slots().slots());
  std::vector<std::future<bool>> hanging;
  std::promise<void> moves;
  const std::shared_future<void> moved = moves.get_future();
  for (int i = 0; i < stuck.slots().slots(); ++i) {
    hanging.push_back(std::async(std::launch::async, [&stuck, &all_hang, moved] {
      return stuck
          .call([&] {
            all_hang.count_down();
            moved.wait();
            return answer{.status = 200};
          })
          .ok();
    }));
  }
  all_hang.wait();

  const auto answers = [] { return answer{.status = 200}; };
  for (int i = 0; i < calls; ++i) ++(other.call(answers).ok() ? seen.answered : seen.refused);
  if (!stuck.call(answers).ok()) ++seen.refused_by_stuck;

  moves.set_value();
  for (auto& call : hanging) seen.stuck_answered += call.get() ? 1 : 0;
  return seen;
}

}  // namespace bulkheaded
