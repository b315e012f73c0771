// SPDX-License-Identifier: MIT
// What HTTP says about repeating: statuses, methods, replay safety and Retry-After.
// Knows no HTTP client: it reads whatever has a status.
#pragma once

#include "../policy/classifier.hpp"
#include "http_date.hpp"

namespace reprise::inline REPRISE_VERSION_NAMESPACE::http {

/// 429, 502, 503, 504: the server says "not now". The default of `retry_statuses`. 500 is left out, since it tells
/// nothing of what was done; 408, 409, 413 and 425 mean something else in each service.
constexpr bool retryable(int status) noexcept {
  return status == 429 || status == 502 || status == 503 || status == 504;
}

namespace detail {

constexpr bool same_word(std::string_view word, std::string_view upper) noexcept {
  if (word.size() != upper.size()) return false;
  for (std::size_t i = 0; i < word.size(); ++i) {
    const char c = word[i] >= 'a' && word[i] <= 'z' ? static_cast<char>(word[i] - 'a' + 'A') : word[i];
    if (c != upper[i]) return false;
  }
  return true;
}

enum class repeatability { never, with_key, always };

constexpr repeatability repeatability_of(std::string_view method) noexcept {
  for (const std::string_view safe : {"GET", "HEAD", "PUT", "DELETE"})
    if (same_word(method, safe)) return repeatability::always;
  return same_word(method, "POST") ? repeatability::with_key : repeatability::never;
}

/// Whether there is a key. Keeps no view of it.
class key_presence {
 public:
  constexpr key_presence() noexcept = default;
  template <reprise::detail::text_or_absent Text> constexpr key_presence(const Text& key) noexcept
      : present_(!reprise::detail::trimmed(reprise::detail::text_of(key)).empty()) {}
  constexpr bool present() const noexcept { return present_; }

 private:
  bool present_ = false;
};

/// What a method allows. Keeps no view of it.
class method_kind {
 public:
  constexpr method_kind() noexcept = default;
  template <reprise::detail::text_or_absent Text> constexpr method_kind(const Text& method) noexcept
      : kind_(repeatability_of(reprise::detail::text_of(method))) {}
  constexpr repeatability kind() const noexcept { return kind_; }

 private:
  repeatability kind_ = repeatability::never;
};

}  // namespace detail

/// The idempotency of one request, worked out when it is made; it keeps no view of method or key. No method is the
/// default: an empty one is not replay-safe. The key belongs to one call: `policy.with(http::operation{...})`.
struct operation {
  static constexpr auto part_role = role::idempotency;

  detail::method_kind method = {};
  detail::key_presence idempotency_key = {};

  constexpr bool replay_safe() const noexcept {
    return method.kind() == detail::repeatability::always ||
           (method.kind() == detail::repeatability::with_key && idempotency_key.present());
  }
};

/// Whether a request may be repeated: GET, HEAD, PUT, DELETE in any case (RFC 9110 section 9.2.2), or POST with a key
/// that is not empty. PATCH is not. A key helps only if the server deduplicates by it.
template <class Key = std::string_view>
constexpr bool replay_safe(std::string_view method, const Key& key = {}) noexcept {
  return operation{.method = method, .idempotency_key = key}.replay_safe();
}

/// Whether `parse_retry_after` takes fractional seconds, which RFC 9110 does not allow but some servers send.
enum class fractions {
  refuse,   ///< the RFC's reading: malformed, so no hint. The default.
  round_up  ///< "1.5" is 1.5 s, rounded up to a nanosecond
};

namespace detail {

/// DIGIT+ [ "." DIGIT+ ], rounded up.
constexpr std::optional<duration> parse_fractional_seconds(std::string_view text) {
  const std::size_t point = text.find('.');
  const auto whole = reprise::detail::parse_count<std::chrono::seconds>(text.substr(0, point));
  if (!whole.has_value() || point == std::string_view::npos) return whole;
  const std::string_view digits = text.substr(point + 1);
  if (digits.empty()) return std::nullopt;
  std::int64_t nanoseconds = 0;
  std::int64_t unit = 100'000'000;
  bool beyond = false;
  for (const char c : digits) {
    if (!reprise::detail::is_digit(c)) return std::nullopt;
    nanoseconds += (c - '0') * unit;
    beyond = beyond || (unit == 0 && c != '0');
    unit /= 10;
  }
  return reprise::detail::add(*whole, duration(nanoseconds + (beyond ? 1 : 0)));
}

}  // namespace detail

/// Retry-After as delay-seconds (RFC 9110 section 10.2.3): 1*DIGIT, blanks and tabs around. "0" is present; a sign, a
/// fraction, a list, any other text is absent; 30 digits saturate. Never throws.
constexpr std::optional<duration> parse_retry_after(std::string_view text, fractions reading = fractions::refuse) {
  text = reprise::detail::trimmed(text);
  if (reading == fractions::round_up) return detail::parse_fractional_seconds(text);
  return reprise::detail::parse_count<std::chrono::seconds>(text);
}

/// The same, or an HTTP date, counted from `now`: the wall clock, or better the response's own Date, which does not
/// depend on the client's clock. A date that has passed is a wait of 0.
constexpr std::optional<duration> parse_retry_after(std::string_view text, std::chrono::sys_seconds now,
                                                    fractions reading = fractions::refuse) {
  if (const auto seconds = parse_retry_after(text, reading)) return seconds;
  const auto date = parse_http_date(text, now);
  if (!date.has_value()) return std::nullopt;
  if (*date <= now) return duration::zero();
  std::int64_t seconds = 0;
  const auto from = now.time_since_epoch().count();
  if (reprise::detail::subtract_overflows(date->time_since_epoch().count(), from, seconds)) return unlimited;
  return time_span(std::chrono::duration<std::int64_t>(seconds));
}

/// retry-after-ms, x-ms-retry-after-ms (Azure, OpenAI): whole milliseconds, read as strictly. Never throws.
constexpr std::optional<duration> parse_retry_after_ms(std::string_view text) {
  return reprise::detail::parse_count<std::chrono::milliseconds>(reprise::detail::trimmed(text));
}

namespace detail {

// A response's members, as data or as functions, under the names that HTTP libraries use.

template <class Response> constexpr decltype(auto) status_member(const Response& response) {
  if constexpr (requires { response.status(); }) return response.status();
  else if constexpr (requires { response.status_code(); }) return response.status_code();
  else if constexpr (requires { response.status; }) return (response.status);
  else return (response.status_code);
}

struct read_status {
  template <class Response>
  requires requires(const Response& r) { r.status(); } || requires(const Response& r) { r.status_code(); } ||
           requires(const Response& r) { r.status; } || requires(const Response& r) { r.status_code; }
  constexpr int operator()(const Response& response) const {
    return static_cast<int>(status_member(response));
  }
};

struct read_retry_after {
  template <class Response> constexpr decltype(auto) operator()(const Response& response) const {
    static_assert(
        requires { response.retry_after(); } || !requires(Response& r) { r.retry_after(); },
        "reprise::http::retry_statuses requires a retry_after() that is const: write std::string retry_after() const");
    if constexpr (requires { response.retry_after(); }) return response.retry_after();
    else if constexpr (requires { response.retry_after; }) return (response.retry_after);
    else return std::string_view{};
  }
};

/// The response's own Date, unless Age says that it comes from a cache.
template <class Response> constexpr std::string_view own_date(const Response& response) {
  if constexpr (requires {
                  { reprise::detail::text_of(response.age) } -> std::same_as<std::string_view>;
                }) {
    if (!reprise::detail::text_of(response.age).empty()) return {};
  }
  if constexpr (requires {
                  { reprise::detail::text_of(response.date) } -> std::same_as<std::string_view>;
                }) {
    return reprise::detail::text_of(response.date);
  } else {
    return {};
  }
}

struct no_wall_clock {};

/// The statuses of a policy, 100..599, as bits: as many as one likes, in no order.
class status_set {
 public:
  static constexpr int lowest = 100;
  static constexpr unsigned highest = 599;

  constexpr void add(int status) {
    if (status < lowest || status > static_cast<int>(highest))
      reprise::detail::refuse("http::retry_statuses", "a status", "100 to 599", status);
    words_[static_cast<unsigned>(status) / 64] |= std::uint64_t{1} << (static_cast<unsigned>(status) % 64);
  }
  constexpr bool has(int status) const noexcept {
    const auto at = static_cast<unsigned>(status);  // a negative one is far too large
    return at <= highest && ((words_[at / 64] >> (at % 64)) & 1U) != 0;
  }

 private:
  std::uint64_t words_[highest / 64 + 1] = {};
};

}  // namespace detail

/// Classifies by status; made by `retry_statuses`. Total.
template <class StatusOf, class HintOf, class WallClock> class status_classifier {
 public:
  static constexpr auto part_role = role::classifier;

  constexpr status_classifier(const detail::status_set& listed, fractions reading, StatusOf status_of, HintOf hint_of,
                              WallClock wall_clock)
      : listed_(listed),
        reading_(reading),
        status_of_(std::move(status_of)),
        hint_of_(std::move(hint_of)),
        wall_clock_(std::move(wall_clock)) {}

  /// For responses of another shape: functions, or pointers to members, that give the status (an integer) and the
  /// Retry-After (text, optional text, or an optional duration).
  template <class Status, class Hint = detail::read_retry_after>
  [[nodiscard]] constexpr auto reading(Status status_of, Hint hint_of = {}) const {
    return status_classifier<Status, Hint, WallClock>(listed_, reading_, std::move(status_of), std::move(hint_of),
                                                      wall_clock_);
  }

  /// Reads HTTP dates too. They are counted from the response's own `.date` (text) where it has one and no `.age`, else
  /// from `wall_clock()`, a std::chrono::system_clock::time_point. Without it a date is no hint: the core reads no
  /// clock.
  template <class Clock> [[nodiscard]] constexpr auto dated_by(Clock wall_clock) const {
    return status_classifier<StatusOf, HintOf, Clock>(listed_, reading_, status_of_, hint_of_, std::move(wall_clock));
  }

  /// Takes fractional seconds, rounded up.
  [[nodiscard]] constexpr auto lenient() const {
    return status_classifier(listed_, fractions::round_up, status_of_, hint_of_, wall_clock_);
  }

  template <class Response> requires std::invocable<const StatusOf&, const Response&>
  [[gnu::always_inline]] constexpr verdict operator()(const Response& response) const {
    const int status = static_cast<int>(reprise::detail::call(status_of_, response));
    if (listed_.has(status)) {
      const duration hint = hint_in(response);
      if (hint < duration::zero()) return {.kind = outcome::transient, .label = "http", .code = status};
      return {.kind = outcome::transient, .label = "http", .code = status, .retry_after = hint};
    }
    if (status >= 100 && status <= 399) return {.kind = outcome::success, .label = "http", .code = status};
    if (status >= 400) return {.kind = outcome::permanent, .label = "http", .code = status};
    return {.kind = outcome::permanent, .label = "no_response", .code = status};
  }

 private:
  /// The wait that the server asks for; below zero if there is none.
  template <class Response> [[gnu::always_inline]] constexpr duration hint_in(const Response& response) const {
    constexpr duration none(-1);
    decltype(auto) hint = reprise::detail::call(hint_of_, response);
    using hint_type = std::remove_cvref_t<decltype(hint)>;
    if constexpr (reprise::detail::text_or_absent<hint_type>) {
      const std::string_view text = reprise::detail::text_of(hint);
      if (text.empty()) return none;
      if constexpr (std::same_as<WallClock, detail::no_wall_clock>)
        return parse_retry_after(text, reading_).value_or(none);
      else return parse_retry_after(text, now_of(response), reading_).value_or(none);
    } else if constexpr (requires { time_span(hint); }) {
      return hint == hint ? duration(time_span(hint)) : none;  // NaN is no hint
    } else {
      static_assert(
          requires { time_span(*hint); },
          "reprise::http::retry_statuses requires a Retry-After that it can read: write retry_after as text, optional text, a duration or an optional duration, or name it with reading(status, hint)");
      return hint.has_value() && *hint == *hint ? duration(time_span(*hint)) : none;
    }
  }

  template <class Response> constexpr std::chrono::sys_seconds now_of(const Response& response) const {
    const auto wall = std::chrono::floor<std::chrono::seconds>(wall_clock_());
    return parse_http_date(detail::own_date(response), wall).value_or(wall);
  }

  detail::status_set listed_;
  fractions reading_;
  [[no_unique_address]] StatusOf status_of_;
  [[no_unique_address]] HintOf hint_of_;
  [[no_unique_address]] WallClock wall_clock_;
};

/// Transient: the listed statuses, 429, 502, 503, 504 by default; `retry_statuses{503, 504}` lists others instead.
/// Success: any other from 100 to 399. Permanent: any other from 400, label "http"; any other number (0: no answer),
/// label "no_response", so a classifier of the transport's failures stands in front of it. Reads `.status` or
/// `.status_code`, and `.retry_after` where there is one (text, optional text, optional duration; absent and empty
/// alike). A status outside 100..599 in the list throws `std::invalid_argument`.
class retry_statuses : public status_classifier<detail::read_status, detail::read_retry_after, detail::no_wall_clock> {
  using base = status_classifier<detail::read_status, detail::read_retry_after, detail::no_wall_clock>;

 public:
  constexpr retry_statuses() : retry_statuses(set_of({429, 502, 503, 504})) {}

  template <std::same_as<int>... Statuses> requires(sizeof...(Statuses) > 0)
  constexpr explicit retry_statuses(Statuses... statuses) : retry_statuses(set_of({statuses...})) {}

  /// The statuses in a range of ints, for lists that come at run time; none of them if it is empty.
  template <class Range> requires requires(const Range& range) {
    { *range.begin() } -> std::convertible_to<int>;
    range.end();
  }
  static constexpr retry_statuses from(const Range& range) {
    detail::status_set listed;
    for (const int status : range) listed.add(status);
    return retry_statuses(listed);
  }

 private:
  constexpr explicit retry_statuses(const detail::status_set& listed) : base(listed, fractions::refuse, {}, {}, {}) {}

  static constexpr detail::status_set set_of(std::initializer_list<int> statuses) {
    detail::status_set listed;
    for (const int status : statuses) listed.add(status);
    return listed;
  }
};

}  // namespace reprise::inline REPRISE_VERSION_NAMESPACE::http
