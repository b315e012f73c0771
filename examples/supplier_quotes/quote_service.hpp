// SPDX-License-Identifier: MIT
// Asks three suppliers at once and answers with the cheapest offer, in 0.8 s whatever they do.
// The retry rules are in supplier_policy.hpp.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <reprise/reprise.hpp>
#include <string>
#include <string_view>

#include "loopback.hpp"
#include "messages.hpp"

namespace quotes {

using steady = std::chrono::steady_clock;

/// One question to one supplier; its id stays the same in all attempts.
struct supplier_call {
  std::string_view supplier;
  const query& asked;
  const std::string& request_id;
};

/// Sends one request, within the attempt's timeout. The service's only way out, so that the checks can stand in it.
using transport = std::function<httplib::Result(const supplier_call&, const reprise::attempt&)>;

/// The suppliers' server on this port of 127.0.0.1.
transport over_http(int port);

struct limits {
  reprise::duration budget = std::chrono::milliseconds(800);
  int inbound = 8;
  int outbound = 6;
};

class quote_service {
 public:
  explicit quote_service(
      transport send, const limits& limit = {},
      std::function<void(reprise::duration)> sleep = [](reprise::duration wait) { std::this_thread::sleep_for(wait); });

  /// An answer once every supplier has given its own or the budget is used up; nothing, and at once, if too many are
  /// being answered already. What the transport throws is an error of this program and passes through.
  std::optional<answer> quote(const query& asked);

  /// Requests that are being answered.
  reprise::bulkhead& inbound() { return inbound_; }
  /// Requests to suppliers that are on their way.
  reprise::bulkhead& outbound() { return outbound_; }
  /// The most that ever were, counted where they are sent and not by the bulkhead.
  int most_outbound() const { return most_in_flight_; }

 private:
  struct supplier_end {
    std::optional<offer> offered = {};
    std::string failure_code = {};  // empty with an offer
    int attempts = 0;
  };

  supplier_end ask(const supplier_call& call, steady::time_point deadline);
  httplib::Result send_counted(const supplier_call& call, const reprise::attempt& attempt);

  transport send_;
  reprise::duration budget_;
  reprise::bulkhead inbound_;
  reprise::bulkhead outbound_;
  std::function<void(reprise::duration)> sleep_;
  std::atomic<int> in_flight_ = 0;
  std::atomic<int> most_in_flight_ = 0;
};

/// POST /api/quotes: 200 with an answer, also a partial one; 422 with a sentence; 503 with Retry-After when full.
/// GET /health.
class quote_api {
 public:
  explicit quote_api(quote_service& service);
  int port() const { return http_.port(); }

 private:
  loopback_server http_;
};

}  // namespace quotes
