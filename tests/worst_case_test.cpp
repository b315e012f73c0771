// SPDX-License-Identifier: MIT
#include <reprise/core.hpp>
#include <reprise/testing/fake_clock.hpp>

#include "catch.hpp"

using namespace std::chrono_literals;

namespace {

using reprise::bill;
using reprise::duration;
using reprise::unlimited;
using reprise::wait_range;
using reprise::worst_case;

constexpr int int_max = std::numeric_limits<int>::max();

/// No hints, no limit in time: what is left is what the parts at hand add up to.
template <class... Parts> constexpr auto plain(Parts... parts) {
  return reprise::retry_policy{reprise::retry_codes{1}, reprise::idempotent{}, reprise::no_time_limit{}, parts...};
}
/// The same with hints.
template <class... Parts> constexpr auto hinted(Parts... parts) {
  return reprise::retry_policy{reprise::http::retry_statuses{}, reprise::idempotent{}, reprise::no_time_limit{},
                               reprise::attempt_timeout{.longest = 1s}, parts...};
}

template <class... Parts> constexpr duration own_waits_of(Parts... parts) {
  return worst_case(plain(parts...)).own_waits;
}

template <std::size_t Count>
constexpr bool are(const reprise::wait_range_list<Count>& list, const wait_range (&expected)[Count]) {
  for (std::size_t retry = 0; retry < Count; ++retry)
    if (list[retry] != expected[retry]) return false;
  return true;
}

/// A part of a user's own: knows when it has settled.
struct stairs {
  static constexpr auto part_role = reprise::role::backoff;
  constexpr duration operator()(int retry) const { return retry < 2 ? 1s : 3s; }
  constexpr bool settled(int retry) const { return retry >= 2; }
};

}  // namespace

TEST_CASE("the bill of a policy that says nothing: three attempts, 5 s in all") {
  constexpr reprise::retry_policy policy{reprise::http::retry_statuses{}, reprise::idempotent{}};
  STATIC_REQUIRE(worst_case(policy) == bill{.attempts = 3, .own_waits = 1500ms, .waits = 5s, .total = 5s});
}

TEST_CASE("without hints the waits are the own ones") {
  constexpr reprise::retry_policy policy{reprise::retry_codes{1}, reprise::idempotent{}};
  STATIC_REQUIRE(worst_case(policy) == bill{.attempts = 3, .own_waits = 1500ms, .waits = 1500ms, .total = 5s});
}

TEST_CASE("the total is attempts times their timeout, and the waits") {
  constexpr auto policy = plain(reprise::attempt_timeout{.longest = 1s});
  STATIC_REQUIRE(worst_case(policy) == bill{.attempts = 3, .own_waits = 1500ms, .waits = 1500ms, .total = 4500ms});
}

TEST_CASE("a service can state its bill at compile time") {
  constexpr auto policy = plain(reprise::attempt_timeout{.longest = 200ms}, reprise::exponential_backoff{.base = 50ms});
  STATIC_REQUIRE(worst_case(policy).total == 750ms);
  STATIC_REQUIRE(worst_case(policy).total <= 800ms);
}

TEST_CASE("one attempt has no waits") {
  constexpr auto policy = plain(reprise::attempt_budget{.maximum = 1}, reprise::attempt_timeout{.longest = 2s});
  STATIC_REQUIRE(worst_case(policy) == bill{.attempts = 1, .own_waits = 0s, .waits = 0s, .total = 2s});
}

TEST_CASE("what nothing limits is unbounded") {
  STATIC_REQUIRE(worst_case(plain()) == bill{.attempts = 3, .own_waits = 1500ms, .waits = 1500ms, .total = unlimited});
  STATIC_REQUIRE(worst_case(reprise::retry_policy{reprise::time_limit{.total = unlimited}}).total == unlimited);
}

TEST_CASE("a time limit bounds waits and total, and says nothing of the own waits") {
  constexpr auto policy = plain(reprise::attempt_timeout{.longest = 1s}).with(reprise::time_limit{.total = 1s});
  STATIC_REQUIRE(worst_case(policy) == bill{.attempts = 3, .own_waits = 1500ms, .waits = 1s, .total = 1s});
}

TEST_CASE("a time limit bounds attempts that have no timeout of their own") {
  constexpr auto policy = plain(reprise::attempt_budget{.maximum = 1}).with(reprise::time_limit{.total = 700ms});
  STATIC_REQUIRE(worst_case(policy).total == 700ms);
}

TEST_CASE("a wait limit bounds the waits") {
  constexpr auto policy = plain(reprise::attempt_timeout{.longest = 1s}, reprise::wait_limit{.total = 1s});
  STATIC_REQUIRE(worst_case(policy) == bill{.attempts = 3, .own_waits = 1500ms, .waits = 1s, .total = 4s});
  STATIC_REQUIRE(worst_case(plain(reprise::wait_limit{.total = 0s})).waits == 0s);
}

TEST_CASE("a deadline, being a point in time, changes no bill") {
  constexpr reprise::deadline end{std::chrono::steady_clock::time_point{} + 1s};
  constexpr reprise::retry_policy policy{reprise::retry_codes{1}, reprise::idempotent{}};
  STATIC_REQUIRE(worst_case(policy.with(end)) == worst_case(policy));
}

TEST_CASE("each kind of backoff is billed by its longest waits") {
  constexpr reprise::attempt_budget five{.maximum = 5};
  STATIC_REQUIRE(own_waits_of(five) == 500ms + 1s + 2s + 4s);
  STATIC_REQUIRE(own_waits_of(five, reprise::exponential_backoff{.base = 100ms, .factor = 3.0}) == 4s);
  STATIC_REQUIRE(own_waits_of(five, reprise::constant_backoff{.delay = 2s}) == 8s);
  STATIC_REQUIRE(own_waits_of(five, reprise::constant_backoff{.delay = 2s, .cap = 1s}) == 4s);
  STATIC_REQUIRE(own_waits_of(five, reprise::linear_backoff{.step = 1s, .cap = 3s}) == 9s);
  STATIC_REQUIRE(own_waits_of(five, reprise::fibonacci_backoff{.base = 1s}) == 7s);
  STATIC_REQUIRE(own_waits_of(five, reprise::listed_backoff{1s, 2s}) == 7s);
  STATIC_REQUIRE(own_waits_of(five, reprise::decorrelated_backoff{.base = 100ms, .cap = 2s}) == 300ms + 900ms + 4s);
  STATIC_REQUIRE(own_waits_of(five, [](int retry) -> duration { return (retry + 1) * 100ms; }) == 1s);
  STATIC_REQUIRE(own_waits_of(five, reprise::exponential_backoff{.base = 0s}) == 0s);
}

TEST_CASE("each kind of jitter is billed by its longest waits") {
  constexpr reprise::constant_backoff delay{.delay = 1s};
  STATIC_REQUIRE(own_waits_of(delay, reprise::no_jitter{}) == 2s);
  STATIC_REQUIRE(own_waits_of(delay, reprise::full_jitter{}) == 2s);
  STATIC_REQUIRE(own_waits_of(delay, reprise::equal_jitter{}) == 2s);
  STATIC_REQUIRE(own_waits_of(delay, reprise::proportional_jitter{.fraction = 0.5}) == 3s);
  STATIC_REQUIRE(own_waits_of(delay, reprise::added_jitter{.longest = 250ms}) == 2500ms);
}

TEST_CASE("a cap bounds the spread delay in the bill too") {
  constexpr reprise::exponential_backoff capped{.base = 1s, .cap = 1s};
  STATIC_REQUIRE(own_waits_of(capped, reprise::added_jitter{.longest = 5s}) == 2s);
  STATIC_REQUIRE(own_waits_of(capped, reprise::proportional_jitter{.fraction = 1.0}) == 2s);
}

TEST_CASE("a hint counts up to its limit, whatever becomes of a longer one") {
  constexpr auto waits = [](reprise::too_long beyond, reprise::time_span longest) {
    return worst_case(hinted(reprise::retry_after_limit{.longest = longest, .beyond = beyond}));
  };
  constexpr bill two_seconds{.attempts = 3, .own_waits = 1500ms, .waits = 4s, .total = 7s};
  STATIC_REQUIRE(waits(reprise::too_long::stop, 2s) == two_seconds);
  STATIC_REQUIRE(waits(reprise::too_long::clamp, 2s) == two_seconds);
  STATIC_REQUIRE(waits(reprise::too_long::ignore, 2s) == two_seconds);
  STATIC_REQUIRE(waits(reprise::too_long::stop, 700ms).waits == 700ms + 1s);
  STATIC_REQUIRE(waits(reprise::too_long::stop, 0s).waits == 1500ms);
  STATIC_REQUIRE(waits(reprise::too_long::stop, unlimited).waits == unlimited);
  STATIC_REQUIRE(waits(reprise::too_long::clamp, unlimited).total == unlimited);
}

TEST_CASE("the spread of a hint is billed whole") {
  constexpr reprise::retry_after_limit limit{.longest = 2s, .spread = 100ms};
  STATIC_REQUIRE(worst_case(hinted(limit)).waits == 4200ms);
  STATIC_REQUIRE(worst_case(hinted(reprise::retry_after_limit{.longest = 0s, .spread = 3s})).waits == 6s);
}

TEST_CASE("endless hints are bounded by a wait limit and by a time limit") {
  STATIC_REQUIRE(worst_case(hinted(reprise::wait_limit{.total = 9s})) ==
                 bill{.attempts = 3, .own_waits = 1500ms, .waits = 9s, .total = 12s});
  STATIC_REQUIRE(worst_case(hinted().with(reprise::time_limit{.total = 8s})) ==
                 bill{.attempts = 3, .own_waits = 1500ms, .waits = 8s, .total = 8s});
}

TEST_CASE("classifiers that cannot give hints are not billed for them") {
  constexpr auto policy = plain(reprise::retry_after_limit{.longest = 1h});
  STATIC_REQUIRE(worst_case(policy).waits == 1500ms);
}

TEST_CASE("a divided timeout is billed by its longest share") {
  constexpr reprise::attempt_budget two{.maximum = 2};
  constexpr auto policy = plain(two, reprise::divided_timeout{.longest = 3s}, reprise::constant_backoff{.delay = 1s});
  STATIC_REQUIRE(worst_case(policy).total == 7s);
  STATIC_REQUIRE(worst_case(policy.with(reprise::time_limit{.total = 4s})).total == 4s);
}

TEST_CASE("unlimited attempts are INT_MAX, and their waits are computed without a long loop") {
  constexpr bill endless = worst_case(plain(reprise::unlimited_attempts{}));
  STATIC_REQUIRE(endless.attempts == int_max);
  STATIC_REQUIRE(endless.own_waits == 3500ms + 4s * std::int64_t{int_max - 4});
  STATIC_REQUIRE(endless.total == unlimited);
  STATIC_REQUIRE(worst_case(plain(reprise::unlimited_attempts{}).with(reprise::time_limit{})).total == 5s);
  STATIC_REQUIRE(worst_case(plain(reprise::attempt_budget{.maximum = int_max})) == endless);
}

TEST_CASE("the waits of INT_MAX attempts saturate where they are longer than time itself") {
  constexpr reprise::unlimited_attempts all{};
  STATIC_REQUIRE(own_waits_of(all, reprise::constant_backoff{.delay = 1h}) == unlimited);
  STATIC_REQUIRE(own_waits_of(all, reprise::exponential_backoff{.cap = unlimited}) == unlimited);
  STATIC_REQUIRE(own_waits_of(all, reprise::constant_backoff{.delay = 0s}) == 0s);
  STATIC_REQUIRE(own_waits_of(all, reprise::exponential_backoff{.base = 0s}) == 0s);
  STATIC_REQUIRE(own_waits_of(all, reprise::constant_backoff{.delay = 1s}) == std::chrono::seconds(int_max - 1));
  STATIC_REQUIRE(own_waits_of(all, reprise::decorrelated_backoff{.base = 1s, .cap = 3s}) ==
                 3s * std::int64_t{int_max - 1});
  STATIC_REQUIRE(own_waits_of(all, stairs{}) == 2s + 3s * std::int64_t{int_max - 3});
}

TEST_CASE("a list of delays has an exact bill however many attempts there are") {
  CHECK(own_waits_of(reprise::attempt_budget{.maximum = 5000}, reprise::listed_backoff{3s, 1s}) == 3s + 4998s);
  CHECK(own_waits_of(reprise::unlimited_attempts{}, reprise::listed_backoff{1s}) == std::chrono::seconds(int_max - 1));
}

TEST_CASE("a backoff that takes thousands of retries to settle is billed with an upper bound") {
  constexpr int attempts = 20'001;
  const reprise::linear_backoff slow{.step = 1ms, .cap = 15s};
  duration exact = 0s;
  for (int retry = 0; retry < attempts - 1; ++retry) exact += slow(retry);
  const duration billed = own_waits_of(reprise::attempt_budget{.maximum = attempts}, slow);
  CHECK(billed >= exact);
  CHECK(billed <= 15s * std::int64_t{attempts});
}

TEST_CASE("a function is summed up to thousands of retries, and unbounded beyond") {
  const auto each = [](int) -> duration { return 1ms; };
  CHECK(own_waits_of(reprise::attempt_budget{.maximum = 4097}, each) == 4096ms);
  CHECK(own_waits_of(reprise::unlimited_attempts{}, each) == unlimited);
  CHECK(worst_case(plain(reprise::unlimited_attempts{}, each).with(reprise::time_limit{})).total == 5s);
}

TEST_CASE("the bills of nested layers: attempts multiply, 3 x 3 = 9") {
  constexpr auto inner = plain(reprise::attempt_timeout{.longest = 200ms}, reprise::constant_backoff{.delay = 100ms});
  constexpr auto outer = plain(reprise::constant_backoff{.delay = 1s});
  STATIC_REQUIRE(worst_case(inner).total == 800ms);
  STATIC_REQUIRE(worst_case(outer, inner) ==
                 bill{.attempts = 9, .own_waits = 2600ms, .waits = 2600ms, .total = 4400ms});
  STATIC_REQUIRE(worst_case(outer, worst_case(inner)) == worst_case(outer, inner));
}

TEST_CASE("the outer time limit bounds nested layers") {
  constexpr auto inner = plain(reprise::attempt_timeout{.longest = 200ms}, reprise::constant_backoff{.delay = 100ms});
  constexpr auto outer = plain(reprise::constant_backoff{.delay = 1s}).with(reprise::time_limit{.total = 2500ms});
  STATIC_REQUIRE(worst_case(outer, inner) ==
                 bill{.attempts = 9, .own_waits = 2600ms, .waits = 2500ms, .total = 2500ms});
}

TEST_CASE("three layers multiply, and so do more") {
  constexpr auto layer = plain(reprise::attempt_timeout{.longest = 1s}, reprise::constant_backoff{.delay = 0s});
  STATIC_REQUIRE(worst_case(layer, layer, layer).attempts == 27);
  STATIC_REQUIRE(worst_case(layer, layer, layer).total == 27s);
  STATIC_REQUIRE(worst_case(layer, layer, layer, layer).attempts == 81);
}

TEST_CASE("nested unlimited attempts saturate") {
  constexpr auto endless = plain(reprise::unlimited_attempts{});
  STATIC_REQUIRE(worst_case(endless, endless).attempts == int_max);
  STATIC_REQUIRE(worst_case(endless, endless, plain()).attempts == int_max);
  STATIC_REQUIRE(worst_case(endless, endless).own_waits == unlimited);
  STATIC_REQUIRE(worst_case(plain(reprise::attempt_budget{.maximum = 1}), endless).attempts == int_max);
}

TEST_CASE("the ranges of a policy that says nothing are full jitter under the default backoff") {
  constexpr reprise::retry_policy policy{reprise::idempotent{}};
  STATIC_REQUIRE(are(reprise::wait_ranges<5>(policy), {{0s, 500ms}, {0s, 1s}, {0s, 2s}, {0s, 4s}, {0s, 4s}}));
}

TEST_CASE("growing backoffs are spread by full jitter and given delays by none, unless another is given") {
  constexpr auto ranges = [](auto... parts) { return reprise::wait_ranges<2>(reprise::retry_policy{parts...}); };
  STATIC_REQUIRE(are(ranges(reprise::linear_backoff{}), {{0s, 500ms}, {0s, 1s}}));
  STATIC_REQUIRE(are(ranges(reprise::fibonacci_backoff{}), {{0s, 500ms}, {0s, 500ms}}));
  STATIC_REQUIRE(are(ranges(reprise::constant_backoff{.delay = 1s}), {{1s, 1s}, {1s, 1s}}));
  STATIC_REQUIRE(are(ranges(reprise::listed_backoff{1s, 2s}), {{1s, 1s}, {2s, 2s}}));
  STATIC_REQUIRE(are(ranges([](int retry) -> duration { return retry * 1s; }), {{0s, 0s}, {1s, 1s}}));
  STATIC_REQUIRE(are(ranges(reprise::linear_backoff{}, reprise::no_jitter{}), {{500ms, 500ms}, {1s, 1s}}));
  STATIC_REQUIRE(are(ranges(reprise::listed_backoff{1s, 2s}, reprise::full_jitter{}), {{0s, 1s}, {0s, 2s}}));
}

TEST_CASE("both ends of a spread delay are at most the cap") {
  constexpr auto ranges = [](auto jitter) {
    return reprise::wait_ranges<3>(reprise::retry_policy{reprise::exponential_backoff{.base = 1s, .cap = 3s}, jitter});
  };
  STATIC_REQUIRE(are(ranges(reprise::added_jitter{.longest = 500ms}), {{1s, 1500ms}, {2s, 2500ms}, {3s, 3s}}));
  STATIC_REQUIRE(are(ranges(reprise::proportional_jitter{.fraction = 0.5}), {{500ms, 1500ms}, {1s, 3s}, {1500ms, 3s}}));
}

TEST_CASE("the ranges of a decorrelated backoff are those after the longest waits") {
  constexpr reprise::retry_policy policy{reprise::decorrelated_backoff{}};
  STATIC_REQUIRE(are(reprise::wait_ranges<3>(policy), {{500ms, 1500ms}, {500ms, 4s}, {500ms, 4s}}));
}

TEST_CASE("a function that computes a negative or an endless delay gives a legal range") {
  constexpr auto negative = [](int) -> duration { return -1s; };
  constexpr auto endless = [](int) { return std::chrono::hours::max(); };
  STATIC_REQUIRE(are(reprise::wait_ranges<1>(reprise::retry_policy{negative}), {{0s, 0s}}));
  STATIC_REQUIRE(are(reprise::wait_ranges<1>(reprise::retry_policy{endless}), {{unlimited, unlimited}}));
}

TEST_CASE("a list of ranges can be walked") {
  constexpr auto sum = [] {
    duration longest = 0s;
    for (const wait_range& range : reprise::wait_ranges<3>(reprise::retry_policy{reprise::constant_backoff{}}))
      longest += range.longest;
    return longest;
  };
  STATIC_REQUIRE(sum() == 1500ms);
  STATIC_REQUIRE(reprise::wait_range_list<3>::size() == 3);
}

namespace {

struct grid_response {
  int status = 503;
  std::optional<duration> retry_after = {};
};

/// How one call of the grid ended.
struct cost {
  int attempts = 0;
  duration waits = 0s;
  duration total = 0s;
};

/// Makes a call whose every attempt fails after `share` of its timeout (an hour where it has none).
template <class Policy>
cost cost_of(const Policy& policy, std::optional<duration> hint, double fraction, double share) {
  reprise::testing::fake_clock time;
  time.fractions({fraction});
  const auto send = [&](const reprise::attempt& current) {
    const duration longest = current.timeout < 1h ? current.timeout : duration(1h);
    time.advance(reprise::detail::portion(longest, share));
    return grid_response{.retry_after = hint};
  };
  const auto result = reprise::execute(policy, send, time);
  return {result.attempts(), result.total_wait(), time.now().time_since_epoch()};
}

struct tally {
  long calls = 0;
  long within = 0;
  long reached = 0;
};

/// Compares a policy's bill with what calls under it cost, for every hint, fraction and share of the timeout.
template <class Policy> void compare(tally& seen, const Policy& policy, duration longest_hint) {
  const bill most = worst_case(policy);
  const std::optional<duration> hints[] = {std::nullopt, longest_hint, reprise::detail::add(longest_hint, 1ns), 24h};
  for (const auto& hint : hints) {
    for (const double fraction : {0.0, 0.5, 1.0}) {
      for (const double share : {0.0, 0.5, 1.0}) {
        const cost made = cost_of(policy, hint, fraction, share);
        const bool own_fits = hint.has_value() || made.waits <= most.own_waits;
        ++seen.calls;
        seen.within +=
            made.attempts <= most.attempts && made.waits <= most.waits && made.total <= most.total && own_fits;
        seen.reached += made.attempts == most.attempts && made.waits == most.waits && made.total == most.total;
      }
    }
  }
}

using grid_policy = reprise::configured_policy<reprise::http::retry_statuses, reprise::idempotent>;

/// Calls `visit` with policies of every backoff, jitter and number of attempts.
template <class Visit> void for_each_schedule(const Visit& visit) {
  using reprise::backoff_kind;
  using reprise::jitter_kind;
  for (const auto kind : {backoff_kind::exponential, backoff_kind::constant, backoff_kind::linear})
    for (const auto jitter : {jitter_kind::none, jitter_kind::full, jitter_kind::equal, jitter_kind::proportional,
                              jitter_kind::added, jitter_kind::decorrelated})
      for (const int attempts : {1, 2, 5})
        visit(grid_policy{}.with(reprise::chosen_backoff{.kind = kind, .base = 300ms, .cap = 1s},
                                 reprise::chosen_jitter{.kind = jitter}, reprise::attempt_budget{.maximum = attempts},
                                 reprise::time_limit{.total = unlimited}, reprise::attempt_timeout{.longest = 250ms}));
}

}  // namespace

TEST_CASE("no call costs more than its bill: every schedule under every limit in time") {
  tally seen;
  for_each_schedule([&](const grid_policy& schedule) {
    for (const reprise::time_span total : {duration(1ms), duration(700ms), duration(3s), unlimited})
      for (const reprise::time_span waits : {duration(0s), duration(900ms), unlimited})
        for (const reprise::time_span timeout : {duration(250ms), duration(2s)})
          compare(
              seen,
              schedule.with(reprise::time_limit{.total = total}, reprise::wait_limit{.total = waits},
                            reprise::attempt_timeout{.longest = timeout}, reprise::retry_after_limit{.longest = 400ms}),
              400ms);
  });
  CHECK(seen.within == seen.calls);
  CHECK(seen.reached > seen.calls / 20);
}

TEST_CASE("no call costs more than its bill: every schedule under every limit of hints") {
  tally seen;
  for_each_schedule([&](const grid_policy& schedule) {
    for (const duration longest : {duration(0s), duration(2s), unlimited})
      for (const auto beyond : {reprise::too_long::stop, reprise::too_long::clamp, reprise::too_long::ignore})
        for (const duration spread : {duration(0s), duration(150ms)})
          compare(seen,
                  schedule.with(reprise::retry_after_limit{.longest = longest, .beyond = beyond, .spread = spread}),
                  longest);
  });
  CHECK(seen.within == seen.calls);
  CHECK(seen.reached > seen.calls / 50);
}

TEST_CASE("no call costs more than its bill: a divided timeout under a time limit") {
  tally seen;
  for (const int attempts : {1, 2, 3, 7})
    for (const duration total : {duration(1ns), duration(10ms), duration(1s), duration(10s)})
      for (const duration shortest : {duration(0s), duration(200ms)})
        compare(seen,
                reprise::retry_policy{reprise::http::retry_statuses{}, reprise::idempotent{},
                                      reprise::attempt_budget{.maximum = attempts}, reprise::time_limit{.total = total},
                                      reprise::divided_timeout{.longest = 2s, .shortest = shortest}},
                unlimited);
  CHECK(seen.within == seen.calls);
}

TEST_CASE("without limits, fraction one and no hints a call costs exactly its bill") {
  for_each_schedule([&](const grid_policy& schedule) {
    const auto policy = schedule.with(reprise::retry_after_limit{.longest = 0s});
    const bill most = worst_case(policy);
    const cost made = cost_of(policy, std::nullopt, 1.0, 1.0);
    CHECK(bill{made.attempts, made.waits, made.waits, made.total} == most);
  });
}
