// SPDX-License-Identifier: MIT
#include "outside.hpp"

namespace outside {

namespace {
int failures_before_success = 0;
int failures_left = 0;
clock::time_point time{};
}  // namespace

void fail_first(int failures) { failures_before_success = failures_left = failures; }

response send(std::chrono::nanoseconds) {
  if (failures_left > 0) {
    --failures_left;
    return {.status = 503};
  }
  failures_left = failures_before_success;
  return {.status = 200};
}

clock::time_point now() { return time; }
void sleep(std::chrono::nanoseconds wait) { time += wait; }
double fraction() { return 0.5; }

std::chrono::nanoseconds base = std::chrono::milliseconds(1);
std::chrono::nanoseconds cap = std::chrono::milliseconds(4);
int maximum = 3;
std::chrono::nanoseconds total = std::chrono::seconds(5);
bool replay_safe = true;

}  // namespace outside
