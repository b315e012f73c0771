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

namespace detail {

/// How many random bits a source gives at once: those of its largest number, if it has one.
template <class Bits> constexpr int random_bits() {
  using number = std::invoke_result_t<Bits&>;
  if constexpr (requires {
                  { (std::remove_cvref_t<Bits>::max)() } -> std::same_as<number>;
                }) {
    constexpr number most = (std::remove_cvref_t<Bits>::max)();
    static_assert(
        (std::remove_cvref_t<Bits>::min)() == 0 && (most & (most + 1)) == 0,
        "reprise::http::idempotency_key requires random bits: write std::random_device or std::mt19937_64, a source of all numbers from 0 to a power of two less 1");
    int bits = 0;
    for (number rest = most; rest != 0; rest >>= 1U) ++bits;
    return bits;
  } else {
    return std::numeric_limits<number>::digits;
  }
}

}  // namespace detail

/// A random UUID (RFC 9562 version 4) as text, in place; made once per call, before `execute`, so that all attempts
/// carry the same one. `bits` gives random numbers, unsigned and over the full range of its type (std::random_device
/// does). For an `Idempotency-Key` header, put it in double quotes: the draft makes the value a structured-field
/// string.
class idempotency_key {
 public:
  template <std::invocable Bits>
  requires std::unsigned_integral<std::invoke_result_t<Bits&>> && (!std::same_as<std::invoke_result_t<Bits&>, bool>)
  constexpr explicit idempotency_key(Bits&& bits) {
    constexpr int most = detail::random_bits<Bits>();
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
