// SPDX-License-Identifier: MIT
// What is asked of the classifiers of a policy: that each fits, and that each can be asked.
#include <reprise/core.hpp>
#include <stdexcept>
#include <string>

namespace {

struct response {
  int status = 200;
};

const auto now = [] { return std::chrono::steady_clock::now(); };
const auto pause = [](reprise::duration) {};
const auto half = [] { return 0.5; };

template <class Policy, class Send> void run(const Policy& policy, Send send) {
  (void)reprise::execute(policy.with(reprise::idempotent{}), send, now, pause, half);
}

template <class Send, class... Classifiers> void run_with(Send send, Classifiers... classifiers) {
  run(reprise::retry_policy{classifiers...}, send);
}

const auto send = [] { return response{}; };
const auto transient = [](const auto&) { return reprise::verdict{.kind = reprise::outcome::transient}; };
const reprise::classify total([](const response&) { return reprise::verdict{.kind = reprise::outcome::success}; });
const reprise::classify partial([](const response&) { return std::optional<reprise::verdict>{}; });

// WRONG_BEHIND_A_TOTAL_ONE: reprise::execute requires that every classifier can be asked: write the one that answers for everything last, and a derived exception before its base
// WRONG_BEHIND_STATUSES: reprise::execute requires that every classifier can be asked: write the one that answers for everything last
void total_last() {
#if defined(WRONG_BEHIND_A_TOTAL_ONE)
  run_with(send, total, partial);
#elif defined(WRONG_BEHIND_STATUSES)
  run_with(send, reprise::http::retry_statuses{}, reprise::http::retry_statuses{503});
#else
  run_with(send, partial, total);
#endif
}

// WRONG_BASE_FIRST: reprise::execute requires that every classifier can be asked: write the one that answers for everything last, and a derived exception before its base
// WRONG_BASE_FIRST_IN_ANOTHER_KIND: reprise::execute requires that every classifier can be asked: write the one that answers for everything last, and a derived exception before its base
// WRONG_SAME_EXCEPTION_TWICE: reprise::execute requires that every classifier can be asked
void derived_first() {
#if defined(WRONG_BASE_FIRST)
  run_with(send, total, reprise::on_exception<std::exception>(transient),
           reprise::on_exception<std::runtime_error>(transient));
#elif defined(WRONG_BASE_FIRST_IN_ANOTHER_KIND)
  run_with(send, reprise::retry_exceptions<std::exception>{}, reprise::fail_exceptions<std::runtime_error>{}, total);
#elif defined(WRONG_SAME_EXCEPTION_TWICE)
  run_with(send, reprise::retry_exceptions<std::runtime_error>{}, total, reprise::rolled_back<std::runtime_error>{});
#else
  run_with(send, total, reprise::on_exception<std::runtime_error>(transient),
           reprise::on_exception<std::exception>(transient));
  run_with(send, reprise::fail_exceptions<std::runtime_error>{}, reprise::retry_exceptions<std::exception>{}, total);
  // A partial rule leaves something to the next.
  run_with(send, total, reprise::on_exception<std::exception>([](const std::exception&) {
             return std::optional<reprise::verdict>{};
           }),
           reprise::retry_exceptions<std::runtime_error>{});
#endif
}

// WRONG_RESPONSE: reprise::execute requires classifiers that take the response: write reprise::classify([](const response& r) -> reprise::verdict { ... }); of a send that returns nothing only the exceptions can be classified
// WRONG_RESPONSE_WITHOUT_STATUS: reprise::execute requires classifiers that take the response
// WRONG_ANSWER: reprise::execute requires classifiers that take the response
void takes_the_response() {
#if defined(WRONG_RESPONSE)
  run_with([] { return std::string{}; }, total);
#elif defined(WRONG_RESPONSE_WITHOUT_STATUS)
  run_with([] { return std::string{}; }, reprise::http::retry_statuses{});
#elif defined(WRONG_ANSWER)
  run_with(send, reprise::classify([](const response&) { return true; }));
#else
  run_with(send, total);
  run_with(send, reprise::http::retry_statuses{});
#endif
}

// WRONG_NO_RESPONSE: reprise::execute requires classifiers that take the response: write reprise::classify([](const response& r) -> reprise::verdict { ... }); of a send that returns nothing only the exceptions can be classified
void nothing_to_classify() {
#ifdef WRONG_NO_RESPONSE
  run_with([] {}, reprise::http::retry_statuses{});
#else
  run_with([] {}, reprise::retry_exceptions<std::runtime_error>{});
#endif
}

// WRONG_NO_EXCEPTION_TYPES: reprise exception classifiers require exception types: write retry_exceptions<timeout_error>{}
void exception_types() {
#ifdef WRONG_NO_EXCEPTION_TYPES
  run_with(send, reprise::retry_exceptions<>{});
#else
  run_with(send, reprise::retry_exceptions<std::runtime_error>{});
#endif
}

// WRONG_EXCEPTION_RULE: reprise::on_exception requires a function from the exception to a verdict: write on_exception<E>([](const E& e) -> reprise::verdict { ... })
void exception_rule() {
#ifdef WRONG_EXCEPTION_RULE
  run_with(send, reprise::on_exception<std::runtime_error>([](const std::exception&) { return true; }));
#else
  run_with(send, reprise::on_exception<std::runtime_error>([](const std::exception&) { return reprise::verdict{}; }));
#endif
}

}  // namespace

int main() {
  total_last();
  derived_first();
  takes_the_response();
  nothing_to_classify();
  exception_types();
  exception_rule();
}
