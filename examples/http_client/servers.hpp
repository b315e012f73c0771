// SPDX-License-Identifier: MIT
// Small misbehaving servers on 127.0.0.1 that write down what reaches them: the witnesses of this program's claims.
// They know nothing of reprise.
#pragma once

#include <httplib.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <future>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace servers {

using time_point = std::chrono::steady_clock::time_point;

/// One request, as a server saw it.
struct arrival {
  time_point at;
  std::string key;
};

/// Runs until it is destroyed.
class server {
 public:
  /// Answers the request of that number, counted from 1; requests may come at the same time.
  using behaviour =
      std::function<void(server& self, std::size_t number, const httplib::Request& request, httplib::Response& reply)>;

  /// On a free port, or on the given one.
  explicit server(behaviour behave, int port = 0) {
    const auto handle = [this, behave = std::move(behave)](const httplib::Request& request, httplib::Response& reply) {
      behave(*this, write_down(request), request, reply);
    };
    http_.Get("/", handle).Post("/", handle);
    const bool bound = port == 0 ? (port = http_.bind_to_any_port(host)) > 0 : http_.bind_to_port(host, port);
    if (!bound) throw std::runtime_error("a server cannot be started on 127.0.0.1");
    port_ = port;
    thread_ = std::thread([this] { http_.listen_after_bind(); });
    while (!http_.is_running()) std::this_thread::yield();  // a stop before that would be lost
  }
  ~server() {
    closing_.set_value();
    http_.stop();
    thread_.join();
  }
  server(const server&) = delete;
  server& operator=(const server&) = delete;

  static constexpr const char* host = "127.0.0.1";
  int port() const { return port_; }

  std::vector<arrival> arrivals() const {
    const std::lock_guard lock(mutex_);
    return arrivals_;
  }
  /// How many times something was done.
  int effects() const {
    const std::lock_guard lock(mutex_);
    return effects_;
  }

  // For behaviours.

  /// Does something, once per key.
  void apply(const std::string& key) {
    const std::lock_guard lock(mutex_);
    if (applied_.insert(key).second) ++effects_;
  }
  void wait_until_closing() const { closed_.wait(); }

 private:
  std::size_t write_down(const httplib::Request& request) {
    const std::lock_guard lock(mutex_);
    arrivals_.push_back({std::chrono::steady_clock::now(), request.get_header_value("Idempotency-Key")});
    return arrivals_.size();
  }

  mutable std::mutex mutex_;
  std::vector<arrival> arrivals_;
  std::set<std::string> applied_;
  int effects_ = 0;
  std::promise<void> closing_;
  std::shared_future<void> closed_ = closing_.get_future();
  int port_ = 0;
  httplib::Server http_;
  std::thread thread_;
};

/// Gives these statuses one after another, the last one again and again; a 503 with that Retry-After.
inline server::behaviour answers(std::vector<int> statuses, std::string retry_after = {}) {
  return [=](server&, std::size_t number, const httplib::Request&, httplib::Response& reply) {
    reply.status = statuses[std::min(number, statuses.size()) - 1];
    if (reply.status == 503 && !retry_after.empty()) reply.set_header("Retry-After", retry_after);
  };
}

/// Does what is asked, once per key, but answers the first request with 503 all the same.
inline void applies_then_fails(server& self, std::size_t number, const httplib::Request& request,
                               httplib::Response& reply) {
  self.apply(request.get_header_value("Idempotency-Key"));
  reply.status = number == 1 ? 503 : 200;
}

/// Accepts and reads, and never says a word.
inline void never_answers(server& self, std::size_t, const httplib::Request&, httplib::Response&) {
  self.wait_until_closing();
}

/// Never says a word to the first request, answers those that follow.
inline void ignores_the_first(server& self, std::size_t number, const httplib::Request&, httplib::Response&) {
  if (number == 1) self.wait_until_closing();
}

/// Sends one byte an interval, `count` of the many that it promises, then hangs up.
inline server::behaviour trickles(std::size_t count, std::chrono::milliseconds interval) {
  return [=](server&, std::size_t, const httplib::Request&, httplib::Response& reply) {
    reply.set_content_provider(count + 1, "text/plain", [=](std::size_t sent, std::size_t, httplib::DataSink& sink) {
      if (sent > 0) std::this_thread::sleep_for(interval);
      return sent < count && sink.write("x", 1);
    });
  };
}

}  // namespace servers
