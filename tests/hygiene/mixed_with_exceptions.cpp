// SPDX-License-Identifier: MIT
#include <stdexcept>

#include "mixed.hpp"

int attempts_with_exceptions() { return mixed::attempts(); }

namespace {

/// A refused value is thrown in this half, although the other half's refusals abort.
bool refuses(int maximum) {
  try {
    (void)reprise::retry_policy{reprise::attempt_budget{.maximum = maximum}};
    return false;
  } catch (const std::invalid_argument&) {
    return true;
  }
}

}  // namespace

int main(int argc, char**) {
  return attempts_with_exceptions() == 3 && attempts_without_exceptions() == 3 && refuses(argc - 1) ? 0 : 1;
}
