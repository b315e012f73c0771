// SPDX-License-Identifier: MIT
// Catch2 2.13 or 3: the part that both have. Use TEST_CASE, SECTION, GENERATE, CHECK, REQUIRE, CHECK_THROWS_AS,
// STATIC_REQUIRE, CAPTURE and INFO only.
#pragma once

#if __has_include(<catch2/catch_test_macros.hpp>)
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#else
#include <catch2/catch.hpp>
#endif
