// SPDX-License-Identifier: MIT
#include <reprise/reprise.hpp>
#include <reprise/testing/script.hpp>

#include "part.hpp"

namespace {

struct version {
  int major_number, minor_number, patch_number;
};

/// The build system and the header speak of one version.
constexpr version expected{EXPECTED_VERSION};
static_assert(expected.major_number == REPRISE_VERSION_MAJOR && expected.minor_number == REPRISE_VERSION_MINOR &&
              expected.patch_number == REPRISE_VERSION_PATCH);

/// A warning of the library's own build, which a consumer must not get as an error.
int narrowed(long value) {
  int narrow = value;
  return narrow;
}

int attempts() {
  reprise::testing::fake_clock time;
  reprise::testing::script send{time, reprise::testing::reply(503), reprise::testing::reply(200)};
  return reprise::execute(client_policy.with(reprise::idempotent{}), send, time).attempts();
}

}  // namespace

int main() { return narrowed(attempts()) == 2 && attempts_in_part() == 2 && worst_case_agrees() ? 0 : 1; }
