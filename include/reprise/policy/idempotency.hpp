// SPDX-License-Identifier: MIT
// Whether an operation may be repeated. There is no default: the caller must say it.
// Knows no protocol; http::operation works it out from a method and a key.
#pragma once

#include "../concepts.hpp"

namespace reprise::inline REPRISE_VERSION_NAMESPACE {

/// Doing it twice is doing it once: reads, full replacements, deletes (RFC 9110 section 9.2.2), writes with a key that
/// the server deduplicates.
struct idempotent {
  static constexpr auto part_role = role::idempotency;
  constexpr bool replay_safe() const noexcept { return true; }
};

/// Repeated only with proof that the failed attempt had no effect (`verdict::not_applied`).
struct not_idempotent {
  static constexpr auto part_role = role::idempotency;
  constexpr bool replay_safe() const noexcept { return false; }
};

static_assert(idempotency_part<idempotent> && idempotency_part<not_idempotent>);

}  // namespace reprise::inline REPRISE_VERSION_NAMESPACE
