// SPDX-License-Identifier: MIT
#include <reprise/vocab/http_date.hpp>
#include <string>

#include "catch.hpp"

using namespace std::chrono_literals;

namespace {

using std::chrono::sys_seconds;
using date = std::chrono::year_month_day;

constexpr sys_seconds at(date day, std::chrono::seconds time = 0s) { return std::chrono::sys_days(day) + time; }
constexpr date ymd(int year, unsigned month, unsigned day) {
  return {std::chrono::year(year), std::chrono::month(month), std::chrono::day(day)};
}

constexpr sys_seconds example = at(ymd(1994, 11, 6), 8h + 49min + 37s);
constexpr sys_seconds today = at(ymd(2026, 11, 30), 12h);

constexpr auto parsed(std::string_view text, sys_seconds now = today) {
  return reprise::http::parse_http_date(text, now);
}

/// An rfc850 date with the weekday of the year that is meant; nothing else would let a century show.
std::string two_digit_date(date day) {
  constexpr std::string_view days[] = {"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"};
  constexpr std::string_view months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                         "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const auto two = [](unsigned number) {
    return std::string{static_cast<char>('0' + number / 10 % 10), static_cast<char>('0' + number % 10)};
  };
  return std::string(days[std::chrono::weekday(day).c_encoding()]) + ", " + two(unsigned(day.day())) + "-" +
         std::string(months[unsigned(day.month()) - 1]) + "-" + two(static_cast<unsigned>(int(day.year())) % 100) +
         " 00:00:00 GMT";
}

}  // namespace

TEST_CASE("a date is read in all three forms of RFC 9110") {
  STATIC_REQUIRE(example.time_since_epoch() == 784'111'777s);
  STATIC_REQUIRE(parsed("Sun, 06 Nov 1994 08:49:37 GMT") == example);
  STATIC_REQUIRE(parsed("Sunday, 06-Nov-94 08:49:37 GMT") == example);
  STATIC_REQUIRE(parsed("Sun Nov  6 08:49:37 1994") == example);
}

TEST_CASE("a day of two digits is read in asctime's form too") {
  STATIC_REQUIRE(parsed("Wed Nov 16 08:49:37 1994") == example + 240h);
  STATIC_REQUIRE(parsed("Sun Nov 06 08:49:37 1994") == example);
}

TEST_CASE("blanks and tabs around a date are no part of it") {
  STATIC_REQUIRE(parsed(" \tSun, 06 Nov 1994 08:49:37 GMT\t ") == example);
}

TEST_CASE("every month is read") {
  STATIC_REQUIRE(parsed("Thu, 01 Jan 2026 00:00:00 GMT") == at(ymd(2026, 1, 1)));
  STATIC_REQUIRE(parsed("Sun, 01 Feb 2026 00:00:00 GMT") == at(ymd(2026, 2, 1)));
  STATIC_REQUIRE(parsed("Sun, 01 Mar 2026 00:00:00 GMT") == at(ymd(2026, 3, 1)));
  STATIC_REQUIRE(parsed("Wed, 01 Apr 2026 00:00:00 GMT") == at(ymd(2026, 4, 1)));
  STATIC_REQUIRE(parsed("Fri, 01 May 2026 00:00:00 GMT") == at(ymd(2026, 5, 1)));
  STATIC_REQUIRE(parsed("Mon, 01 Jun 2026 00:00:00 GMT") == at(ymd(2026, 6, 1)));
  STATIC_REQUIRE(parsed("Wed, 01 Jul 2026 00:00:00 GMT") == at(ymd(2026, 7, 1)));
  STATIC_REQUIRE(parsed("Sat, 01 Aug 2026 00:00:00 GMT") == at(ymd(2026, 8, 1)));
  STATIC_REQUIRE(parsed("Tue, 01 Sep 2026 00:00:00 GMT") == at(ymd(2026, 9, 1)));
  STATIC_REQUIRE(parsed("Thu, 01 Oct 2026 00:00:00 GMT") == at(ymd(2026, 10, 1)));
  STATIC_REQUIRE(parsed("Sun, 01 Nov 2026 00:00:00 GMT") == at(ymd(2026, 11, 1)));
  STATIC_REQUIRE(parsed("Tue, 01 Dec 2026 00:00:00 GMT") == at(ymd(2026, 12, 1)));
}

TEST_CASE("a date whose weekday is another is no date") {
  STATIC_REQUIRE(!parsed("Mon, 06 Nov 1994 08:49:37 GMT").has_value());
  STATIC_REQUIRE(!parsed("Monday, 06-Nov-94 08:49:37 GMT").has_value());
  STATIC_REQUIRE(!parsed("Sat Nov  6 08:49:37 1994").has_value());
}

TEST_CASE("a leap second reads as the next minute's first, and second 61 is none") {
  STATIC_REQUIRE(parsed("Sat, 31 Dec 2016 23:59:60 GMT") == at(ymd(2017, 1, 1)));
  STATIC_REQUIRE(!parsed("Sat, 31 Dec 2016 23:59:61 GMT").has_value());
}

TEST_CASE("times that the day does not have are no times") {
  STATIC_REQUIRE(parsed("Sun, 06 Nov 1994 23:59:59 GMT").has_value());
  STATIC_REQUIRE(!parsed("Sun, 06 Nov 1994 24:00:00 GMT").has_value());
  STATIC_REQUIRE(!parsed("Sun, 06 Nov 1994 08:60:00 GMT").has_value());
}

TEST_CASE("the 29th of February is a day in leap years only") {
  STATIC_REQUIRE(parsed("Thu, 29 Feb 2024 00:00:00 GMT") == at(ymd(2024, 2, 29)));
  STATIC_REQUIRE(parsed("Tue, 29 Feb 2000 00:00:00 GMT") == at(ymd(2000, 2, 29)));
  STATIC_REQUIRE(!parsed("Sat, 29 Feb 2025 00:00:00 GMT").has_value());
  STATIC_REQUIRE(!parsed("Mon, 29 Feb 2100 00:00:00 GMT").has_value());
  STATIC_REQUIRE(!parsed("Sun, 01 Mar 2100 00:00:00 GMT").has_value());
  STATIC_REQUIRE(parsed("Mon, 01 Mar 2100 00:00:00 GMT").has_value());
}

TEST_CASE("days that the month does not have are no days") {
  STATIC_REQUIRE(!parsed("Sun, 00 Nov 1994 08:49:37 GMT").has_value());
  STATIC_REQUIRE(!parsed("Thu, 31 Nov 1994 08:49:37 GMT").has_value());
  STATIC_REQUIRE(!parsed("Thu, 32 Dec 1994 08:49:37 GMT").has_value());
  STATIC_REQUIRE(!parsed("Sun, 99 Nov 1994 08:49:37 GMT").has_value());
  STATIC_REQUIRE(!parsed("Sun Nov  0 08:49:37 1994").has_value());
  STATIC_REQUIRE(!parsed("Sunday, 00-Nov-94 08:49:37 GMT").has_value());
}

TEST_CASE("years of four digits are taken as they stand, the first and the last too") {
  STATIC_REQUIRE(parsed("Sat, 01 Jan 0000 00:00:00 GMT") == at(ymd(0, 1, 1)));
  STATIC_REQUIRE(parsed("Fri, 31 Dec 9999 23:59:60 GMT") == at(ymd(9999, 12, 31), 24h));
  STATIC_REQUIRE(parsed("Thu, 01 Jan 1970 00:00:00 GMT") == sys_seconds{});
}

TEST_CASE("a year of two digits is the nearest one that is not more than 50 years ahead") {
  for (const int year : {1977, 1994, 1999, 2000, 2025, 2026, 2027, 2050, 2075}) {
    CAPTURE(year);
    CHECK(parsed(two_digit_date(ymd(year, 6, 15))) == at(ymd(year, 6, 15)));
  }
}

TEST_CASE("a year of two digits turns at 50 years ahead, to the day") {
  CHECK(parsed(two_digit_date(ymd(2076, 11, 29))) == at(ymd(2076, 11, 29)));
  CHECK(parsed(two_digit_date(ymd(2076, 11, 30))) == at(ymd(2076, 11, 30)));
  CHECK(!parsed(two_digit_date(ymd(2076, 12, 1))).has_value());
  CHECK(parsed(two_digit_date(ymd(1976, 12, 1))) == at(ymd(1976, 12, 1)));
  CHECK(!parsed(two_digit_date(ymd(1976, 11, 29))).has_value());
}

TEST_CASE("a year of two digits is placed by the time that it is handed, whatever the century") {
  for (const int now : {1950, 1970, 1999, 2000, 2001, 2049, 2050, 2051, 2099, 2100}) {
    const sys_seconds then = at(ymd(now, 7, 1));
    for (int ahead = -49; ahead <= 49; ++ahead) {
      const date meant = ymd(now + ahead, 3, 14);
      CAPTURE(now, ahead);
      if (parsed(two_digit_date(meant), then) != at(meant)) CHECK(parsed(two_digit_date(meant), then) == at(meant));
    }
  }
  CHECK(parsed(two_digit_date(ymd(2099, 12, 31)), at(ymd(2100, 1, 1))) == at(ymd(2099, 12, 31)));
  CHECK(parsed(two_digit_date(ymd(2000, 1, 1)), at(ymd(1999, 12, 31))) == at(ymd(2000, 1, 1)));
}

TEST_CASE("a year of two digits is placed on a 29th of February too") {
  const sys_seconds leap_day = at(ymd(2024, 2, 29));
  CHECK(parsed(two_digit_date(ymd(2074, 2, 28)), leap_day) == at(ymd(2074, 2, 28)));
  CHECK(parsed(two_digit_date(ymd(2024, 2, 29)), leap_day) == at(ymd(2024, 2, 29)));
  CHECK(parsed(two_digit_date(ymd(1974, 3, 1)), leap_day) == at(ymd(1974, 3, 1)));
}

TEST_CASE("other texts are no date") {
  for (const std::string_view text : {"",
                                      " ",
                                      "0",
                                      "784111777",
                                      "1994-11-06T08:49:37Z",
                                      "06 Nov 1994 08:49:37 GMT",
                                      "Sun, 6 Nov 1994 08:49:37 GMT",
                                      "Sun, 06 Nov 94 08:49:37 GMT",
                                      "Sun, 06 Nov 1994 08:49:37",
                                      "Sun, 06 Nov 1994 08:49:37 UTC",
                                      "Sun, 06 Nov 1994 08:49:37 GMT+1",
                                      "Sun, 06 Nov 1994 08:49:37 gmt",
                                      "sun, 06 nov 1994 08:49:37 GMT",
                                      "Sun, 06  Nov 1994 08:49:37 GMT",
                                      "Sun,06 Nov 1994 08:49:37 GMT",
                                      "Sun, 06 Nov 1994 8:49:37 GMT",
                                      "Sun, 06-Nov-94 08:49:37 GMT",
                                      "Sunday, 06 Nov 1994 08:49:37 GMT",
                                      "Sunday, 06-Nov-1994 08:49:37 GMT",
                                      "Sun Nov 6 08:49:37 1994",
                                      "Sun Nov  6 08:49:37 1994 GMT",
                                      "Sun Nov  6 08:49:37 94",
                                      "Sun, -6 Nov 1994 08:49:37 GMT",
                                      "Sun, 06 Nov 1994 08:49:3\xC2\xB2 GMT",
                                      "Sun, 06 Nov 19945 08:49:37 GMT",
                                      "Sun",
                                      "Sun, ",
                                      "Sun, 06 Nov 1994"}) {
    CAPTURE(text);
    CHECK(!parsed(text).has_value());
  }
  STATIC_REQUIRE(!parsed(std::string_view("Sun, 06 Nov 1994 08:49:37 GMT\0", 30)).has_value());
}

TEST_CASE("every beginning of a good date is no date") {
  for (const std::string_view good :
       {"Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"})
    for (std::size_t size = 0; size < good.size(); ++size)
      if (parsed(good.substr(0, size)).has_value()) CHECK(good.substr(0, size) == "no date");
  CHECK(parsed("Sun Nov  6 08:49:37 1994").has_value());
}

TEST_CASE("a good date with one character replaced is none, or another date: never the same") {
  for (const std::string good : {"Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT"}) {
    int others = 0;
    for (std::size_t place = 0; place < good.size(); ++place) {
      for (int code = 0; code < 256; ++code) {
        std::string changed = good;
        changed[place] = static_cast<char>(code);
        if (changed == good) continue;
        const auto point = parsed(changed);
        if (point.has_value()) ++others;
        if (point == example) CHECK(changed == "a date of its own");
      }
    }
    CHECK(others > 20);   // other times of that day
    CHECK(others < 100);  // everything else is refused
  }
}

TEST_CASE("asctime's date with one character replaced is another one, but for the blank that pads its day") {
  const std::string good = "Sun Nov  6 08:49:37 1994";
  std::string same;
  for (std::size_t place = 0; place < good.size(); ++place) {
    for (int code = 0; code < 256; ++code) {
      std::string changed = good;
      changed[place] = static_cast<char>(code);
      if (changed != good && parsed(changed) == example) same += changed;
    }
  }
  CHECK(same == "Sun Nov 06 08:49:37 1994");
}

TEST_CASE("a good date with a character left out or put in is none") {
  const std::string good = "Sun, 06 Nov 1994 08:49:37 GMT";
  int read = 0;
  for (std::size_t place = 0; place < good.size(); ++place) {
    std::string shorter = good;
    shorter.erase(place, 1);
    if (parsed(shorter).has_value()) ++read;
    for (const char more : {'0', '1', '9', 'a', ',', '-', '\0'}) {
      std::string longer = good;
      longer.insert(place, 1, more);
      if (parsed(longer).has_value()) ++read;
    }
  }
  CHECK(read == 0);
}
