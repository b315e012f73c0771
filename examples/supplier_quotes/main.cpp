// SPDX-License-Identifier: MIT
// Three suppliers, one service, one deadline: a walk through the scenarios; --check and --load prove what it shows.
#include <exception>
#include <string_view>
#include <vector>

#include "stage.hpp"
#include "tally.hpp"

namespace {

using namespace quotes;

std::string euros(const nlohmann::json& cents) { return fmt::format("{:.2f}", cents.get<double>() / 100); }

/// One request and what came of it.
void show(const stage& at, const std::string& body) {
  const http_answer got = at.post(body);
  fmt::print("POST /api/quotes {}\n", body);
  if (got.status != 200) {
    fmt::print("  {}: {}\n", got.status, got.body["detail"].get<std::string>());
    if (!got.retry_after.empty()) fmt::print("  Retry-After: {}\n", got.retry_after);
    return;
  }
  fmt::print("  200 in {}\n", got.ms() < 400 ? "less than 0.4 s" : fmt::format("{:.1f} s", got.ms() / 1000));
  for (const auto& quote : got.body["quotes"])
    fmt::print("  {:<7} {:>6}   {} x {} + {}{}\n", quote["supplier"].get<std::string>(), euros(quote["total_cents"]),
               got.body["quantity"].get<int>(), euros(quote["unit_cents"]), euros(quote["shipping_cents"]),
               quote == got.body["best"] ? "   <- best" : "");
  for (const auto& failure : got.body["failures"])
    fmt::print("  {:<7} {}\n", failure["supplier"].get<std::string>(), failure["code"].get<std::string>());
  const std::string id = got.body["request_id"];
  fmt::print("  requests that the suppliers saw: atlas {}, boreal {}, cedar {}\n", at.supplier.requests("atlas", id),
             at.supplier.requests("boreal", id), at.supplier.requests("cedar", id));
}

void walk() {
  stage at;
  fmt::print("All are well. cedar would be cheaper still, but has only one.\n");
  show(at, R"({"quantity": 2, "scenario": "normal"})");
  fmt::print("\nOf one cedar has enough.\n");
  show(at, R"({"quantity": 1, "scenario": "normal"})");
  fmt::print("\nboreal's first answer is 503. The same question, 20 to 30 ms later, is answered.\n");
  show(at, R"({"quantity": 2, "scenario": "flaky"})");
  fmt::print("\nboreal always answers 503. Two requests, no more; atlas's offer is kept.\n");
  show(at, R"({"quantity": 2, "scenario": "broken"})");
  fmt::print("\nboreal's price is a text. Asking again would not mend that.\n");
  show(at, R"({"quantity": 2, "scenario": "malformed"})");
  fmt::print("\nboreal takes 1.5 s. The budget of all together is 0.8 s.\n");
  show(at, R"({"quantity": 2, "scenario": "slow"})");
  fmt::print("\nNobody has it: 404 is an answer.\n");
  show(at, R"({"sku": "KB-404"})");
  fmt::print("\nNobody is asked.\n");
  show(at, R"({"quantity": "2"})");
  fmt::print("\nEight requests are being answered. There is no place for a ninth.\n");
  std::vector<reprise::bulkhead::slot> eight;
  while (auto place = at.service.inbound().try_acquire()) eight.push_back(std::move(*place));
  show(at, "{}");
}

int summed_up(const tally& checked) {
  fmt::print("{} claims: {} ok, {} not so\n", checked.confirmed + checked.denied, checked.confirmed, checked.denied);
  return checked.denied == 0 ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) try {
  const std::string_view mode = count > 1 ? arguments[1] : "";
  tally checked;
  if (mode == "--check") return check(checked), summed_up(checked);
  if (mode == "--load") return load(checked), summed_up(checked);
  if (count > 1) {
    fmt::print(stderr, "supplier_quotes [--check | --load]\n");
    return 2;
  }
  walk();
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "supplier_quotes: {}\n", error.what());
  return 1;
}
