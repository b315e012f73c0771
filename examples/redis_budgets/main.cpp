// SPDX-License-Identifier: MIT
// Budgets of several processes, counted in Redis: what a session may spend, and how often a fleet may retry.
//   redis_budgets                                           a walk-through, with a redis-server of its own
//   redis_budgets spend <port> <session> <calls> <cost>     one process that spends
//   redis_budgets retries <port> <fleet> <calls>            one process that retries
//   redis_budgets --check [redis-server]                    checks its claims
#include "checks.hpp"

namespace {

void walk_through(const std::string& self) {
  own_redis server("redis-server");
  await(server);
  const std::string port = std::to_string(server.port());
  redis_connection redis({.port = server.port()});

  fmt::print("Two processes make 400 calls each, at 20, on one session's budget of {}:\n", limits::per_session);
  redis_counter session(redis, spent_key("shop"));
  {
    child one({self, "spend", port, "shop", "400", "20"});
    child other({self, "spend", port, "shop", "400", "20"});
    fmt::print("  {}  {}", one.wait().output, other.wait().output);
  }
  fmt::print("  the session's total in Redis: {}\n\n", session.total());

  fmt::print("Two processes make 150 calls each that fail, with {} retries for both in {} s:\n", limits::retries,
             limits::interval.count());
  {
    child one({self, "retries", port, "shop", "150"});
    child other({self, "retries", port, "shop", "150"});
    fmt::print("  {}  {}\n", one.wait().output, other.wait().output);
  }

  fmt::print("The server is killed. A reservation cannot be made, and says so:\n");
  server.stop();
  try {
    reprise::spend_budget budget(session, limits::per_call, limits::per_session);
    (void)budget.reserve(20);
  } catch (const redis_error& error) {
    fmt::print("  {}\n\n", error.what());
  }

  fmt::print("Retries go on, under each process's own budget, until it is back:\n");
  child orphan({self, "retries", port, "shop", "800"});
  std::this_thread::sleep_for(300ms);
  server.start();
  fmt::print("{}", orphan.wait().output);
}

}  // namespace

int main(int count, char** words) try {
  std::signal(SIGPIPE, SIG_IGN);  // a connection that is closed is an error like others
  const std::vector<std::string> given(words, words + count);
  const std::string mode = count > 1 ? given[1] : "";
  if (mode == "spend" && count == 6) {
    spend(std::stoi(given[2]), given[3], std::stoi(given[4]), std::stoll(given[5]));
  } else if (mode == "retries" && count == 5) {
    retry(std::stoi(given[2]), given[3], std::stoi(given[4]));
  } else if (mode == "--check" && count <= 3) {
    own_redis server(count == 3 ? given[2] : "redis-server");
    await(server);
    return checks(server, given[0]).run() ? 0 : 1;
  } else if (count == 1) {
    walk_through(given[0]);
  } else {
    fmt::print("usage: redis_budgets [--check | spend port session calls cost | retries port fleet calls]\n");
    return 2;
  }
  return 0;
} catch (const std::exception& error) {
  fmt::print("redis_budgets: {}\n", error.what());
  return 1;
}
