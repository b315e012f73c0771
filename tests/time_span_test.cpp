// SPDX-License-Identifier: MIT
#include <reprise/time_span.hpp>
#include <string>

#include "catch.hpp"
#include "support.hpp"

using namespace std::chrono_literals;

namespace {

constexpr reprise::duration longest = reprise::duration::max();
constexpr reprise::duration lowest = reprise::duration::min();

template <class Rep, class Period = std::ratio<1>> using span_of = std::chrono::duration<Rep, Period>;
using picoseconds = span_of<std::int64_t, std::pico>;
using frames = span_of<std::int64_t, std::ratio<1, 60>>;

template <class Given> constexpr reprise::duration made(Given given) { return reprise::time_span(given); }

template <reprise::detail::rounding Rounding, class Given> constexpr reprise::duration rounded(Given given) {
  return reprise::detail::to_duration<Rounding>(given);
}

template <class To, reprise::detail::rounding Rounding = reprise::detail::rounding::up>
constexpr To given_out(reprise::duration from) {
  return reprise::detail::from_duration<Rounding, To>(from);
}

/// The same by long double: exact for whole counts of 64 bits, and near enough to see a wrap or a lost factor.
template <class Given> bool agrees_with_real_arithmetic(Given given) {
  using period = typename Given::period;
  const long double exact = static_cast<long double>(given.count()) * period::num * 1'000'000'000 / period::den;
  const auto counted = static_cast<long double>(made(given).count());
  if (exact >= 9223372036854775807.0L) return made(given) == longest;
  if (exact <= -9223372036854775807.0L) return made(given) <= lowest + 1ns;
  const long double off = counted > exact ? counted - exact : exact - counted;
  const long double size = exact < 0 ? -exact : exact;
  return off <= 0.5L + size * 1e-15L;
}

template <class Rep, class Period> bool agrees_everywhere() {
  using limits = std::numeric_limits<Rep>;
  const Rep counts[] = {limits::lowest(), limits::lowest() / 2, limits::min(), Rep(0), Rep(1), Rep(2),
                        Rep(100),         limits::max() / 2,    limits::max()};
  bool all = true;
  for (const Rep count : counts) all = all && agrees_with_real_arithmetic(span_of<Rep, Period>(count));
  return all;
}

template <class Rep> bool agrees_in_every_unit() {
  return agrees_everywhere<Rep, std::nano>() && agrees_everywhere<Rep, std::micro>() &&
         agrees_everywhere<Rep, std::milli>() && agrees_everywhere<Rep, std::ratio<1>>() &&
         agrees_everywhere<Rep, std::ratio<60>>() && agrees_everywhere<Rep, std::ratio<3600>>() &&
         agrees_everywhere<Rep, std::ratio<86400>>() && agrees_everywhere<Rep, std::ratio<31556952>>();
}

}  // namespace

TEST_CASE("a time span is zero until it is given a duration") { STATIC_REQUIRE(reprise::time_span{} == 0ns); }

TEST_CASE("unlimited is the longest duration there is") { STATIC_REQUIRE(reprise::unlimited == longest); }

TEST_CASE("a duration of any unit that fits is kept exactly") {
  STATIC_REQUIRE(made(1ns).count() == 1);
  STATIC_REQUIRE(made(1us).count() == 1'000);
  STATIC_REQUIRE(made(1ms).count() == 1'000'000);
  STATIC_REQUIRE(made(1s).count() == 1'000'000'000);
  STATIC_REQUIRE(made(1min) == 60s);
  STATIC_REQUIRE(made(1h) == 3600s);
  STATIC_REQUIRE(made(std::chrono::weeks(3)) == 504h);
  STATIC_REQUIRE(made(std::chrono::years(100)) == 876'582h);
  STATIC_REQUIRE(made(-7ms) == -7'000'000ns);
}

TEST_CASE("hours::max and its like saturate to unlimited") {
  STATIC_REQUIRE(made(std::chrono::nanoseconds::max()) == longest);
  STATIC_REQUIRE(made(std::chrono::microseconds::max()) == longest);
  STATIC_REQUIRE(made(std::chrono::milliseconds::max()) == longest);
  STATIC_REQUIRE(made(std::chrono::seconds::max()) == longest);
  STATIC_REQUIRE(made(std::chrono::minutes::max()) == longest);
  STATIC_REQUIRE(made(std::chrono::hours::max()) == longest);
  STATIC_REQUIRE(made(std::chrono::days::max()) == longest);
  STATIC_REQUIRE(made(std::chrono::years::max()) == longest);
}

TEST_CASE("durations below the range saturate at the lowest") {
  STATIC_REQUIRE(made(std::chrono::nanoseconds::min()) == lowest);
  STATIC_REQUIRE(made(std::chrono::microseconds::min()) == lowest);
  STATIC_REQUIRE(made(std::chrono::seconds::min()) == lowest);
  STATIC_REQUIRE(made(std::chrono::hours::min()) == lowest);
  STATIC_REQUIRE(made(std::chrono::years::min()) == lowest);
}

TEST_CASE("the last count that fits is exact and the next one saturates") {
  STATIC_REQUIRE(made(std::chrono::seconds(9'223'372'036)).count() == 9'223'372'036'000'000'000);
  STATIC_REQUIRE(made(std::chrono::seconds(9'223'372'037)) == longest);
  STATIC_REQUIRE(made(std::chrono::seconds(-9'223'372'036)).count() == -9'223'372'036'000'000'000);
  STATIC_REQUIRE(made(std::chrono::seconds(-9'223'372'037)) == lowest);
  STATIC_REQUIRE(made(std::chrono::microseconds(9'223'372'036'854'775)).count() == 9'223'372'036'854'775'000);
  STATIC_REQUIRE(made(std::chrono::microseconds(9'223'372'036'854'776)) == longest);
  STATIC_REQUIRE(made(std::chrono::hours(2'562'047)) == std::chrono::hours(2'562'047));
  STATIC_REQUIRE(made(std::chrono::hours(2'562'048)) == longest);
}

TEST_CASE("an unsigned count of 64 bits saturates and never wraps to a negative one") {
  STATIC_REQUIRE(made(span_of<std::uint64_t>(~std::uint64_t{0})) == longest);
  STATIC_REQUIRE(made(span_of<std::uint64_t, std::nano>(~std::uint64_t{0})) == longest);
  STATIC_REQUIRE(made(span_of<std::uint64_t, std::nano>(std::uint64_t{1} << 63)) == longest);
  STATIC_REQUIRE(made(span_of<std::uint64_t, std::nano>((std::uint64_t{1} << 63) - 2)) == longest - 1ns);
  STATIC_REQUIRE(made(span_of<std::uint64_t, std::milli>(250)) == 250ms);
}

TEST_CASE("a count of few bits is widened before it is multiplied") {
  STATIC_REQUIRE(made(span_of<std::int8_t>(std::int8_t{-128})) == -128s);
  STATIC_REQUIRE(made(span_of<std::uint8_t>(std::uint8_t{255})) == 255s);
  STATIC_REQUIRE(made(span_of<std::int16_t, std::ratio<3600>>(std::int16_t{32'767})) == 32'767h);
  STATIC_REQUIRE(made(span_of<std::int32_t, std::milli>(2'147'483'647)) == 2'147'483'647ms);
  STATIC_REQUIRE(made(span_of<std::uint32_t>(4'294'967'295U)) == std::chrono::seconds(4'294'967'295));
}

TEST_CASE("picoseconds are rounded to the nearest nanosecond, halves away from zero") {
  STATIC_REQUIRE(made(picoseconds(499)) == 0ns);
  STATIC_REQUIRE(made(picoseconds(500)) == 1ns);
  STATIC_REQUIRE(made(picoseconds(1'499)) == 1ns);
  STATIC_REQUIRE(made(picoseconds(1'500)) == 2ns);
  STATIC_REQUIRE(made(picoseconds(-499)) == 0ns);
  STATIC_REQUIRE(made(picoseconds(-500)) == -1ns);
  STATIC_REQUIRE(made(picoseconds(-1'501)) == -2ns);
}

TEST_CASE("a count of picoseconds that fits as nanoseconds is never taken for unlimited") {
  CHECK(made(picoseconds::max()).count() == 9'223'372'036'854'776);
  CHECK(made(picoseconds::min()).count() == -9'223'372'036'854'776);
  CHECK(made(span_of<std::uint64_t, std::pico>(std::uint64_t{1} << 63)).count() == 9'223'372'036'854'776);
  CHECK(made(span_of<std::uint64_t, std::pico>(~std::uint64_t{0})).count() == 18'446'744'073'709'552);
}

TEST_CASE("units that are no multiple of a nanosecond are rounded, and saturate only past the range") {
  STATIC_REQUIRE(made(frames(60)) == 1s);
  STATIC_REQUIRE(made(frames(1)) == 16'666'667ns);
  STATIC_REQUIRE(made(frames(-1)) == -16'666'667ns);
  STATIC_REQUIRE(made(frames::max()) == longest);
  STATIC_REQUIRE(made(frames::min()) == lowest);
  CHECK(made(frames(60 * 9'000'000'000)) == std::chrono::seconds(9'000'000'000));
}

TEST_CASE("a duration in fractions of a unit is taken to the nearest nanosecond") {
  STATIC_REQUIRE(made(0.5s) == 500ms);
  STATIC_REQUIRE(made(0.1s) == 100ms);
  STATIC_REQUIRE(made(1.5h) == 90min);
  STATIC_REQUIRE(made(-0.25s) == -250ms);
  STATIC_REQUIRE(made(span_of<float>(0.25F)) == 250ms);
  STATIC_REQUIRE(made(span_of<long double, std::milli>(2.5L)) == 2'500us);
  STATIC_REQUIRE(made(span_of<double, std::nano>(0.49)) == 0ns);
  STATIC_REQUIRE(made(span_of<double, std::nano>(0.5)) == 1ns);
  STATIC_REQUIRE(made(span_of<double, std::nano>(-0.5)) == -1ns);
  STATIC_REQUIRE(made(span_of<double, std::nano>(2.5)) == 3ns);
}

TEST_CASE("a floating duration past the range saturates and one just below it is kept") {
  STATIC_REQUIRE(made(span_of<double>(1e10)) == longest);
  STATIC_REQUIRE(made(span_of<double>(-1e10)) == lowest);
  STATIC_REQUIRE(made(span_of<float>(1e30F)) == longest);
  STATIC_REQUIRE(made(span_of<double, std::nano>(9223372036854775808.0)) == longest);
  STATIC_REQUIRE(made(span_of<double, std::nano>(9223372036854774784.0)).count() == 9'223'372'036'854'774'784);
  STATIC_REQUIRE(made(span_of<double, std::nano>(-9223372036854774784.0)).count() == -9'223'372'036'854'774'784);
}

TEST_CASE("infinite and huge floating durations saturate") {
  CHECK(made(span_of<double>(std::numeric_limits<double>::infinity())) == longest);
  CHECK(made(span_of<double>(-std::numeric_limits<double>::infinity())) == lowest);
  CHECK(made(span_of<float>(std::numeric_limits<float>::infinity())) == longest);
  CHECK(made(span_of<double, std::ratio<3600>>::max()) == longest);
  CHECK(made(span_of<double, std::ratio<3600>>::min()) == lowest);
  CHECK(made(span_of<long double, std::ratio<3600>>::max()) == longest);
}

TEST_CASE("huge floating durations saturate in constant expressions too") {
  constexpr auto huge = [] { return made(span_of<double>(1e300)); };
  constexpr auto hours = [] { return made(span_of<double, std::ratio<3600>>::max()); };
  constexpr auto ordinary = [] { return made(span_of<double>(1.0)); };
  CHECK(constant_expression<ordinary>);
  CHECK(constant_expression<huge>);
  CHECK(constant_expression<hours>);
}

TEST_CASE("rounding up at the very end of the range does not overflow") {
  CHECK(made(span_of<long double, std::nano>(9223372036854775807.5L)) == longest);
  CHECK(made(span_of<long double, std::nano>(-9223372036854775807.5L)) == lowest);
}

TEST_CASE("NaN is refused by name") {
  const std::string sentence = "reprise::time_span: a duration must be a number, is nan";
  CHECK(refusal([] { return made(span_of<double>(std::numeric_limits<double>::quiet_NaN())); }) == sentence);
  CHECK(refusal([] { return made(span_of<float, std::milli>(std::numeric_limits<float>::quiet_NaN())); }) == sentence);
  CHECK(refusal([] { return made(span_of<long double>(std::numeric_limits<long double>::quiet_NaN())); }) == sentence);
}

TEST_CASE("counts of every type at their ends agree with exact arithmetic") {
  CHECK(agrees_in_every_unit<std::int8_t>());
  CHECK(agrees_in_every_unit<std::uint8_t>());
  CHECK(agrees_in_every_unit<std::int16_t>());
  CHECK(agrees_in_every_unit<std::uint16_t>());
  CHECK(agrees_in_every_unit<std::int32_t>());
  CHECK(agrees_in_every_unit<std::uint32_t>());
  CHECK(agrees_in_every_unit<std::int64_t>());
  CHECK(agrees_in_every_unit<std::uint64_t>());
  CHECK(agrees_in_every_unit<float>());
  CHECK(agrees_in_every_unit<double>());
  CHECK(agrees_in_every_unit<long double>());
}

TEST_CASE("a time span stands for its duration: converts both ways, compares, costs no more") {
  STATIC_REQUIRE(std::is_convertible_v<std::chrono::hours, reprise::time_span>);
  STATIC_REQUIRE(std::is_convertible_v<span_of<double>, reprise::time_span>);
  STATIC_REQUIRE(std::is_nothrow_convertible_v<reprise::time_span, reprise::duration>);
  STATIC_REQUIRE(!std::is_convertible_v<int, reprise::time_span>);
  STATIC_REQUIRE(!std::is_convertible_v<double, reprise::time_span>);
  STATIC_REQUIRE(sizeof(reprise::time_span) == sizeof(reprise::duration));
  STATIC_REQUIRE(std::is_trivially_copyable_v<reprise::time_span>);
  STATIC_REQUIRE(reprise::time_span(1s) == reprise::time_span(1000ms));
  STATIC_REQUIRE(reprise::time_span(1ms) < reprise::time_span(1s));
  STATIC_REQUIRE(reprise::time_span(-1s) < reprise::time_span{});
}

TEST_CASE("sums and differences saturate at both ends") {
  using reprise::detail::add;
  using reprise::detail::subtract;
  STATIC_REQUIRE(add(1s, 2s) == 3s);
  STATIC_REQUIRE(add(longest, 0ns) == longest);
  STATIC_REQUIRE(add(longest, 1ns) == longest);
  STATIC_REQUIRE(add(longest, longest) == longest);
  STATIC_REQUIRE(add(lowest, -1ns) == lowest);
  STATIC_REQUIRE(add(lowest, lowest) == lowest);
  STATIC_REQUIRE(add(longest, lowest) == -1ns);
  STATIC_REQUIRE(subtract(3s, 2s) == 1s);
  STATIC_REQUIRE(subtract(longest, -1ns) == longest);
  STATIC_REQUIRE(subtract(longest, lowest) == longest);
  STATIC_REQUIRE(subtract(lowest, 1ns) == lowest);
  STATIC_REQUIRE(subtract(lowest, longest) == lowest);
  STATIC_REQUIRE(subtract(0ns, lowest) == longest);
  STATIC_REQUIRE(subtract(lowest, lowest) == 0ns);
}

TEST_CASE("products saturate, and zero times anything is zero") {
  using reprise::detail::multiply;
  STATIC_REQUIRE(multiply(2s, 3) == 6s);
  STATIC_REQUIRE(multiply(0s, std::numeric_limits<std::int64_t>::max()) == 0s);
  STATIC_REQUIRE(multiply(longest, 0) == 0s);
  STATIC_REQUIRE(multiply(longest, 1) == longest);
  STATIC_REQUIRE(multiply(longest, 2) == longest);
  STATIC_REQUIRE(multiply(1ns, std::numeric_limits<std::int64_t>::max()) == longest);
  STATIC_REQUIRE(multiply(longest / 2, 2) == longest - 1ns);
}

TEST_CASE("a portion lies between zero and the delay, whatever the fraction") {
  using reprise::detail::portion;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  STATIC_REQUIRE(portion(4s, 0.25) == 1s);
  STATIC_REQUIRE(portion(4s, 0.0) == 0s);
  STATIC_REQUIRE(portion(4s, 1.0) == 4s);
  STATIC_REQUIRE(portion(4s, -1.0) == 0s);
  STATIC_REQUIRE(portion(4s, 7.0) == 4s);
  STATIC_REQUIRE(portion(4s, -infinity) == 0s);
  STATIC_REQUIRE(portion(4s, infinity) == 4s);
  STATIC_REQUIRE(portion(4s, std::numeric_limits<double>::quiet_NaN()) == 4s);
  STATIC_REQUIRE(portion(longest, 0.5) == reprise::duration(std::int64_t{1} << 62));
  STATIC_REQUIRE(portion(longest, 0.9999999999999999) <= longest);
  STATIC_REQUIRE(portion(3ns, 0.5) == 2ns);
}

TEST_CASE("durations are given out rounded as asked, saturated to the other side's range") {
  using int_milliseconds = span_of<int, std::milli>;
  using byte_seconds = span_of<std::uint8_t>;
  constexpr auto up = reprise::detail::rounding::up;
  constexpr auto down = reprise::detail::rounding::down;
  STATIC_REQUIRE(given_out<int_milliseconds, up>(1ns) == int_milliseconds(1));
  STATIC_REQUIRE(given_out<int_milliseconds, down>(1'999'999ns) == int_milliseconds(1));
  STATIC_REQUIRE(given_out<int_milliseconds, down>(-1ns) == int_milliseconds(-1));
  STATIC_REQUIRE(given_out<int_milliseconds, up>(-1ns) == int_milliseconds(0));
  STATIC_REQUIRE(given_out<int_milliseconds>(24h * 30) == int_milliseconds::max());
  STATIC_REQUIRE(given_out<int_milliseconds>(-24h * 30) == int_milliseconds::min());
  STATIC_REQUIRE(given_out<byte_seconds>(254'000'000'001ns) == byte_seconds(255));
  STATIC_REQUIRE(given_out<byte_seconds>(256s) == byte_seconds(255));
  STATIC_REQUIRE(given_out<byte_seconds>(-5s) == byte_seconds(0));
  STATIC_REQUIRE(given_out<std::chrono::hours>(longest) == std::chrono::hours::max());
  STATIC_REQUIRE(given_out<picoseconds>(2ns) == picoseconds(2'000));
  STATIC_REQUIRE(given_out<picoseconds>(longest - 1ns) == picoseconds::max());
  STATIC_REQUIRE(given_out<picoseconds>(lowest) == picoseconds::min());
  STATIC_REQUIRE(given_out<span_of<double>>(1500ms).count() == 1.5);
}

TEST_CASE("durations are taken in rounded as asked, below zero too") {
  using reprise::detail::rounding;
  STATIC_REQUIRE(rounded<rounding::up>(picoseconds(1)) == 1ns);
  STATIC_REQUIRE(rounded<rounding::up>(picoseconds(-999)) == 0ns);
  STATIC_REQUIRE(rounded<rounding::down>(picoseconds(999)) == 0ns);
  STATIC_REQUIRE(rounded<rounding::down>(picoseconds(-1)) == -1ns);
  STATIC_REQUIRE(rounded<rounding::up>(span_of<double, std::nano>(1.25)) == 2ns);
  STATIC_REQUIRE(rounded<rounding::up>(span_of<double, std::nano>(-1.75)) == -1ns);
  STATIC_REQUIRE(rounded<rounding::down>(span_of<double, std::nano>(1.75)) == 1ns);
  STATIC_REQUIRE(rounded<rounding::down>(span_of<double, std::nano>(-1.25)) == -2ns);
}
