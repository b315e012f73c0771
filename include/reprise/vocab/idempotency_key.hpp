// SPDX-License-Identifier: MIT
// A key by which a server knows a repeated request again.
// Has no randomness of its own: the caller hands the bits in.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

#include "../detail/fail.hpp"

namespace reprise::inline REPRISE_VERSION_NAMESPACE::http {

/// A random UUID (RFC 9562 version 4) as text, in place; made once per call, before `execute`, so that all attempts
/// carry the same one. `bits` gives random numbers, unsigned and over the full range of its type (std::random_device
/// does). For an `Idempotency-Key` header, put it in double quotes: the draft makes the value a structured-field
/// string.
class idempotency_key {
 public:
  template <std::invocable Bits> requires std::unsigned_integral<std::invoke_result_t<Bits&>>
  constexpr explicit idempotency_key(Bits&& bits) {
    constexpr int most = std::numeric_limits<std::invoke_result_t<Bits&>>::digits;
    std::uint64_t pool = 0;
    int left = 0;
    for (std::size_t at = 0; at < size; ++at) {
      if (at == 8 || at == 13 || at == 18 || at == 23) {
        text_[at] = '-';
        continue;
      }
      if (left < 4) {
        pool = bits();
        left = most;
      }
      unsigned digit = static_cast<unsigned>(pool & 0xFU);
      pool >>= 4;
      left -= 4;
      if (at == 14) digit = 4;
      if (at == 19) digit = 8U | (digit & 3U);
      text_[at] = "0123456789abcdef"[digit];
    }
  }

  constexpr std::string_view text() const noexcept { return {text_, size}; }
  constexpr operator std::string_view() const noexcept { return text(); }

 private:
  static constexpr std::size_t size = 36;
  char text_[size] = {};
};

}  // namespace reprise::inline REPRISE_VERSION_NAMESPACE::http
