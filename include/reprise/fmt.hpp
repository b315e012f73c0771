// SPDX-License-Identifier: MIT
// {fmt} formatters: outcomes, stop reasons, verdicts, events, results, bills, descriptions, logs (one line an attempt).
// The only header that needs {fmt}; the user links it.
#pragma once

#include <fmt/format.h>

#include "describe.hpp"
#include "policy/attempt_log.hpp"
#include "policy/on_event.hpp"
#include "result.hpp"
#include "worst_case.hpp"

namespace reprise::inline REPRISE_VERSION_NAMESPACE::detail {

/// Milliseconds, as short as they can be said: "1500 ms", "0.25 ms", "unlimited".
struct in_milliseconds {
  duration value;
};

/// Text from outside: control characters, quotes and backslashes are escaped, so that a message stays on its line.
struct escaped {
  std::string_view text;
};

/// Formats without options: `{}` only.
struct plain_formatter {
  template <class Context> constexpr auto parse(Context& context) { return context.begin(); }
};

/// The name of an enumerator, formatted as a string: width and alignment work.
template <class Enum> struct name_formatter : fmt::formatter<fmt::string_view> {
  template <class Context> auto format(Enum value, Context& context) const {
    const std::string_view name = to_string(value);
    return fmt::formatter<fmt::string_view>::format(fmt::string_view(name.data(), name.size()), context);
  }
};

}  // namespace reprise::inline REPRISE_VERSION_NAMESPACE::detail

template <> struct fmt::formatter<reprise::outcome> : reprise::detail::name_formatter<reprise::outcome> {};

template <> struct fmt::formatter<reprise::stop_reason> : reprise::detail::name_formatter<reprise::stop_reason> {};

template <> struct fmt::formatter<reprise::detail::in_milliseconds> : reprise::detail::plain_formatter {
  template <class Context> auto format(const reprise::detail::in_milliseconds& span, Context& context) const {
    if (span.value == reprise::unlimited) return fmt::format_to(context.out(), "unlimited");
    const double count = static_cast<double>(span.value.count()) / 1e6;
    // Microseconds are enough from a millisecond on; below it every nanosecond is shown.
    const std::string text = fmt::format("{:.{}f}", count, span.value < std::chrono::milliseconds(1) ? 6 : 3);
    const std::size_t last = text.find_last_not_of('0');
    return fmt::format_to(context.out(), "{} ms", text.substr(0, text[last] == '.' ? last : last + 1));
  }
};

template <> struct fmt::formatter<reprise::detail::escaped> : reprise::detail::plain_formatter {
  template <class Context> auto format(const reprise::detail::escaped& message, Context& context) const {
    auto out = context.out();
    unsigned char before = 0;
    for (const char c : message.text) {
      const auto byte = static_cast<unsigned char>(c);
      const bool after_c2 = before == 0xC2 && byte >= 0x80 && byte <= 0x9F;  // U+0080 to U+009F control terminals too
      if (c == '\n') out = fmt::format_to(out, "\\n");
      else if (c == '\t') out = fmt::format_to(out, "\\t");
      else if (c == '"' || c == '\\') out = fmt::format_to(out, "\\{}", c);
      else if (byte < 0x20 || byte == 0x7F || after_c2) out = fmt::format_to(out, "\\x{:02x}", byte);
      else *out++ = c;
      before = byte;
    }
    return out;
  }
};

/// Label and code: "http 503"; the label alone where there is no code, "-" where there is neither.
template <> struct fmt::formatter<reprise::label> : fmt::formatter<fmt::string_view> {
  template <class Context> auto format(const reprise::label& label, Context& context) const {
    const std::string_view text = label.text().empty() ? "-" : label.text();
    return fmt::formatter<fmt::string_view>::format(fmt::string_view(text.data(), text.size()), context);
  }
};

/// "transient http 503, retry after 2000 ms, not applied"
template <> struct fmt::formatter<reprise::verdict> : reprise::detail::plain_formatter {
  template <class Context> auto format(const reprise::verdict& verdict, Context& context) const {
    auto out = fmt::format_to(context.out(), "{} {}", verdict.kind, verdict.label);
    if (verdict.code != 0) out = fmt::format_to(out, " {}", verdict.code);
    if (verdict.retry_after.has_value())
      out = fmt::format_to(out, ", retry after {}", reprise::detail::in_milliseconds{*verdict.retry_after});
    if (verdict.not_applied) out = fmt::format_to(out, ", not applied");
    return out;
  }
};

/// "attempt 1: FAIL, 12 ms, http 503, \"overloaded\", then waits 500 ms"
template <> struct fmt::formatter<reprise::attempt_record> : reprise::detail::plain_formatter {
  template <class Context> auto format(const reprise::attempt_record& record, Context& context) const {
    using reprise::detail::in_milliseconds;
    const bool ok = record.verdict.kind == reprise::outcome::success;
    auto out = fmt::format_to(context.out(), "attempt {}: {}, {}", record.number, ok ? "ok" : "FAIL",
                              in_milliseconds{record.elapsed});
    if (!record.verdict.label.text().empty()) out = fmt::format_to(out, ", {}", record.verdict.label);
    if (record.verdict.code != 0) out = fmt::format_to(out, " {}", record.verdict.code);
    if (!record.message.empty()) out = fmt::format_to(out, ", \"{}\"", reprise::detail::escaped{record.message});
    if (record.wait_after.has_value())
      out = fmt::format_to(out, ", then waits {}", in_milliseconds{*record.wait_after});
    return out;
  }
};

/// One line an attempt, each ended by a newline; a first line tells how many older ones the log has no room for.
template <std::size_t Capacity, bool HasMessages> struct fmt::formatter<reprise::attempt_records<Capacity, HasMessages>>
    : reprise::detail::plain_formatter {
  template <class Context>
  auto format(const reprise::attempt_records<Capacity, HasMessages>& log, Context& context) const {
    auto out = context.out();
    if (const std::size_t gone = log.total() - log.size(); gone > 0)
      out = fmt::format_to(out, "({} earlier attempt{})\n", gone, gone == 1 ? "" : "s");
    for (const reprise::attempt_record& record : log) out = fmt::format_to(out, "{}\n", record);
    return out;
  }
};

template <std::size_t Capacity, class Projection> struct fmt::formatter<reprise::attempt_log<Capacity, Projection>>
    : fmt::formatter<typename reprise::attempt_log<Capacity, Projection>::records> {};

/// "retry after attempt 1 of 3 (transient http 503): waits 500 ms, 4500 ms remain", "end after attempt 2 of 3:
/// succeeded"
template <> struct fmt::formatter<reprise::event> : reprise::detail::plain_formatter {
  template <class Context> auto format(const reprise::event& event, Context& context) const {
    using reprise::detail::in_milliseconds;
    const bool retry = event.kind == reprise::event_kind::retry;
    auto out = fmt::format_to(context.out(), "{} after attempt {}", retry ? "retry" : "end", event.attempt);
    if (event.maximum != reprise::unlimited_count) out = fmt::format_to(out, " of {}", event.maximum);
    out = fmt::format_to(out, " ({})", event.verdict);
    if (!retry) return fmt::format_to(out, ": {}, {} elapsed", event.reason, in_milliseconds{event.elapsed});
    return fmt::format_to(out, ": waits {}, remaining {}", in_milliseconds{event.wait},
                          in_milliseconds{event.remaining});
  }
};

/// "attempts_exhausted after 3 attempts and 1500 ms of waiting: transient http 503"
template <class T, class... Keeps> struct fmt::formatter<reprise::retry_result<T, Keeps...>>
    : reprise::detail::plain_formatter {
  template <class Context> auto format(const reprise::retry_result<T, Keeps...>& result, Context& context) const {
    return fmt::format_to(context.out(), "{} after {} attempt{} and {} of waiting: {}", result.reason(),
                          result.attempts(), result.attempts() == 1 ? "" : "s",
                          reprise::detail::in_milliseconds{result.total_wait()}, result.last_verdict());
  }
};

/// "at most 3 attempts, own waits 1500 ms, waits 5000 ms, total 5000 ms"
template <> struct fmt::formatter<reprise::bill> : reprise::detail::plain_formatter {
  template <class Context> auto format(const reprise::bill& bill, Context& context) const {
    using reprise::detail::in_milliseconds;
    auto out = bill.attempts == reprise::unlimited_count
                   ? fmt::format_to(context.out(), "unlimited attempts")
                   : fmt::format_to(context.out(), "at most {} attempts", bill.attempts);
    return fmt::format_to(out, ", own waits {}, waits {}, total {}", in_milliseconds{bill.own_waits},
                          in_milliseconds{bill.waits}, in_milliseconds{bill.total});
  }
};

/// "deadline_reached after 2 attempts, 5000 ms"
template <> struct fmt::formatter<reprise::described_end> : reprise::detail::plain_formatter {
  template <class Context> auto format(const reprise::described_end& end, Context& context) const {
    auto out = context.out();
    if (!end.reason.has_value() && end.elapsed == reprise::unlimited)
      return fmt::format_to(out, "no end, since attempt {} has no timeout", end.attempts);
    if (!end.reason.has_value())
      return fmt::format_to(out, "no end within {} attempts, {}", end.attempts,
                            reprise::detail::in_milliseconds{end.elapsed});
    return fmt::format_to(out, "{} after {} attempt{}, {}", *end.reason, end.attempts, end.attempts == 1 ? "" : "s",
                          reprise::detail::in_milliseconds{end.elapsed});
  }
};

/// A table of the first ten attempts, then the bill, how a call ends in which every attempt fails, what a server may
/// ask for, and the extra load while everything fails. Each line is ended by a newline.
template <class Policy> struct fmt::formatter<reprise::description<Policy>> : reprise::detail::plain_formatter {
  template <class Context> auto format(const reprise::description<Policy>& description, Context& context) const {
    using reprise::detail::in_milliseconds;
    auto out = fmt::format_to(context.out(), "{:>7}{:>15}{:>16}{:>16}  {}\n", "attempt", "timeout", "shortest wait",
                              "longest wait", "waits together");
    const auto text = [](reprise::duration span) { return fmt::format("{}", in_milliseconds{span}); };
    const bool all = description.each(10, [&](const reprise::described_attempt& attempt) {
      out = fmt::format_to(out, "{:>7}{:>15}", attempt.number, text(attempt.timeout));
      if (attempt.wait.has_value())
        out = fmt::format_to(out, "{:>16}{:>16}  {}", text(attempt.wait->shortest), text(attempt.wait->longest),
                             text(attempt.waits));
      if (attempt.end.has_value())
        out = fmt::format_to(out, "{}{}", attempt.wait.has_value() ? ": " : "  ", *attempt.end);
      *out++ = '\n';
    });
    if (!all) out = fmt::format_to(out, "{:>7}\n", "...");
    out = fmt::format_to(out, "bill: {}\n", description.worst_case());
    out = fmt::format_to(out, "if all fail at once, shortest waits: {}\n", description.soonest());
    out = fmt::format_to(out, "if all fail at once, longest waits: {}\n", description.latest());
    out = fmt::format_to(out, "if all hang, longest waits: {}\n", description.hanging());
    if (const auto hint = description.longest_hint(); hint.has_value())
      out = fmt::format_to(out, "a server may ask for a wait of: {}\n", in_milliseconds{*hint});
    return load(out, description);
  }

 private:
  template <class Out> static auto load(Out out, const reprise::description<Policy>& description) {
    out = fmt::format_to(out, "extra load while everything fails: ");
    if (description.retries() == reprise::unlimited_count) out = fmt::format_to(out, "unlimited");
    else out = fmt::format_to(out, "{} %", 100LL * description.retries());
    if (const auto with = description.retries_with_budget(); with.has_value())
      out = fmt::format_to(out, "; with the retry budget {:g} % in the long run", 100.0 * *with);
    else if (description.has_budget) out = fmt::format_to(out, "; less with the retry budget");
    return fmt::format_to(out, "\n");
  }
};
