// SPDX-License-Identifier: MIT
// Behind the macros of <windows.h> and <complex.h>: they are defined after the standard headers and before ours.
#include <fmt/format.h>

#include <chrono>
#include <concepts>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <initializer_list>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <ratio>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
#if __has_include(<unistd.h>)
#include <unistd.h>
#endif

#define min(a, b) (((a) < (b)) ? (a) : (b))
#define max(a, b) (((a) > (b)) ? (a) : (b))
#define I (__extension__ 1.0iF)
#define small char
#define interface struct
#define near
#define far
#define IN
#define OUT
#define OPTIONAL
#define ERROR 0
#define OVERFLOW 3
#define UNDERFLOW 4
#define DOMAIN 1
#define DELETE (0x00010000L)
#define TRUE 1
#define FALSE 0
#define NO_ERROR 0L

#include <reprise/fmt.hpp>
#include <reprise/reprise.hpp>
#include <reprise/testing/fake_clock.hpp>
#include <reprise/testing/script.hpp>

#include "much_of_it.hpp"

int main(int argc, char** argv) { return much_of_it::all(argc, argv[0]) > 0 ? 0 : 1; }
