// SPDX-License-Identifier: MIT
// Counts the blocks that calls of execute take from the heap: none, whatever happens, less the block of an exception
// that send itself throws. It replaces operator new, and malloc where the C library lets it.
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <reprise/reprise.hpp>
#include <reprise/testing/fake_clock.hpp>
#include <reprise/testing/script.hpp>

#if defined(__has_feature)
#define HEAP_HAS_FEATURE(name) __has_feature(name)
#else
#define HEAP_HAS_FEATURE(name) 0
#endif
// A sanitizer has its own malloc, which must stay; operator new is then counted alone.
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && \
    !HEAP_HAS_FEATURE(address_sanitizer) && !HEAP_HAS_FEATURE(thread_sanitizer) && !HEAP_HAS_FEATURE(memory_sanitizer)
#define HEAP_COUNTS_MALLOC 1
#else
#define HEAP_COUNTS_MALLOC 0
#endif

namespace {

// Plain numbers: the program has one thread, and an atomic would only hide that.
long mallocs = 0;
long news = 0;

void* counted_new(std::size_t size, std::size_t alignment = 0) noexcept {
  ++news;
  const std::size_t least = size > 0 ? size : 1;
  if (alignment == 0) return std::malloc(least);
  return std::aligned_alloc(alignment, (least + alignment - 1) / alignment * alignment);
}

void* given_or_throw(void* block) {
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

}  // namespace

#if HEAP_COUNTS_MALLOC
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* block, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);

void* malloc(std::size_t size) noexcept { return ++mallocs, __libc_malloc(size); }
void* calloc(std::size_t count, std::size_t size) noexcept { return ++mallocs, __libc_calloc(count, size); }
void* realloc(void* block, std::size_t size) noexcept { return ++mallocs, __libc_realloc(block, size); }
void* memalign(std::size_t alignment, std::size_t size) noexcept { return ++mallocs, __libc_memalign(alignment, size); }
void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  return ++mallocs, __libc_memalign(alignment, size);
}
int posix_memalign(void** block, std::size_t alignment, std::size_t size) noexcept {
  ++mallocs;
  *block = __libc_memalign(alignment, size);
  return *block != nullptr ? 0 : ENOMEM;
}
}
#endif

// Not inlined: the compiler would see a new that is given back by free, and warn.
[[gnu::noinline]] void* operator new(std::size_t size) { return given_or_throw(counted_new(size)); }
[[gnu::noinline]] void* operator new[](std::size_t size) { return given_or_throw(counted_new(size)); }
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return counted_new(size); }
[[gnu::noinline]] void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return counted_new(size); }
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment) {
  return given_or_throw(counted_new(size, static_cast<std::size_t>(alignment)));
}
[[gnu::noinline]] void* operator new[](std::size_t size, std::align_val_t alignment) {
  return given_or_throw(counted_new(size, static_cast<std::size_t>(alignment)));
}
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return counted_new(size, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void* operator new[](std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return counted_new(size, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void operator delete(void* block) noexcept { std::free(block); }
[[gnu::noinline]] void operator delete[](void* block) noexcept { std::free(block); }
[[gnu::noinline]] void operator delete(void* block, std::size_t) noexcept { std::free(block); }
[[gnu::noinline]] void operator delete[](void* block, std::size_t) noexcept { std::free(block); }
[[gnu::noinline]] void operator delete(void* block, const std::nothrow_t&) noexcept { std::free(block); }
[[gnu::noinline]] void operator delete[](void* block, const std::nothrow_t&) noexcept { std::free(block); }
[[gnu::noinline]] void operator delete(void* block, std::align_val_t) noexcept { std::free(block); }
[[gnu::noinline]] void operator delete[](void* block, std::align_val_t) noexcept { std::free(block); }
[[gnu::noinline]] void operator delete(void* block, std::size_t, std::align_val_t) noexcept { std::free(block); }
[[gnu::noinline]] void operator delete[](void* block, std::size_t, std::align_val_t) noexcept { std::free(block); }
[[gnu::noinline]] void operator delete(void* block, std::align_val_t, const std::nothrow_t&) noexcept {
  std::free(block);
}
[[gnu::noinline]] void operator delete[](void* block, std::align_val_t, const std::nothrow_t&) noexcept {
  std::free(block);
}

namespace {

using namespace std::chrono_literals;
using reprise::stop_reason;
using reprise::testing::fails;
using reprise::testing::fake_clock;
using reprise::testing::reply;
using reprise::testing::response;
using reprise::testing::script;

struct blocks {
  long mallocs = 0;
  long news = 0;
};

template <class Action> blocks taken_by(Action&& action) {
  const blocks before{mallocs, news};
  action();
  return {mallocs - before.mallocs, news - before.news};
}

int failures = 0;
int checks = 0;

void check(bool right, const char* what, blocks taken) {
  ++checks;
  if (right) return;
  ++failures;
  std::printf("FAILED: %s: %ld malloc, %ld new\n", what, taken.mallocs, taken.news);
}

/// Makes one call by a script and checks how it ended and that it took no block but `allowed`.
template <class Policy, class... Steps>
void call(const char* what, stop_reason reason, const Policy& policy, Steps... steps) {
  fake_clock time;
  script send{time, steps...};
  stop_reason ended = stop_reason::succeeded;
  const blocks taken = taken_by([&] { ended = reprise::execute(policy, send, time).reason(); });
  check(ended == reason, "the end expected", taken);
  check(taken.mallocs == 0 && taken.news == 0, what, taken);
}

void keep(void* block) {
  // Or the pair of new and delete would be optimised away.
  [[maybe_unused]] static void* volatile kept;
  kept = block;
}

/// A counter that counts nothing would let everything pass.
void the_counters_count() {
  const blocks one = taken_by([] {
    int* number = new int(7);
    keep(number);
    delete number;
  });
  check(one.news == 1, "control: new is counted", one);
  const blocks array = taken_by([] {
    char* text = new char[1000];
    keep(text);
    delete[] text;
  });
  check(array.news == 1, "control: new[] is counted", array);
  struct alignas(64) wide {
    char bytes[64];
  };
  const blocks aligned = taken_by([] {
    wide* block = new wide();
    keep(block);
    delete block;
  });
  check(aligned.news == 1, "control: aligned new is counted", aligned);
  const blocks silent = taken_by([] {
    int* number = new (std::nothrow) int(7);
    keep(number);
    delete number;
  });
  check(silent.news == 1, "control: nothrow new is counted", silent);
#if HEAP_COUNTS_MALLOC
  const blocks raw = taken_by([] {
    void* block = std::malloc(10);
    keep(block);
    block = std::realloc(block, 20);
    keep(block);
    std::free(block);
    block = std::calloc(2, 10);
    keep(block);
    std::free(block);
  });
  check(raw.mallocs == 3 && raw.news == 0, "control: malloc, realloc and calloc are counted", raw);
  // What the library's own code takes is counted too, not only calls from this file.
  const blocks exception = taken_by([] {
    try {
      throw 7;
    } catch (int) {
    }
  });
  check(exception.mallocs == 1, "control: the block of an exception is counted", exception);
#else
  std::puts("malloc is not counted here (a sanitizer, or another C library): operator new alone");
#endif
}

/// The smallest budget there is.
struct budget {
  bool grants = true;
  int failed_attempts = 0;

  void call_started(reprise::duration) {}
  void failed(const reprise::verdict&) { ++failed_attempts; }
  std::optional<int> try_retry(const reprise::verdict&, reprise::duration) {
    return grants ? std::optional<int>(1) : std::nullopt;
  }
  void call_ended(bool, std::optional<int>, reprise::duration) {}
};

struct refuses_all {
  static constexpr auto part_role = reprise::role::admission;
  bool admit(reprise::duration) const { return false; }
};

struct busy {};

constexpr reprise::retry_policy policy{reprise::http::retry_statuses{}, reprise::idempotent{}};

void no_end_takes_a_block() {
  budget refusing{.grants = false};
  call("success", stop_reason::succeeded, policy, reply(200));
  call("a retry", stop_reason::succeeded, policy, reply(503), reply(200));
  call("a server's hint", stop_reason::succeeded, policy, reply(503).retry_after("2"), reply(200));
  call("a permanent failure", stop_reason::not_retryable, policy, reply(404));
  call("no replay safety", stop_reason::not_replay_safe, policy.with(reprise::not_idempotent{}), reply(503));
  call("no attempt left", stop_reason::attempts_exhausted, policy, reply(503));
  call("a hint too long", stop_reason::retry_after_too_long, policy.with(reprise::retry_after_limit{.longest = 1s}),
       reply(503).retry_after("2"));
  call("the wait limit", stop_reason::wait_limit_reached, policy.with(reprise::wait_limit{.total = 1ms}), reply(503));
  call("the time limit", stop_reason::deadline_reached, policy, reply(503).takes(5s));
  call("a deadline", stop_reason::deadline_reached, policy.with(reprise::deadline{fake_clock::time_point(1s)}),
       reply(503).takes(1s));
  call("a deadline in the past", stop_reason::deadline_reached,
       policy.with(reprise::deadline{fake_clock::time_point(0s)}), reply(200));
  call("a refusing budget", stop_reason::budget_exhausted, policy.with(reprise::shared_budget(refusing)), reply(503));
  call("a refusing throttle", stop_reason::admission_refused, policy.with(refuses_all{}), reply(200));
}

void a_cancelled_wait_takes_no_block() {
  fake_clock time;
  time.interrupts_at(1ms);
  script send{time, reply(503)};
  stop_reason ended = stop_reason::succeeded;
  const blocks taken = taken_by([&] { ended = reprise::execute(policy, send, time).reason(); });
  check(ended == stop_reason::cancelled && taken.mallocs == 0 && taken.news == 0, "a cancelled wait", taken);
}

void no_part_takes_a_block() {
  budget granting;
  int events = 0;
  reprise::attempt_log<4> log;
  const auto text = [](const response&) -> std::string_view { return "a text that is longer than any short string"; };
  const auto told = reprise::on_event([&](const reprise::event&) { ++events; });
  call("a log", stop_reason::attempts_exhausted, policy.with(reprise::attempt_log<2>{}), reply(503));
  call("the caller's log", stop_reason::attempts_exhausted, policy.with(reprise::log_to(log)), reply(503));
  call("messages", stop_reason::attempts_exhausted, policy.with(reprise::attempt_log<2>{}.messages(text)), reply(503));
  call("events", stop_reason::attempts_exhausted, policy.with(told), reply(503));
  call("a budget", stop_reason::attempts_exhausted, policy.with(reprise::shared_budget(granting)), reply(503));
  call("a far deadline", stop_reason::attempts_exhausted, policy.with(reprise::deadline{fake_clock::time_point(1h)}),
       reply(503));
  call("all waits", stop_reason::attempts_exhausted,
       policy.with(reprise::decorrelated_backoff{}, reprise::time_limit{.total = 1h}), reply(503));
  call("an exception classifier that nothing reaches", stop_reason::attempts_exhausted,
       policy.with(reprise::http::retry_statuses{}, reprise::retry_exceptions<busy>{}), reply(503));
  call("all parts at once", stop_reason::attempts_exhausted,
       policy.with(reprise::http::retry_statuses{}, reprise::retry_exceptions<busy>{}, told,
                   reprise::attempt_log<2>{}.messages(text), reprise::shared_budget(granting), reprise::full_jitter{},
                   reprise::attempt_timeout{.longest = 1s}, reprise::wait_limit{.total = 1h},
                   reprise::retry_after_limit{.longest = 1h, .spread = 1s},
                   reprise::deadline{fake_clock::time_point(1h)}),
       reply(503));
  check(granting.failed_attempts == 6 && events == 6 && log.size() == 3, "the parts were in use", {});
}

void only_send_pays_for_its_exceptions() {
  const auto catching = policy.with(reprise::http::retry_statuses{}, reprise::retry_exceptions<busy>{});
  fake_clock time;
  script send{time, fails<busy>()};
  script thrown{time, fails<busy>()};
  const blocks by_hand = taken_by([&] {
    for (int i = 0; i < 3; ++i) try {
        thrown(reprise::attempt{});
      } catch (const busy&) {
      }
  });
  const auto quiet = catching.with(reprise::retry_exceptions<busy>{});
  const blocks taken = taken_by([&] { (void)reprise::execute(quiet, send, time); });
  check(send.calls() == 3, "three attempts threw", taken);
  check(taken.mallocs == by_hand.mallocs && taken.news == by_hand.news, "caught exceptions", taken);
}

void the_real_clock_takes_no_block() {
  const auto immediate = policy.with(reprise::constant_backoff{.delay = 0s}, reprise::full_jitter{});
  const auto send = [] { return response{.status = 503}; };
  (void)reprise::execute(immediate.with(reprise::constant_backoff{.delay = 1ns}),
                         send);  // seeds this thread's generator
  const blocks taken =
      taken_by([&] { (void)reprise::execute(immediate.with(reprise::constant_backoff{.delay = 1ns}), send); });
  check(taken.mallocs == 0 && taken.news == 0, "the real clock and the system's randomness", taken);
}

}  // namespace

int main() {
  std::puts("blocks taken from the heap");  // the buffer of the output is taken here
  the_counters_count();
  no_end_takes_a_block();
  a_cancelled_wait_takes_no_block();
  no_part_takes_a_block();
  only_send_pays_for_its_exceptions();
  the_real_clock_takes_no_block();
  std::printf("%d checks, %d failed\n", checks, failures);
  return failures == 0 ? 0 : 1;
}
