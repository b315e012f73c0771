// SPDX-License-Identifier: MIT
#include <reprise/core.hpp>
#include <reprise/testing/script.hpp>
#include <stdexcept>
#include <string>

#include "catch.hpp"
#include "support.hpp"

using namespace std::chrono_literals;

namespace {

using reprise::duration;
using reprise::outcome;
using reprise::retry_policy;
using reprise::role;
using reprise::verdict;
using time_point = std::chrono::steady_clock::time_point;

constexpr int int_max = std::numeric_limits<int>::max();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

/// The sentence with which a policy of these parts is refused.
template <class... Parts> std::string refused_policy(Parts... parts) {
  return refusal([&] { (void)retry_policy{parts...}; });
}

template <class... Parts> bool is_taken(Parts... parts) { return refused_policy(parts...) == "nothing was refused"; }

/// What a call does that is answered 503, with a hint of a second the first time.
struct behaviour {
  int attempts = 0;
  reprise::stop_reason reason = {};
  reprise::testing::recorded<duration> waits = {};
  reprise::testing::recorded<duration> timeouts = {};
  reprise::bill bill = {};

  friend constexpr bool operator==(const behaviour& a, const behaviour& b) {
    return a.attempts == b.attempts && a.reason == b.reason && a.waits == b.waits && a.timeouts == b.timeouts &&
           a.bill == b.bill;
  }
};

template <class Policy> constexpr behaviour behaviour_of(const Policy& policy) {
  reprise::testing::fake_clock time;
  reprise::testing::script send{time, reprise::testing::reply(503).takes(20ms).retry_after("1"),
                                reprise::testing::reply(503).takes(30ms)};
  const auto result = reprise::execute(policy, send, time);
  return {result.attempts(), result.reason(), time.waits(), send.timeouts(), reprise::worst_case(policy)};
}

constexpr reprise::exponential_backoff quick{.base = 200ms, .cap = 1s};
constexpr reprise::equal_jitter equal{};
constexpr reprise::attempt_budget four{.maximum = 4};
constexpr reprise::time_limit three_seconds{.total = 3s};
constexpr reprise::http::retry_statuses statuses{};
constexpr reprise::idempotent safe{};
constexpr reprise::attempt_timeout short_attempts{.longest = 500ms};

/// A partial classifier for one number.
template <int Number> struct only {
  static constexpr auto part_role = role::classifier;
  constexpr std::optional<verdict> operator()(int code) const {
    if (code != Number) return std::nullopt;
    return verdict{.kind = outcome::transient, .code = Number * 100};
  }
};

/// One that knows its place in the order.
template <int Place> struct everything {
  static constexpr auto part_role = role::classifier;
  constexpr verdict operator()(int) const { return {.kind = outcome::success, .code = Place}; }
};

/// A part of a user's own, with a check of its own.
struct every_tenth {
  static constexpr auto part_role = role::backoff;
  int tenths = 1;
  constexpr void check() const {
    if (tenths < 0) throw std::invalid_argument("every_tenth: tenths must be 0 or more");
  }
  constexpr duration operator()(int) const { return tenths * 100ms; }
};

template <class Policy, class... Given> using joined =
    decltype(std::declval<const Policy&>().with(std::declval<Given>()...));

}  // namespace

TEST_CASE("the defaults of a policy: three attempts in 5 s, doubling from 500 ms to 4 s") {
  constexpr retry_policy policy{statuses, safe};
  STATIC_REQUIRE(policy.part<role::attempts>().max_attempts() == 3);
  STATIC_REQUIRE(policy.part<role::time>().limit() == 5s);
  STATIC_REQUIRE(policy.part<role::backoff>()(0) == 500ms);
  STATIC_REQUIRE(policy.part<role::backoff>()(9) == 4s);
  STATIC_REQUIRE(policy.part<role::attempt_timeout>()(5s, 3) == reprise::unlimited);
  STATIC_REQUIRE(policy.part<role::waiting>().limit() == reprise::unlimited);
  STATIC_REQUIRE(policy.part<role::server_hint>().honoured(1h) == 1h);
}

TEST_CASE("a policy behaves the same whatever the order of its parts") {
  constexpr behaviour expected =
      behaviour_of(retry_policy{statuses, safe, quick, equal, four, three_seconds, short_attempts});
  STATIC_REQUIRE(expected.attempts == 4);
  STATIC_REQUIRE(expected.waits.are({1s, 300ms, 600ms}));
  STATIC_REQUIRE(behaviour_of(retry_policy{short_attempts, three_seconds, four, equal, quick, safe, statuses}) ==
                 expected);
  STATIC_REQUIRE(behaviour_of(retry_policy{safe, quick, equal, four, three_seconds, short_attempts, statuses}) ==
                 expected);
  STATIC_REQUIRE(behaviour_of(retry_policy{equal, four, three_seconds, short_attempts, statuses, safe, quick}) ==
                 expected);
  STATIC_REQUIRE(behaviour_of(retry_policy{three_seconds, statuses, quick, short_attempts, safe, equal, four}) ==
                 expected);
  STATIC_REQUIRE(behaviour_of(retry_policy{quick, three_seconds, safe, statuses, four, short_attempts, equal}) ==
                 expected);
}

TEST_CASE("a policy behaves the same whether its parts are written at once or joined by with") {
  constexpr behaviour expected = behaviour_of(retry_policy{statuses, safe, quick, equal, four, three_seconds});
  STATIC_REQUIRE(behaviour_of(retry_policy{statuses}.with(safe).with(quick).with(equal).with(four).with(
                     three_seconds)) == expected);
  STATIC_REQUIRE(behaviour_of(retry_policy{three_seconds, four}.with(equal, quick, safe, statuses)) == expected);
  STATIC_REQUIRE(behaviour_of(retry_policy{statuses, quick}.with(retry_policy{equal, four, three_seconds, safe})) ==
                 expected);
}

TEST_CASE("with puts a part in the place of the one of its role") {
  constexpr retry_policy policy{statuses, four, safe};
  constexpr auto other = policy.with(reprise::unlimited_attempts{});
  STATIC_REQUIRE(std::is_same_v<decltype(other), const retry_policy<reprise::http::retry_statuses,
                                                                    reprise::unlimited_attempts, reprise::idempotent>>);
  STATIC_REQUIRE(other.part<role::attempts>().max_attempts() == reprise::unlimited_count);
  STATIC_REQUIRE(policy.part<role::attempts>().max_attempts() == 4);
}

TEST_CASE("with adds a part of a new role") {
  using policy = retry_policy<reprise::http::retry_statuses>;
  STATIC_REQUIRE(
      std::is_same_v<joined<policy, reprise::idempotent, reprise::attempt_budget>,
                     retry_policy<reprise::http::retry_statuses, reprise::idempotent, reprise::attempt_budget>>);
}

TEST_CASE("with a part of the same type keeps the policy's type, so that it can be assigned") {
  retry_policy policy{statuses, four, quick, safe, three_seconds};
  using type = decltype(policy);
  STATIC_REQUIRE(std::is_same_v<joined<type, reprise::attempt_budget>, type>);
  STATIC_REQUIRE(std::is_same_v<joined<type, reprise::time_limit, reprise::exponential_backoff>, type>);
  STATIC_REQUIRE(std::is_same_v<joined<type, reprise::http::retry_statuses>, type>);
  STATIC_REQUIRE(std::is_same_v<joined<type, type>, type>);
  policy = policy.with(reprise::attempt_budget{.maximum = 9});
  policy = policy.with(reprise::time_limit{.total = 1min}, reprise::exponential_backoff{.base = 1ms});
  CHECK(policy.part<role::attempts>().maximum == 9);
  CHECK(policy.part<role::time>().total == 1min);
  CHECK(policy.part<role::backoff>().base == 1ms);
}

TEST_CASE("with replaces all classifiers at once, where the old ones stood") {
  constexpr retry_policy policy{only<1>{}, only<2>{}, four, only<3>{}};
  STATIC_REQUIRE(policy.count<role::classifier> == 3);
  constexpr auto one = policy.with(only<4>{});
  STATIC_REQUIRE(std::is_same_v<decltype(one), const retry_policy<only<4>, reprise::attempt_budget>>);
  STATIC_REQUIRE(one.judge(4).code == 400);
  STATIC_REQUIRE(one.judge(1).label.text() == "unrecognised");
  constexpr auto many = policy.with(only<5>{}, only<6>{}, only<7>{}, everything<8>{});
  STATIC_REQUIRE(many.count<role::classifier> == 4);
  STATIC_REQUIRE(many.judge(5).code == 500);
  STATIC_REQUIRE(many.judge(7).code == 700);
  STATIC_REQUIRE(many.judge(1).code == 8);
}

TEST_CASE("classifiers given by with are asked in the order given") {
  constexpr retry_policy policy{only<1>{}, four};
  STATIC_REQUIRE(policy.with(everything<1>{}, only<1>{}).judge(1).code == 1);
  STATIC_REQUIRE(policy.with(only<1>{}, everything<1>{}).judge(1).code == 100);
  STATIC_REQUIRE(retry_policy{four}.with(only<2>{}, safe, everything<3>{}).judge(2).code == 200);
  STATIC_REQUIRE(retry_policy{four}.with(only<2>{}, safe, everything<3>{}).judge(1).code == 3);
}

TEST_CASE("with another policy takes its parts, which win") {
  constexpr retry_policy base{statuses, four, quick};
  constexpr retry_policy more{reprise::attempt_budget{.maximum = 7}, safe};
  constexpr auto both = base.with(more);
  STATIC_REQUIRE(both.part<role::attempts>().maximum == 7);
  STATIC_REQUIRE(both.part<role::backoff>().base == 200ms);
  STATIC_REQUIRE(both.has<role::idempotency>);
  STATIC_REQUIRE(more.with(base).part<role::attempts>().maximum == 4);
}

TEST_CASE("with another policy leaves what it does not say, its defaults too") {
  constexpr retry_policy base{statuses, four, three_seconds};
  constexpr auto both = base.with(retry_policy{safe});
  STATIC_REQUIRE(both.part<role::attempts>().maximum == 4);
  STATIC_REQUIRE(both.part<role::time>().total == 3s);
}

TEST_CASE("a policy without classifier or idempotency is a fragment, completed later") {
  constexpr retry_policy limits{four, quick, equal, three_seconds};
  STATIC_REQUIRE(!limits.has<role::classifier>);
  STATIC_REQUIRE(!limits.has<role::idempotency>);
  STATIC_REQUIRE(behaviour_of(limits.with(statuses, safe)).attempts == 4);
}

TEST_CASE("a key is joined per call: the policy that it is joined to stays as it was") {
  constexpr retry_policy policy{statuses, quick};
  constexpr reprise::http::operation keyed{.method = "POST", .idempotency_key = "k"};
  STATIC_REQUIRE(behaviour_of(policy.with(keyed)).attempts == 3);
  STATIC_REQUIRE(behaviour_of(policy.with(reprise::http::operation{.method = "POST"})).attempts == 1);
  STATIC_REQUIRE(behaviour_of(policy.with(reprise::http::operation{.method = "GET"})).attempts == 3);
  STATIC_REQUIRE(!policy.has<role::idempotency>);
}

TEST_CASE("a policy is a value: copies behave alike and share nothing") {
  constexpr retry_policy policy{statuses, safe, quick, four};
  constexpr retry_policy copy{policy};
  STATIC_REQUIRE(std::is_same_v<decltype(copy), decltype(policy)>);
  STATIC_REQUIRE(behaviour_of(copy) == behaviour_of(policy));
  STATIC_REQUIRE(std::is_trivially_copyable_v<decltype(policy)>);
  STATIC_REQUIRE(std::is_copy_assignable_v<retry_policy<reprise::http::retry_statuses, reprise::attempt_budget>>);
  retry_policy changed = policy;
  changed = changed.with(reprise::attempt_budget{.maximum = 1});
  CHECK(behaviour_of(changed).attempts == 1);
  CHECK(behaviour_of(policy).attempts == 4);
}

TEST_CASE("empty parts cost nothing") {
  using empty =
      retry_policy<reprise::idempotent, reprise::no_jitter, reprise::unlimited_attempts, reprise::no_time_limit>;
  STATIC_REQUIRE(sizeof(empty) == 1);
  STATIC_REQUIRE(sizeof(retry_policy<reprise::idempotent, reprise::attempt_budget, reprise::full_jitter>) ==
                 sizeof(reprise::attempt_budget));
  STATIC_REQUIRE(sizeof(retry_policy<only<1>, reprise::time_limit, reprise::idempotent, only<2>, reprise::no_jitter>) ==
                 sizeof(reprise::time_limit));
  STATIC_REQUIRE(sizeof(retry_policy<reprise::http::retry_statuses, reprise::idempotent>) ==
                 sizeof(reprise::http::retry_statuses));
}

TEST_CASE("a policy says which roles are filled, and how often") {
  constexpr retry_policy policy{only<1>{}, four, only<2>{}, quick};
  STATIC_REQUIRE(policy.count<role::classifier> == 2);
  STATIC_REQUIRE(policy.count<role::attempts> == 1);
  STATIC_REQUIRE(policy.count<role::jitter> == 0);
  STATIC_REQUIRE(policy.has<role::backoff>);
  STATIC_REQUIRE(!policy.has<role::time>);
}

TEST_CASE("each visits the parts of a role in the order written") {
  constexpr auto order = [] {
    int seen = 0;
    retry_policy{everything<1>{}, four, everything<2>{}, safe, everything<3>{}}.each<role::classifier>(
        [&](const auto& classifier) { seen = seen * 10 + classifier(0).code; });
    return seen;
  };
  STATIC_REQUIRE(order() == 123);
}

TEST_CASE("apply hands over all parts in the order written") {
  constexpr int sum = retry_policy{four, three_seconds}.apply(
      [](const reprise::attempt_budget& attempts, const reprise::time_limit&) { return attempts.maximum; });
  STATIC_REQUIRE(sum == 4);
}

TEST_CASE("a policy says whether it limits time, reads a clock, and can be given hints") {
  STATIC_REQUIRE(retry_policy<reprise::idempotent>::limits_time);
  STATIC_REQUIRE(retry_policy<reprise::time_limit>::limits_time);
  STATIC_REQUIRE(!retry_policy<reprise::no_time_limit>::limits_time);
  STATIC_REQUIRE(!retry_policy<reprise::no_time_limit>::needs_clock);
  STATIC_REQUIRE(retry_policy<reprise::no_time_limit, reprise::attempt_timeout>::needs_clock);
  STATIC_REQUIRE(decltype(retry_policy{reprise::no_time_limit{}, reprise::deadline{time_point{}}})::limits_time);
  STATIC_REQUIRE(retry_policy<reprise::http::retry_statuses>::gives_hints);
  STATIC_REQUIRE(!retry_policy<reprise::retry_codes<int, 1>>::gives_hints);
  STATIC_REQUIRE(!retry_policy<reprise::idempotent>::gives_hints);
}

TEST_CASE("judge gives the verdict that execute acts on, with the attempt and without") {
  constexpr retry_policy policy{[](int code, const reprise::attempt& current) -> std::optional<verdict> {
                                  if (code < 0) return std::nullopt;
                                  return verdict{.kind = outcome::transient, .code = code + current.number};
                                },
                                safe};
  STATIC_REQUIRE(policy.judge(10).code == 11);
  STATIC_REQUIRE(policy.judge(10, {.number = 3}).code == 13);
  STATIC_REQUIRE(policy.judge(-1) == verdict{.kind = outcome::permanent, .label = "unrecognised"});
}

TEST_CASE("judge reads a hint as execute does") {
  constexpr verdict judged =
      retry_policy{statuses}.judge(reprise::testing::response{.status = 503, .retry_after = "2"});
  STATIC_REQUIRE(judged == verdict{.kind = outcome::transient, .label = "http", .code = 503, .retry_after = 2s});
}

TEST_CASE("judge gives the verdict of an exception, with the attempt and without") {
  const retry_policy policy{statuses, reprise::on_exception<int>([](int code, const reprise::attempt& current) {
                              return verdict{.kind = outcome::transient, .code = code + current.number};
                            })};
  CHECK(policy.judge(std::make_exception_ptr(7)).code == 8);
  CHECK(policy.judge(std::make_exception_ptr(7), {.number = 2}).code == 9);
  const verdict unrecognised{.kind = outcome::permanent, .label = "unrecognised"};
  CHECK(policy.judge(std::make_exception_ptr(7L)) == unrecognised);
  CHECK(policy.judge(std::exception_ptr{}) == unrecognised);
}

TEST_CASE("judge takes a thrown exception for no response, whichever classifiers there are") {
  const retry_policy policy{reprise::classify{[](const auto&) -> verdict { return {.kind = outcome::success}; }}};
  const std::exception_ptr thrown = std::make_exception_ptr(std::runtime_error("x"));
  CHECK(policy.judge(thrown).label.text() == "unrecognised");
}

TEST_CASE("a backoff's bad values are refused when the policy is made, by part, member and value") {
  CHECK(refused_policy(reprise::exponential_backoff{.base = -1ms}) ==
        "reprise::exponential_backoff: base must be zero or longer, is -0.001 s");
  CHECK(refused_policy(reprise::exponential_backoff{.cap = -2s}) ==
        "reprise::exponential_backoff: cap must be zero or longer, is -2 s");
  CHECK(refused_policy(reprise::exponential_backoff{.factor = 0.5}) ==
        "reprise::exponential_backoff: factor must be a number from 1, is 0.5");
  CHECK(refused_policy(reprise::exponential_backoff{.factor = -2.0}) ==
        "reprise::exponential_backoff: factor must be a number from 1, is -2");
  CHECK(refused_policy(reprise::exponential_backoff{.factor = not_a_number}) ==
        "reprise::exponential_backoff: factor must be a number from 1, is nan");
  CHECK(refused_policy(reprise::exponential_backoff{.factor = infinity}) ==
        "reprise::exponential_backoff: factor must be a number from 1, is inf");
  CHECK(refused_policy(reprise::constant_backoff{.delay = -1s}) ==
        "reprise::constant_backoff: delay must be zero or longer, is -1 s");
  CHECK(refused_policy(reprise::constant_backoff{.cap = -1s}) ==
        "reprise::constant_backoff: cap must be zero or longer, is -1 s");
  CHECK(refused_policy(reprise::linear_backoff{.step = -1s}) ==
        "reprise::linear_backoff: step must be zero or longer, is -1 s");
  CHECK(refused_policy(reprise::linear_backoff{.cap = -1s}) ==
        "reprise::linear_backoff: cap must be zero or longer, is -1 s");
  CHECK(refused_policy(reprise::fibonacci_backoff{.base = -1s}) ==
        "reprise::fibonacci_backoff: base must be zero or longer, is -1 s");
  CHECK(refused_policy(reprise::fibonacci_backoff{.cap = -1s}) ==
        "reprise::fibonacci_backoff: cap must be zero or longer, is -1 s");
  CHECK(refused_policy(reprise::decorrelated_backoff{.base = -1s}) ==
        "reprise::decorrelated_backoff: base must be zero or longer, is -1 s");
  CHECK(refused_policy(reprise::decorrelated_backoff{.cap = -1s}) ==
        "reprise::decorrelated_backoff: cap must be zero or longer, is -1 s");
}

TEST_CASE("a chosen part's bad values are refused, a kind that is none among them") {
  CHECK(refused_policy(reprise::chosen_backoff{.kind = static_cast<reprise::backoff_kind>(9)}) ==
        "reprise::chosen_backoff: kind must be a backoff_kind, is 9");
  CHECK(refused_policy(reprise::chosen_backoff{.base = -1s}) ==
        "reprise::chosen_backoff: base must be zero or longer, is -1 s");
  CHECK(refused_policy(reprise::chosen_backoff{.cap = -1s}) ==
        "reprise::chosen_backoff: cap must be zero or longer, is -1 s");
  CHECK(refused_policy(reprise::chosen_backoff{.factor = 0.999}) ==
        "reprise::chosen_backoff: factor must be a number from 1, is 0.999");
  CHECK(refused_policy(reprise::chosen_jitter{.kind = static_cast<reprise::jitter_kind>(-1)}) ==
        "reprise::chosen_jitter: kind must be a jitter_kind, is -1");
  CHECK(refused_policy(reprise::chosen_jitter{.fraction = 1.5}) ==
        "reprise::chosen_jitter: fraction must be in [0,1], is 1.5");
  CHECK(refused_policy(reprise::chosen_jitter{.fraction = not_a_number}) ==
        "reprise::chosen_jitter: fraction must be in [0,1], is nan");
  CHECK(refused_policy(reprise::chosen_jitter{.longest = -1s}) ==
        "reprise::chosen_jitter: longest must be zero or longer, is -1 s");
}

TEST_CASE("a jitter's bad values are refused") {
  CHECK(refused_policy(reprise::proportional_jitter{.fraction = -0.1}) ==
        "reprise::proportional_jitter: fraction must be in [0,1], is -0.1");
  CHECK(refused_policy(reprise::proportional_jitter{.fraction = 1.25}) ==
        "reprise::proportional_jitter: fraction must be in [0,1], is 1.25");
  CHECK(refused_policy(reprise::proportional_jitter{.fraction = not_a_number}) ==
        "reprise::proportional_jitter: fraction must be in [0,1], is nan");
  CHECK(refused_policy(reprise::added_jitter{.longest = -1ns}) ==
        "reprise::added_jitter: longest must be zero or longer, is -1e-09 s");
}

TEST_CASE("a limit's bad values are refused: no zero means that there is none") {
  CHECK(refused_policy(reprise::attempt_budget{.maximum = 0}) ==
        "reprise::attempt_budget: maximum must be 1 or more, is 0");
  CHECK(refused_policy(reprise::attempt_budget{.maximum = -1}) ==
        "reprise::attempt_budget: maximum must be 1 or more, is -1");
  CHECK(refused_policy(reprise::attempt_budget{.maximum = std::numeric_limits<int>::min()}) ==
        "reprise::attempt_budget: maximum must be 1 or more, is -2147483648");
  CHECK(refused_policy(reprise::time_limit{.total = 0s}) ==
        "reprise::time_limit: total must be longer than zero, is 0 s");
  CHECK(refused_policy(reprise::time_limit{.total = -5s}) ==
        "reprise::time_limit: total must be longer than zero, is -5 s");
  CHECK(refused_policy(reprise::attempt_timeout{.longest = 0s}) ==
        "reprise::attempt_timeout: longest must be longer than zero, is 0 s");
  CHECK(refused_policy(reprise::attempt_timeout{.longest = -1s}) ==
        "reprise::attempt_timeout: longest must be longer than zero, is -1 s");
  CHECK(refused_policy(reprise::divided_timeout{.longest = 0s}) ==
        "reprise::divided_timeout: longest must be longer than zero, is 0 s");
  CHECK(refused_policy(reprise::divided_timeout{.shortest = -1s}) ==
        "reprise::divided_timeout: shortest must be zero or longer, is -1 s");
  CHECK(refused_policy(reprise::divided_timeout{.longest = 1s, .shortest = 2s}) ==
        "reprise::divided_timeout: shortest must be at most longest, is 2 s");
  CHECK(refused_policy(reprise::wait_limit{.total = -1s}) ==
        "reprise::wait_limit: total must be zero or longer, is -1 s");
  CHECK(refused_policy(reprise::retry_after_limit{.longest = -1s}) ==
        "reprise::retry_after_limit: longest must be zero or longer, is -1 s");
  CHECK(refused_policy(reprise::retry_after_limit{.spread = -1s}) ==
        "reprise::retry_after_limit: spread must be zero or longer, is -1 s");
}

TEST_CASE("an answer to hints over the limit that is none is refused") {
  CHECK(!is_taken(reprise::retry_after_limit{.beyond = static_cast<reprise::too_long>(7)}));
  CHECK(!is_taken(reprise::retry_after_limit{.beyond = static_cast<reprise::too_long>(-1)}));
  CHECK(is_taken(reprise::retry_after_limit{.beyond = reprise::too_long::ignore}));
}

TEST_CASE("values at the ends of what makes sense are taken") {
  CHECK(is_taken(reprise::exponential_backoff{.base = 0s}));
  CHECK(is_taken(reprise::exponential_backoff{.cap = 0s}));
  CHECK(is_taken(reprise::exponential_backoff{.base = 9s, .cap = 1s}));
  CHECK(is_taken(reprise::exponential_backoff{.base = reprise::unlimited, .cap = reprise::unlimited}));
  CHECK(is_taken(reprise::exponential_backoff{.factor = 1.0}));
  CHECK(is_taken(reprise::exponential_backoff{.factor = 1e308}));
  CHECK(is_taken(reprise::constant_backoff{.delay = 0s, .cap = 0s}));
  CHECK(is_taken(reprise::linear_backoff{.step = 0s}));
  CHECK(is_taken(reprise::fibonacci_backoff{.base = 0s}));
  CHECK(is_taken(reprise::decorrelated_backoff{.base = 0s}));
  CHECK(is_taken(reprise::chosen_backoff{.base = 0s, .cap = reprise::unlimited}));
  CHECK(is_taken(reprise::proportional_jitter{.fraction = 0.0}));
  CHECK(is_taken(reprise::proportional_jitter{.fraction = 1.0}));
  CHECK(is_taken(reprise::added_jitter{.longest = 0s}));
  CHECK(is_taken(reprise::added_jitter{.longest = reprise::unlimited}));
  CHECK(is_taken(reprise::chosen_jitter{.fraction = 1.0, .longest = 0s}));
  CHECK(is_taken(reprise::attempt_budget{.maximum = 1}));
  CHECK(is_taken(reprise::attempt_budget{.maximum = int_max}));
  CHECK(is_taken(reprise::time_limit{.total = 1ns}));
  CHECK(is_taken(reprise::time_limit{.total = reprise::unlimited}));
  CHECK(is_taken(reprise::attempt_timeout{.longest = 1ns}));
  CHECK(is_taken(reprise::divided_timeout{.longest = 1s, .shortest = 1s}));
  CHECK(is_taken(reprise::wait_limit{.total = 0s}));
  CHECK(is_taken(reprise::retry_after_limit{.longest = 0s, .spread = 0s}));
  CHECK(is_taken(reprise::retry_after_limit{.longest = std::chrono::hours::max()}));
}

TEST_CASE("a bad value is refused by every way to make a policy, also joined and assigned") {
  constexpr retry_policy policy{statuses, four};
  CHECK_THROWS_AS(policy.with(reprise::attempt_budget{.maximum = 0}), std::invalid_argument);
  CHECK_THROWS_AS(policy.with(safe, reprise::time_limit{.total = -1s}), std::invalid_argument);
  CHECK_THROWS_AS((retry_policy<reprise::attempt_budget, reprise::idempotent>(reprise::attempt_budget{0}, safe)),
                  std::invalid_argument);
}

TEST_CASE("in a constant expression a bad value does not compile") {
  constexpr auto good = [] { return retry_policy{reprise::attempt_budget{.maximum = 1}}; };
  constexpr auto none = [] { return retry_policy{reprise::attempt_budget{.maximum = 0}}; };
  constexpr auto negative = [] { return retry_policy{reprise::exponential_backoff{.base = -1ms}}; };
  STATIC_REQUIRE(constant_expression<good>);
  STATIC_REQUIRE(!constant_expression<none>);
  STATIC_REQUIRE(!constant_expression<negative>);
}

TEST_CASE("a part of a user's own needs a role and an answer, and is checked as the library's are") {
  constexpr retry_policy policy{statuses, safe, every_tenth{.tenths = 3}};
  STATIC_REQUIRE(behaviour_of(policy).waits.are({1s, 300ms}));
  CHECK(refused_policy(every_tenth{.tenths = -1}) == "every_tenth: tenths must be 0 or more");
}

TEST_CASE("a lambda from a retry number to a duration is a backoff by its shape") {
  constexpr retry_policy policy{statuses, safe, [](int retry) -> duration { return (retry + 1) * 700ms; }};
  STATIC_REQUIRE(policy.has<role::backoff>);
  STATIC_REQUIRE(behaviour_of(policy).waits.are({1s, 1400ms}));
  constexpr retry_policy in_seconds{statuses, safe, [](const int&) noexcept { return 1.25s; }};
  STATIC_REQUIRE(behaviour_of(in_seconds).waits.are({1250ms, 1250ms}));
}

TEST_CASE("event handlers are any number, told in the order written, and replaced at once") {
  std::string told;
  const auto handler = [&told](char name) {
    return reprise::on_event([&told, name](const reprise::event&) { told += name; });
  };
  const retry_policy policy{statuses, safe, handler('a'), handler('b'), reprise::attempt_budget{.maximum = 1}};
  CHECK(behaviour_of(policy).attempts == 1);
  CHECK(told == "ab");
  told.clear();
  CHECK(behaviour_of(policy.with(handler('c'))).attempts == 1);
  CHECK(told == "c");
}

// The list of the aggregates that users write. Under -Wextra -Werror a member without a default would not compile here.
TEST_CASE("every public aggregate can be made from one member by name, the others keep their defaults") {
  STATIC_REQUIRE(verdict{.kind = outcome::success}.code == 0);
  STATIC_REQUIRE(verdict{.label = "shape"}.kind == outcome::permanent);
  STATIC_REQUIRE(verdict{.code = 7}.label.text().empty());
  STATIC_REQUIRE(!verdict{.retry_after = 1s}.not_applied);
  STATIC_REQUIRE(!verdict{.not_applied = true}.retry_after.has_value());
  STATIC_REQUIRE(reprise::attempt{.number = 2}.maximum == 1);
  STATIC_REQUIRE(reprise::attempt{.timeout = 1s}.number == 1);
  STATIC_REQUIRE(reprise::action<time_point>{.wait = 1s}.kind == reprise::step::stop);
  STATIC_REQUIRE(reprise::wait_range{.longest = 1s}.shortest == 0s);
  STATIC_REQUIRE(reprise::event{.attempt = 1}.kind == reprise::event_kind::end);
  STATIC_REQUIRE(reprise::attempt_record{.number = 1}.message.empty());
  STATIC_REQUIRE(reprise::bill{.attempts = 1}.total == 0s);
  STATIC_REQUIRE(reprise::wait_range_list<1>{.ranges = {}}[0] == reprise::wait_range{});
  STATIC_REQUIRE(reprise::exponential_backoff{.base = 1s}.factor == 2.0);
  STATIC_REQUIRE(reprise::exponential_backoff{.factor = 3.0}.cap == 4s);
  STATIC_REQUIRE(reprise::constant_backoff{.delay = 1s}.cap == reprise::unlimited);
  STATIC_REQUIRE(reprise::linear_backoff{.step = 1s}.cap == 4s);
  STATIC_REQUIRE(reprise::fibonacci_backoff{.base = 1s}.cap == 4s);
  STATIC_REQUIRE(reprise::decorrelated_backoff{.base = 1s}.cap == 4s);
  STATIC_REQUIRE(reprise::decorrelated_backoff::call_state{.previous = 1s}.previous == 1s);
  STATIC_REQUIRE(reprise::chosen_backoff{.kind = reprise::backoff_kind::linear}.base == 500ms);
  STATIC_REQUIRE(reprise::chosen_jitter{.kind = reprise::jitter_kind::added}.longest == 100ms);
  STATIC_REQUIRE(reprise::proportional_jitter{.fraction = 0.5}.fraction == 0.5);
  STATIC_REQUIRE(reprise::added_jitter{.longest = 1s}.longest == 1s);
  STATIC_REQUIRE(reprise::attempt_budget{.maximum = 1}.maximum == 1);
  STATIC_REQUIRE(reprise::time_limit{.total = 1s}.total == 1s);
  STATIC_REQUIRE(reprise::attempt_timeout{.longest = 1s}.longest == 1s);
  STATIC_REQUIRE(reprise::divided_timeout{.longest = 1s}.shortest == 0s);
  STATIC_REQUIRE(reprise::divided_timeout{.shortest = 1s}.longest == reprise::unlimited);
  STATIC_REQUIRE(reprise::wait_limit{.total = 1s}.total == 1s);
  STATIC_REQUIRE(reprise::retry_after_limit{.longest = 1s}.beyond == reprise::too_long::stop);
  STATIC_REQUIRE(reprise::retry_after_limit{.spread = 1s}.longest == reprise::unlimited);
  STATIC_REQUIRE(reprise::http::operation{.method = "GET"}.replay_safe());
  STATIC_REQUIRE(reprise::testing::response{.status = 200}.retry_after.empty());
}
