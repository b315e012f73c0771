// SPDX-License-Identifier: MIT
// An HTTP server on a free port of 127.0.0.1.
// Knows neither suppliers nor quotes.
#pragma once

#include <httplib.h>

#include <functional>
#include <future>
#include <stdexcept>
#include <thread>

namespace quotes {

inline constexpr auto host = "127.0.0.1";

/// Runs until it is destroyed.
class loopback_server {
 public:
  /// Serves as many connections at a time as it has threads; `add_routes` says what it answers.
  loopback_server(std::size_t threads, const std::function<void(httplib::Server&)>& add_routes) {
    std::promise<void> ready;
    http_.new_task_queue = [&ready, threads] {
      auto* pool = new httplib::ThreadPool(threads);
      ready.set_value();
      return pool;
    };
    http_.set_tcp_nodelay(true);
    http_.set_payload_max_length(16 * 1024);
    socket_t listening = INVALID_SOCKET;
    http_.set_socket_options([&](socket_t made) { listening = made; });
    add_routes(http_);
    port_ = http_.bind_to_any_port(host);
    if (port_ <= 0) throw std::runtime_error("a server cannot be started on 127.0.0.1");
    // httplib lets 5 connections wait; in a rush the kernel would drop the others, to try again after a whole second.
    ::listen(listening, 512);
    thread_ = std::thread([this] { http_.listen_after_bind(); });
    ready.get_future().wait();  // a stop before that would be lost, and the first request would wait for the threads
  }
  ~loopback_server() {
    http_.stop();
    thread_.join();
  }
  loopback_server(const loopback_server&) = delete;
  loopback_server& operator=(const loopback_server&) = delete;

  int port() const { return port_; }

 private:
  int port_ = 0;
  httplib::Server http_;
  std::thread thread_;
};

}  // namespace quotes
