// SPDX-License-Identifier: MIT
// Calls under way, known by small numbers that are used again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace storm {

/// Keeps a `Call` in place as long as it lives: an engine is moved to nowhere. What is asked of a call that may be gone
/// (whether an answer is still for it) lies apart, since most answers in a storm come too late.
template <class Call> class call_pool {
 public:
  /// Makes a call and gives its number.
  template <class... Arguments> std::uint32_t make(Arguments&&... arguments) {
    if (free_.empty()) grow();
    const std::uint32_t which = free_.back();
    free_.pop_back();
    place(which).emplace(std::forward<Arguments>(arguments)...);
    return which;
  }
  void remove(std::uint32_t which) {
    place(which).reset();
    free_.push_back(which);
  }

  Call& operator[](std::uint32_t which) { return *place(which); }

  /// Goes up when an attempt ends, and is never set back.
  std::uint32_t& attempt(std::uint32_t which) { return attempts_[which]; }

 private:
  static constexpr std::uint32_t chunk = 4096;

  std::optional<Call>& place(std::uint32_t which) { return chunks_[which / chunk][which % chunk]; }

  void grow() {
    const auto size = static_cast<std::uint32_t>(attempts_.size());
    chunks_.push_back(std::make_unique<std::optional<Call>[]>(chunk));
    attempts_.resize(size + chunk);
    for (std::uint32_t i = chunk; i > 0; --i) free_.push_back(size + i - 1);
  }

  std::vector<std::unique_ptr<std::optional<Call>[]>> chunks_;
  std::vector<std::uint32_t> attempts_;
  std::vector<std::uint32_t> free_;
};

}  // namespace storm
