// SPDX-License-Identifier: MIT
// Says of each claim whether it is so, and counts.
#pragma once

#include <fmt/format.h>

#include <utility>

namespace quotes {

class tally {
 public:
  template <class... Values> void claim(bool so, fmt::format_string<Values...> text, Values&&... values) {
    fmt::print("{}: {}\n", so ? "ok" : "NOT SO", fmt::format(text, std::forward<Values>(values)...));
    ++(so ? confirmed : denied);
  }

  int confirmed = 0;
  int denied = 0;
};

/// The behaviours that systems of this kind get wrong, one by one.
void check(tally& checked);

/// Twelve clients for 20 s, then 200 requests at once.
void load(tally& checked);

}  // namespace quotes
