// SPDX-License-Identifier: MIT
#include <cmath>
#include <cstring>
#include <reprise/core.hpp>
#include <reprise/presets.hpp>
#include <reprise/testing/fake_clock.hpp>
#include <reprise/testing/script.hpp>
#include <string>

#include "catch.hpp"
#include "presets/golden.hpp"

using namespace std::chrono_literals;
namespace presets = reprise::presets;
using reprise::testing::fake_clock;
using reprise::testing::reply;
using reprise::testing::script;

namespace {

constexpr int int_max = std::numeric_limits<int>::max();
constexpr reprise::duration unlimited = reprise::unlimited;

/// The policy for calls of which every attempt fails, with room for as many waits as a golden vector has.
template <class Policy> constexpr auto always_failing(const Policy& preset) {
  return preset.with(reprise::retry_when([](int) { return true; }), reprise::idempotent{},
                     reprise::attempt_budget{.maximum = 11}, reprise::no_time_limit{},
                     reprise::retry_after_limit{.longest = 0s});
}

/// What a preset waits when every draw gives the same fraction.
template <class Policy> constexpr auto waits_of(const Policy& preset, double fraction) {
  fake_clock time;
  time.fractions({fraction});
  const auto result = reprise::execute(always_failing(preset), [] { return 0; }, time);
  if (result.attempts() != 11) reprise::detail::raise<std::logic_error>("a call ended early");
  return time.waits();
}

/// Compares the preset with all of its vectors in a list.
template <class Policy, std::size_t Count>
void agrees(const char* name, const Policy& preset, const golden::sequence (&list)[Count], reprise::duration within) {
  int compared = 0;
  for (const golden::sequence& sequence : list) {
    if (std::strcmp(sequence.name, name) != 0) continue;
    const auto waits = waits_of(preset, sequence.fraction);
    for (int retry = 0; retry < sequence.count; ++retry) {
      const reprise::duration expected(sequence.waits[retry]);
      const reprise::duration wait = waits[static_cast<std::size_t>(retry)];
      CAPTURE(std::string(name), sequence.fraction, retry, expected.count(), wait.count());
      CHECK(wait - expected <= within);
      CHECK(expected - wait <= within);
    }
    ++compared;
  }
  CHECK(compared > 0);
}

/// Within the rounding of one wait to a nanosecond.
template <class Policy> void agrees(const char* name, const Policy& preset) {
  agrees(name, preset, golden::computed, 1ns);
}

template <class Part> std::string refusal(const Part& part) {
  try {
    reprise::retry_policy{part};
  } catch (const std::invalid_argument& refused) {
    return refused.what();
  }
  return "nothing was refused";
}

/// The longest wait of a part on the way of its longest waits, at this retry.
template <class Part> constexpr reprise::wait_range range_at(const Part& part, int retry) {
  return part.range(retry, typename Part::call_state{});
}

template <class Part> constexpr bool in_order(const Part& part) {
  for (const int retry : {0, 1, 2, 30, 62, 63, 64, 1000, int_max - 1, int_max}) {
    const reprise::wait_range range = range_at(part, retry);
    if (range.shortest < 0ns || range.longest < range.shortest) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("a preset waits what its original's formula gives for the same draws") {
  agrees("aws_standard", presets::aws_standard);
  agrees("aws_standard_throttled", presets::aws_standard_throttled);
  agrees("aws_standard_dynamodb", presets::aws_standard_dynamodb);
  agrees("aws_standard_legacy", presets::aws_standard_legacy);
  agrees("grpc", presets::grpc);
  agrees("grpc_full_jitter", presets::grpc_full_jitter);
  agrees("stainless", presets::stainless);
  agrees("google_cloud_cpp", presets::google_cloud_cpp);
  agrees("urllib3", presets::urllib3);
  agrees("urllib3_200ms", presets::urllib3.with(presets::urllib3_backoff{.backoff_factor = 200ms}));
  agrees("envoy", presets::envoy);
  agrees("finagle", presets::finagle, golden::computed, 4ns);  // three times a rounded wait, and again
  agrees("finagle_exponential", presets::finagle.with(presets::finagle_exponential{}));
  agrees("tower", presets::tower);
  agrees("cenkalti", presets::cenkalti, golden::computed, 2ns);  // powers of 1.5 are rounded down
  agrees("curl_retry", presets::curl_retry);
}

TEST_CASE("a preset that clamps what it drew gives the cap itself for every draw above it") {
  agrees("azure", presets::azure);
  agrees("urllib3_jitter",
         presets::urllib3.with(presets::urllib3_backoff{.backoff_factor = 1s, .backoff_jitter = 10s}));
  agrees("finagle_equal", presets::finagle.with(presets::finagle_equal{}));
  agrees("tower_1s", presets::tower.with(presets::tower_backoff{.most = 1s}));
}

TEST_CASE("Polly's waits follow its formula, which is not linear in the draw") { agrees("polly", presets::polly); }

TEST_CASE("a capped wait of Polly's does not change the ones after it") {
  agrees("polly_30s", presets::polly.with(presets::polly_backoff{.max_delay = 30s}));
}

TEST_CASE("a preset's sequence is a constant expression") {
  STATIC_REQUIRE(waits_of(presets::curl_retry, 0.5)[4] == 16s);
  STATIC_REQUIRE(waits_of(presets::finagle, 0.5)[6] == 170ms);
  STATIC_REQUIRE(waits_of(presets::polly, 0.0)[0] == 0s);
}

TEST_CASE("published vectors agree") {
  agrees("polly_1s", presets::polly.with(presets::polly_backoff{.delay = 1s}), golden::published, 501ns);
  agrees("finagle", presets::finagle, golden::published, 0ns);
  agrees("cenkalti", presets::cenkalti, golden::published, 0ns);
  agrees("urllib3_200ms", presets::urllib3.with(presets::urllib3_backoff{.backoff_factor = 200ms}), golden::published,
         0ns);
  agrees("aws_decorrelated", reprise::retry_policy{reprise::decorrelated_backoff{.base = 5ms, .cap = 2s}},
         golden::published, 0ns);
  agrees("aws_expo", reprise::retry_policy{reprise::exponential_backoff{.base = 10ms, .cap = 2s}, reprise::no_jitter{}},
         golden::published, 0ns);
}

TEST_CASE("Polly's constant and linear jitter are shipped parts") {
  constexpr reprise::retry_policy constant{reprise::constant_backoff{.delay = 1s},
                                           reprise::proportional_jitter{.fraction = 0.25}};
  STATIC_REQUIRE(waits_of(constant, 0.0)[0] == 750ms);
  STATIC_REQUIRE(waits_of(constant, 0.4)[0] == 950ms);
  STATIC_REQUIRE(waits_of(constant, 0.6)[0] == 1050ms);
  STATIC_REQUIRE(waits_of(constant, 1.0)[0] == 1250ms);

  constexpr reprise::retry_policy linear{reprise::linear_backoff{.step = 1s},
                                         reprise::proportional_jitter{.fraction = 0.25}};
  STATIC_REQUIRE(waits_of(linear, 0.0)[2] == 2250ms);
  STATIC_REQUIRE(waits_of(linear, 0.4)[2] == 2850ms);
  STATIC_REQUIRE(waits_of(linear, 0.5)[2] == 3s);
  STATIC_REQUIRE(waits_of(linear, 0.6)[2] == 3150ms);
  STATIC_REQUIRE(waits_of(linear, 1.0)[2] == 3750ms);
}

TEST_CASE("backon's exponential backoff is a shipped part") {
  constexpr reprise::exponential_backoff doubling{.base = 1s, .cap = 60s};
  STATIC_REQUIRE((doubling(0) == 1s && doubling(1) == 2s && doubling(2) == 4s));
  constexpr reprise::exponential_backoff gentle{.base = 1s, .cap = 60s, .factor = 1.5};
  STATIC_REQUIRE((gentle(0) == 1s && gentle(1) == 1500ms && gentle(2) == 2250ms));
  // Its 1e10 s are 317 years, which is unlimited here.
  constexpr reprise::exponential_backoff steep{.base = 1s, .cap = reprise::unlimited, .factor = 1e10};
  STATIC_REQUIRE((steep(0) == 1s && steep(1) == unlimited && steep(2) == unlimited));
}

TEST_CASE("gRPC and cenkalti pass their own maximum, as their originals do") {
  STATIC_REQUIRE(presets::grpc_backoff{}.range(0, {.since_pushback = 9}) == reprise::wait_range{800ms, 1200ms});
  STATIC_REQUIRE(range_at(presets::cenkalti_backoff{}, 20) == reprise::wait_range{30s, 90s});
  STATIC_REQUIRE(waits_of(presets::grpc, 1.0)[9] == 1200ms);
  STATIC_REQUIRE(waits_of(presets::cenkalti, 1.0)[14 - 5] > 28s);
}

TEST_CASE("gRPC begins its backoff again after a pushback") {
  constexpr auto policy =
      presets::grpc.with(reprise::http::retry_statuses{}, reprise::idempotent{}, reprise::attempt_budget{.maximum = 7});
  fake_clock time;  // every draw is in the middle
  script send{time, reply(503), reply(503), reply(503).retry_after("7"), reply(503), reply(503), reply(200)};
  CHECK(reprise::execute(policy, send, time).ok());
  CHECK(time.waits().are({100ms, 200ms, 7s, 100ms, 200ms}));
}

TEST_CASE("the older gRPC goes on counting after a pushback") {
  constexpr auto policy = presets::grpc_full_jitter.with(reprise::http::retry_statuses{}, reprise::idempotent{});
  fake_clock time;
  time.fractions({1.0});
  script send{time, reply(503), reply(503).retry_after("7"), reply(503), reply(200)};
  CHECK(reprise::execute(policy, send, time).ok());
  CHECK(time.waits().are({100ms, 7s, 400ms}));
}

TEST_CASE("a preset is a fragment: what the call must say is joined to it") {
  constexpr auto policy = presets::aws_standard.with(reprise::http::retry_statuses{500, 502, 503, 504},
                                                     reprise::http::operation{.method = "GET"});
  fake_clock time;
  script send{time, reply(500)};
  const auto result = reprise::execute(policy, send, time);
  CHECK(result.reason() == reprise::stop_reason::attempts_exhausted);
  CHECK(send.calls() == 3);
  CHECK(time.waits().are({25ms, 50ms}));
}

TEST_CASE("parts of the caller's replace those of a preset") {
  constexpr auto policy = presets::curl_retry.with(reprise::idempotent{}, reprise::attempt_budget{.maximum = 2},
                                                   reprise::time_limit{.total = 10s});
  STATIC_REQUIRE(reprise::worst_case(policy).attempts == 2);
  STATIC_REQUIRE(reprise::worst_case(policy).total == 10s);
}

TEST_CASE("the statuses that a system fixes are its own") {
  using reprise::outcome;
  const auto kind = [](const auto& preset, int status) {
    return preset.judge(reprise::testing::response{status}).kind;
  };
  for (const int status : {408, 429, 500, 502, 503, 504})
    CHECK(kind(presets::curl_retry, status) == outcome::transient);
  for (const int status : {404, 409, 501, 505}) CHECK(kind(presets::curl_retry, status) == outcome::permanent);

  for (const int status : {408, 500, 502, 503, 504}) CHECK(kind(presets::azure, status) == outcome::transient);
  for (const int status : {404, 429, 501}) CHECK(kind(presets::azure, status) == outcome::permanent);

  for (const int status : {408, 409, 429, 500, 501, 529, 599})
    CHECK(kind(presets::stainless, status) == outcome::transient);
  for (const int status : {400, 404, 422, 499}) CHECK(kind(presets::stainless, status) == outcome::permanent);
  CHECK(kind(presets::stainless, 200) == outcome::success);
}

TEST_CASE("Stainless honours a hint up to a minute, in fractions too, and ignores a longer one") {
  constexpr auto policy = presets::stainless.with(reprise::idempotent{}, reprise::attempt_budget{.maximum = 4});
  fake_clock time;
  time.fractions({1.0});
  script send{time, reply(429).retry_after("60"), reply(429).retry_after("61"), reply(529).retry_after("2.5"),
              reply(200)};
  CHECK(reprise::execute(policy, send, time).ok());
  CHECK(time.waits().are({60s, 1s, 2500ms}));
}

TEST_CASE("AWS's hint is cut to five seconds, urllib3's to six hours, curl's not at all") {
  const auto first_wait = [](const auto& preset, const char* hint) {
    fake_clock time;
    script send{time, reply(503).retry_after(hint), reply(200)};
    CHECK(reprise::execute(preset.with(reprise::http::retry_statuses{}, reprise::idempotent{}), send, time).ok());
    return time.waits()[0];
  };
  CHECK(first_wait(presets::aws_standard, "9") == 5s);
  CHECK(first_wait(presets::aws_standard_legacy, "9") == 500ms);
  CHECK(first_wait(presets::urllib3, "86400") == 6h);
  CHECK(first_wait(presets::curl_retry, "86400") == 24h);
  CHECK(first_wait(presets::polly, "9") < 9s);
}

TEST_CASE("the bill of every preset is known to the compiler") {
  using reprise::worst_case;
  STATIC_REQUIRE(worst_case(presets::aws_standard).own_waits == 150ms);
  STATIC_REQUIRE(worst_case(presets::aws_standard_throttled).own_waits == 3s);
  STATIC_REQUIRE(worst_case(presets::aws_standard_dynamodb).own_waits == 175ms);
  STATIC_REQUIRE(worst_case(presets::aws_standard_legacy).own_waits == 3s);
  STATIC_REQUIRE(worst_case(presets::grpc).own_waits == 840ms);
  STATIC_REQUIRE(worst_case(presets::grpc_full_jitter).own_waits == 700ms);
  STATIC_REQUIRE(worst_case(presets::stainless) == reprise::bill{3, 1500ms, 120s, 32min});
  STATIC_REQUIRE(worst_case(presets::azure) == reprise::bill{4, 14560ms, unlimited, unlimited});
  STATIC_REQUIRE(worst_case(presets::google_cloud_cpp) == reprise::bill{int_max, unlimited, 15min, 15min});
  STATIC_REQUIRE(worst_case(presets::urllib3) == reprise::bill{11, 0s, 0s, unlimited});
  STATIC_REQUIRE(worst_case(presets::envoy) == reprise::bill{2, 25ms, 25ms, 15s});
  STATIC_REQUIRE(worst_case(presets::finagle) == reprise::bill{3, 20ms, 20ms, unlimited});
  STATIC_REQUIRE(worst_case(presets::tower) == reprise::bill{3, 298500us, 298500us, unlimited});
  STATIC_REQUIRE(worst_case(presets::cenkalti) == reprise::bill{int_max, unlimited, 15min, 15min});
  STATIC_REQUIRE(worst_case(presets::curl_retry) == reprise::bill{4, 7s, unlimited, unlimited});
}

TEST_CASE("no draws make Polly's waits together longer than its bill") {
  // f(3) / 1.4 * 2 s, whatever came before: the sum telescopes.
  STATIC_REQUIRE(reprise::worst_case(presets::polly).own_waits > 11406ms);
  STATIC_REQUIRE(reprise::worst_case(presets::polly).own_waits < 11407ms);
  const auto policy = presets::polly.with(reprise::retry_when([](int) { return true; }), reprise::idempotent{});
  for (const double first : {0.0, 0.5, 1.0})
    for (const double second : {0.0, 0.5, 1.0})
      for (const double third : {0.0, 0.5, 1.0}) {
        fake_clock time;
        time.fractions({first, second, third});
        const auto result = reprise::execute(policy, [] { return 0; }, time);
        CAPTURE(first, second, third);
        CHECK(result.total_wait() <= reprise::worst_case(presets::polly).own_waits + 2ns);
        CHECK(result.attempts() == 4);
      }
}

TEST_CASE("a bill of a million attempts is found without a long loop") {
  constexpr reprise::attempt_budget many{.maximum = 1'000'001};
  STATIC_REQUIRE(reprise::worst_case(presets::grpc.with(many)).own_waits == 840ms + 960ms + 999'996 * 1200ms);
  STATIC_REQUIRE(reprise::worst_case(presets::azure.with(many)).own_waits ==
                 2080ms + 4160ms + 8320ms + 16640ms + 33280ms + 999'995 * 60s);
  STATIC_REQUIRE(reprise::worst_case(presets::finagle.with(many)).own_waits ==
                 5ms + 15ms + 45ms + 135ms + 999'996 * 200ms);
  STATIC_REQUIRE(reprise::worst_case(presets::urllib3.with(many)).own_waits == 0s);
  STATIC_REQUIRE(reprise::worst_case(presets::tower.with(many)).own_waits == unlimited);
  STATIC_REQUIRE(reprise::worst_case(presets::polly.with(many)).own_waits == unlimited);
}

TEST_CASE("no number of retries overflows a preset's part or turns its range round") {
  STATIC_REQUIRE(in_order(presets::grpc_backoff{}));
  STATIC_REQUIRE(in_order(presets::azure_backoff{}));
  STATIC_REQUIRE(in_order(presets::azure_backoff{.retry_delay = std::chrono::hours::max(), .max_retry_delay = 1s}));
  STATIC_REQUIRE(in_order(presets::google_cloud_backoff{}));
  STATIC_REQUIRE(in_order(presets::google_cloud_backoff{.initial_delay = 9s, .maximum_delay = 2s}));
  STATIC_REQUIRE(in_order(presets::urllib3_backoff{.backoff_factor = 1s, .backoff_jitter = std::chrono::hours::max()}));
  STATIC_REQUIRE(in_order(presets::polly_backoff{}));
  STATIC_REQUIRE(in_order(presets::polly_backoff{.delay = std::chrono::hours::max()}));
  STATIC_REQUIRE(in_order(presets::finagle_exponential{}));
  STATIC_REQUIRE(in_order(presets::finagle_equal{}));
  STATIC_REQUIRE(in_order(presets::tower_backoff{.jitter = 100.0}));
  STATIC_REQUIRE(in_order(presets::cenkalti_backoff{}));
  STATIC_REQUIRE(presets::grpc_backoff{}.range(0, {.since_pushback = int_max}).longest == 1200ms);
  STATIC_REQUIRE(range_at(presets::azure_backoff{}, int_max).shortest == 60s);
  STATIC_REQUIRE(range_at(presets::google_cloud_backoff{}, int_max) == reprise::wait_range{150s, 300s});
  STATIC_REQUIRE(range_at(presets::polly_backoff{}, int_max).longest == unlimited);
  STATIC_REQUIRE(range_at(presets::polly_backoff{.max_delay = 1min}, int_max).longest == 1min);
  STATIC_REQUIRE(range_at(presets::polly_backoff{.delay = 0s}, int_max).longest == 0s);
  STATIC_REQUIRE(range_at(presets::tower_backoff{}, int_max).longest == unlimited);
}

TEST_CASE("a short first draw keeps Finagle's exponential waits short") {
  constexpr presets::finagle_exponential chained{};
  presets::finagle_exponential::call_state state{};
  chained.advance(state, 5ms);
  CHECK(chained.range(1, state) == reprise::wait_range{0s, 10ms});
  chained.advance(state, 1ms);
  CHECK(chained.range(2, state) == reprise::wait_range{0s, 4ms});
  chained.advance(state, 150ms);
  CHECK(chained.range(3, state) == reprise::wait_range{200ms, 200ms});
  STATIC_REQUIRE(range_at(presets::finagle_exponential{.start = 200ms}, 0) == reprise::wait_range{200ms, 200ms});
}

TEST_CASE("a bad value in a preset's part is refused by name") {
  CHECK(refusal(presets::grpc_backoff{.initial_backoff = -1s}) ==
        "reprise::presets::grpc_backoff: initial_backoff must be zero or longer, is -1 s");
  CHECK(refusal(presets::grpc_backoff{.max_backoff = -1s}) ==
        "reprise::presets::grpc_backoff: max_backoff must be zero or longer, is -1 s");
  CHECK(refusal(presets::grpc_backoff{.multiplier = 0.5}) ==
        "reprise::presets::grpc_backoff: multiplier must be a number from 1, is 0.5");
  CHECK(refusal(presets::azure_backoff{.retry_delay = -1s}) ==
        "reprise::presets::azure_backoff: retry_delay must be zero or longer, is -1 s");
  CHECK(refusal(presets::azure_backoff{.max_retry_delay = -1s}) ==
        "reprise::presets::azure_backoff: max_retry_delay must be zero or longer, is -1 s");
  CHECK(refusal(presets::google_cloud_backoff{.initial_delay = -1s}) ==
        "reprise::presets::google_cloud_backoff: initial_delay must be zero or longer, is -1 s");
  CHECK(refusal(presets::google_cloud_backoff{.maximum_delay = -1s}) ==
        "reprise::presets::google_cloud_backoff: maximum_delay must be zero or longer, is -1 s");
  CHECK(refusal(presets::google_cloud_backoff{.scaling = 1.0}) ==
        "reprise::presets::google_cloud_backoff: scaling must be a number above 1, is 1");
  CHECK(refusal(presets::urllib3_backoff{.backoff_factor = -1s}) ==
        "reprise::presets::urllib3_backoff: backoff_factor must be zero or longer, is -1 s");
  CHECK(refusal(presets::urllib3_backoff{.backoff_max = -1s}) ==
        "reprise::presets::urllib3_backoff: backoff_max must be zero or longer, is -1 s");
  CHECK(refusal(presets::urllib3_backoff{.backoff_jitter = -1s}) ==
        "reprise::presets::urllib3_backoff: backoff_jitter must be zero or longer, is -1 s");
  CHECK(refusal(presets::polly_backoff{.delay = -1s}) ==
        "reprise::presets::polly_backoff: delay must be zero or longer, is -1 s");
  CHECK(refusal(presets::polly_backoff{.max_delay = -1s}) ==
        "reprise::presets::polly_backoff: max_delay must be zero or longer, is -1 s");
  CHECK(refusal(presets::finagle_decorrelated{.start = 0s}) ==
        "reprise::presets::finagle_decorrelated: start must be longer than zero, is 0 s");
  CHECK(refusal(presets::finagle_exponential{.maximum = 4ms}) ==
        "reprise::presets::finagle_exponential: start must be at most maximum, is 0.005 s");
  CHECK(refusal(presets::finagle_equal{.start = 1s}) ==
        "reprise::presets::finagle_equal: start must be at most maximum, is 1 s");
  CHECK(refusal(presets::tower_backoff{.least = -1s}) ==
        "reprise::presets::tower_backoff: least must be zero or longer, is -1 s");
  CHECK(refusal(presets::tower_backoff{.most = -1s}) ==
        "reprise::presets::tower_backoff: most must be zero or longer, is -1 s");
  CHECK(refusal(presets::tower_backoff{.jitter = std::nan("")}).find("jitter must be in [0,100], is") !=
        std::string::npos);
  CHECK(refusal(presets::cenkalti_backoff{.initial_interval = -1s}) ==
        "reprise::presets::cenkalti_backoff: initial_interval must be zero or longer, is -1 s");
  CHECK(refusal(presets::cenkalti_backoff{.max_interval = -1s}) ==
        "reprise::presets::cenkalti_backoff: max_interval must be zero or longer, is -1 s");
  CHECK(refusal(presets::cenkalti_backoff{.multiplier = 0.99}) ==
        "reprise::presets::cenkalti_backoff: multiplier must be a number from 1, is 0.99");
  CHECK(refusal(presets::cenkalti_backoff{.randomization_factor = 1.5}) ==
        "reprise::presets::cenkalti_backoff: randomization_factor must be in [0,1], is 1.5");
}

TEST_CASE("the constant-expression functions behind Polly's formula agree with cmath") {
  using reprise::detail::power_of_two;
  using reprise::detail::square_root;
  using reprise::detail::tanh_of;
  STATIC_REQUIRE(square_root(0.0) == 0.0);
  STATIC_REQUIRE(square_root(16.0) == 4.0);
  STATIC_REQUIRE(power_of_two(10.0) == 1024.0);
  STATIC_REQUIRE(tanh_of(25.0) == 1.0);
  for (double x = 0.0; x < 101.0; x += 0.13) {
    CAPTURE(x);
    CHECK(std::abs(square_root(x) - std::sqrt(x)) <= 1e-9 * std::sqrt(x));
    CHECK(std::abs(power_of_two(x) - std::exp2(x)) <= 1e-9 * std::exp2(x));
    CHECK(std::abs(tanh_of(x) - std::tanh(x)) <= 1e-9);
  }
  for (double x = 1e-300; x < 1.0; x *= 7.0) {
    CAPTURE(x);
    CHECK(std::abs(square_root(x) - std::sqrt(x)) <= 1e-9 * std::sqrt(x));
    CHECK(std::abs(tanh_of(x) - std::tanh(x)) <= 1e-9);
  }
}
