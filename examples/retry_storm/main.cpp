// SPDX-License-Identifier: MIT
// Retry storms on a fake clock: what a policy does to a server that many clients share. Every decision is the library's
// own; the models are in contention.hpp and outage.hpp.
#include <fmt/format.h>

#include <cstdio>
#include <ctime>
#include <fstream>

#if __has_include(<sys/resource.h>)
#include <sys/resource.h>
#endif

#include "arguments.hpp"
#include "contention.hpp"
#include "fleets.hpp"
#include "pictures.hpp"

namespace storm {

constexpr std::string_view help = R"(retry_storm: what retry policies do to a server that many clients share

retry_storm contention [options]   N clients change one row at once (the model of the AWS architecture blog)
  --clients 10,20,...,190   how many, five rows of the table for each
  --trials 100              trials behind each row
  --csv FILE                clients,policy,completion_ms,calls (- for the standard output)
  --against FILE            such a file to compare with: exit code 1 if a mean is more than 5 % off
  --svg FILE                the picture: writes and time against the number of clients

retry_storm outage [options]       a server hangs for a while; calls come whatever became of the earlier ones
  --load 80                 calls a second, in percent of the server's capacity
  --clients 1000            the capacity is one request a second for each
  --fleet 100               clients that share a budget or a throttle
  --warm-up 10 --outage 10 --after 120   seconds
  --seeds 20                runs for each policy
  --csv FILE                policy,load_percent,seeds,recovered,recovery_s,recovery_most_s,amplification_down,
                            amplification_after,lost_s
  --svg FILE                the picture: load over time for each policy, of the first seed

retry_storm sweep [options]        the same at several loads: where a storm keeps itself alive
  --loads 10,20,...,95      in percent; the other options as above
  --svg FILE                the picture: recovery against load
  --from FILE               draws what --csv wrote before, and runs nothing

retry_storm scale [options]        events a second and memory against the number of clients
  --clients 10000,100000    smallest first; the policy is retries every 100 ms

All take --seed 1: the same seed, the same figures.
)";

/// A line on the standard error, renewed every second: long runs are seen to go on.
class progress {
 public:
  void show(std::string_view what, std::size_t done, std::size_t all) {
    const auto now = std::chrono::steady_clock::now();
    if (now - shown_ < std::chrono::seconds(1)) return;
    shown_ = now;
    written_ = true;
    fmt::print(stderr, "\r{} {} of {}   ", what, done, all);
    std::fflush(stderr);
  }
  ~progress() {
    if (written_) fmt::print(stderr, "\n");
  }

 private:
  std::chrono::steady_clock::time_point shown_ = std::chrono::steady_clock::now();
  bool written_ = false;
};

void write(const std::string& file, const std::string& text) {
  if (file == "-") return fmt::print("{}", text);
  std::ofstream out(file, std::ios::binary);
  out << text;
  out.close();
  if (!out) refuse("The file {} cannot be written.", file);
}

/// Before a long run rather than after it.
void require_writable(const arguments& given) {
  for (const std::string_view name : {"--csv", "--svg"}) {
    const auto file = given.text(name);
    if (file && *file != "-" && !std::ofstream(*file, std::ios::app)) refuse("The file {} cannot be written.", *file);
  }
}

constexpr range seeds_allowed{0, 1'000'000'000};

// --- contention ------------------------------------------------------------------------------------------------------

std::vector<contention_row> read_table(const std::string& file) {
  std::ifstream in(file);
  if (!in) refuse("The file {} cannot be read.", file);
  std::vector<contention_row> rows;
  std::string line;
  std::getline(in, line);  // the names of the columns
  while (std::getline(in, line)) {
    contention_row row;
    char policy[32] = {};
    if (std::sscanf(line.c_str(), "%d,%31[a-z],%lf,%lf", &row.clients, policy, &row.completion_ms, &row.calls) != 4)
      refuse("The file {} has a line that cannot be read: {}.", file, line);
    row.policy = policy;
    rows.push_back(row);
  }
  return rows;
}

/// Prints both tables side by side. False if a mean is more than 5 % off, or there is nothing to compare with.
bool compare(const std::vector<contention_row>& rows, const std::vector<contention_row>& published) {
  constexpr double allowed = 0.05;
  int compared = 0;
  int off = 0;
  fmt::print("{:>7}  {:14}{:>14}{:>10}{:>8}{:>10}{:>10}{:>8}\n", "clients", "policy", "completion ms", "published",
             "off", "calls", "published", "off");
  for (const contention_row& row : rows) {
    const auto same = std::find_if(published.begin(), published.end(), [&](const contention_row& other) {
      return other.clients == row.clients && other.policy == row.policy;
    });
    if (same == published.end()) continue;
    const double time_off = row.completion_ms / same->completion_ms - 1;
    const double calls_off = row.calls / same->calls - 1;
    ++compared;
    off += (std::abs(time_off) <= allowed ? 0 : 1) + (std::abs(calls_off) <= allowed ? 0 : 1);
    fmt::print("{:>7}  {:14}{:>14.0f}{:>10.0f}{:>+7.1f}%{:>10.1f}{:>10.1f}{:>+7.1f}%\n", row.clients, row.policy,
               row.completion_ms, same->completion_ms, 100 * time_off, row.calls, same->calls, 100 * calls_off);
  }
  fmt::print(stderr, "{} means compared, {} more than 5 % off\n", 2 * compared, off);
  return compared > 0 && off == 0;
}

int contention_command(const std::vector<std::string_view>& words) {
  const arguments given(words, {"--clients", "--trials", "--seed", "--csv", "--svg", "--against"});
  require_writable(given);
  const std::vector<int> sizes =
      given.list("--clients", {10, 20, 30, 40, 50, 60, 80, 100, 120, 150, 190}, {1, 100'000});
  const auto against = given.text("--against");
  const std::vector<contention_row> published = against ? read_table(*against) : std::vector<contention_row>{};
  const int trials = given.number("--trials", 100, {1, 1'000'000});
  const auto seed = given.number<std::uint64_t>("--seed", 1, seeds_allowed);

  std::vector<contention_row> rows;
  progress shown;
  for (const int clients : sizes)
    contention::each_policy([&]<class Policy>(std::string_view name, const Policy& policy) {
      contention_row row{.clients = clients, .policy = std::string(name)};
      for (int i = 0; i < trials; ++i) {
        const auto numbers = {seed, static_cast<std::uint64_t>(clients), static_cast<std::uint64_t>(i)};
        const contention::figures one = contention::trial<Policy>(policy, clients, seed_of(numbers)).run();
        row.completion_ms += one.completion_ms / trials;
        row.calls += one.calls / trials;
        shown.show(fmt::format("{} clients, {}: trial", clients, name), static_cast<std::size_t>(i + 1),
                   static_cast<std::size_t>(trials));
      }
      rows.push_back(row);
    });

  std::string csv = "clients,policy,completion_ms,calls\n";
  std::string table = fmt::format("{:>7}  {:14}{:>14}{:>12}\n", "clients", "policy", "completion ms", "calls");
  for (const contention_row& row : rows) {
    csv += fmt::format("{},{},{:.1f},{:.2f}\n", row.clients, row.policy, row.completion_ms, row.calls);
    table += fmt::format("{:>7}  {:14}{:>14.0f}{:>12.1f}\n", row.clients, row.policy, row.completion_ms, row.calls);
  }
  const auto to = given.text("--csv");
  if (to != "-" && !against) fmt::print("{}", table);
  if (to) write(*to, csv);
  if (const auto svg = given.text("--svg")) write(*svg, contention_picture(rows, trials));
  return !against || compare(rows, published) ? 0 : 1;
}

// --- outage ----------------------------------------------------------------------------------------------------------

outage::setting setting_of(const arguments& given) {
  outage::setting asked;
  asked.load = given.number("--load", 80, {1, 1000}) / 100.0;
  asked.clients = given.number("--clients", asked.clients, {1, 10'000'000});
  asked.fleet = given.number("--fleet", asked.fleet, {1, 10'000'000});
  asked.warm_up = given.number("--warm-up", asked.warm_up, {1, 3600});
  asked.outage = given.number("--outage", asked.outage, {0, 3600});
  asked.after = given.number("--after", asked.after, {outage::recovery_seconds + 2, 3600});
  asked.seed = given.number<std::uint64_t>("--seed", 1, seeds_allowed);
  return asked;
}

/// `seeds` runs of each policy at each load.
std::vector<outage_row> outage_rows(outage::setting given, const std::vector<int>& loads, int seeds) {
  std::vector<outage_row> rows;
  progress shown;
  const std::uint64_t first = given.seed;
  outage::each_fleet([&]<class Fleet>(std::string_view name, outage::fleet_type<Fleet>) {
    for (const int load : loads) {
      given.load = load / 100.0;
      outage_row row{.policy = std::string(name), .load_percent = load, .seeds = seeds};
      for (int i = 0; i < seeds; ++i) {
        given.seed = first + static_cast<std::uint64_t>(i);
        outage::run<Fleet> one(given);
        one.to_recovery();
        const outage::outcome became = one.judged();
        if (became.recovery) {
          ++row.recovered;
          row.recovery_s += *became.recovery;
          row.recovery_most_s = std::max(row.recovery_most_s, static_cast<double>(*became.recovery));
        }
        row.amplification_down += became.amplification_down / seeds;
        row.amplification_after += became.amplification_after / seeds;
        row.lost_s += became.lost / seeds;
        shown.show(fmt::format("{} at {} %: run", name, load), static_cast<std::size_t>(i + 1),
                   static_cast<std::size_t>(seeds));
      }
      if (row.recovered > 0) row.recovery_s /= row.recovered;
      rows.push_back(row);
    }
  });
  return rows;
}

constexpr std::string_view outage_header =
    "policy,load_percent,seeds,recovered,recovery_s,recovery_most_s,amplification_down,amplification_after,lost_s\n";

void report(const arguments& given, const std::vector<outage_row>& rows) {
  std::string csv(outage_header);
  std::string table = fmt::format("{:18}{:>5}{:>11}{:>14}{:>6}{:>20}{:>8}{:>9}\n", "policy", "load", "recovered",
                                  "after s: mean", "most", "requests/call: down", "after", "lost s");
  for (const outage_row& row : rows) {
    csv += fmt::format("{},{},{},{},{:.2f},{:.0f},{:.3f},{:.3f},{:.2f}\n", row.policy, row.load_percent, row.seeds,
                       row.recovered, row.recovery_s, row.recovery_most_s, row.amplification_down,
                       row.amplification_after, row.lost_s);
    const auto seconds = [&](double value) { return row.recovered > 0 ? fmt::format("{:.1f}", value) : "-"; };
    table += fmt::format("{:18}{:>4}%{:>11}{:>14}{:>6}{:>20.2f}{:>8.2f}{:>9.1f}\n", row.policy, row.load_percent,
                         fmt::format("{}/{}", row.recovered, row.seeds), seconds(row.recovery_s),
                         seconds(row.recovery_most_s), row.amplification_down, row.amplification_after, row.lost_s);
  }
  const auto to = given.text("--csv");
  if (to != "-") fmt::print("{}", table);
  if (to) write(*to, csv);
}

int outage_command(const std::vector<std::string_view>& words) {
  const arguments given(words, {"--load", "--clients", "--fleet", "--warm-up", "--outage", "--after", "--seeds",
                                "--seed", "--csv", "--svg"});
  require_writable(given);
  const outage::setting asked = setting_of(given);
  const int load = given.number("--load", 80, {1, 1000});
  report(given, outage_rows(asked, {load}, given.number("--seeds", 20, {1, 100'000})));

  if (const auto svg = given.text("--svg")) {
    std::vector<timeline> lines;
    outage::each_fleet([&]<class Fleet>(std::string_view name, outage::fleet_type<Fleet>) {
      outage::run<Fleet> one(asked);
      one.to_the_end();
      lines.push_back({std::string(name), one.judged(), one.seconds()});
    });
    write(*svg, timeline_picture(asked, lines));
  }
  return 0;
}

std::vector<outage_row> read_rows(const std::string& file) {
  std::ifstream in(file);
  std::string line;
  if (!std::getline(in, line) || line + "\n" != outage_header)
    refuse("The file {} is not one that retry_storm sweep --csv wrote.", file);
  std::vector<outage_row> rows;
  while (std::getline(in, line)) {
    const std::size_t comma = line.find(',');
    outage_row row{.policy = line.substr(0, comma)};
    if (comma == std::string::npos || std::sscanf(line.c_str() + comma, ",%d,%d,%d,%lf", &row.load_percent, &row.seeds,
                                                  &row.recovered, &row.recovery_s) != 4)
      refuse("The file {} has a line that cannot be read: {}.", file, line);
    rows.push_back(row);
  }
  return rows;
}

int sweep_command(const std::vector<std::string_view>& words) {
  const arguments given(words, {"--loads", "--clients", "--fleet", "--warm-up", "--outage", "--after", "--seeds",
                                "--seed", "--csv", "--svg", "--from"});
  require_writable(given);
  const outage::setting asked = setting_of(given);
  const std::vector<int> loads = given.list("--loads", {10, 20, 30, 35, 40, 50, 60, 70, 80, 85, 90, 95}, {1, 1000});
  const int seeds = given.number("--seeds", 20, {1, 100'000});
  const auto from = given.text("--from");
  const std::vector<outage_row> rows = from ? read_rows(*from) : outage_rows(asked, loads, seeds);
  if (!from) report(given, rows);
  if (const auto svg = given.text("--svg")) write(*svg, sweep_picture(asked, rows));
  return 0;
}

// --- scale -----------------------------------------------------------------------------------------------------------

/// The most memory that the process has had, in MB; 0 where it cannot be told.
double memory_mb() {
#if __has_include(<sys/resource.h>)
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
#ifdef __APPLE__
  return static_cast<double>(used.ru_maxrss) / 1048576;
#else
  return static_cast<double>(used.ru_maxrss) / 1024;
#endif
#else
  return 0;
#endif
}

int scale_command(const std::vector<std::string_view>& words) {
  const arguments given(words, {"--clients", "--seed"});
  outage::setting asked;
  asked.after = 10;
  asked.seed = given.number<std::uint64_t>("--seed", 1, seeds_allowed);
  fmt::print("{:>9}{:>14}{:>14}{:>10}{:>16}{:>13}\n", "clients", "simulated s", "events", "CPU s", "events/CPU s",
             "memory MB");
  for (const int clients : given.list("--clients", {10'000, 100'000}, {1, 10'000'000})) {
    asked.clients = clients;
    progress shown;
    const std::clock_t began = std::clock();
    outage::run<outage::plain<outage::fixed>> one(asked);
    for (int second = 0; second < asked.end(); ++second) {
      shown.show(fmt::format("{} clients: second", clients), static_cast<std::size_t>(second),
                 static_cast<std::size_t>(asked.end()));
      one.advance();
    }
    const double took = static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC;
    const auto events = static_cast<double>(one.events());
    fmt::print("{:>9}{:>14}{:>14.0f}{:>10.2f}{:>16.0f}{:>13.0f}\n", clients, asked.end(), events, took, events / took,
               memory_mb());
    std::fflush(stdout);
  }
  return 0;
}

int command(const std::vector<std::string_view>& words) {
  if (std::find(words.begin(), words.end(), "--help") != words.end() || (!words.empty() && words[0] == "help")) {
    fmt::print("{}", help);
    return 0;
  }
  if (words.empty()) refuse("Say what to simulate: contention, outage, sweep or scale.");
  const std::vector<std::string_view> rest(words.begin() + 1, words.end());
  if (words[0] == "contention") return contention_command(rest);
  if (words[0] == "outage") return outage_command(rest);
  if (words[0] == "sweep") return sweep_command(rest);
  if (words[0] == "scale") return scale_command(rest);
  refuse("There is no command {}; there are contention, outage, sweep and scale.", words[0]);
}

}  // namespace storm

int main(int count, char** words) try {
  return storm::command({words + 1, words + count});
} catch (const storm::usage_error& error) {
  fmt::print(stderr, "retry_storm: {} See retry_storm --help.\n", error.what());
  return 2;
} catch (const std::exception& error) {
  fmt::print(stderr, "retry_storm: {}\n", error.what());
  return 1;
}
