// SPDX-License-Identifier: MIT
// What happened in each attempt of one call, in place, without the heap.
// Knows no response: a projection copies a message out of it.
#pragma once

#include <cstddef>
#include <string_view>

#include "../concepts.hpp"
#include "../detail/call.hpp"
#include "../detail/text.hpp"

namespace reprise::inline REPRISE_VERSION_NAMESPACE {

/// One attempt in a log.
struct attempt_record {
  /// Counted from 1.
  int number = 0;
  /// When it began, from the start of the call.
  duration start = duration::zero();
  /// How long it took.
  duration elapsed = duration::zero();
  /// What its end meant.
  reprise::verdict verdict = {};
  /// The wait that followed; nothing if none did.
  std::optional<duration> wait_after = {};
  /// The projected message; points into the log. Control characters are escaped when it is printed.
  std::string_view message = {};
};

namespace detail {

struct no_message {};

/// At most 160 bytes of text, cut between characters of UTF-8.
class short_text {
 public:
  static constexpr std::size_t capacity = 160;

  constexpr void assign(std::string_view text) noexcept {
    std::size_t size = text.size() < capacity ? text.size() : capacity;
    const auto continues = [&](std::size_t at) { return (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U; };
    if (size < text.size())
      while (size > 0 && continues(size)) --size;
    for (std::size_t i = 0; i < size; ++i) text_[i] = text[i];
    size_ = size;
  }
  constexpr std::string_view view() const noexcept { return {text_, size_}; }

 private:
  char text_[capacity] = {};
  std::size_t size_ = 0;
};

}  // namespace detail

/// The attempts that a log holds: what a result keeps.
template <std::size_t Capacity, bool HasMessages> class attempt_records {
 public:
  /// How many attempts are kept: at most N.
  constexpr std::size_t size() const noexcept { return total_ < Capacity ? total_ : Capacity; }
  constexpr bool empty() const noexcept { return total_ == 0; }
  /// How many attempts were made; the oldest beyond N are gone.
  constexpr std::size_t total() const noexcept { return total_; }

  /// The kept attempts, oldest first; at < size().
  constexpr attempt_record operator[](std::size_t at) const {
    const std::size_t slot = (total_ - size() + at) % Capacity;
    attempt_record record = records_[slot];
    if constexpr (HasMessages) record.message = texts_[slot].view();
    return record;
  }

  /// For range-for: gives records by value.
  struct iterator {
    const attempt_records* log = nullptr;
    std::size_t at = 0;

    constexpr attempt_record operator*() const { return (*log)[at]; }
    constexpr iterator& operator++() noexcept { return ++at, *this; }
    friend constexpr bool operator==(const iterator&, const iterator&) noexcept = default;
  };
  constexpr iterator begin() const noexcept { return {this, 0}; }
  constexpr iterator end() const noexcept { return {this, size()}; }

 protected:
  struct no_texts {};

  std::size_t total_ = 0;
  attempt_record records_[Capacity] = {};
  [[no_unique_address]] std::conditional_t<HasMessages, detail::short_text[Capacity], no_texts> texts_ = {};
};

/// The last N attempts of a call, kept in its result. `attempt_log<8>{}.messages(f)` also keeps a message of at most
/// 160 bytes, which f copies out of a response or a `const std::exception&`: f(subject) gives text.
template <std::size_t Capacity, class Projection = detail::no_message> class attempt_log
    : public attempt_records<Capacity, !std::same_as<Projection, detail::no_message>> {
  static_assert(Capacity > 0, "reprise::attempt_log requires room: write attempt_log<8>{}");
  static constexpr bool has_messages = !std::same_as<Projection, detail::no_message>;

 public:
  static constexpr auto part_role = role::log;
  using records = attempt_records<Capacity, has_messages>;

  constexpr attempt_log() requires std::default_initializable<Projection>
  = default;
  constexpr explicit attempt_log(Projection projection) : projection_(std::move(projection)) {}

  /// The same log with messages.
  template <class Function> [[nodiscard]] constexpr auto messages(Function function) const {
    return attempt_log<Capacity, Function>(std::move(function));
  }

  // What the engine writes.

  /// An empty log for a new call.
  constexpr attempt_log open() const {
    attempt_log fresh = *this;
    fresh.clear();
    return fresh;
  }
  constexpr void clear() noexcept {
    this->total_ = 0;
    if constexpr (has_messages) pending_.assign({});
  }
  /// Takes the message of the attempt that is ending.
  template <class Subject> constexpr void note(const Subject& subject) {
    if constexpr (has_messages && requires { detail::text_of(detail::call(projection_, subject)); }) {
      const auto& text = detail::call(projection_, subject);
      pending_.assign(detail::text_of(text));
    }
  }
  constexpr void add(const attempt_record& record) {
    this->records_[this->total_ % Capacity] = record;
    if constexpr (has_messages) {
      this->texts_[this->total_ % Capacity] = pending_;
      pending_.assign({});
    }
    ++this->total_;
  }
  constexpr void add_wait(duration wait) noexcept { this->records_[(this->total_ - 1) % Capacity].wait_after = wait; }

 private:
  [[no_unique_address]] Projection projection_ = {};
  [[no_unique_address]] std::conditional_t<has_messages, detail::short_text, detail::no_message> pending_ = {};
};

/// Writes to the caller's log, by reference: it survives an exception that passes through. It is emptied when a call
/// starts. Given positionally: `log_to(log)`; the log must outlive every call.
template <class Log> class log_to {
 public:
  static constexpr auto part_role = role::log;

  constexpr explicit log_to(Log& log) noexcept : log_(&log) {}
  log_to(const Log&&) = delete;  // a temporary would be gone before the call

  constexpr Log& open() const {
    log_->clear();
    return *log_;
  }

 private:
  Log* log_;
};

}  // namespace reprise::inline REPRISE_VERSION_NAMESPACE
