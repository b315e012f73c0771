// SPDX-License-Identifier: MIT
// The event queue against a stable sort: random pushes and pops, many events at the same time.
#include "../event_queue.hpp"

#include <algorithm>
#include <cstdio>
#include <random>

int main() {
  std::mt19937_64 random(1);
  storm::event_queue queue;
  std::vector<storm::event> expected;  // what is in the queue, in order
  storm::time_point now{};
  std::uint32_t made = 0;
  for (int step = 0; step < 200'000; ++step) {
    if (expected.empty() || (random() % 2 == 0 && expected.size() < 500)) {
      // Mostly soon, often at once, sometimes far away.
      const auto later = static_cast<std::int64_t>((random() % 8) << (random() % 3 == 0 ? random() % 40 : 0));
      const storm::event added{.due = now + reprise::duration(later), .subject = made++, .tag = 0};
      const auto earlier = [](const storm::event& a, const storm::event& b) { return a.due < b.due; };
      expected.insert(std::upper_bound(expected.begin(), expected.end(), added, earlier), added);
      queue.push(added);
      continue;
    }
    const storm::time_point due = queue.next_due();
    const storm::event got = queue.pop();
    now = got.due;
    if (got.subject != expected.front().subject || got.due != expected.front().due || due != got.due) {
      std::printf("step %d: event %u, not %u\n", step, got.subject, expected.front().subject);
      return 1;
    }
    expected.erase(expected.begin());
    if (queue.empty() != expected.empty()) {
      std::printf("step %d: wrong about being empty\n", step);
      return 1;
    }
  }
}
