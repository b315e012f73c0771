// SPDX-License-Identifier: MIT
// More clients than the service has places for; what they got, and what the suppliers saw of it.
#include <algorithm>
#include <latch>
#include <random>
#include <thread>

#include "stage.hpp"
#include "tally.hpp"

namespace quotes {

namespace {

using namespace std::chrono_literals;

constexpr int clients = 12;
constexpr auto run_time = 20s;
constexpr double slowest_allowed = 800 + 50;  // ms
constexpr int burst = 200;

/// What clients got, added up.
struct account {
  int sent = 0;
  int served = 0;
  int partial = 0;
  int busy = 0;
  std::array<int, suppliers.size()> attempts = {};
  std::vector<double> answers_ms = {};
  std::vector<double> refusals_ms = {};

  void add(const http_answer& got) {
    ++sent;
    if (got.status == 503) {
      ++busy;
      refusals_ms.push_back(got.ms());
    } else if (got.status == 200) {
      ++(got.body["failures"].empty() ? served : partial);
      answers_ms.push_back(got.ms());
      for (std::size_t i = 0; i < suppliers.size(); ++i)
        attempts[i] += got.body["attempts"][std::string(suppliers[i])].get<int>();
    }
  }

  void add(const account& other) {
    sent += other.sent;
    served += other.served;
    partial += other.partial;
    busy += other.busy;
    for (std::size_t i = 0; i < suppliers.size(); ++i) attempts[i] += other.attempts[i];
    answers_ms.insert(answers_ms.end(), other.answers_ms.begin(), other.answers_ms.end());
    refusals_ms.insert(refusals_ms.end(), other.refusals_ms.begin(), other.refusals_ms.end());
  }
};

/// So many of a thousand took no longer than that.
double quantile(std::vector<double> times, int thousandths) {
  if (times.empty()) return 0;
  std::sort(times.begin(), times.end());
  const std::size_t rank = (times.size() * static_cast<std::size_t>(thousandths) + 999) / 1000;
  return times[std::max<std::size_t>(rank, 1) - 1];
}

/// Runs f(number) in so many threads and adds up what they return.
template <class Function> account together(int count, Function f) {
  std::vector<account> accounts(static_cast<std::size_t>(count));
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back([&, i] { accounts[static_cast<std::size_t>(i)] = f(i); });
  account all;
  for (int i = 0; i < count; ++i) {
    threads[static_cast<std::size_t>(i)].join();
    all.add(accounts[static_cast<std::size_t>(i)]);
  }
  return all;
}

/// One client: the next request when the last one is answered, after a short pause if there was no place for it.
account closed_loop(const stage& at, int number, steady::time_point end) {
  // Few slow ones: each holds an outbound slot until the deadline, and six of them at a time hold all.
  constexpr std::array<std::string_view, 5> scenarios{"normal", "flaky", "broken", "malformed", "slow"};
  std::discrete_distribution<std::size_t> weights{50, 25, 12, 12, 1};
  std::minstd_rand random(static_cast<unsigned>(number + 1));
  account mine;
  while (steady::now() < end) {
    const auto got = at.post(nlohmann::json{{"scenario", scenarios[weights(random)]}}.dump());
    mine.add(got);
    if (got.status == 503) std::this_thread::sleep_for(10ms);
  }
  return mine;
}

/// What reached each supplier; waits a moment for what is still on its way to a handler.
std::array<int, suppliers.size()> received(const stage& at, const std::array<int, suppliers.size()>& expected) {
  std::array<int, suppliers.size()> counts{};
  for (int tries = 0; tries < 200 && counts != expected; ++tries) {
    if (tries > 0) std::this_thread::sleep_for(10ms);
    for (std::size_t i = 0; i < suppliers.size(); ++i) counts[i] = at.supplier.requests(std::string(suppliers[i]));
  }
  return counts;
}

void under_load(tally& checked) {
  stage at;
  const auto end = steady::now() + run_time;
  const account all = together(clients, [&](int number) { return closed_loop(at, number, end); });
  const auto seen = received(at, all.attempts);

  auto everything = all.answers_ms;
  everything.insert(everything.end(), all.refusals_ms.begin(), all.refusals_ms.end());
  fmt::print("{} clients for {} s: sent {}, served {}, partial {}, busy {}\n", clients, run_time.count(), all.sent,
             all.served, all.partial, all.busy);
  fmt::print(
      "answers, ms: p50 {:.1f}, p99 {:.1f}, p99.9 {:.1f}, longest {:.1f}; refusals: p50 {:.1f}, longest {:.1f}\n",
      quantile(all.answers_ms, 500), quantile(all.answers_ms, 990), quantile(all.answers_ms, 999),
      quantile(all.answers_ms, 1000), quantile(all.refusals_ms, 500), quantile(all.refusals_ms, 1000));

  checked.claim(all.served + all.partial + all.busy == all.sent, "{} served, {} partial and {} busy are all {} sent",
                all.served, all.partial, all.busy, all.sent);
  checked.claim(all.served >= 500, "at least 500 are served: {}", all.served);
  checked.claim(all.partial > 0 && all.busy > 0, "there were failures and refusals to count");
  for (std::size_t i = 0; i < suppliers.size(); ++i)
    checked.claim(seen[i] == all.attempts[i], "{} received {} requests, as many as were reported: {}", suppliers[i],
                  seen[i], all.attempts[i]);
  checked.claim(quantile(everything, 999) <= slowest_allowed, "99.9 % end within 0.8 s + 50 ms: {:.1f} ms",
                quantile(everything, 999));
  checked.claim(at.service.most_outbound() == 6, "6 requests to suppliers at a time, never more: {}",
                at.service.most_outbound());
  checked.claim(all_free(at.service), "all places and slots are free again");
}

void a_burst(tally& checked) {
  stage at;
  std::latch ready(burst);
  const account all = together(burst, [&](int) {
    httplib::Client client(host, at.api.port());
    client.set_tcp_nodelay(true);
    client.set_keep_alive(true);
    client.Get("/health");  // connects
    account mine;
    ready.arrive_and_wait();
    mine.add(post(client, "{}"));
    return mine;
  });
  const double slowest = quantile(all.refusals_ms, 1000);
  fmt::print("{} requests at once: served {}, partial {}, busy {}; the last refusal after {:.1f} ms\n", burst,
             all.served, all.partial, all.busy, slowest);
  checked.claim(all.served >= 8, "at least 8 of {} requests at once are served: {}", burst, all.served);
  checked.claim(all.served + all.busy == burst && slowest <= 50, "the others get 503 within 50 ms: {}, {:.1f} ms",
                all.busy, slowest);
  checked.claim(all_free(at.service) && at.post("{}").status == 200, "afterwards the next one is served");
}

}  // namespace

void load(tally& checked) {
  under_load(checked);
  a_burst(checked);
}

}  // namespace quotes
