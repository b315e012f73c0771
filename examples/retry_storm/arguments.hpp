// SPDX-License-Identifier: MIT
// The words of the command line: `--name value`, each checked, each refusal a sentence.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace storm {

/// The command line asks for what there is not; `what()` is a sentence for the user.
struct usage_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

template <class... Values> [[noreturn]] void refuse(fmt::format_string<Values...> text, Values&&... values) {
  throw usage_error(fmt::format(text, std::forward<Values>(values)...));
}

/// The smallest and the largest value that an option takes.
struct range {
  std::int64_t least = 0;
  std::int64_t most = 0;
};

class arguments {
 public:
  arguments(const std::vector<std::string_view>& words, std::initializer_list<std::string_view> known) {
    for (std::size_t i = 0; i < words.size(); i += 2) {
      const std::string_view name = words[i];
      if (std::find(known.begin(), known.end(), name) == known.end())
        refuse("There is no option {} here; there are {}.", name, fmt::join(known, ", "));
      if (i + 1 == words.size()) refuse("The option {} needs a value.", name);
      if (!given_.emplace(name, words[i + 1]).second) refuse("The option {} is given twice.", name);
    }
  }

  std::optional<std::string> text(std::string_view name) const {
    const auto found = given_.find(name);
    if (found == given_.end()) return std::nullopt;
    return std::string(found->second);
  }

  template <class Number> Number number(std::string_view name, Number otherwise, range allowed) const {
    const auto found = given_.find(name);
    return found == given_.end() ? otherwise : static_cast<Number>(parse(name, found->second, allowed));
  }

  /// Numbers with commas between them.
  std::vector<int> list(std::string_view name, std::vector<int> otherwise, range allowed) const {
    const auto found = given_.find(name);
    if (found == given_.end()) return otherwise;
    std::vector<int> numbers;
    for (std::string_view rest = found->second;;) {
      const std::size_t comma = rest.find(',');
      numbers.push_back(static_cast<int>(parse(name, rest.substr(0, comma), allowed)));
      if (comma == std::string_view::npos) return numbers;
      rest.remove_prefix(comma + 1);
    }
  }

 private:
  static std::int64_t parse(std::string_view name, std::string_view word, range allowed) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    const bool whole = error == std::errc{} && end == word.data() + word.size();
    if (!whole || number < allowed.least || number > allowed.most)
      refuse("The option {} takes whole numbers from {} to {}, not \"{}\".", name, allowed.least, allowed.most, word);
    return number;
  }

  std::map<std::string_view, std::string_view> given_;
};

}  // namespace storm
