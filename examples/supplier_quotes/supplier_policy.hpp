// SPDX-License-Identifier: MIT
// When a supplier is asked a second time. All that ties reprise to httplib and to the suppliers' contract is here.
#pragma once

#include <httplib.h>

#include <optional>
#include <reprise/reprise.hpp>

#include "messages.hpp"

namespace quotes {

/// What one attempt brought back.
struct reply {
  httplib::Error error = httplib::Error::Success;
  int status = 0;
  std::optional<offer> offered = {};
};

/// Which broken transports are worth another request. Asking for a price changes nothing at the supplier, so it does
/// not matter whether the first one arrived.
inline std::optional<reprise::verdict> transport_failure(const reply& got) {
  using enum httplib::Error;
  switch (got.error) {
    case Success: return std::nullopt;
    case Connection:
    case ConnectionTimeout:
    case Read:  // also a timeout, and an answer that is not HTTP: httplib does not tell them apart
    case Write: return reprise::verdict{.kind = reprise::outcome::transient, .label = "transport_error"};
    default: return reprise::verdict{.kind = reprise::outcome::permanent, .label = "transport_error"};  // our own fault
  }
}

/// A status that says success, without an offer that can be used: asking again would not mend the supplier's contract.
inline std::optional<reprise::verdict> unusable_answer(const reply& got) {
  if (got.status >= 400 || got.offered) return std::nullopt;
  if (got.status == 200) return reprise::verdict{.kind = reprise::outcome::permanent, .label = "invalid_data"};
  return reprise::verdict{.kind = reprise::outcome::permanent, .label = "http", .code = got.status};
}

/// Two attempts at most, 20 to 30 ms apart. The time is not its affair: each call joins a deadline, which all suppliers
/// share, and there is no second timer.
inline constexpr reprise::retry_policy supplier_policy{
    reprise::rolled_back<reprise::bulkhead_full>{},  // no outbound slot came free: nothing was sent
    reprise::classify(transport_failure),
    reprise::classify(unusable_answer),
    reprise::http::retry_statuses{503},
    reprise::http::operation{.method = "GET"},
    reprise::attempt_budget{.maximum = 2},
    reprise::constant_backoff{.delay = std::chrono::milliseconds(20)},
    reprise::added_jitter{.longest = std::chrono::milliseconds(10)},
    reprise::no_time_limit{},
};
static_assert(reprise::worst_case(supplier_policy).attempts == 2);
static_assert(reprise::wait_ranges<1>(supplier_policy)[0] ==
              reprise::wait_range{std::chrono::milliseconds(20), std::chrono::milliseconds(30)});

}  // namespace quotes
