// SPDX-License-Identifier: MIT
// What each process of a fleet does: spend a session's budget, retry under a fleet's budget.
#pragma once

#include <reprise/policy/ratio_budget.hpp>
#include <thread>

#include "redis_counter.hpp"

using namespace std::chrono_literals;

namespace limits {
constexpr std::int64_t per_call = 100;
constexpr std::int64_t per_session = 10'000;
constexpr std::int64_t retries = 100;  // of the whole fleet in an interval
constexpr auto interval = 10s;
}  // namespace limits

inline std::string spent_key(std::string_view session) { return fmt::format("spent:{}", session); }
inline std::string sends_key(std::string_view session) { return fmt::format("sends:{}", session); }

/// Calls a service that costs: reserve, send, settle.
inline void spend(int port, const std::string& session, int calls, std::int64_t cost) {
  redis_connection redis({.port = port});
  redis_counter spent(redis, spent_key(session));
  redis_counter service(redis, sends_key(session));  // the service, which counts what reaches it
  reprise::spend_budget budget(spent, limits::per_call, limits::per_session);

  std::int64_t paid = 0;
  int sent = 0;
  for (int call = 0; call < calls; ++call) {
    auto reserved = budget.reserve(cost);
    if (!reserved.granted()) continue;  // nothing is sent
    service.add(1);
    ++sent;
    if (call % 5 == 0) continue;  // every fifth call fails, and its reservation gives back what it holds
    reserved.settle(cost);
    paid += cost;
  }
  fmt::print("spent {}, sent {}, refused {}\n", paid, sent, calls - sent);
}

inline void say(reprise::budget_scope decides, std::string_view why) {
  if (decides == reprise::budget_scope::local) fmt::print("redis is gone ({}): the local budget goes on\n", why);
  else fmt::print("redis is back: the fleet counts together again\n");
}

struct response {
  int status = 0;
};

/// Declared once; each call may be retried once, if the fleet's budget allows it.
inline constexpr reprise::retry_policy call_policy{reprise::http::retry_statuses{}, reprise::idempotent{},
                                                   reprise::constant_backoff{.delay = 1ms},
                                                   reprise::attempt_budget{.maximum = 2}};

/// When Redis is gone: a tenth of the process's calls, and one retry a second in any case.
inline constexpr reprise::ratio_budget_settings local_settings{.share = 0.1, .min_per_second = 1};

/// Calls a service that is down, as everybody else does at this moment.
inline void retry(int port, const std::string& fleet, int calls) {
  redis_connection redis({.port = port, .timeout = 100ms});
  redis_windows windows(redis, fleet, limits::interval);
  reprise::ratio_budget local(local_settings);
  reprise::fleet_budget budget(windows, limits::retries, local, say, 200ms);
  const auto policy = call_policy.with(reprise::shared_budget(budget));

  int retries = 0;
  for (int call = 0; call < calls; ++call) {
    const auto result = reprise::execute(policy, [] {
      std::this_thread::sleep_for(1ms);
      return response{.status = 503};
    });
    retries += result.attempts() - 1;
  }
  fmt::print("{} retries for {} calls\n", retries, calls);
}
