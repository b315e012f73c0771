// SPDX-License-Identifier: MIT
// The simulator's time: a fake clock, and the events that move it.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <reprise/testing/fake_clock.hpp>
#include <vector>

namespace storm {

using fake_clock = reprise::testing::fake_clock;
using time_point = fake_clock::time_point;

/// Something that is due: what it means is the model's business.
struct event {
  time_point due;
  std::uint32_t subject;  ///< a client or a call
  std::uint32_t tag;
};

/// Gives events in the order of their due times, those of one time in the order in which they came. A radix heap:
/// since no event is due before the latest one given out, an event only ever moves to lower buckets, a bounded number
/// of times and through memory in order, so that a million events cost the same each as a thousand.
class event_queue {
 public:
  bool empty() const noexcept { return size_ == 0; }

  void push(event added) {
    buckets_[bucket_of(added.due)].push_back(added);
    ++size_;
  }

  /// When the next one is due. There must be one, as for `pop`.
  time_point next_due() {
    if (next_ == buckets_[0].size()) refill();
    return latest_;
  }

  event pop() {
    if (next_ == buckets_[0].size()) refill();
    --size_;
    return buckets_[0][next_++];
  }

 private:
  /// The highest bit in which the time differs from the latest given out, from 1; 0 if none does.
  std::size_t bucket_of(time_point due) const noexcept { return std::bit_width(number_of(due) ^ number_of(latest_)); }
  static std::uint64_t number_of(time_point due) noexcept {
    return static_cast<std::uint64_t>(due.time_since_epoch().count());
  }

  void refill() {
    buckets_[0].clear();
    next_ = 0;
    const auto lowest = std::find_if(buckets_.begin(), buckets_.end(), [](const auto& one) { return !one.empty(); });
    latest_ = std::min_element(lowest->begin(), lowest->end(), [](const event& a, const event& b) {
                return a.due < b.due;
              })->due;
    for (const event& one : *lowest) buckets_[bucket_of(one.due)].push_back(one);
    lowest->clear();
  }

  std::array<std::vector<event>, 65> buckets_;
  std::size_t next_ = 0;
  std::size_t size_ = 0;
  time_point latest_{};
};

}  // namespace storm
