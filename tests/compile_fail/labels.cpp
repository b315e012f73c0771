// SPDX-License-Identifier: MIT
// A label is a string literal.
#include <reprise/verdict.hpp>
#include <string>
#include <string_view>

namespace {

// WRONG_STRING: reprise::label requires a string literal: write label = "timeout" and keep run-time text in the response
// WRONG_POINTER: reprise::label requires a string literal: write label = "timeout" and keep run-time text in the response
// WRONG_VIEW: reprise::label requires a string literal: write label = "timeout" and keep run-time text in the response
// WRONG_LOCAL_ARRAY: constant expression
reprise::verdict judge(const std::string& text) {
#if defined(WRONG_STRING)
  return {.label = text};
#elif defined(WRONG_POINTER)
  return {.label = text.c_str()};
#elif defined(WRONG_VIEW)
  return {.label = std::string_view(text)};
#elif defined(WRONG_LOCAL_ARRAY)
  const char copy[] = {text[0], '\0'};
  return {.label = copy};
#else
  return {.label = "timeout", .code = static_cast<int>(text.size())};
#endif
}

}  // namespace

int main() { return judge("text").code == 4 ? 0 : 1; }
