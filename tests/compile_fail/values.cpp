// SPDX-License-Identifier: MIT
// A value that a part refuses does not compile in a constant expression. VALUE gives a bad value, or the good one next
// to it.
#include <reprise/core.hpp>

using namespace std::chrono_literals;
using reprise::retry_policy;

// WRONG_VALUES: each line with VALUE(
#ifdef WRONG_VALUES
#define VALUE(bad, good) bad
#else
#define VALUE(bad, good) good
#endif

inline constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
inline constexpr double infinity = std::numeric_limits<double>::infinity();

namespace parts {
inline constexpr retry_policy maximum{reprise::attempt_budget{.maximum = VALUE(0, 1)}};
inline constexpr retry_policy negative_maximum{reprise::attempt_budget{.maximum = VALUE(-1, 1)}};

inline constexpr retry_policy total{reprise::time_limit{.total = VALUE(0s, 1ns)}};
inline constexpr retry_policy negative_total{reprise::time_limit{.total = VALUE(-1s, 1ns)}};
inline constexpr retry_policy waits{reprise::wait_limit{.total = VALUE(-1ns, 0s)}};
inline constexpr retry_policy timeout{reprise::attempt_timeout{.longest = VALUE(0s, 1ns)}};
inline constexpr retry_policy divided{reprise::divided_timeout{.longest = VALUE(0s, 1ns)}};
inline constexpr retry_policy divided_floor{reprise::divided_timeout{.longest = 1s, .shortest = VALUE(-1ns, 0s)}};
inline constexpr retry_policy divided_order{reprise::divided_timeout{.longest = 1s, .shortest = VALUE(2s, 1s)}};

inline constexpr retry_policy hint{reprise::retry_after_limit{.longest = VALUE(-1ns, 0s)}};
inline constexpr retry_policy hint_spread{reprise::retry_after_limit{.spread = VALUE(-1ns, 0s)}};

inline constexpr retry_policy base{reprise::exponential_backoff{.base = VALUE(-1ns, 0s)}};
inline constexpr retry_policy cap{reprise::exponential_backoff{.cap = VALUE(-1ns, 0s)}};
inline constexpr retry_policy factor{reprise::exponential_backoff{.factor = VALUE(0.99, 1.0)}};
inline constexpr retry_policy factor_nan{reprise::exponential_backoff{.factor = VALUE(not_a_number, 1.0)}};
inline constexpr retry_policy factor_infinite{reprise::exponential_backoff{.factor = VALUE(infinity, 1000.0)}};
inline constexpr retry_policy delay{reprise::constant_backoff{.delay = VALUE(-1ns, 0s)}};
inline constexpr retry_policy constant_cap{reprise::constant_backoff{.cap = VALUE(-1ns, 0s)}};
inline constexpr retry_policy step{reprise::linear_backoff{.step = VALUE(-1ns, 0s)}};
inline constexpr retry_policy linear_cap{reprise::linear_backoff{.cap = VALUE(-1ns, 0s)}};
inline constexpr retry_policy fibonacci{reprise::fibonacci_backoff{.base = VALUE(-1ns, 0s)}};
inline constexpr retry_policy fibonacci_cap{reprise::fibonacci_backoff{.cap = VALUE(-1ns, 0s)}};
inline constexpr retry_policy decorrelated{reprise::decorrelated_backoff{.base = VALUE(-1ns, 0s)}};
inline constexpr retry_policy decorrelated_cap{reprise::decorrelated_backoff{.cap = VALUE(-1ns, 0s)}};
inline constexpr retry_policy listed{reprise::listed_backoff{1s, VALUE(-1ns, 0s)}};
inline constexpr retry_policy chosen{reprise::chosen_backoff{.base = VALUE(-1ns, 0s)}};
inline constexpr retry_policy chosen_cap{reprise::chosen_backoff{.cap = VALUE(-1ns, 0s)}};
inline constexpr retry_policy chosen_factor{reprise::chosen_backoff{.factor = VALUE(0.5, 1.0)}};
inline constexpr retry_policy chosen_kind{reprise::chosen_backoff{.kind = reprise::backoff_kind{VALUE(4, 3)}}};

inline constexpr retry_policy proportion{reprise::proportional_jitter{.fraction = VALUE(1.01, 1.0)}};
inline constexpr retry_policy proportion_negative{reprise::proportional_jitter{.fraction = VALUE(-0.01, 0.0)}};
inline constexpr retry_policy proportion_nan{reprise::proportional_jitter{.fraction = VALUE(not_a_number, 0.0)}};
inline constexpr retry_policy added{reprise::added_jitter{.longest = VALUE(-1ns, 0s)}};
inline constexpr retry_policy jitter_kind{reprise::chosen_jitter{.kind = reprise::jitter_kind{VALUE(6, 5)}}};
inline constexpr retry_policy jitter_fraction{reprise::chosen_jitter{.fraction = VALUE(2.0, 1.0)}};
inline constexpr retry_policy jitter_longest{reprise::chosen_jitter{.longest = VALUE(-1ns, 0s)}};

inline constexpr retry_policy status{reprise::http::retry_statuses{429, VALUE(99, 100)}};
inline constexpr retry_policy status_above{reprise::http::retry_statuses{VALUE(600, 599)}};

inline constexpr retry_policy<> defaults;
inline constexpr auto replaced = defaults.with(reprise::attempt_budget{.maximum = VALUE(0, 1)});
inline constexpr auto joined = defaults.with(retry_policy{reprise::time_limit{.total = VALUE(0s, 1s)}});
inline constexpr reprise::time_span span = VALUE(std::chrono::duration<double>(not_a_number), 1s);
}  // namespace parts

namespace functions {
inline constexpr auto attempt = reprise::backoff(VALUE(31, 30));
inline constexpr auto negative_attempt = reprise::backoff(VALUE(-1, 0));
inline constexpr auto base = reprise::backoff(0, VALUE(-1ns, 0s));
inline constexpr auto cap = reprise::backoff(0, 1s, VALUE(-1ns, 0s));
inline constexpr auto delay = reprise::jitter(VALUE(-1ns, 0s), 0.5);
inline constexpr auto fraction = reprise::jitter(1s, VALUE(1.01, 1.0));
inline constexpr auto fraction_nan = reprise::jitter(1s, VALUE(not_a_number, 0.0));
inline constexpr auto local = reprise::wait_delay(VALUE(-1ns, 0s), "1");
}  // namespace functions

int main() {}
