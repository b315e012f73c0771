// SPDX-License-Identifier: MIT
#pragma once

#include <reprise/core.hpp>

/// One policy for the whole program.
inline constexpr reprise::retry_policy client_policy{reprise::http::retry_statuses{},
                                                     reprise::attempt_budget{.maximum = 2}};

int attempts_in_part();
bool worst_case_agrees();
