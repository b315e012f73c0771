// SPDX-License-Identifier: MIT
// A send that plays a script: responses and exceptions in order, each taking its time on the fake clock.
// Knows no policy.
#pragma once

#include <string_view>
#include <tuple>

#include "fake_clock.hpp"

namespace reprise::inline REPRISE_VERSION_NAMESPACE::testing {

/// A response of a script: what `http::retry_statuses` reads.
struct response {
  int status = 0;
  /// The text of the header; empty is absent.
  std::string_view retry_after = {};

  friend constexpr bool operator==(const response&, const response&) = default;
};

/// A step that returns a value.
template <class Value> class replies {
 public:
  using response_type = Value;

  constexpr explicit replies(Value value) : value_(std::move(value)) {}

  /// How long the attempt takes; 0 by default.
  constexpr replies takes(time_span cost) const {
    replies slower = *this;
    slower.cost_ = cost;
    return slower;
  }
  /// The server's Retry-After; `text` must outlive the script (a literal does).
  constexpr replies retry_after(std::string_view text) const requires std::same_as<Value, response>
  {
    replies hinted = *this;
    hinted.value_.retry_after = text;
    return hinted;
  }

  constexpr duration cost() const noexcept { return cost_; }
  constexpr Value play() const { return value_; }

 private:
  Value value_;
  duration cost_ = duration::zero();
};

/// A step that throws.
template <class Exception, class... Arguments> class throws {
 public:
  constexpr explicit throws(Arguments... arguments) : arguments_(std::move(arguments)...) {}

  /// How long the attempt takes; 0 by default.
  constexpr throws takes(time_span cost) const {
    throws slower = *this;
    slower.cost_ = cost;
    return slower;
  }

  constexpr duration cost() const noexcept { return cost_; }
  [[noreturn]] void play() const {
    std::apply([](const auto&... arguments) { detail::raise<Exception>(arguments...); }, arguments_);
    std::abort();
  }

 private:
  std::tuple<Arguments...> arguments_;
  duration cost_ = duration::zero();
};

/// A response with this status.
constexpr auto reply(int status) { return replies<response>(response{.status = status}); }

/// This value.
template <class Value> constexpr auto reply(Value value) { return replies<Value>(std::move(value)); }

/// Throws Exception(arguments...).
template <class Exception, class... Arguments> constexpr auto fails(Arguments... arguments) {
  return throws<Exception, Arguments...>(std::move(arguments)...);
}

namespace detail {

template <class Step> struct reply_of {
  using type = void;
};
template <class Value> struct reply_of<replies<Value>> {
  using type = Value;
};

/// The type of the replies among the steps: the first one's.
template <class... Types> struct first_reply {
  using type = void;
};
template <class First, class... Rest> struct first_reply<First, Rest...> {
  using type = std::conditional_t<std::is_void_v<First>, typename first_reply<Rest...>::type, First>;
};

}  // namespace detail

/// Plays its steps, one an attempt; the last one repeats. Each advances the clock by its cost. Up to 64 calls.
template <class Clock, class... Steps> class script {
  static_assert(sizeof...(Steps) > 0,
                "reprise::testing::script requires steps: write script send{time, reply(503), reply(200)}");
  using response_type = typename detail::first_reply<typename detail::reply_of<Steps>::type...>::type;
  static_assert(
      ((std::is_void_v<typename detail::reply_of<Steps>::type> ||
        std::same_as<typename detail::reply_of<Steps>::type, response_type>) &&
       ...),
      "reprise::testing::script requires replies of one type: write reply(value) with the same type each time");

 public:
  constexpr explicit script(Clock& time, Steps... steps) : time_(&time), steps_(std::move(steps)...) {}

  constexpr response_type operator()(const attempt& current) {
    timeouts_.add(current.timeout);
    const std::size_t at = timeouts_.size() <= sizeof...(Steps) ? timeouts_.size() - 1 : sizeof...(Steps) - 1;
    return play<0>(at);
  }

  /// How many times it was called.
  constexpr int calls() const noexcept { return static_cast<int>(timeouts_.size()); }
  /// The timeout that each call was given.
  constexpr const auto& timeouts() const noexcept { return timeouts_; }

 private:
  template <std::size_t Index> constexpr response_type play(std::size_t at) {
    if constexpr (Index + 1 < sizeof...(Steps)) {
      if (at != Index) return play<Index + 1>(at);
    }
    const auto& step = std::get<Index>(steps_);
    time_->advance(step.cost());
    if constexpr (std::is_void_v<decltype(step.play())>) step.play();
    else return step.play();
  }

  Clock* time_;
  std::tuple<Steps...> steps_;
  recorded<duration> timeouts_ = {};
};

template <class Clock, class... Steps> script(Clock&, Steps...) -> script<Clock, Steps...>;

}  // namespace reprise::inline REPRISE_VERSION_NAMESPACE::testing
