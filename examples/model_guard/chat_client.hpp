// SPDX-License-Identifier: MIT
// What a client library for language models looks like from outside: a request, a completion, and what it throws.
// Its own retries are off: it sends a request once. Knows nothing of the guard.
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace chat {

struct request {
  std::string_view prompt = {};
  std::string_view idempotency_key = {};
  std::chrono::nanoseconds timeout = {};
};

enum class finish { complete, cut_off, refused };

struct completion {
  std::string content = {};
  finish finished = finish::complete;
  std::int64_t tokens = 0;  ///< of prompt and content: what is billed
};

class connection_error : public std::runtime_error {
 public:
  using runtime_error::runtime_error;
};

class timeout_error : public connection_error {
 public:
  using connection_error::connection_error;
};

class status_error : public std::runtime_error {
 public:
  status_error(int code, const std::string& text) : runtime_error(text), status(code) {}

  int status;
};

class rate_limited : public status_error {
 public:
  explicit rate_limited(std::optional<std::chrono::seconds> wait = {})
      : status_error(429, "Too Many Requests"), retry_after(wait) {}

  std::optional<std::chrono::seconds> retry_after;
};

/// The content is not what was asked for.
class shape_error : public std::runtime_error {
 public:
  using runtime_error::runtime_error;
};

class half_json : public shape_error {
 public:
  using shape_error::shape_error;
};

class missing_field : public shape_error {
 public:
  using shape_error::shape_error;
};

/// The text in {"reply": "..."}. A JSON library stands here in a real program.
inline std::string reply_in(std::string_view json) {
  if (!json.starts_with('{') || !json.ends_with('}'))
    throw half_json(fmt::format("JSON ends after {} characters", json.size()));
  constexpr std::string_view field = "\"reply\": \"";
  const auto start = json.find(field);
  if (start == std::string_view::npos) throw missing_field("no field \"reply\"");
  const std::string_view rest = json.substr(start + field.size());
  const std::string_view text = rest.substr(0, rest.rfind('"'));
  if (text.empty()) throw missing_field("the field \"reply\" is empty");
  return std::string(text);
}

}  // namespace chat
