// SPDX-License-Identifier: MIT
// The bills of other systems' retry policies, side by side and in detail: computed, nothing is called.
#include <reprise/fmt.hpp>
#include <reprise/presets.hpp>
#include <string>

namespace presets = reprise::presets;

namespace {

// A service can promise what its client costs, and the compiler checks it.
constexpr auto mine = presets::stainless.with(reprise::time_limit{.total = std::chrono::seconds(20)},
                                              reprise::attempt_timeout{.longest = std::chrono::seconds(5)});
static_assert(reprise::worst_case(mine).total <= std::chrono::seconds(20));

/// Calls `show(name, policy)` for each.
template <class Show> void for_each_preset(Show show) {
  show("aws_standard", presets::aws_standard);
  show("aws_standard_throttled", presets::aws_standard_throttled);
  show("aws_standard_dynamodb", presets::aws_standard_dynamodb);
  show("aws_standard_legacy", presets::aws_standard_legacy);
  show("azure", presets::azure);
  show("cenkalti", presets::cenkalti);
  show("curl_retry", presets::curl_retry);
  show("envoy", presets::envoy);
  show("finagle", presets::finagle);
  show("google_cloud_cpp", presets::google_cloud_cpp);
  show("grpc", presets::grpc);
  show("grpc_full_jitter", presets::grpc_full_jitter);
  show("polly", presets::polly);
  show("stainless", presets::stainless);
  show("stainless, 20 s in all", mine);
  show("tower", presets::tower);
  show("urllib3", presets::urllib3);
}

/// Rounded up: a bill must not be too small.
std::string milliseconds(reprise::duration span) {
  if (span == reprise::unlimited) return "unlimited";
  return fmt::format("{} ms", std::chrono::ceil<std::chrono::milliseconds>(span).count());
}

}  // namespace

int main() {
  fmt::print("{:<24}{:>10}{:>14}{:>14}{:>14}\n", "the most of one call", "attempts", "own waits", "waits", "total");
  for_each_preset([](const char* name, const auto& policy) {
    const reprise::bill bill = reprise::worst_case(policy);
    const bool bounded = bill.attempts != reprise::unlimited_count;
    fmt::print("{:<24}{:>10}{:>14}{:>14}{:>14}\n", name, bounded ? fmt::format("{}", bill.attempts) : "unlimited",
               milliseconds(bill.own_waits), milliseconds(bill.waits), milliseconds(bill.total));
  });
  for_each_preset(
      [](const char* name, const auto& policy) { fmt::print("\n{}\n{}", name, reprise::describe(policy)); });
}
