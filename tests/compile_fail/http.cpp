// SPDX-License-Identifier: MIT
// What HTTP parts refuse: hints that could not be read, and keys that would not be random.
#include <random>
#include <reprise/reprise.hpp>
#include <string>

namespace {

constexpr reprise::retry_policy policy{reprise::http::retry_statuses{}};

// WRONG_HINT: reprise::http::retry_statuses requires a Retry-After that it can read: write retry_after as text, optional text, a duration or an optional duration, or name it with reading(status, hint)
void hints() {
#if defined(WRONG_HINT)
  struct response {
    int status = 503;
    int retry_after = 1;
  };
#else
  struct response {
    int status = 503;
    std::chrono::seconds retry_after{1};
  };
#endif
  (void)policy.judge(response{});
}

// WRONG_HINT_FUNCTION: reprise::http::retry_statuses requires a retry_after() that is const: write std::string retry_after() const
void hint_functions() {
  struct response {
    int status = 503;
#if defined(WRONG_HINT_FUNCTION)
    std::string retry_after() { return "1"; }
#else
    std::string retry_after() const { return "1"; }
#endif
  };
  (void)policy.judge(response{});
}

// WRONG_BITS: reprise::http::idempotency_key requires random bits: write std::random_device or std::mt19937_64, a source of all numbers from 0 to a power of two less 1
void keys() {
#if defined(WRONG_BITS)
  std::minstd_rand bits;
#else
  std::mt19937 bits;
#endif
  (void)reprise::http::idempotency_key(bits);
}

}  // namespace

int main() {
  hints();
  hint_functions();
  keys();
}
