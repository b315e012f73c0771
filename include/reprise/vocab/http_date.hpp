// SPDX-License-Identifier: MIT
// HTTP dates (RFC 9110 section 5.6.7) in all three forms, as points of UTC.
// Reads no clock: the two-digit year of the obsolete form is placed by the time that it is handed.
#pragma once

#include "../detail/text.hpp"

namespace reprise::inline REPRISE_VERSION_NAMESPACE::http {

namespace detail {

/// Reads a date from the left; the first part that does not fit makes all later ones fail.
class date_reader {
 public:
  constexpr explicit date_reader(std::string_view text) noexcept : rest_(text) {}

  constexpr bool literal(std::string_view expected) noexcept {
    if (!rest_.starts_with(expected)) return failed();
    rest_.remove_prefix(expected.size());
    return true;
  }

  /// Exactly `count` digits.
  constexpr int digits(std::size_t count) noexcept {
    if (rest_.size() < count) return failed();
    int number = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (!reprise::detail::is_digit(rest_[i])) return failed();
      number = number * 10 + (rest_[i] - '0');
    }
    rest_.remove_prefix(count);
    return number;
  }

  /// Two digits, or a blank and one (asctime's day).
  constexpr int padded_digits() noexcept {
    if (!rest_.starts_with(' ')) return digits(2);
    rest_.remove_prefix(1);
    return digits(1);
  }

  /// The position of the name that the text goes on with.
  template <std::size_t Count> constexpr unsigned name(const std::string_view (&names)[Count]) noexcept {
    for (unsigned i = 0; i < Count; ++i) {
      if (rest_.starts_with(names[i])) {
        rest_.remove_prefix(names[i].size());
        return i;
      }
    }
    failed();
    return 0;
  }

  constexpr bool finished() const noexcept { return ok_ && rest_.empty(); }

 private:
  constexpr bool failed() noexcept {
    ok_ = false;
    rest_ = {};
    return false;
  }

  std::string_view rest_;
  bool ok_ = true;
};

inline constexpr std::string_view short_days[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
inline constexpr std::string_view long_days[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                 "Thursday", "Friday", "Saturday"};
inline constexpr std::string_view months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                              "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

struct date_fields {
  unsigned weekday = 0;
  int day = 0;
  unsigned month = 0;  // from 0
  int year = 0;
  int hour = 0;
  int minute = 0;
  int second = 0;
};

constexpr void read_time(date_reader& reader, date_fields& date) noexcept {
  date.hour = reader.digits(2);
  reader.literal(":");
  date.minute = reader.digits(2);
  reader.literal(":");
  date.second = reader.digits(2);
}

/// `Sun, 06 Nov 1994 08:49:37 GMT`, and the obsolete `Sunday, 06-Nov-94 08:49:37 GMT`, whose year is still of two
/// digits.
constexpr std::optional<date_fields> read_with_comma(std::string_view text, const std::string_view (&days)[7],
                                                     std::string_view separator, std::size_t year_digits) noexcept {
  date_reader reader(text);
  date_fields date;
  date.weekday = reader.name(days);
  reader.literal(", ");
  date.day = reader.digits(2);
  reader.literal(separator);
  date.month = reader.name(months);
  reader.literal(separator);
  date.year = reader.digits(year_digits);
  reader.literal(" ");
  read_time(reader, date);
  reader.literal(" GMT");
  if (!reader.finished()) return std::nullopt;
  return date;
}

/// `Sun Nov  6 08:49:37 1994`, taken as UTC.
constexpr std::optional<date_fields> read_asctime(std::string_view text) noexcept {
  date_reader reader(text);
  date_fields date;
  date.weekday = reader.name(short_days);
  reader.literal(" ");
  date.month = reader.name(months);
  reader.literal(" ");
  date.day = reader.padded_digits();
  reader.literal(" ");
  read_time(reader, date);
  reader.literal(" ");
  date.year = reader.digits(4);
  if (!reader.finished()) return std::nullopt;
  return date;
}

/// The point of these fields; nothing where they name no day, no time of day, or another weekday. Second 60 is a leap
/// second and reads as the next minute's first.
constexpr std::optional<std::chrono::sys_seconds> to_point(const date_fields& date) noexcept {
  const std::chrono::year_month_day day{std::chrono::year(date.year), std::chrono::month(date.month + 1),
                                        std::chrono::day(static_cast<unsigned>(date.day))};
  if (!day.ok() || date.hour > 23 || date.minute > 59 || date.second > 60) return std::nullopt;
  const std::chrono::sys_days midnight = day;
  if (std::chrono::weekday(midnight).c_encoding() != date.weekday) return std::nullopt;
  return midnight + std::chrono::hours(date.hour) + std::chrono::minutes(date.minute) +
         std::chrono::seconds(date.second);
}

}  // namespace detail

/// An HTTP date; nothing for any other text (never an epoch of 1970). `now` places the two-digit year of the obsolete
/// rfc850 form: a year that seems more than 50 years ahead is the most recent past one with those digits.
constexpr std::optional<std::chrono::sys_seconds> parse_http_date(std::string_view text,
                                                                  std::chrono::sys_seconds now) noexcept {
  text = reprise::detail::trimmed(text);
  if (const auto date = detail::read_with_comma(text, detail::short_days, " ", 4)) return detail::to_point(*date);
  if (const auto date = detail::read_asctime(text)) return detail::to_point(*date);
  if (auto date = detail::read_with_comma(text, detail::long_days, "-", 2)) {
    const std::chrono::year_month_day today{std::chrono::floor<std::chrono::days>(now)};
    date->year += static_cast<int>(today.year()) / 100 * 100;
    const auto years_ahead = [&](int years) {
      const auto then = std::chrono::year_month(today.year(), today.month()) + std::chrono::years(years);
      return std::chrono::year_month_day(then.year(), then.month(), today.day());
    };
    const auto day = [&] {
      return std::chrono::year_month_day(std::chrono::year(date->year), std::chrono::month(date->month + 1),
                                         std::chrono::day(static_cast<unsigned>(date->day)));
    };
    if (day() > years_ahead(50)) date->year -= 100;
    if (day() <= years_ahead(-50)) date->year += 100;
    return detail::to_point(*date);
  }
  return std::nullopt;
}

}  // namespace reprise::inline REPRISE_VERSION_NAMESPACE::http
