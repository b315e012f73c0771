// SPDX-License-Identifier: MIT
// Much of the library in use, with values that the optimiser cannot know. Compiled under conditions that its users
// have: optimised (where gcc looks for what may be uninitialised), and behind macros that other headers define. The
// includer has included what it uses.
#pragma once

namespace much_of_it {

using namespace std::chrono_literals;

struct reply {
  int status = 0;
  std::string body = {};
  std::optional<std::string> retry_after = {};
};

struct timeout_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct one_permit {};

struct counting_budget {
  int left = 2;
  int held = 0;
  void call_started(reprise::duration) {}
  void failed(const reprise::verdict& failure) { held += failure.code; }
  std::optional<one_permit> try_retry(const reprise::verdict&, reprise::duration) {
    if (left == 0) return std::nullopt;
    --left;
    return one_permit{};
  }
  void retry_started(one_permit&) { ++held; }
  void call_ended(bool success, std::optional<one_permit>, reprise::duration) { left += success ? 1 : 0; }
};

/// Responses and exceptions, with statuses, logs, events and a budget.
inline int calls(int seed, const std::string& text) {
  counting_budget budget{.left = seed};
  reprise::attempt_log<4> log;
  int told = 0;
  const reprise::retry_policy policy{
      reprise::http::retry_statuses{}.dated_by([] { return std::chrono::system_clock::now(); }),
      reprise::on_exception<timeout_error>([](const timeout_error&) -> std::optional<reprise::verdict> {
        return reprise::verdict{.kind = reprise::outcome::transient, .label = "timeout", .not_applied = true};
      }),
      reprise::http::operation{.method = text, .idempotency_key = text},
      reprise::exponential_backoff{.base = seed * 1ms, .cap = 4s, .factor = 1.5},
      reprise::proportional_jitter{.fraction = 0.25},
      reprise::attempt_budget{.maximum = seed + 3},
      reprise::time_limit{.total = 10s},
      reprise::divided_timeout{.longest = 2s, .shortest = 10ms},
      reprise::wait_limit{.total = 8s},
      reprise::retry_after_limit{.longest = 3s, .beyond = reprise::too_long::clamp, .spread = 100ms},
      reprise::shared_budget(budget),
      reprise::attempt_log<8>{}.messages([](const reply& response) { return std::string_view(response.body); }),
      reprise::on_event([&told](const reprise::event& happened) { told += happened.attempt; })};

  reprise::testing::fake_clock time;
  int attempts = 0;
  const auto send = [&](const reprise::attempt& current) -> reply {
    time.advance(5ms);
    ++attempts;
    if (attempts == seed + 1) throw timeout_error(text);
    if (attempts < seed + 2) return {.status = 503, .body = text, .retry_after = text};
    return {.status = current.timeout_ms() > 0 ? 200 : 500, .body = text};
  };
  const auto result = reprise::execute(policy, send, time);
  for (const reprise::attempt_record& record : result.log()) told += record.number;

  const auto logged = policy.with(reprise::log_to(log), reprise::unlimited_attempts{});
  const reprise::retry_result<reply> plain = reprise::execute(logged, send, time);
  const reprise::bill bill = reprise::worst_case(policy);
  told += bill.attempts + static_cast<int>(log.size());
  return told + attempts + (plain.ok() ? plain.success().status : plain.attempts());
}

/// Each kind of backoff and jitter, codes, move-only and void responses.
inline int kinds(int seed) {
  reprise::testing::fake_clock time;
  time.fractions({0.0, 1.0, 0.25});
  int sum = 0;
  int failures = seed;
  const auto code = [&] { return failures-- > 0 ? -6 : 0; };
  const reprise::retry_policy codes{reprise::retry_codes{-6, -7}, reprise::idempotent{}};
  const auto add = [&](const auto& policy) {
    const auto result = reprise::execute(policy, code, time);
    sum += result.attempts() + static_cast<int>(result.reason()) + static_cast<int>(result.total_wait() / 1ms);
    sum += static_cast<int>(reprise::wait_ranges<3>(policy)[2].longest / 1ms);
  };
  add(codes);
  add(codes.with(reprise::linear_backoff{.step = seed * 1ms}, reprise::equal_jitter{}));
  add(codes.with(reprise::fibonacci_backoff{.base = seed * 1ms}, reprise::added_jitter{.longest = 1ms}));
  add(codes.with(reprise::constant_backoff{.delay = seed * 1ms}, reprise::no_jitter{}));
  add(codes.with(reprise::listed_backoff{1ms, 2ms}, reprise::no_time_limit{}));
  add(codes.with(reprise::decorrelated_backoff{.base = seed * 1ms}));
  add(codes.with([](int retry) -> reprise::duration { return retry * 1ms; }));
  add(codes.with(reprise::chosen_backoff{.kind = reprise::backoff_kind::linear},
                 reprise::chosen_jitter{.kind = reprise::jitter_kind::decorrelated}));

  const reprise::retry_policy poll{reprise::until([](const std::unique_ptr<int>& held) { return *held > 1; }),
                                   reprise::idempotent{}, reprise::deadline{time.now() + 1s}};
  auto polled = reprise::execute(poll, [&] { return std::make_unique<int>(seed); }, time);
  const std::unique_ptr<int> value = std::move(polled).value();
  sum += *value;

  const reprise::retry_policy transaction{reprise::rolled_back<timeout_error>{},
                                          reprise::fail_exceptions<std::exception>{}, reprise::not_idempotent{}};
  const auto commit = [&](std::chrono::seconds) {
    if (failures++ < 0) throw timeout_error("late");
  };
  const auto nothing = reprise::execute(transaction, commit, time);
  sum += nothing.has_response() ? 1 : 0;

  const auto outer = reprise::retry_policy{reprise::inner_result{}, reprise::idempotent{}};
  const auto nested = reprise::execute(outer, [&] { return reprise::execute(codes, code, time); }, time);
  return sum + nested.value().attempts();
}

/// The engine without a driver, on a clock of whole milliseconds and on a floating one.
template <class Rep> int by_hand(int seed) {
  using point = std::chrono::time_point<std::chrono::steady_clock, std::chrono::duration<Rep, std::milli>>;
  const reprise::retry_policy policy{reprise::http::retry_statuses{}, reprise::idempotent{},
                                     reprise::attempt_timeout{.longest = seed * 1ms},
                                     reprise::retry_after_limit{.longest = 1s, .beyond = reprise::too_long::ignore}};
  reprise::engine<std::remove_const_t<decltype(policy)>, point> engine(policy);
  point now{};
  auto next = engine.start(now);
  while (next.kind != reprise::step::stop) {
    if (next.kind == reprise::step::wait) {
      now = next.due;
      next = engine.on_wait_over([&] { return now; });
    } else {
      now = next.attempt.deadline;
      const reprise::verdict ended = policy.judge(reply{.status = 503, .retry_after = "2"}, next.attempt);
      next = engine.on_verdict(ended, now, [] { return 0.5; }, [] { return false; });
    }
  }
  return engine.attempts() + static_cast<int>(engine.cancel(now).reason);
}

/// The real clock; cancelled before the first attempt, so that nothing is waited for.
inline int real_clock(int seed) {
  const reprise::retry_policy policy{reprise::retry_when([](int value) { return value < 0; }), reprise::idempotent{}};
  std::stop_source stop;
  stop.request_stop();
  const auto send = [seed](std::chrono::milliseconds) { return seed; };
  return reprise::execute(policy, send, stop.get_token()).attempts() + reprise::execute(policy, send).value();
}

/// The free functions and the vocabulary of HTTP.
inline int functions(int seed, const std::string& text) {
  const auto count = [](reprise::duration d) { return static_cast<int>(d / 1ms); };
  int sum = count(reprise::backoff(seed)) + count(reprise::jitter(1s, 0.5)) + count(reprise::wait_delay(1s, text));
  sum += reprise::can_attempt(seed, 3, 1s, 2s) ? 1 : 0;
  sum += reprise::http::retryable(seed) || reprise::http::replay_safe(text, text) ? 1 : 0;
  sum += count(reprise::http::parse_retry_after(text).value_or(0ms));
  sum += reprise::http::parse_http_date(text, {}).has_value() ? 1 : 0;
  sum += static_cast<int>(reprise::http::idempotency_key([&] { return static_cast<unsigned>(seed); }).text().size());
  sum += count(reprise::time_span(reprise::random_fraction{42}() * 1s));
  sum += reprise::parse<reprise::backoff_kind>(text).has_value() ? 1 : 0;
  return sum + static_cast<int>(reprise::remaining(1s, 2s) == 0s);
}

/// A script, and everything that {fmt} can print.
inline std::string print(int seed, const std::string& text) {
  reprise::testing::fake_clock time;
  reprise::testing::script send{time, reprise::testing::reply(503).takes(10ms).retry_after("2"),
                                reprise::testing::fails<timeout_error>("late"), reprise::testing::reply(seed)};
  std::string printed;
  const reprise::retry_policy policy{
      reprise::http::retry_statuses{}, reprise::retry_exceptions<timeout_error>{}, reprise::idempotent{},
      reprise::attempt_log<2>{},
      reprise::on_event([&](const reprise::event& happened) { printed += fmt::format("{}\n", happened); })};
  const auto result = reprise::execute(policy, send, time.clock(), time.sleep(), reprise::testing::fixed_fraction(0.5));
  return printed + fmt::format("{} {} {} {} {:>10} {}", result, result.log(), result.last_verdict(),
                               reprise::worst_case(policy), result.reason(), text);
}

inline int all(int seed, const std::string& text) {
  const int sum = calls(seed, text) + kinds(seed) + by_hand<long>(seed) + by_hand<double>(seed) + real_clock(seed) +
                  functions(seed, text);
  return sum + static_cast<int>(print(seed, text).size());
}

}  // namespace much_of_it
