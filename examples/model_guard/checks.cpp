// SPDX-License-Identifier: MIT
// What the guard does, one sentence each, on a fake clock: prints the sentences that are not so, and the counts.
#include <reprise/fmt.hpp>
#include <reprise/reprise.hpp>

#include "model_guard.hpp"
#include "scripted_model.hpp"

namespace {

using namespace std::chrono_literals;
using assistant::ending;
using assistant::guard_policy;
using chat::fails;
using chat::hangs;
using chat::returns;
using chat::says;
using chat::scripted_model;
using reprise::stop_reason;

/// Counts behaviours; most need several looks.
class tally {
 public:
  template <class Looks> void behaviour(std::string_view sentence, Looks looks) {
    sentence_ = sentence;
    so_ = true;
    try {
      looks(*this);
    } catch (const std::exception& error) {
      deny(error.what());
    }
    ++behaviours_;
    if (!so_) ++broken_;
  }

  void operator()(bool so, int line = __builtin_LINE()) {
    ++assertions_;
    if (!so) deny(fmt::format("line {}", line));
  }

  int end() const {
    fmt::print("model_guard: {} behaviours, {} assertions; {} behaviours are not so\n", behaviours_, assertions_,
               broken_);
    return broken_ == 0 ? 0 : 1;
  }

 private:
  void deny(std::string_view what) {
    so_ = false;
    fmt::print("NOT SO: {} ({})\n", sentence_, what);
  }

  std::string_view sentence_ = {};
  bool so_ = true;
  int behaviours_ = 0;
  int broken_ = 0;
  int assertions_ = 0;
};

/// Two models, a budget and a clock; fractions of 0.5 unless told otherwise, so that waits are the pure ones.
template <class Policy = assistant::default_policy> struct stage {
  explicit stage(std::vector<chat::step> steps, std::vector<chat::step> other_steps = {says("from the second")},
                 const Policy& with = guard_policy)
      : policy(with), first("first", time, std::move(steps)), second("second", time, std::move(other_steps)) {}
  stage(std::vector<chat::step> steps, const Policy& with) : stage(std::move(steps), {says("from the second")}, with) {}

  assistant::reply ask(const assistant::question& asked = {.text = "He go."}) { return guard.ask(asked, first); }
  assistant::reply ask_both(const assistant::question& asked = {.text = "He go."}) {
    return guard.ask(asked, first, second);
  }

  reprise::testing::fake_clock time;
  reprise::memory_counter spent;
  reprise::spend_budget<> budget{spent, 500, 2000};
  Policy policy;
  assistant::model_guard<Policy, reprise::spend_budget<>, reprise::testing::fake_clock> guard{policy, budget, time};
  scripted_model first;
  scripted_model second;
};

const chat::step answer = says("He goes.");
const chat::step down = fails(503, "Service Unavailable");
const chat::step half = returns({.content = "{\"reply\": \"He g"});

reprise::attempt_record attempt(const assistant::reply& got, std::size_t at, std::size_t model = 0) {
  return got.asked[model].attempts[at];
}

std::string thrown_by(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& thrown) {
    return thrown.what();
  }
}

// --- natures ---------------------------------------------------------------------------------------------------------

template <class Error> std::string judged(const Error& error) {
  return fmt::format("{}", guard_policy.judge(std::make_exception_ptr(error)));
}

void natures(tally& report) {
  report.behaviour("a timeout, a broken connection, 429 and 5xx are transient", [](tally& check) {
    check(judged(chat::timeout_error("")) == "transient timeout");
    check(judged(chat::connection_error("")) == "transient connection");
    check(judged(chat::rate_limited()) == "transient http 429");
    for (const int status : {500, 502, 503, 504, 529})
      check(guard_policy.judge(std::make_exception_ptr(chat::status_error(status, ""))).kind ==
            reprise::outcome::transient);
  });
  report.behaviour("400, 401, 403 and 404 are permanent", [](tally& check) {
    for (const int status : {400, 401, 403, 404})
      check(judged(chat::status_error(status, "")) == fmt::format("permanent http {}", status));
  });
  report.behaviour("a derived type is judged before its base", [](tally& check) {
    check(judged(chat::timeout_error("")) != judged(chat::connection_error("")));
    check(judged(chat::rate_limited(1s)) == "transient http 429, retry after 1000 ms");
  });
  report.behaviour("half a JSON, a missing field and a cut output have the shape nature", [](tally& check) {
    check(judged(chat::half_json("")) == "transient shape");
    check(judged(chat::missing_field("")) == "transient shape");
    check(guard_policy.judge(chat::completion{.finished = chat::finish::cut_off}) == assistant::bad_shape);
    check(assistant::nature_of(assistant::bad_shape) == "shape");
  });
  report.behaviour("refused content is permanent", [](tally& check) {
    check(guard_policy.judge(chat::completion{.finished = chat::finish::refused}).kind == reprise::outcome::permanent);
  });
  report.behaviour("what nobody recognises is permanent", [](tally& check) {
    check(judged(std::runtime_error("")) == "permanent unrecognised");
    check(judged(std::out_of_range("")) == "permanent unrecognised");
  });
}

// --- the four scripts ------------------------------------------------------------------------------------------------

constexpr auto from_50_ms = guard_policy.with(reprise::exponential_backoff{.base = 50ms});

void scripts(tally& report) {
  report.behaviour("two timeouts, then an answer: 3 requests, waits of 0.05 and 0.11 s", [](tally& check) {
    stage on({hangs(), hangs(), answer}, from_50_ms);
    on.time.fractions({0.5, 1.0});
    const auto got = on.ask();
    check(got.kind == ending::answered && got.text == "He goes." && got.model == "first" && got.reason.empty());
    check(got.requests() == 3 && on.first.calls() == 3);
    check(on.time.waits().are({50ms, 110ms}));
  });
  report.behaviour("an expired key: 1 request, degraded", [](tally& check) {
    stage on({fails(401, "Invalid API key"), answer});
    const auto got = on.ask();
    check(got.kind == ending::degraded && got.text == assistant::texts::degraded && got.model.empty());
    check(on.first.calls() == 1 && on.time.waits().empty() && got.took == 0s);
    check(got.reason == "first: permanent http 401, not_retryable");
  });
  report.behaviour("half a JSON, then an answer: 2 requests, nature shape", [](tally& check) {
    stage on({half, answer}, from_50_ms);
    const auto got = on.ask();
    check(got.kind == ending::answered && on.first.calls() == 2 && on.time.waits().are({50ms}));
    check(assistant::nature_of(attempt(got, 0).verdict) == "shape");
    check(attempt(got, 0).message == "JSON ends after 15 characters");
  });
  report.behaviour("both models down: 6 requests, degraded, 0.32 s of waiting", [](tally& check) {
    stage on({down}, {down}, from_50_ms);
    on.time.fractions({0.5, 1.0, 0.5, 1.0});
    const auto got = on.ask_both();
    check(got.kind == ending::degraded && on.first.calls() == 3 && on.second.calls() == 3 && got.requests() == 6);
    check(got.took == 320ms);
    check(got.reason == "second: transient http 503, attempts_exhausted");
  });
}

// --- retry -----------------------------------------------------------------------------------------------------------

void retry(tally& report) {
  report.behaviour("an answer at once is one request and no wait", [](tally& check) {
    stage on({answer});
    const auto got = on.ask();
    check(got.kind == ending::answered && got.requests() == 1 && on.time.waits().empty());
  });
  report.behaviour("waits begin at 0.2 s and double", [](tally& check) {
    stage on({down});
    on.ask();
    check(on.time.waits().are({200ms, 400ms}));
  });
  report.behaviour("jitter spreads a wait by 10 % to both sides, and no further", [](tally& check) {
    stage on({down});
    on.time.fractions({0.0, 1.0});
    on.ask();
    check(on.time.waits().are({180ms, 440ms}));
    constexpr auto ranges = reprise::wait_ranges<2>(guard_policy);
    static_assert(ranges[0] == reprise::wait_range{180ms, 220ms} && ranges[1] == reprise::wait_range{360ms, 440ms});
  });
  report.behaviour("no wait follows the last attempt", [](tally& check) {
    stage on({down});
    const auto got = on.ask();
    check(on.first.calls() == 3 && on.time.waits().size() == 2 && !attempt(got, 2).wait_after.has_value());
  });
  report.behaviour("a wait that would pass 2 s in all is not begun, and the real error stays as it was",
                   [](tally& check) {
                     stage on({down}, guard_policy.with(reprise::exponential_backoff{.base = 800ms}));
                     const auto got = on.ask();  // 0.8 s, then 1.6 s would make 2.4 s
                     check(on.time.waits().are({800ms}) && on.first.calls() == 2);
                     check(got.asked[0].reason == stop_reason::wait_limit_reached);
                     check(thrown_by(got.asked[0].error) == "Service Unavailable");
                   });
  report.behaviour("waits of 2 s in all are allowed", [](tally& check) {
    stage on({down}, guard_policy.with(reprise::constant_backoff{.delay = 1s}, reprise::no_jitter{}));
    on.ask();
    check(on.time.waits().are({1s, 1s}));
  });
  report.behaviour("the total of the waits is counted for each model anew, the deadline is not", [](tally& check) {
    stage on({down}, {down}, guard_policy.with(reprise::constant_backoff{.delay = 1s}, reprise::no_jitter{}));
    const auto got = on.ask_both();
    check(on.time.waits().are({1s, 1s, 1s, 1s}) && got.took == 4s);
  });
  report.behaviour("a 429 that asks for 1 s is repeated after 1 s", [](tally& check) {
    stage on({fails(chat::rate_limited(1s)), answer});
    check(on.ask().kind == ending::answered && on.time.waits().are({1s}));
  });
  report.behaviour("a 429 that asks for 3 s goes to the next model at once", [](tally& check) {
    stage on({fails(chat::rate_limited(3s))});
    const auto got = on.ask_both();
    check(got.asked[0].reason == stop_reason::wait_limit_reached && got.model == "second" && got.took == 0s);
  });
  report.behaviour("a broken connection is tried again", [](tally& check) {
    stage on({fails(chat::connection_error("connection reset by peer")), answer});
    check(on.ask().kind == ending::answered && on.first.calls() == 2);
  });
  report.behaviour("a cut output is tried again, though nothing was thrown", [](tally& check) {
    stage on({returns({.content = "{\"reply\": \"He", .finished = chat::finish::cut_off}), answer});
    const auto got = on.ask();
    check(got.kind == ending::answered && attempt(got, 0).message == "the content is cut off");
    check(assistant::nature_of(attempt(got, 0).verdict) == "shape");
  });
  report.behaviour("a missing field and an empty reply are tried again", [](tally& check) {
    stage on({returns({.content = "{\"text\": \"He goes.\"}"}), says(""), answer});
    const auto got = on.ask();
    check(got.text == "He goes." && attempt(got, 0).message == "no field \"reply\"");
    check(attempt(got, 1).message == "the field \"reply\" is empty");
  });
  report.behaviour("what is not JSON at all is never shown to the reader", [](tally& check) {
    stage on({returns({.content = "Sure! Here is your JSON:"})});
    check(on.ask().text == assistant::texts::degraded && on.first.calls() == 3);
  });
  report.behaviour("an unrecognised error is not tried again", [](tally& check) {
    stage on({fails(std::logic_error("a bug")), answer});
    check(on.ask().kind == ending::degraded && on.first.calls() == 1);
  });
  report.behaviour("refused content is not tried again", [](tally& check) {
    stage on({returns({.finished = chat::finish::refused}), answer});
    const auto got = on.ask();
    check(got.kind == ending::degraded && on.first.calls() == 1 && attempt(got, 0).message == "the content is refused");
  });
  report.behaviour("retries in two places multiply: 3 x 3 = 9 requests, and 20 s x 3 = 60 s", [](tally& check) {
    constexpr reprise::retry_policy client_library{reprise::attempt_budget{.maximum = 3},
                                                   reprise::attempt_timeout{.longest = 20s},
                                                   reprise::constant_backoff{.delay = 0s}, reprise::no_time_limit{}};
    static_assert(reprise::worst_case(client_library).total == 60s);
    static_assert(reprise::worst_case(guard_policy, client_library).attempts == 9);
    static_assert(reprise::worst_case(guard_policy).attempts == 3);
    stage on({down});
    on.ask();
    check(on.first.calls() == reprise::worst_case(guard_policy).attempts);
  });
}

// --- the log ---------------------------------------------------------------------------------------------------------

void logs(tally& report) {
  report.behaviour("the log tells number, end, elapsed, message and wait of every attempt", [](tally& check) {
    stage on({down.taking(30ms), half.taking(20ms), answer.taking(900ms)});
    const auto got = on.ask();
    const auto lines = fmt::format("{}", got.asked[0].attempts);
    check(lines ==
          "attempt 1: FAIL, 30 ms, http 503, \"Service Unavailable\", then waits 200 ms\n"
          "attempt 2: FAIL, 20 ms, shape, \"JSON ends after 15 characters\", then waits 400 ms\n"
          "attempt 3: ok, 900 ms\n");
    check(got.took == 1550ms);
  });
  report.behaviour("the log comes with the error too", [](tally& check) {
    stage on({down});
    const auto got = on.ask();
    check(got.kind == ending::degraded && got.asked[0].attempts.size() == 3 && attempt(got, 2).number == 3);
  });
  report.behaviour("the last error is kept as the client library threw it", [](tally& check) {
    stage on({down, fails(chat::rate_limited(0s)), fails(502, "Bad Gateway")});
    check(thrown_by(on.ask().asked[0].error) == "Bad Gateway");
  });
  report.behaviour("each model has its own log, in order", [](tally& check) {
    stage on({down});
    const auto got = on.ask_both();
    check(got.asked.size() == 2 && got.asked[0].model == "first" && got.asked[1].model == "second");
    check(got.asked[0].attempts.size() == 3 && got.asked[1].attempts.size() == 1 && attempt(got, 0, 1).number == 1);
  });
  report.behaviour("a message from a server stays on its line and within 160 bytes", [](tally& check) {
    stage on({fails(400, "bad\nthing" + std::string(500, 'x'))});
    const auto got = on.ask();
    check(attempt(got, 0).message.size() == 160);
    check(fmt::format("{}", attempt(got, 0)).find('\n') == std::string::npos);
  });
  report.behaviour("12 % transient and 3 % shape can be read from the logs", [](tally& check) {
    assistant::statistics counted;
    for (int asked = 0; asked < 85; ++asked) {
      stage on(asked < 12 ? std::vector{down, answer} : asked < 15 ? std::vector{half, answer} : std::vector{answer});
      counted.add(on.ask());
    }
    check(counted.requests() == 100 && counted.count("ok") == 85);
    check(counted.percent("transient") == 12.0 && counted.percent("shape") == 3.0 &&
          counted.percent("permanent") == 0.0);
  });
  report.behaviour("statistics of nothing are zero", [](tally& check) {
    const assistant::statistics counted;
    check(counted.requests() == 0 && counted.percent("ok") == 0.0);
  });
}

// --- time ------------------------------------------------------------------------------------------------------------

constexpr auto third_of_8_s = reprise::duration(8s) / 3;

void time_gate(tally& report) {
  report.behaviour("an attempt may take what remains, divided by the attempts left", [](tally& check) {
    stage on({down.taking(2s), down.taking(1s), answer});
    on.ask();
    // 8 s / 3; (8 - 2 - 0.2) s / 2; (8 - 2 - 0.2 - 1 - 0.4) s
    check(on.first.timeouts() == std::vector<reprise::duration>{third_of_8_s, 2900ms, 4400ms});
  });
  report.behaviour("a hung first attempt leaves time for a second", [](tally& check) {
    stage on({hangs(), answer});
    const auto got = on.ask();
    check(got.kind == ending::answered && got.took == third_of_8_s + 200ms);
  });
  report.behaviour("an attempt may take 20 s at most", [](tally& check) {
    stage on({answer}, guard_policy.with(reprise::time_limit{.total = 90s}));
    on.ask();
    check(on.first.timeouts().front() == 20s);
  });
  report.behaviour("a share is not below its floor, but never beyond the deadline", [](tally& check) {
    stage on({down.taking(450ms), down, answer}, guard_policy.with(reprise::time_limit{.total = 1200ms}));
    on.ask();
    // 1.2 s / 3 is less than 0.5 s; 0.55 s / 2 too; 0.15 s is all that is left.
    check(on.first.timeouts() == std::vector<reprise::duration>{500ms, 500ms, 150ms});
  });
  report.behaviour("three hung attempts take the 8 s of the turn and no more", [](tally& check) {
    stage on({hangs()});
    const auto got = on.ask();
    check(on.first.calls() == 3 && got.took == 8s && got.kind == ending::degraded);
  });
  report.behaviour("all models share the deadline: after a model that hangs the next is not asked", [](tally& check) {
    stage on({hangs()}, {answer});
    const auto got = on.ask_both();
    check(on.second.calls() == 0 && got.took == 8s && got.kind == ending::degraded);
  });
  report.behaviour("a shorter longest attempt leaves time for the next model", [](tally& check) {
    stage on({hangs()}, {answer}, guard_policy.with(reprise::divided_timeout{.longest = 2s, .shortest = 500ms}));
    const auto got = on.ask_both();
    check(got.model == "second" && on.second.timeouts().front() < 1s && got.took == 6600ms);
  });
  report.behaviour("a wait that does not fit before the deadline is not begun", [](tally& check) {
    stage on({down.taking(900ms)},
             guard_policy.with(reprise::time_limit{.total = 1s}, reprise::divided_timeout{.shortest = 1s}));
    const auto got = on.ask();
    check(got.asked[0].reason == stop_reason::deadline_reached && got.took == 900ms && on.time.waits().empty());
    check(thrown_by(got.asked[0].error) == "Service Unavailable");
  });
  report.behaviour("once the deadline has passed, no model is asked", [](tally& check) {
    stage on({down});
    on.time.oversleeps(10s);
    const auto got = on.ask_both();
    check(on.first.calls() == 1 && on.second.calls() == 0 && got.kind == ending::degraded);
    check(got.reason == "second: deadline_reached");
  });
  report.behaviour("a slow answer within its share counts", [](tally& check) {
    stage on({answer.taking(2600ms)});
    check(on.ask().kind == ending::answered);
  });
  report.behaviour("each turn has a deadline of its own", [](tally& check) {
    stage on({hangs(), hangs(), hangs(), answer});
    on.ask();
    check(on.ask().kind == ending::answered && on.first.timeouts().back() == third_of_8_s);
  });
  report.behaviour("who stops the assistant during a wait is asked for nothing more", [](tally& check) {
    stage on({down});
    on.time.interrupts_at(100ms);
    const auto got = on.ask_both();
    check(got.kind == ending::cancelled && got.took == 100ms && on.first.calls() == 1 && on.second.calls() == 0);
    check(got.text == assistant::texts::cancelled && on.budget.spent() == 0);
  });
}

// --- fallback --------------------------------------------------------------------------------------------------------

void fallback(tally& report) {
  report.behaviour("the second model is not asked if the first answers", [](tally& check) {
    stage on({answer});
    check(on.ask_both().model == "first" && on.second.calls() == 0);
  });
  report.behaviour("the second model answers when the first is down", [](tally& check) {
    stage on({down});
    const auto got = on.ask_both();
    check(got.kind == ending::answered && got.model == "second" && got.text == "from the second" &&
          got.requests() == 4);
  });
  report.behaviour("a permanent error goes to the next model at once", [](tally& check) {
    stage on({fails(401, "Invalid API key")});
    const auto got = on.ask_both();
    check(got.model == "second" && on.first.calls() == 1 && on.second.calls() == 1 && got.took == 0s);
  });
  report.behaviour("models are asked in the order given", [](tally& check) {
    stage on({answer});
    check(on.guard.ask({.text = "He go."}, on.second, on.first).model == "second" && on.first.calls() == 0);
  });
  report.behaviour("three models may stand in a line", [](tally& check) {
    stage on({down}, {fails(403, "Forbidden")});
    scripted_model third("third", on.time, {answer});
    check(on.guard.ask({.text = "He go."}, on.first, on.second, third).model == "third");
  });
  report.behaviour("a degraded answer is marked, and tells why", [](tally& check) {
    stage on({fails(401, "Invalid API key")}, {fails(403, "Forbidden")});
    const auto got = on.ask_both();
    check(got.kind == ending::degraded && to_string(got.kind) == "degraded");
    check(got.reason == "second: permanent http 403, not_retryable");
  });
  report.behaviour("the degraded text is honest, offers a way out and promises nothing", [](tally& check) {
    const auto says_it = [](std::string_view part) {
      return assistant::texts::degraded.find(part) != std::string_view::npos;
    };
    check(says_it("cannot answer") && says_it("ask your teacher"));
    check(!says_it("will") && !says_it("soon") && !says_it("HTTP") && !says_it("error"));
  });
  report.behaviour("no ending leaves the reader without a sentence", [](tally& check) {
    for (const auto text : {assistant::texts::degraded, assistant::texts::too_long, assistant::texts::used_up,
                            assistant::texts::uncertain, assistant::texts::cancelled})
      check(text.ends_with('.') && text.size() > 20);
  });
  report.behaviour("what is no std::exception passes through, and gives back what was reserved", [](tally& check) {
    stage on({{[]() -> chat::completion { throw 42; }}});
    bool passed = false;
    try {
      on.ask_both();
    } catch (int) {
      passed = true;
    }
    check(passed && on.second.calls() == 0 && on.budget.spent() == 0);
  });
}

// --- writes ----------------------------------------------------------------------------------------------------------

void writes(tally& report) {
  constexpr assistant::question reminder{.text = "Remind the class.", .writes = true};
  constexpr assistant::question keyed{.text = "Remind the class.", .writes = true, .idempotency_key = "reminder-7"};

  report.behaviour("a write without a key is sent once, to one model only", [=](tally& check) {
    stage on({hangs()});
    const auto got = on.ask_both(reminder);
    check(on.first.calls() == 1 && on.second.calls() == 0);
    check(got.asked[0].reason == stop_reason::not_replay_safe);
    check(got.kind == ending::uncertain && got.text == assistant::texts::uncertain);
  });
  report.behaviour("a write without a key after which nobody knows what happened is not handed on", [=](tally& check) {
    stage on({fails(std::runtime_error("what?"))});
    check(on.ask_both(reminder).kind == ending::uncertain && on.second.calls() == 0);
  });
  report.behaviour("a write without a key that was refused may go to the next model", [=](tally& check) {
    stage on({fails(401, "Invalid API key")});
    check(on.ask_both(reminder).model == "second");
  });
  report.behaviour("a write with a key is repeated, under the same key", [=](tally& check) {
    stage on({down});
    check(on.ask_both(keyed).kind == ending::answered);
    check(on.first.keys() == std::vector<std::string>(3, "reminder-7"));
    check(on.second.keys() == std::vector<std::string>(1, "reminder-7"));
  });
  report.behaviour("a write without a key that succeeds is an answer like any other", [=](tally& check) {
    stage on({answer});
    check(on.ask_both(reminder).kind == ending::answered);
  });
}

// --- budget ----------------------------------------------------------------------------------------------------------

/// A counter that many processes share, as a database's would be; it may be out of reach.
struct shared_counter {
  std::int64_t count = 0;
  bool reachable = true;

  bool try_add(std::int64_t amount, std::int64_t limit) {
    if (!reachable) throw std::runtime_error("the counter is out of reach");
    if (count + amount > limit) return false;
    count += amount;
    return true;
  }
  void add(std::int64_t amount) { count += amount; }
  std::int64_t total() const { return count; }
};

void budget(tally& report) {
  report.behaviour("a question over the limit of a call is not sent", [](tally& check) {
    stage on({answer});
    const std::string essay(4000, 'x');
    const auto got = on.ask_both({.text = essay});
    check(got.kind == ending::over_budget && got.text == assistant::texts::too_long);
    check(got.requests() == 0 && on.first.calls() == 0 && on.second.calls() == 0 && on.budget.spent() == 0);
  });
  report.behaviour(
      "a question over the limit of the session is not sent, and is told of in other words", [](tally& check) {
        stage on({answer});
        on.spent.add(1990);
        const auto got = on.ask_both();
        check(got.kind == ending::over_budget && got.text == assistant::texts::used_up && on.first.calls() == 0);
        check(got.text != assistant::texts::degraded && got.reason == "over the limit of the session");
        check(on.budget.spent() == 1990);
      });
  report.behaviour("an answer is charged with its real cost, once", [](tally& check) {
    stage on({down, half, says("He goes.", 321)});
    check(on.ask().tokens == 321 && on.budget.spent() == 321);
  });
  report.behaviour("a degraded answer costs nothing", [](tally& check) {
    stage on({down}, {down});
    const auto got = on.ask_both();
    check(got.tokens == 0 && on.budget.spent() == 0);
  });
  report.behaviour("the estimate is held while the request is under way", [](tally& check) {
    std::int64_t during = 0;
    stage<> on({answer});
    on.first = scripted_model("first", on.time, {{[&] {
                                during = on.budget.spent();
                                return chat::completion{.content = "{\"reply\": \"x\"}", .tokens = 5};
                              }}});
    on.ask();
    check(during == assistant::tokens_in(assistant::prompt_of({.text = "He go."})) && on.budget.spent() == 5);
  });
  report.behaviour("questions are answered until the session is used up", [](tally& check) {
    stage on({says("He goes.", 400)});
    int answered = 0;
    while (answered < 10 && on.ask().kind == ending::answered) ++answered;
    check(answered == 5 && on.budget.spent() == 2000 && on.first.calls() == 5);
  });
  report.behaviour("the counter can be replaced, and is shared by all who use it", [](tally& check) {
    stage on({says("He goes.", 400)});
    shared_counter elsewhere;
    reprise::spend_budget mine(elsewhere, 500, 1000);
    reprise::spend_budget yours(elsewhere, 500, 1000);
    assistant::model_guard here(guard_policy, mine, on.time);
    assistant::model_guard there(guard_policy, yours, on.time);
    check(here.ask({.text = "He go."}, on.first).tokens == 400 &&
          there.ask({.text = "He go."}, on.first).tokens == 400);
    check(elsewhere.count == 800 && yours.spent() == 800);
  });
  report.behaviour("nothing is sent while the counter is out of reach", [](tally& check) {
    stage on({answer});
    shared_counter elsewhere{.reachable = false};
    reprise::spend_budget mine(elsewhere, 500, 1000);
    assistant::model_guard guard(guard_policy, mine, on.time);
    bool told = false;
    try {
      guard.ask({.text = "He go."}, on.first);
    } catch (const std::runtime_error&) {
      told = true;
    }
    check(told && on.first.calls() == 0);
  });
}

void environments(tally& report) {
  report.behaviour("the same guard runs on the real clock", [](tally& check) {
    stage on({answer});
    reprise::system_environment real;
    assistant::model_guard guard(guard_policy, on.budget, real);
    check(guard.ask({.text = "He go."}, on.first).kind == ending::answered);
  });
  report.behaviour("the injected fraction decides the waits", [](tally& check) {
    stage low({down, answer});
    stage high({down, answer});
    low.time.fractions({0.25});
    high.time.fractions({0.75});
    low.ask();
    high.ask();
    check(low.time.waits().are({190ms}) && high.time.waits().are({210ms}));
  });
}

}  // namespace

int main() {
  tally report;
  natures(report);
  scripts(report);
  retry(report);
  logs(report);
  time_gate(report);
  fallback(report);
  writes(report);
  budget(report);
  environments(report);
  return report.end();
}
