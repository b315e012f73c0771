// SPDX-License-Identifier: MIT
// The three pictures: contention against the number of clients, load over time, recovery against load.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "outage.hpp"
#include "svg.hpp"

namespace storm {

/// The mean of the trials of one policy and one number of clients.
struct contention_row {
  int clients = 0;
  std::string policy;
  double completion_ms = 0;
  double calls = 0;
};

/// The runs of one policy at one load.
struct outage_row {
  std::string policy;
  int load_percent = 0;
  int seeds = 0;
  int recovered = 0;
  double recovery_s = 0;  ///< the mean of those that recovered
  double recovery_most_s = 0;
  double amplification_down = 0;
  double amplification_after = 0;
  double lost_s = 0;
};

/// One run, second by second.
struct timeline {
  std::string policy;
  outage::outcome became;
  std::vector<outage::second> seconds;
};

namespace svg {

struct panel {
  scale x;
  scale y;
};

inline void x_ticks(drawing& drawn, const panel& in, double step) {
  for (double tick = in.x.from; tick <= in.x.to; tick += step) {
    drawn.line({in.x(tick), in.y.at_from}, {in.x(tick), in.y.at_from + 4}, "axis");
    drawn.text({in.x(tick), in.y.at_from + 17}, anchor::middle, fmt::format("{:g}", tick), "small");
  }
  drawn.line({in.x.at_from, in.y.at_from}, {in.x.at_to, in.y.at_from}, "axis");
}

inline void y_ticks(drawing& drawn, const panel& in, const std::vector<double>& ticks) {
  for (const double tick : ticks) {
    drawn.line({in.x.at_from, in.y(tick)}, {in.x.at_to, in.y(tick)}, "grid");
    drawn.text({in.x.at_from - 6, in.y(tick) + 4}, anchor::end, fmt::format("{:g}", tick), "small");
  }
}

/// 0, step, 2 step, ... with at most `most` steps of 1, 2 or 5 times a power of ten, up to or past the top.
inline std::vector<double> round_ticks(double top, int most) {
  double step = 1;
  for (int i = 0; step * most < top; ++i) step *= i % 3 == 1 ? 2.5 : 2;
  std::vector<double> ticks{0};
  while (ticks.back() < top) ticks.push_back(ticks.back() + step);
  return ticks;
}

}  // namespace svg

/// Writes and time to completion against the number of clients.
inline std::string contention_picture(const std::vector<contention_row>& rows, int trials) {
  using namespace svg;
  drawing drawn(800, 400, "Contention for one row: writes and time against the number of clients");
  drawn.text({16, 24}, anchor::start,
             "N clients change one row at once (optimistic concurrency control, the AWS model)", "strong");

  std::vector<std::string> policies;
  int most_clients = 1;
  double most_calls = 1;
  double most_seconds = 1;
  for (const contention_row& row : rows) {
    if (std::find(policies.begin(), policies.end(), row.policy) == policies.end()) policies.push_back(row.policy);
    most_clients = std::max(most_clients, row.clients);
    most_calls = std::max(most_calls, row.calls);
    most_seconds = std::max(most_seconds, row.completion_ms / 1000);
  }
  for (std::size_t i = 0; i < policies.size(); ++i) {
    const double x = 60 + 140 * static_cast<double>(i);
    drawn.line({x, 46}, {x + 30, 46}, fmt::format("s{}", i));
    drawn.text({x + 36, 50}, anchor::start, policies[i]);
  }

  const std::vector<double> calls_ticks = round_ticks(most_calls, 9);
  std::vector<double> time_ticks;
  for (const double tick : {0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0})
    if (time_ticks.empty() || time_ticks.back() < most_seconds) time_ticks.push_back(tick);
  const scale left{.to = static_cast<double>(most_clients), .at_from = 60, .at_to = 380};
  const scale right{.to = static_cast<double>(most_clients), .at_from = 460, .at_to = 780};
  const panel calls{left, {.to = calls_ticks.back(), .at_from = 340, .at_to = 90}};
  const panel times{right, {time_ticks.front(), time_ticks.back(), 340, 90, true}};

  y_ticks(drawn, calls, calls_ticks);
  y_ticks(drawn, times, time_ticks);
  const std::vector<double> clients_ticks = round_ticks(most_clients, 5);
  for (const panel& one : {calls, times}) {
    x_ticks(drawn, one, clients_ticks[1]);
    drawn.text({(one.x.at_from + one.x.at_to) / 2, 376}, anchor::middle, "clients");
  }
  drawn.text({60, 78}, anchor::start, "writes until all have succeeded");
  drawn.text({460, 78}, anchor::start, "time until all have succeeded, seconds (log scale)");
  drawn.text({784, 394}, anchor::end, fmt::format("means of {} trials", trials), "small");

  for (std::size_t i = 0; i < policies.size(); ++i) {
    std::vector<point> of_calls;
    std::vector<point> of_times;
    for (const contention_row& row : rows) {
      if (row.policy != policies[i]) continue;
      of_calls.push_back({calls.x(row.clients), calls.y(row.calls)});
      of_times.push_back({times.x(row.clients), times.y(row.completion_ms / 1000)});
    }
    drawn.path(of_calls, fmt::format("s{}", i));
    drawn.path(of_times, fmt::format("s{}", i));
  }
  return drawn.finished();
}

/// Requests and successes over time, a panel for each policy.
inline std::string timeline_picture(const outage::setting& given, const std::vector<timeline>& lines) {
  using namespace svg;
  const int rows = (static_cast<int>(lines.size()) + 1) / 2;
  drawing drawn(800, 74 + 148 * rows, "An outage and what follows: load on the server over time for each policy");
  drawn.text({16, 24}, anchor::start,
             fmt::format("The server hangs for {} s; calls come at {:.0f} % of its capacity all the time", given.outage,
                         given.load * 100),
             "strong");
  drawn.text({16, 42}, anchor::start, "multiples of the capacity, against seconds");
  constexpr std::pair<std::string_view, std::string_view> legend[] = {
      {"s0", "calls that begin"}, {"s1", "requests at the server"}, {"s2", "calls that succeed"}};
  for (double x = 318; const auto& [style, words] : legend) {
    drawn.line({x, 38}, {x + 26, 38}, style);
    drawn.text({x + 31, 42}, anchor::start, words);
    x += style == "s0" ? 143 : 177;
  }

  double top = 1;
  for (const timeline& line : lines)
    for (const outage::second& one : line.seconds)
      top = std::max(top, static_cast<double>(one.requests) / given.clients);
  top = std::ceil(top);

  for (std::size_t i = 0; i < lines.size(); ++i) {
    const double x = i % 2 == 0 ? 40 : 430;
    const double y = 64 + 148 * static_cast<double>(i / 2);
    const panel in{{.to = static_cast<double>(given.end()), .at_from = x, .at_to = x + 350},
                   {.to = top, .at_from = y + 114, .at_to = y + 14}};
    const auto& became = lines[i].became;
    drawn.box({in.x(given.warm_up), in.y.at_to}, in.x(given.outage_end()) - in.x(given.warm_up), 100, "shade");
    y_ticks(drawn, in, round_ticks(top, 5));
    x_ticks(drawn, in, given.end() > 80 ? 20 : 10);
    drawn.text({x, y + 8}, anchor::start, lines[i].policy, "strong");
    drawn.text({x + 350, y + 8}, anchor::end,
               became.recovery ? fmt::format("recovered {} s after the outage", *became.recovery)
                               : fmt::format("not recovered in {} s", given.after));
    constexpr int outage::second::* numbers[] = {&outage::second::calls, &outage::second::requests,
                                                 &outage::second::succeeded};
    for (int number = 0; number < 3; ++number) {
      std::vector<point> way;
      for (std::size_t s = 0; s < lines[i].seconds.size(); ++s)
        way.push_back({in.x(static_cast<double>(s) + 0.5),
                       in.y(static_cast<double>(lines[i].seconds[s].*numbers[number]) / given.clients)});
      drawn.path(way, fmt::format("s{}", number));
    }
  }
  return drawn.finished();
}

/// Who recovers at which load: the border of the metastable region.
inline std::string sweep_picture(const outage::setting& given, const std::vector<outage_row>& rows) {
  using namespace svg;
  std::vector<std::string> policies;
  std::vector<int> loads;
  for (const outage_row& row : rows) {
    if (std::find(policies.begin(), policies.end(), row.policy) == policies.end()) policies.push_back(row.policy);
    if (std::find(loads.begin(), loads.end(), row.load_percent) == loads.end()) loads.push_back(row.load_percent);
  }
  const double width = 636.0 / static_cast<double>(loads.size());
  drawing drawn(800, 122 + 30 * static_cast<int>(policies.size()),
                "Recovery from an outage against load, for each policy");
  drawn.text({16, 24}, anchor::start,
             fmt::format("Seconds to recover after an outage of {} s (mean of {} runs), against the load", given.outage,
                         rows.empty() ? 0 : rows.front().seeds),
             "strong");
  constexpr std::pair<std::string_view, std::string_view> legend[] = {
      {"well", "all recover"}, {"partly", "some do: how many"}, {"never", "none does"}};
  for (double x = 148; const auto& [style, words] : legend) {
    drawn.box({x, 36}, 14, 14, style);
    drawn.text({x + 20, 48}, anchor::start, words);
    x += style == "well" ? 110 : 150;
  }
  drawn.text({784, 48}, anchor::end, fmt::format("watched for {} s", given.after), "small");

  for (std::size_t c = 0; c < loads.size(); ++c)
    drawn.text({148 + width * (static_cast<double>(c) + 0.5), 76}, anchor::middle, fmt::format("{} %", loads[c]),
               "small");
  for (std::size_t r = 0; r < policies.size(); ++r) {
    const double y = 84 + 30 * static_cast<double>(r);
    drawn.text({140, y + 18}, anchor::end, policies[r]);
    for (std::size_t c = 0; c < loads.size(); ++c) {
      const auto found = std::find_if(rows.begin(), rows.end(), [&](const outage_row& row) {
        return row.policy == policies[r] && row.load_percent == loads[c];
      });
      if (found == rows.end()) continue;
      const double x = 148 + width * static_cast<double>(c);
      const bool all = found->recovered == found->seeds;
      drawn.box({x, y}, width - 2, 28, all ? "well" : (found->recovered > 0 ? "partly" : "never"));
      drawn.text({x + width / 2 - 1, y + 18}, anchor::middle,
                 all                    ? fmt::format("{:.0f} s", found->recovery_s)
                 : found->recovered > 0 ? fmt::format("{}/{}", found->recovered, found->seeds)
                                        : "never",
                 "cell");
    }
  }
  drawn.text({148, 108 + 30 * static_cast<double>(policies.size())}, anchor::start,
             "calls a second, as a share of the server's capacity");
  return drawn.finished();
}

}  // namespace storm
