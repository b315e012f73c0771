// SPDX-License-Identifier: MIT
// What is asked of a script.
#include <reprise/testing/script.hpp>

namespace {

using reprise::testing::reply;

// WRONG_REPLIES: reprise::testing::script requires replies of one type: write reply(value) with the same type each time
// WRONG_NO_STEPS: reprise::testing::script requires steps: write script send{time, reply(503), reply(200)}
void replies() {
  reprise::testing::fake_clock time;
#if defined(WRONG_REPLIES)
  reprise::testing::script send{time, reply(503), reply("text")};
#elif defined(WRONG_NO_STEPS)
  reprise::testing::script send{time};
#else
  reprise::testing::script send{time, reply(503), reply(200)};
#endif
  (void)send;
}

}  // namespace

int main() { replies(); }
