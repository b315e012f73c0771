// SPDX-License-Identifier: MIT
// Everything that needs only the standard library; the test kit is apart, in testing/.
#pragma once

#include "core.hpp"
#include "guard/bulkhead.hpp"
#include "guard/fallback.hpp"
#include "guard/spend_budget.hpp"
#include "run/system.hpp"
