// SPDX-License-Identifier: MIT
// Four gates in a line before a language model: budget, time, retry, fallback. Whatever the models throw, the reader
// gets a whole sentence, and the log of every attempt comes with it. Knows no model by name, no clock and no random
// source.
#pragma once

#include <map>
#include <reprise/core.hpp>
#include <reprise/fmt.hpp>
#include <reprise/guard/fallback.hpp>
#include <reprise/guard/spend_budget.hpp>
#include <string>
#include <vector>

#include "chat_client.hpp"

namespace assistant {

using namespace std::chrono_literals;

// --- what failures mean ----------------------------------------------------------------------------------------------

/// A failure whose third nature is its label: transient, but counted apart. Networks fail in the first way, prompts and
/// token limits in this one.
inline constexpr reprise::verdict bad_shape{.kind = reprise::outcome::transient, .label = "shape"};

/// "ok", "transient", "permanent" or "shape".
constexpr std::string_view nature_of(const reprise::verdict& verdict) {
  if (verdict.kind == reprise::outcome::success) return "ok";
  return verdict.label == bad_shape.label ? bad_shape.label.text() : to_string(verdict.kind);
}

constexpr reprise::verdict judge_status(const chat::status_error& error) {
  const bool transient = error.status == 429 || error.status >= 500;
  return {.kind = transient ? reprise::outcome::transient : reprise::outcome::permanent,
          .label = "http",
          .code = error.status};
}

constexpr reprise::verdict judge_completion(const chat::completion& answer) {
  switch (answer.finished) {
    case chat::finish::complete: return {.kind = reprise::outcome::success};
    case chat::finish::cut_off: return bad_shape;
    case chat::finish::refused: break;
  }
  return {.kind = reprise::outcome::permanent, .label = "refused"};
}

/// What stands in the log beside the verdict.
struct message_of {
  std::string_view operator()(const std::exception& error) const { return error.what(); }
  std::string_view operator()(const chat::completion& answer) const {
    switch (answer.finished) {
      case chat::finish::complete: break;
      case chat::finish::cut_off: return "the content is cut off";
      case chat::finish::refused: return "the content is refused";
    }
    return {};
  }
};

// --- the policy of one model -----------------------------------------------------------------------------------------

constexpr std::size_t log_room = 8;

/// Change it with `with()`. The time limit is that of the whole turn.
inline constexpr reprise::retry_policy guard_policy{
    // A derived type stands before its base: a timeout is not merely a broken connection.
    reprise::on_exception<chat::timeout_error>([](const chat::timeout_error&) -> reprise::verdict {
      return {.kind = reprise::outcome::transient, .label = "timeout"};
    }),
    reprise::on_exception<chat::connection_error>([](const chat::connection_error&) -> reprise::verdict {
      return {.kind = reprise::outcome::transient, .label = "connection"};
    }),
    reprise::on_exception<chat::rate_limited>([](const chat::rate_limited& error) {
      reprise::verdict verdict = judge_status(error);
      verdict.retry_after = error.retry_after;
      return verdict;
    }),
    reprise::on_exception<chat::status_error>(judge_status),
    reprise::on_exception<chat::shape_error>([](const chat::shape_error&) { return bad_shape; }),
    // What nobody knows is not worth anybody's time: one call, and a clear line in the log.
    reprise::on_exception<std::exception>([](const std::exception&) -> reprise::verdict {
      return {.kind = reprise::outcome::permanent, .label = "unrecognised"};
    }),
    judge_completion,
    reprise::attempt_budget{.maximum = 3},
    reprise::exponential_backoff{.base = 200ms},
    reprise::proportional_jitter{.fraction = 0.1},
    reprise::wait_limit{.total = 2s},
    reprise::time_limit{.total = 8s},
    reprise::divided_timeout{.longest = 20s, .shortest = 500ms},
    reprise::attempt_log<log_room>{}.messages(message_of{}),
};

using default_policy = std::remove_const_t<decltype(guard_policy)>;

static_assert(reprise::worst_case(guard_policy).attempts == 3);
static_assert(reprise::worst_case(guard_policy).waits <= 2s);
static_assert(reprise::worst_case(guard_policy).total <= 8s);

/// Whether a question may be sent twice is known only when it is asked.
struct repeatable {
  static constexpr auto part_role = reprise::role::idempotency;

  bool safe = false;
  constexpr bool replay_safe() const noexcept { return safe; }
};

// --- what the reader gets --------------------------------------------------------------------------------------------

/// Each says honestly what is the matter and offers a way out; none promises anything.
namespace texts {
inline constexpr std::string_view degraded =
    "I cannot answer at the moment: the service behind me is failing. Nothing of your question has been kept. Please "
    "try again later, or ask your teacher directly.";
inline constexpr std::string_view too_long =
    "This is longer than I may take in at once. Please ask it in smaller parts, or ask your teacher directly.";
inline constexpr std::string_view used_up =
    "Today's questions are used up. That is a rule, not a fault: you can ask again tomorrow, or ask your teacher "
    "directly.";
inline constexpr std::string_view uncertain =
    "I cannot tell whether this has been done: the answer was lost. Please check before you ask for it again, or let "
    "your teacher look.";
inline constexpr std::string_view cancelled = "Stopped, as you asked.";
}  // namespace texts

enum class ending { answered, degraded, over_budget, uncertain, cancelled };

constexpr std::string_view to_string(ending kind) {
  switch (kind) {
    case ending::answered: return "answered";
    case ending::degraded: return "degraded";
    case ending::over_budget: return "over budget";
    case ending::uncertain: return "uncertain";
    case ending::cancelled: return "cancelled";
  }
  return "unknown";
}

/// What became of one model of the chain.
struct model_log {
  std::string model = {};
  reprise::stop_reason reason = {};
  reprise::attempt_records<log_room, true> attempts = {};
  std::exception_ptr error = {};  ///< the last attempt's own, unchanged
};

struct reply {
  ending kind = ending::degraded;
  std::string text = {};
  std::string model = {};   ///< which one answered
  std::string reason = {};  ///< why none did
  std::vector<model_log> asked = {};
  std::int64_t tokens = 0;
  reprise::duration took = {};

  int requests() const {
    std::size_t sum = 0;
    for (const model_log& each : asked) sum += each.attempts.total();
    return static_cast<int>(sum);
  }
};

/// Answers "how many of our requests fail, and in which way" from the logs.
class statistics {
 public:
  void add(const reply& answer) {
    for (const model_log& each : answer.asked)
      for (const reprise::attempt_record& attempt : each.attempts) {
        ++counts_[nature_of(attempt.verdict)];
        ++requests_;
      }
  }

  int requests() const { return requests_; }
  int count(std::string_view nature) const {
    const auto found = counts_.find(nature);
    return found == counts_.end() ? 0 : found->second;
  }
  double percent(std::string_view nature) const { return requests_ == 0 ? 0.0 : 100.0 * count(nature) / requests_; }

 private:
  std::map<std::string_view, int> counts_;
  int requests_ = 0;
};

// --- the guard -------------------------------------------------------------------------------------------------------

struct question {
  std::string_view text = {};
  bool writes = false;  ///< it makes the model's tools do something: not twice, then
  std::string_view idempotency_key = {};
};

inline std::string prompt_of(const question& asked) {
  return fmt::format("Correct the sentence. Write {{\"reply\": \"...\"}} and nothing else.\n{}", asked.text);
}

/// Near enough for a brake: about four characters of English a token.
constexpr std::int64_t tokens_in(std::string_view text) { return static_cast<std::int64_t>(text.size() + 3) / 4; }

/// Guards every question with one policy and one budget. Clock, sleep and randomness are the environment's:
/// `reprise::system_environment`, or a fake clock. Budget and environment must outlive it.
template <class Policy, class Budget, class Environment> class model_guard {
 public:
  static_assert(Policy::limits_time, "a turn must end");

  model_guard(const Policy& policy, Budget& budget, Environment& environment)
      : policy_(policy), budget_(&budget), environment_(&environment) {}

  /// Asks the models in this order until one answers.
  template <class... Models> reply ask(const question& asked, Models&... models) {
    const std::string prompt = prompt_of(asked);
    const auto start = environment_->now();

    // Gate 1, the cheapest first. What is not settled goes back to the budget, whatever ends the turn.
    auto reserved = budget_->reserve(tokens_in(prompt));
    if (!reserved.granted()) return over_budget(reserved.refused_by());

    // Gate 2: one deadline for all attempts, waits and models.
    const reprise::deadline turn(start + policy_.template part<reprise::role::time>().limit());

    // Gate 3: the attempts of one model.
    const repeatable repeats{!asked.writes || !asked.idempotency_key.empty()};
    reply answer;
    const auto call = [&](auto& model) {
      return [&](const auto& until) {
        const auto send = [&](const reprise::attempt& attempt) {
          chat::completion got =
              model.complete({.prompt = prompt, .idempotency_key = asked.idempotency_key, .timeout = attempt.timeout});
          if (got.finished == chat::finish::complete) got.content = chat::reply_in(got.content);
          return got;
        };
        auto result = reprise::execute(policy_.with(repeats, until), send, *environment_);
        answer.asked.push_back({model.name(), result.reason(), result.log(), result.exception()});
        return result;
      };
    };

    // Gate 4. A write that may have been done is not handed to another model.
    const auto nothing_was_done = [&](const reprise::fallback_cause& cause) {
      return repeats.safe ||
             (cause.reason != reprise::stop_reason::not_replay_safe && cause.verdict.label != "unrecognised");
    };
    const auto last_resort = [](const reprise::fallback_cause&) {
      return chat::completion{.content = std::string(texts::degraded)};
    };
    auto got = reprise::fallback{call(models)...}.stands_in_for(nothing_was_done).or_else(last_resort)(turn);

    answer.took = environment_->now() - start;
    if (got.ok()) {
      answer.kind = got.degraded ? ending::degraded : ending::answered;
      answer.text = std::move(got.value->content);
    } else {
      const bool stopped = got.causes.last().reason == reprise::stop_reason::cancelled;
      answer.kind = stopped ? ending::cancelled : ending::uncertain;
      answer.text = stopped ? texts::cancelled : texts::uncertain;
    }
    if (answer.kind == ending::answered) {
      answer.model = answer.asked.back().model;
      answer.tokens = got.value->tokens;
      reserved.settle(answer.tokens);
    } else {
      answer.reason = reason_of(answer.asked.back());
    }
    return answer;
  }

 private:
  static reply over_budget(reprise::spend_refusal refused) {
    const bool one = refused == reprise::spend_refusal::per_call;
    return {.kind = ending::over_budget,
            .text = std::string(one ? texts::too_long : texts::used_up),
            .reason = one ? "over the limit of a call" : "over the limit of the session"};
  }

  static std::string reason_of(const model_log& last) {
    if (last.attempts.empty()) return fmt::format("{}: {}", last.model, last.reason);
    return fmt::format("{}: {}, {}", last.model, last.attempts[last.attempts.size() - 1].verdict, last.reason);
  }

  Policy policy_;
  Budget* budget_;
  Environment* environment_;
};

}  // namespace assistant
