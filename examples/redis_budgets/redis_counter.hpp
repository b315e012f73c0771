// SPDX-License-Identifier: MIT
// The counters of reprise's budgets in Redis: one count for all processes that name the same key.
// Writes to a connection that the other side has closed: a program that uses it ignores SIGPIPE.
#pragma once

#include <fmt/format.h>
#include <hiredis/hiredis.h>
#include <poll.h>
#include <sys/time.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <mutex>
#include <reprise/guard/spend_budget.hpp>
#include <reprise/policy/fleet_budget.hpp>
#include <reprise/reprise.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

struct redis_address {
  std::string host = "127.0.0.1";
  int port = 6379;
  /// How long one command may take, with all attempts to connect.
  std::chrono::milliseconds timeout = std::chrono::milliseconds(300);
};

/// Says which Redis, and what it or the system said.
struct redis_error : std::runtime_error {
  redis_error(const redis_address& redis, std::string_view words)
      : std::runtime_error(fmt::format("redis {}:{}: {}", redis.host, redis.port, words)) {}
};

/// There was no connection: nothing was sent.
struct redis_unreachable : redis_error {
  using redis_error::redis_error;
};

/// One connection, made when it is needed and again after a failure; threads take turns.
class redis_connection {
 public:
  explicit redis_connection(redis_address redis) : redis_(std::move(redis)) {}

  /// The number that Redis answers; 0 for nothing. Throws redis_error.
  std::int64_t ask(std::initializer_list<std::string_view> command) {
    const std::lock_guard lock(mutex_);
    const auto send = [&](const reprise::attempt& attempt) {
      connect(attempt);
      return answer_to(command);
    };
    return reprise::execute(policy.with(reprise::time_limit{.total = redis_.timeout}), send).success();
  }

 private:
  struct freed {
    void operator()(redisContext* context) const { redisFree(context); }
    void operator()(redisReply* reply) const { freeReplyObject(reply); }
  };
  using context = std::unique_ptr<redisContext, freed>;

  // A connection that was refused is tried again, for nothing was sent. A command that got no answer is not: it may
  // have been counted, and a second time would be once too often.
  static constexpr reprise::retry_policy policy{
      reprise::rolled_back<redis_unreachable>{}, reprise::not_idempotent{}, reprise::attempt_budget{.maximum = 3},
      reprise::exponential_backoff{.base = std::chrono::milliseconds(20), .cap = std::chrono::milliseconds(100)}};

  void connect(const reprise::attempt& attempt) {
    const timeval timeout{.tv_sec = attempt.timeout_ms() / 1000, .tv_usec = attempt.timeout_ms() % 1000 * 1000};
    if (context_ && closed_by_server()) context_.reset();
    if (!context_) {
      context made(redisConnectWithTimeout(redis_.host.c_str(), redis_.port, timeout));
      if (!made || made->err != 0) throw redis_unreachable(redis_, made ? made->errstr : "no memory");
      context_ = std::move(made);
    }
    if (redisSetTimeout(context_.get(), timeout) != REDIS_OK) throw redis_unreachable(redis_, context_->errstr);
  }

  /// Before anything is sent an open connection has nothing to read. So a server that was started anew costs no call.
  bool closed_by_server() const {
    pollfd connection{.fd = context_->fd, .events = POLLIN, .revents = 0};
    return poll(&connection, 1, 0) != 0;
  }

  std::int64_t answer_to(std::initializer_list<std::string_view> command) {
    std::vector<const char*> words;
    std::vector<std::size_t> sizes;
    for (const std::string_view word : command) words.push_back(word.data()), sizes.push_back(word.size());
    const std::unique_ptr<redisReply, freed> reply(static_cast<redisReply*>(
        redisCommandArgv(context_.get(), static_cast<int>(command.size()), words.data(), sizes.data())));
    if (!reply) {
      const std::string why = errno == EAGAIN ? "no answer in time" : context_->errstr;
      context_.reset();  // what comes late would be taken for the answer to the next command
      throw redis_error(redis_, fmt::format("{}; {} may have been carried out", why, *command.begin()));
    }
    if (reply->type == REDIS_REPLY_INTEGER) return reply->integer;
    if (reply->type == REDIS_REPLY_NIL) return 0;
    const std::string_view text(reply->str != nullptr ? reply->str : "", reply->len);
    if (reply->type == REDIS_REPLY_ERROR) throw redis_error(redis_, text);
    std::int64_t number = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), number).ptr != text.data() + text.size() ||
        text.empty())
      throw redis_error(redis_, fmt::format("{} was answered with no number: {}", *command.begin(), text));
    return number;
  }

  redis_address redis_;
  std::mutex mutex_;
  context context_;
};

/// One count: a model of reprise::spend_counter. `lives` after its last change Redis forgets it; zero: never.
class redis_counter {
 public:
  redis_counter(redis_connection& redis, std::string key, std::chrono::milliseconds lives = {})
      : redis_(&redis), key_(std::move(key)), lives_(std::to_string(lives.count())) {}

  bool try_add(std::int64_t amount, std::int64_t limit) {
    return redis_->ask({"EVAL", script, "1", key_, std::to_string(amount), std::to_string(limit), lives_}) == 1;
  }
  void add(std::int64_t amount) { try_add(amount, (std::numeric_limits<std::int64_t>::max)()); }
  std::int64_t total() const { return redis_->ask({"GET", key_}); }

 private:
  // INCRBY, and DECRBY where that went over the limit. A script, since Redis runs one as a single step: between two
  // commands another process would meet a total that nobody has spent, and be refused for it, and a process that dies
  // there would leave it behind. The limit is a double in Lua: exact up to 2^53.
  static constexpr std::string_view script = R"(
    local over = redis.call('INCRBY', KEYS[1], ARGV[1]) > tonumber(ARGV[2])
    if over then redis.call('DECRBY', KEYS[1], ARGV[1]) end
    if ARGV[3] ~= '0' then redis.call('PEXPIRE', KEYS[1], ARGV[3]) end
    return over and 0 or 1)";

  redis_connection* redis_;
  std::string key_;
  std::string lives_;
};
static_assert(reprise::spend_counter<redis_counter>);

/// A fleet's retries, one count for each interval of the wall clock: a model of reprise::counted_windows. Machines
/// whose clocks differ count in neighbouring windows for that long; no window gets more than its limit for it.
class redis_windows {
 public:
  redis_windows(redis_connection& redis, std::string fleet, std::chrono::seconds interval)
      : redis_(&redis), fleet_(std::move(fleet)), interval_(interval) {}

  std::int64_t window(reprise::duration = {}) const {
    return std::chrono::system_clock::now().time_since_epoch() / interval_;
  }
  redis_counter counter(std::int64_t window) const {
    return {*redis_, fmt::format("retries:{}:{}", fleet_, window), 2 * interval_};
  }

 private:
  redis_connection* redis_;
  std::string fleet_;
  std::chrono::seconds interval_;
};
static_assert(reprise::counted_windows<redis_windows>);
