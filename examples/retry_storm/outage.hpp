// SPDX-License-Identifier: MIT
// A server of a fixed capacity that hangs for a while, and clients whose calls come however the earlier ones fared.
// When the outage is over, what is left of the load decides whether it stays over.
#pragma once

#include <algorithm>
#include <deque>
#include <optional>
#include <reprise/core.hpp>
#include <vector>

#include "call_pool.hpp"
#include "event_queue.hpp"
#include "random.hpp"

namespace storm::outage {

using namespace std::chrono_literals;

/// What is simulated. The size is that of the server too: each client brings one request a second of capacity.
struct setting {
  int clients = 1000;
  int fleet = 100;    ///< so many clients are one process: they share a budget or a throttle
  double load = 0.8;  ///< calls a second, as a share of the capacity
  int warm_up = 10;   ///< seconds, as the next two
  int outage = 10;
  int after = 120;
  std::uint64_t seed = 1;

  int outage_end() const { return warm_up + outage; }
  int end() const { return outage_end() + after; }
};

// The server is the same for every policy. Its queue holds two seconds of work, which is more than clients wait.
constexpr int queue_seconds = 2;

/// What a client hears of an attempt.
enum class answer { served, refused, nothing };

/// What an answer means.
struct answers {
  static constexpr auto part_role = reprise::role::classifier;
  static constexpr bool gives_hints = false;

  constexpr reprise::verdict operator()(answer given) const {
    switch (given) {
      case answer::served: return {.kind = reprise::outcome::success};
      case answer::refused: return {.kind = reprise::outcome::transient, .label = "queue_full", .not_applied = true};
      case answer::nothing: break;
    }
    return {.kind = reprise::outcome::transient, .label = "timeout"};
  }
};

/// One second of a run.
struct second {
  int calls = 0;      ///< begun in it
  int requests = 0;   ///< that reached the server in it
  int succeeded = 0;  ///< calls that ended well in it
  int first_try = 0;  ///< of the calls begun in it: ended well at the first attempt
  int lost = 0;       ///< of the calls begun in it: ended without success
};

/// What became of a run.
struct outcome {
  std::optional<int> recovery;     ///< seconds from the end of the outage
  double amplification_down = 0;   ///< requests for each call during the outage
  double amplification_after = 0;  ///< from there to recovery (a second at least), or to the end of the run
  double lost = 0;                 ///< calls, in seconds' worth of them
};

/// Recovered: in each of five seconds 95 % of the calls succeed at the first attempt.
constexpr int recovery_seconds = 5;
constexpr double recovery_share = 0.95;

/// Looks at the seconds before `now`; of the last two not all calls have ended their first attempt.
inline outcome judge(const setting& given, const std::vector<second>& seconds, int now) {
  const auto sum = [&](int from, int to, int second::* number) {
    double total = 0;
    for (int i = from; i < to; ++i) total += seconds[static_cast<std::size_t>(i)].*number;
    return total;
  };
  const auto ratio = [](double part, double whole) { return whole > 0 ? part / whole : 0.0; };

  outcome judged;
  int well = 0;
  for (int i = given.outage_end(); i + 2 <= now && !judged.recovery; ++i) {
    well = sum(i, i + 1, &second::first_try) >= recovery_share * sum(i, i + 1, &second::calls) ? well + 1 : 0;
    if (well == recovery_seconds) judged.recovery = i + 1 - recovery_seconds - given.outage_end();
  }
  const int until = judged.recovery ? given.outage_end() + std::max(1, *judged.recovery) : now;
  judged.amplification_down = ratio(sum(given.warm_up, given.outage_end(), &second::requests),
                                    sum(given.warm_up, given.outage_end(), &second::calls));
  judged.amplification_after =
      ratio(sum(given.outage_end(), until, &second::requests), sum(given.outage_end(), until, &second::calls));
  judged.lost = sum(0, now, &second::lost) / (given.load * given.clients);
  return judged;
}

/// One run: `Fleet` has a `policy` and what its clients share; `Fleet::sends_deadline` tells whether requests carry the
/// attempt's deadline. The library decides: one `engine` for each call, driven by hand on the time of the events.
template <class Fleet> class run {
 public:
  explicit run(const setting& given)
      : setting_(given),
        arrivals_(seed_of({given.seed, 1})),
        fractions_(seed_of({given.seed, 2})),
        service_(reprise::duration(1s) / given.clients),
        seconds_(static_cast<std::size_t>(given.end())) {
    for (int first = 0; first < given.clients; first += given.fleet)
      fleets_.emplace_back(seed_of({given.seed, 3, static_cast<std::uint64_t>(first)}));
    for (std::uint32_t client = 0; client < static_cast<std::uint32_t>(given.clients); ++client) calls_next(client);
    push(time_point(std::chrono::seconds(given.outage_end())), 0, happening::server_back);
  }

  /// Runs on to the end of the next second.
  void advance() {
    ++now_;
    while (queue_.next_due() < time_point(std::chrono::seconds(now_))) {
      const event next = queue_.pop();
      time_.advance(next.due - time_.now());
      ++events_;
      happens(next.subject, static_cast<happening>(next.tag % kinds), next.tag / kinds);
    }
  }
  void to_the_end() {
    while (now_ < setting_.end()) advance();
  }
  /// No further than is needed to see that the fleet has recovered.
  void to_recovery() {
    while (now_ < setting_.end() && !judged().recovery) advance();
  }

  outcome judged() const { return judge(setting_, seconds_, now_); }
  const std::vector<second>& seconds() const noexcept { return seconds_; }
  std::uint64_t events() const noexcept { return events_; }

 private:
  using policy = decltype(Fleet::policy);
  using engine = reprise::engine<const policy&, time_point>;

  enum class happening : std::uint32_t { call_begins, wait_over, timeout, served, server_back };
  static constexpr std::uint32_t kinds = 8;

  struct call {
    engine decides;
    std::uint32_t began;  ///< the second

    call(const policy& given, std::uint32_t now) : decides(given), began(now) {}
  };

  struct request {
    std::uint32_t call;
    std::uint32_t attempt;
    time_point deadline;
  };

  void happens(std::uint32_t subject, happening what, std::uint32_t attempt) {
    switch (what) {
      case happening::call_begins: return begin(subject);
      case happening::wait_over: return go_on(subject, calls_[subject].decides.on_wait_over(time_.now()));
      case happening::timeout: return end_attempt(subject, attempt, answer::nothing);
      case happening::served: {
        const request done = server_queue_.front();
        server_queue_.pop_front();
        serve();
        return end_attempt(done.call, done.attempt, answer::served);
      }
      case happening::server_back:
        if (!serving_) serve();
        return;
    }
  }

  // --- a client ------------------------------------------------------------------------------------------------------

  void calls_next(std::uint32_t client) {
    const std::chrono::duration<double> pause(exponential(arrivals_) / setting_.load);
    push(time_.now() + reprise::duration(reprise::time_span(pause)), client, happening::call_begins);
  }

  void begin(std::uint32_t client) {
    calls_next(client);
    const auto& fleet = fleets_[client / static_cast<std::uint32_t>(setting_.fleet)];
    const std::uint32_t which = calls_.make(fleet.policy, this_second());
    ++seconds_[this_second()].calls;
    go_on(which, calls_[which].decides.start(time_.now()));
  }

  /// Does what the engine asks for.
  void go_on(std::uint32_t which, const typename engine::action& next) {
    switch (next.kind) {
      case reprise::step::attempt: return send(which, next.attempt);
      case reprise::step::wait: return push(next.due, which, happening::wait_over);
      case reprise::step::stop: return end(which, next.reason == reprise::stop_reason::succeeded);
    }
  }

  void end_attempt(std::uint32_t which, std::uint32_t attempt, answer given) {
    if (calls_.attempt(which) != attempt) return;  // it has been given up
    calls_.attempt(which) = (attempt + 1) % attempts_told_apart;
    engine& decides = calls_[which].decides;
    go_on(which, decides.on_verdict(decides.policy().judge(given), time_.now(), fractions_));
  }

  void end(std::uint32_t which, bool succeeded) {
    const call& made = calls_[which];
    if (succeeded) ++seconds_[this_second()].succeeded;
    if (!succeeded) ++seconds_[made.began].lost;
    if (succeeded && made.decides.attempts() == 1) ++seconds_[made.began].first_try;
    calls_.remove(which);
  }

  // --- the server ----------------------------------------------------------------------------------------------------

  void send(std::uint32_t which, const reprise::attempt_at<time_point>& asked) {
    ++seconds_[this_second()].requests;
    const std::uint32_t attempt = calls_.attempt(which);
    if (server_queue_.size() == static_cast<std::size_t>(setting_.clients) * queue_seconds)
      return end_attempt(which, attempt, answer::refused);
    server_queue_.push_back(
        {.call = which, .attempt = attempt, .deadline = Fleet::sends_deadline ? asked.deadline : (time_point::max)()});
    push(asked.deadline, which, happening::timeout, attempt);
    if (!serving_) serve();
  }

  /// Takes up the first request of the queue whose deadline is not past. Whether anybody still waits for the answer is
  /// not known otherwise, and serving costs the same.
  void serve() {
    const time_point now = time_.now();
    const bool hangs = now >= time_point(std::chrono::seconds(setting_.warm_up)) &&
                       now < time_point(std::chrono::seconds(setting_.outage_end()));
    if (!hangs)
      while (!server_queue_.empty() && server_queue_.front().deadline <= now) server_queue_.pop_front();
    serving_ = !hangs && !server_queue_.empty();
    if (serving_) push(now + service_, 0, happening::served);
  }

  // --- time ----------------------------------------------------------------------------------------------------------

  // What is left of an event's tag. That an answer is taken for one of as many attempts later is out of the question.
  static constexpr std::uint32_t attempts_told_apart = (1U << 31) / kinds;

  void push(time_point due, std::uint32_t subject, happening what, std::uint32_t attempt = 0) {
    queue_.push({.due = due, .subject = subject, .tag = attempt * kinds + static_cast<std::uint32_t>(what)});
  }

  std::uint32_t this_second() const {
    return static_cast<std::uint32_t>(std::chrono::floor<std::chrono::seconds>(time_.now()).time_since_epoch().count());
  }

  setting setting_;
  random_fraction arrivals_;  // apart, so that every policy meets the same calls
  random_fraction fractions_;
  reprise::duration service_;
  fake_clock time_;
  int now_ = 0;  // in seconds
  event_queue queue_;
  std::deque<request> server_queue_;
  bool serving_ = false;
  std::deque<Fleet> fleets_;
  call_pool<call> calls_;
  std::vector<second> seconds_;
  std::uint64_t events_ = 0;
};

}  // namespace storm::outage
