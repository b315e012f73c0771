// SPDX-License-Identifier: MIT
// Runs scenarios from standard input, one JSON object a line, and writes one result a line, or compares.
#include <iostream>

#include "scenario.hpp"

namespace {

using scenarios::json;

constexpr const char* usage =
    "usage: reprise_scenarios [--check] < scenarios.jsonl\n"
    "Reads one scenario a line (a JSON object) and writes one result a line; one that cannot be used gets an error.\n"
    "  --check   compares with \"expect\", prints what differs and exits 1 if anything does\n"
    "  --help    prints this\n";

/// The most waits of one scenario: it bounds those that would never end.
constexpr std::size_t capacity = 65536;

std::string text_of(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

/// How one line fared: its id, its result or else the sentence that says why it has none.
struct report {
  json line = {};
  json id = {};
  std::optional<scenarios::outcome> ended = {};
  std::string error = {};
};

report run(const std::string& text) {
  report made;
  try {
    made.line = json::parse(text);
    if (made.line.is_object() && made.line.contains("id")) made.id = made.line["id"];
    made.ended = scenarios::run<capacity>(scenarios::read_scenario(made.line));
  } catch (const json::exception& failure) {
    made.error = std::string("the line cannot be read as JSON: ") + failure.what();
  } catch (const std::exception& failure) {
    made.error = failure.what();
  }
  return made;
}

void print(const report& made) {
  std::cout << "{\"id\": " << text_of(made.id) << ", ";
  if (made.ended.has_value()) std::cout << scenarios::text_of(*made.ended);
  else std::cout << "\"error\": " << text_of(made.error);
  std::cout << "}\n";
}

/// Prints what differs; true if nothing does.
bool check(const report& made) {
  std::vector<std::string> differing = {made.error};
  if (made.ended.has_value()) differing = scenarios::differences(made.line.value("expect", json()), *made.ended);
  for (const std::string& sentence : differing) std::cout << text_of(made.id) << ": " << sentence << '\n';
  return differing.empty();
}

}  // namespace

int main(int count, char** arguments) {
  bool compares = false;
  for (int i = 1; i < count; ++i) {
    const std::string_view argument = arguments[i];
    if (argument == "--help") {
      std::cout << usage;
      return 0;
    }
    if (argument != "--check") {
      std::cerr << "reprise_scenarios: there is no argument \"" << argument << "\"; --help lists them\n";
      return 2;
    }
    compares = true;
  }

  std::ios::sync_with_stdio(false);
  int read = 0;
  int differing = 0;
  for (std::string line; std::getline(std::cin, line);) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    ++read;
    const report made = run(line);
    if (!compares) print(made);
    else if (!check(made)) ++differing;
  }
  if (compares) std::cout << read << " scenarios, " << differing << " differ\n";
  return differing == 0 ? 0 : 1;
}
