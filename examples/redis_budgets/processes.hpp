// SPDX-License-Identifier: MIT
// Child processes, and a Redis of one's own among them: none of them outlives its object.
// They know nothing of reprise.
#pragma once

#include <arpa/inet.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include <csignal>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

struct ended {
  int code = 0;  ///< 127: the program is not there; 128 + signal
  std::string output;
};

/// Runs a program, found by PATH.
class child {
 public:
  explicit child(std::vector<std::string> command) {
    std::vector<char*> words;
    for (std::string& word : command) words.push_back(word.data());
    words.push_back(nullptr);
    int ends[2];
    if (pipe(ends) != 0) throw std::runtime_error("a pipe cannot be made");
    for (const int end : ends) fcntl(end, F_SETFD, FD_CLOEXEC);
    id_ = fork();
    if (id_ == 0) {
#ifdef __linux__
      prctl(PR_SET_PDEATHSIG, SIGKILL);  // also when this program is killed
#endif
      dup2(ends[1], STDOUT_FILENO);
      execvp(words[0], words.data());
      _exit(127);
    }
    close(ends[1]);
    output_ = ends[0];
    if (id_ < 0) throw std::runtime_error("a process cannot be started");
  }
  child(const child&) = delete;
  child& operator=(const child&) = delete;
  ~child() {
    send(SIGKILL);
    wait();
    close(output_);
  }

  void send(int signal) const {
    if (id_ > 0) kill(id_, signal);
  }

  /// Waits for its end.
  ended wait() {
    ended how;
    char buffer[1024];
    for (ssize_t size = 0; (size = read(output_, buffer, sizeof buffer)) > 0;)
      how.output.append(buffer, static_cast<std::size_t>(size));
    int status = 0;
    if (id_ > 0) waitpid(std::exchange(id_, 0), &status, 0);
    how.code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return how;
  }

 private:
  pid_t id_ = 0;
  int output_ = -1;
};

/// A port of 127.0.0.1 that was free a moment ago.
inline int free_port() {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  const bool bound = bind(listener, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                     getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  close(listener);
  if (!bound) throw std::runtime_error("there is no free port on 127.0.0.1");
  return ntohs(address.sin_port);
}

/// A redis-server on a free port of 127.0.0.1 that keeps nothing: what dies with it is forgotten.
class own_redis {
 public:
  explicit own_redis(std::string program) : program_(std::move(program)) {
    std::string made = std::filesystem::temp_directory_path() / "redis_budgets_XXXXXX";
    if (mkdtemp(made.data()) == nullptr) throw std::runtime_error("a temporary folder cannot be made");
    folder_ = made;
    start();
  }
  own_redis(const own_redis&) = delete;
  own_redis& operator=(const own_redis&) = delete;
  ~own_redis() {
    stop();
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  int port() const { return port_; }

  /// On the same port, each time.
  void start() {
    server_.emplace(std::vector<std::string>{program_, "--port", std::to_string(port_), "--bind", "127.0.0.1", "--dir",
                                             folder_, "--save", "", "--appendonly", "no", "--loglevel", "warning"});
  }
  /// Kills it.
  void stop() { server_.reset(); }
  /// Lets it hang: it keeps its connections and says nothing.
  void hang(bool hangs) const { server_->send(hangs ? SIGSTOP : SIGCONT); }

 private:
  std::string program_;
  std::string folder_;
  int port_ = free_port();
  std::optional<child> server_;
};
