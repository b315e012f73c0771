// SPDX-License-Identifier: MIT
// The claims of this example, each checked against a real Redis.
#pragma once

#include <algorithm>
#include <cstdio>
#include <reprise/testing/fake_clock.hpp>
#include <reprise/testing/script.hpp>

#include "processes.hpp"
#include "workers.hpp"

/// Waits until it answers.
inline void await(const own_redis& server) {
  constexpr reprise::retry_policy patiently{reprise::retry_exceptions<redis_error>{}, reprise::idempotent{},
                                            reprise::constant_backoff{.delay = 20ms}, reprise::unlimited_attempts{},
                                            reprise::time_limit{.total = 5s}};
  redis_connection redis({.port = server.port(), .timeout = 50ms});
  const auto result = reprise::execute(patiently, [&] { redis.ask({"EXISTS", "anything"}); });
  if (!result.ok()) throw std::runtime_error("redis-server does not start: is it installed?");
}

/// Says of each claim whether it is so.
class checks {
 public:
  /// `self` is this program: it is started again for each worker.
  checks(own_redis& server, std::string self) : server_(server), self_(std::move(self)) {}

  /// Whether all is so.
  bool run() {
    for (const int processes : {2, 4}) {
      spending_is_exact(processes);
      retries_are_exact(processes);
    }
    settling_is_exact();
    words_of_redis_are_told();
    a_server_that_hangs_cannot_hold_a_call();
    a_new_server_costs_no_call();
    a_dead_server_is_told_of();
    a_worker_whose_server_dies_says_so();
    the_local_budget_goes_on();
    workers_outlive_their_server();
    return all_so_;
  }

 private:
  template <class... Values> void claim(bool so, fmt::format_string<Values...> text, Values&&... values) {
    fmt::print("{}: {}\n", so ? "ok" : "NOT SO", fmt::format(text, std::forward<Values>(values)...));
    all_so_ = all_so_ && so;
  }

  std::vector<ended> run_workers(int processes, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), self_);
    std::vector<std::unique_ptr<child>> workers;
    for (int process = 0; process < processes; ++process) workers.push_back(std::make_unique<child>(arguments));
    std::vector<ended> ends;
    for (const auto& worker : workers) ends.push_back(worker->wait());
    return ends;
  }
  std::string port() const { return std::to_string(server_.port()); }

  void spending_is_exact(int processes) {
    constexpr int sessions = 5;  // the limit is reached once in each
    long long spent = 0, total = 0, sent = 0, arrived = 0, refused = 0;
    bool so = true;
    for (int number = 0; number < sessions; ++number) {
      const std::string session = fmt::format("{}-of-{}", number, processes);
      for (const ended& worker : run_workers(processes, {"spend", port(), session, "400", "20"})) {
        long long own[3] = {};
        const char* said = worker.output.c_str();
        so = std::sscanf(said, "spent %lld, sent %lld, refused %lld", own, own + 1, own + 2) == 3 && so;
        spent += own[0], sent += own[1], refused += own[2];
      }
      const auto in_redis = redis_counter(redis_, spent_key(session)).total();
      so = so && in_redis == limits::per_session;
      total += in_redis;
      arrived += redis_counter(redis_, sends_key(session)).total();
    }
    claim(so && spent == total, "{} processes spend {} sessions' budgets of {}: they say {}, Redis says {}", processes,
          sessions, limits::per_session, spent, total);
    claim(refused > 0 && arrived == sent && sent + refused == sessions * processes * 400,
          "{} reservations of {} were refused, and sent nothing: {} were granted, {} sends arrived", refused,
          sessions * processes * 400, sent, arrived);
  }

  void retries_are_exact(int processes) {
    for (int again = 0;; ++again) {
      const std::string fleet = fmt::format("fleet-of-{}-{}", processes, again);
      const redis_windows windows(redis_, fleet, limits::interval);
      const auto window = windows.window();
      int retries = 0;
      for (const ended& worker : run_workers(processes, {"retries", port(), fleet, "150"}))
        retries += std::atoi(worker.output.c_str());
      if (windows.window() != window && again < 2) continue;  // two windows, two budgets: once more
      const auto total = windows.counter(window).total();
      claim(retries == limits::retries && total == limits::retries,
            "{} processes with {} calls that fail share {} retries a window: they made {}, Redis counted {}", processes,
            processes * 150, limits::retries, retries, total);
      return;
    }
  }

  void settling_is_exact() {
    redis_counter session(redis_, "spent:settling");
    reprise::spend_budget budget(session, limits::per_call, limits::per_session);
    budget.reserve(100).settle(37);
    budget.reserve(100).settle(120);
    {
      const auto given_back = budget.reserve(100);
    }
    const bool refused = budget.reserve(101).refused_by() == reprise::spend_refusal::per_call;
    claim(refused && session.total() == 157, "a reservation of 100 settles to 37, to 120 and to nothing: {} together",
          session.total());
  }

  /// What this throws.
  template <class Work> static std::string words_of(Work work) {
    try {
      work();
    } catch (const redis_error& error) {
      return error.what();
    }
    return "nothing was thrown";
  }
  /// Whether it names the server, and this.
  bool tells(const std::string& words, std::string_view what) const {
    return words.starts_with(fmt::format("redis 127.0.0.1:{}: ", server_.port())) &&
           words.find(what) != std::string::npos;
  }

  void words_of_redis_are_told() {
    redis_.ask({"APPEND", "spent:text", "a text"});
    const auto words = words_of([&] { redis_counter(redis_, "spent:text").try_add(1, 10); });
    claim(tells(words, "value is not an integer"), "what Redis refuses is told in its words: {}", words);
  }

  void a_server_that_hangs_cannot_hold_a_call() {
    redis_counter count(redis_, "spent:hanging");
    count.add(1);
    server_.hang(true);
    const auto start = std::chrono::steady_clock::now();
    const auto words = words_of([&] { count.add(10); });
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    claim(tells(words, "no answer in time") && took >= 290ms && took < 500ms,
          "a server that hangs holds a call for {:.0f} ms of 300: {}", took.count(), words);
    server_.hang(false);
    await(server_);
    const auto total = count.total();
    claim(total == 11, "and what it does late is not asked for twice: {}", total);
  }

  void a_new_server_costs_no_call() {
    restart();
    const auto words = words_of([&] { redis_counter(redis_, "spent:anew").add(5); });
    const auto total = redis_counter(redis_, "spent:anew").total();
    claim(total == 5, "a new server on the port is found by the next call: it counts {} of 5; {}", total, words);
  }

  void a_dead_server_is_told_of() {
    redis_counter session(redis_, "spent:dead");
    reprise::spend_budget budget(session, limits::per_call, limits::per_session);
    std::string words;
    {
      const auto open = budget.reserve(10);  // its destructor cannot give it back, and ends nothing
      server_.stop();
      words = words_of([&] { (void)budget.reserve(10); });
    }
    claim(tells(words, "Connection refused"), "when the server is gone, a reservation says so: {}", words);
    server_.start();
    await(server_);
  }

  void a_worker_whose_server_dies_says_so() {
    child worker({self_, "spend", port(), "interrupted", "100000000", "0"});
    for (int look = 0; look < 1000 && redis_counter(redis_, sends_key("interrupted")).total() < 100; ++look)
      std::this_thread::sleep_for(1ms);
    server_.stop();
    const ended how = worker.wait();
    claim(how.code == 1 && how.output.find(fmt::format("redis 127.0.0.1:{}: ", server_.port())) != std::string::npos,
          "a process whose server dies under it ends with {} and: {}", how.code,
          how.output.substr(0, how.output.find('\n')));
    server_.start();
    await(server_);
  }

  void the_local_budget_goes_on() {
    redis_windows windows(redis_, "here", limits::interval);
    reprise::ratio_budget local(local_settings);
    std::vector<std::string> said;
    reprise::fleet_budget budget(windows, limits::retries, local,
                                 [&](reprise::budget_scope, std::string_view why) { said.emplace_back(why); });
    reprise::testing::basic_fake_clock<512> time;  // that the budget asks Redis again takes no time here
    const auto policy = call_policy.with(reprise::shared_budget(budget), reprise::constant_backoff{.delay = 0ms});
    const auto retries_of = [&](int calls) {
      int retries = 0;
      for (int call = 0; call < calls; ++call) {
        reprise::testing::script send{time, reprise::testing::reply(503)};
        retries += reprise::execute(policy, send, time).attempts() - 1;
      }
      return retries;
    };

    const int together = retries_of(50);
    server_.stop();
    const int alone = retries_of(100);
    claim(together == 50 && alone == 25 && said.size() == 1 && tells(said[0], ""),
          "when Redis is gone, the local budget goes on: 50 calls made {} retries with it, 100 calls {} without; said "
          "{} time(s)",
          together, alone, said.size());
    server_.start();
    await(server_);
    const int before = retries_of(10);
    time.advance(1s);
    const int after = retries_of(30);
    claim(before == 1 && after == 30 && said.size() == 2,
          "and when it is back, the fleet's budget after at most 1 s: {} retries for 30 calls; said {} time(s)", after,
          said.size());
  }

  void workers_outlive_their_server() {
    child first({self_, "retries", port(), "survivors", "1200"});
    child second({self_, "retries", port(), "survivors", "1200"});
    std::this_thread::sleep_for(400ms);
    restart(400ms);
    bool so = true;
    std::string said;
    for (child* worker : {&first, &second}) {
      ended how = worker->wait();
      const auto gone = how.output.find("redis is gone");
      const auto back = how.output.find("redis is back");
      so = so && how.code == 0 && gone == 0 && back != std::string::npos && how.output.rfind("redis is gone") == gone &&
           how.output.rfind("redis is back") == back;
      std::replace(how.output.begin(), how.output.end(), '\n', ';');
      said = how.output;
    }
    claim(so, "two processes whose server dies and comes back say each once, and go on: {}", said);
  }

  void restart(std::chrono::milliseconds pause = 0ms) {
    server_.stop();
    std::this_thread::sleep_for(pause);
    server_.start();
    await(server_);
  }

  own_redis& server_;
  std::string self_;
  redis_connection redis_{{.port = server_.port()}};
  bool all_so_ = true;
};
