// SPDX-License-Identifier: MIT
// What the end of a cpp-httplib request means. Everything that ties this program's retries to its HTTP client is here.
#pragma once

#include <httplib.h>

#include <optional>
#include <reprise/reprise.hpp>

/// Why no response came: was the request sent, and can it help to send it again? Nothing if there is a response.
inline std::optional<reprise::verdict> transport_failure(const httplib::Result& result) {
  using enum reprise::outcome;
  using enum httplib::Error;
  if (result) return std::nullopt;
  switch (result.error()) {
    case Connection:
    case ConnectionTimeout: return reprise::verdict{.kind = transient, .label = "connect", .not_applied = true};
    case Read:  // timeouts too: httplib does not tell them apart
    case Write: return reprise::verdict{.kind = transient, .label = "broken"};  // it may have been applied
    case Canceled: return reprise::verdict{.kind = cancelled, .label = "cancelled"};
    default: return reprise::verdict{.kind = permanent, .label = "transport"};  // TLS, redirects, ...
  }
}

/// The client's fragment of every policy, to be completed with limits and, per call, the operation.
inline constexpr reprise::retry_policy httplib_results{
    reprise::classify(transport_failure),
    reprise::http::retry_statuses{}.reading(
        [](const httplib::Result& r) { return r->status; },
        [](const httplib::Result& r) { return r->get_header_value("Retry-After"); }),
};
