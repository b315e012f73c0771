// SPDX-License-Identifier: MIT
// What the client, the measurement and the compartments must be, each by name.
#pragma once

#include <atomic>
#include <thread>

#include "compartments.hpp"
#include "measurement.hpp"

namespace bulkheaded {

class checks {
 public:
  void that(std::string_view name, bool so) {
    fmt::print("{}: {}\n", so ? "ok" : "NOT SO", name);
    ++(so ? confirmed_ : denied_);
  }

  int confirmed() const { return confirmed_; }
  int denied() const { return denied_; }

 private:
  int confirmed_ = 0;
  int denied_ = 0;
};

/// Whether f throws an E and nothing else.
template <class E, class F> bool throws(F f) {
  try {
    f();
  } catch (const E&) {
    return true;
  } catch (...) {
  }
  return false;
}

using lines = std::vector<std::string>;

/// A client, its downstream and their clock, ready for one call.
struct scene {
  explicit scene(turns in_turn, std::initializer_list<double> fractions = {0.5}) : sends(time, std::move(in_turn)) {
    time.fractions(fractions);
  }

  auto call() { return guarded.call(std::ref(sends), time); }

  fake_clock time = {};
  downstream sends;
  lines log = {};
  client guarded{1, [this](const std::string& line) { log.push_back(line); }};
};

inline void scenario_a(checks& checked) {
  scene a(turns{hangs, hangs, says(200, 600ms)}, {0.8, 0.3});
  const auto result = a.call();
  checked.that("A: two timeouts, then success, are three attempts", result.ok() && result.attempts() == 3);
  checked.that("A: the answer is the last attempt's", result.ok() && result.success().text == "fine weather");
  checked.that("A: the waits are drawn from 0-0.5 s and 0-1 s", a.time.waits().are({400ms, 300ms}));
  checked.that("A: an attempt is given 2 s, whatever the one before it took",
               a.sends.timeouts() == std::vector(3, reprise::duration(2s)));
  checked.that("A: it takes 2 + 0.4 + 2 + 0.3 + 0.6 s", a.time.now().time_since_epoch() == 5300ms);
  checked.that(
      "A: one log line an attempt, with its cause and its wait",
      a.log == lines{"at=2s attempt=1/3 cause=timeout wait=0.4s", "at=4.4s attempt=2/3 cause=timeout wait=0.3s",
                     "at=5.3s attempt=3/3 cause=http_200 end=succeeded"});
}

inline void scenario_b(checks& checked) {
  scene b(turns{hangs}, {1.0});
  const auto result = b.call();
  checked.that("B: three attempts and no more", b.sends.requests() == 3 && result.attempts() == 3);
  checked.that("B: the end is that of the attempts", result.reason() == reprise::stop_reason::attempts_exhausted);
  checked.that("B: the last error comes out as it was thrown", throws<timed_out>([&] { (void)result.success(); }));
  checked.that("B: the longest waits leave room for all three, 7.5 s together",
               b.time.waits().are({500ms, 1s}) && b.time.now().time_since_epoch() == 7500ms);
  checked.that("B: no wait after the last attempt",
               b.log.size() == 3 && b.log.back() == "at=7.5s attempt=3/3 cause=timeout end=attempts_exhausted");

  scene mixed(turns{hangs, says(503), no_connection});
  checked.that("of several kinds of error the last one comes out",
               throws<not_connected>([&] { (void)mixed.call().success(); }) && mixed.sends.requests() == 3);
  scene answered(turns{no_connection, says(503), says(504)});
  const auto last = answered.call();
  checked.that("where the last error is an answer, it can be read",
               last.has_response() && last.response().status == 504);
}

inline void what_is_retried(checks& checked) {
  const auto requests = [](turn first) {
    scene tried(turns{first, says(200)});
    (void)tried.call();
    return tried.sends.requests();
  };
  for (const int status : {503, 504})
    checked.that(fmt::format("{} is tried again", status), requests(says(status)) == 2);
  for (const int status : {401, 422, 400, 404, 429, 500, 502})
    checked.that(fmt::format("{} ends the call at once", status), requests(says(status)) == 1);
  checked.that("no connection is tried again", requests(no_connection) == 2);
  checked.that("an answer after exactly 2 s counts", requests(says(200, 2s)) == 1);
  checked.that("an answer after 2 s and 1 ns is a timeout", requests(says(200, 2s + 1ns)) == 2);

  scene denied(turns{says(401)});
  (void)denied.call();
  checked.that("a 401 is logged with its cause, without a wait",
               denied.log == lines{"at=0s attempt=1/3 cause=http_401 end=not_retryable"});
}

inline void jitter(checks& checked) {
  scene least(turns{no_connection}, {0.0});
  (void)least.call();
  checked.that("full jitter begins at no wait", least.time.waits().are({0s, 0s}));
  const auto ranges = reprise::wait_ranges<6>(policy.with(reprise::attempt_budget{.maximum = 7}));
  const reprise::duration longest[] = {500ms, 1s, 2s, 4s, 5s, 5s};
  bool as_published = true;
  for (std::size_t retry = 0; retry < 6; ++retry)
    as_published = as_published && ranges[retry] == reprise::wait_range{0s, longest[retry]};
  checked.that("the ranges are 0 to min(5 s, 0.5 s x 2^retry)", as_published);
}

inline void slots(checks& checked) {
  checked.that("a bulkhead without slots is refused", throws<std::invalid_argument>([] { client(0, silent); }));

  scene full(turns{says(200)});
  // The first call's downstream makes a second call, which finds the only slot taken.
  const auto outer = full.guarded.call(
      [&] {
        const auto inner = full.call();
        checked.that("full: refused before anything is sent", full.sends.requests() == 0 && !inner.ok());
        checked.that("full: refused at once, without a wait",
                     full.time.waits().empty() && full.time.now() == fake_clock::time_point());
        checked.that("full: the error is bulkhead_full",
                     throws<reprise::bulkhead_full>([&] { (void)inner.success(); }));
        checked.that("full: the log says so",
                     full.log == lines{"at=0s attempt=1/3 cause=bulkhead_full end=not_retryable"});
        return answer{.status = 200};
      },
      full.time);
  checked.that("the call that has the slot goes on", outer.ok());

  for (const auto& [how, first] :
       {std::pair{"a success", says(200)}, {"a 401", says(401)}, {"an exception", no_connection}}) {
    scene ended(turns{first});
    (void)ended.call();
    checked.that(fmt::format("the slot is back after {}", how), ended.guarded.slots().free() == 1);
  }
  scene faulty(turns{no_connection});
  const auto fault = []() -> answer { throw std::logic_error("a fault of the program"); };
  const bool passes = throws<std::logic_error>([&] { (void)faulty.guarded.call(fault, faulty.time); });
  checked.that("a programming error passes through and leaves no slot taken",
               passes && faulty.guarded.slots().free() == 1);
}

/// How many of two slots were free during the waits of a failing call.
template <class Call> std::vector<int> free_while_waiting(const reprise::bulkhead& slots, Call call) {
  std::vector<int> free;
  fake_clock time;
  downstream busy(time, turns{says(503)});
  const auto sleep = [&](reprise::duration wait) {
    free.push_back(slots.free());
    time.advance(wait);
  };
  call(busy, time.clock(), sleep, reprise::testing::fixed_fraction(0.5));
  return free;
}

inline void slots_and_waits(checks& checked) {
  reprise::bulkhead slots(2);
  const auto ours = free_while_waiting(slots, [&](auto& send, auto clock, auto sleep, auto fraction) {
    (void)reprise::execute(policy, slots.guard(std::ref(send)), clock, sleep, fraction);
  });
  checked.that("a call that waits holds no slot", ours == std::vector{2, 2});
  const auto around = free_while_waiting(slots, [&](auto& send, auto clock, auto sleep, auto fraction) {
    const auto held = slots.try_acquire();
    (void)reprise::execute(policy, send, clock, sleep, fraction);
  });
  checked.that("with a slot around the whole call it would", around == std::vector{1, 1});

  // A second call takes the only slot while the first one waits.
  reprise::bulkhead one(1);
  std::optional<reprise::bulkhead::slot> other;
  const auto cut = [&](const auto& with, int releases_after) {
    fake_clock time;
    downstream busy(time, turns{says(503), says(200)});
    int waits = 0;
    const auto sleep = [&](reprise::duration) {
      if (waits == 0) other = one.try_acquire();
      if (waits++ == releases_after) other.reset();
    };
    return reprise::execute(with, one.guard(std::ref(busy)), time.clock(), sleep,
                            reprise::testing::fixed_fraction(0.5));
  };
  const auto refused = cut(policy, 9);
  checked.that(
      "another call can take the slot in the wait; a retry that then finds none is refused",
      other.has_value() && refused.attempts() == 2 && throws<reprise::bulkhead_full>([&] { (void)refused.success(); }));
  other.reset();
  const auto patient =
      policy.with(reprise::rolled_back<reprise::bulkhead_full>{}, reprise::http::retry_statuses{503, 504});
  checked.that("rolled_back<bulkhead_full> makes it wait once more instead", cut(patient, 1).ok());
}

inline void threads(checks& checked) {
  client weather(4, silent);
  client news(4, silent);
  const passed apart = beside_a_stuck_downstream(weather, news, 20);
  checked.that("while one downstream hangs all calls to another go on", apart.answered == 20 && apart.refused == 0);
  checked.that("one more call to the downstream that hangs is refused", apart.refused_by_stuck == 1);
  checked.that("the calls that hung are answered when it moves", apart.stuck_answered == 4);
  checked.that("then all slots are free", weather.slots().free() == 4 && news.slots().free() == 4);
  client shared(4, silent);
  const passed together = beside_a_stuck_downstream(shared, shared, 20);
  checked.that("with one bulkhead for both none would", together.answered == 0 && together.refused == 20);

  client crowded(4, silent);
  std::atomic<int> inside = 0;
  std::atomic<int> most = 0;
  std::atomic<int> sent = 0;
  std::atomic<int> ok = 0;
  std::atomic<int> refused = 0;
  const auto send = [&] {
    const int now = ++inside;
    for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
    }
    ++sent;
    std::this_thread::yield();
    --inside;
    return answer{.status = 200};
  };
  std::vector<std::future<void>> crowd;
  for (int i = 0; i < 8; ++i) {
    crowd.push_back(std::async(std::launch::async, [&] {
      for (int call = 0; call < 500; ++call) ++(crowded.call(send).ok() ? ok : refused);
    }));
  }
  for (auto& thread : crowd) thread.get();
  checked.that("eight threads never have more than four attempts at the downstream", most >= 1 && most <= 4);
  checked.that("each call of a crowd is answered or refused, and all slots come back",
               sent == ok && ok + refused == 4000 && crowded.slots().free() == 4);
}

inline void measurements(checks& checked) {
  const auto both = [](setting with) {
    with.slot = slot_is::held_through_the_wait;
    const measured held = measure(with);
    with.slot = slot_is::given_back_before_the_wait;
    return std::pair(held, measure(with));
  };
  const auto [held_none, back_none] = both({.failing = 0.0});
  checked.that("measured: where nothing fails, and so nothing waits, it makes no difference",
               held_none.healthy == back_none.healthy && held_none.healthy_refused == back_none.healthy_refused);
  for (const double share : {0.1, 0.2, 0.3, 0.5}) {
    const auto [held, back] = both({.failing = share});
    checked.that(fmt::format("measured: with {:.0f} % failing, more healthy calls are answered", 100 * share),
                 back.healthy > held.healthy);
    checked.that(fmt::format("measured: with {:.0f} % failing, fewer are refused", 100 * share),
                 back.healthy_refused < held.healthy_refused);
    checked.that(fmt::format("measured: with {:.0f} % failing, both keep to four attempts at once", 100 * share),
                 held.most_at_once == 4 && back.most_at_once == 4);
  }
  const auto [held, back] = both({.failing = 0.3});
  checked.that("measured: with 30 % failing, over 1.7 times as many healthy calls", back.healthy > 1.7 * held.healthy);
  checked.that("measured: with 30 % failing, the failing calls get more attempts too", back.failing > held.failing);
  const auto [held_all, back_all] = both({.failing = 0.3, .slots = 16});
  checked.that(
      "measured: with a slot for each caller nobody is refused, held or not",
      held_all.healthy_refused + held_all.failing_refused + back_all.healthy_refused + back_all.failing_refused == 0 &&
          held_all.healthy == back_all.healthy);
  const measured again = measure({.failing = 0.3});
  checked.that("measured: the same setting gives the same counts",
               again.healthy == back.healthy && again.failing == back.failing);
}

inline int run_checks() {
  checks checked;
  for (const auto part :
       {scenario_a, scenario_b, what_is_retried, jitter, slots, slots_and_waits, threads, measurements})
    part(checked);
  fmt::print("{} checks: {} ok, {} not so\n", checked.confirmed() + checked.denied(), checked.confirmed(),
             checked.denied());
  return checked.denied() == 0 ? 0 : 1;
}

}  // namespace bulkheaded
