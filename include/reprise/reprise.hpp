// SPDX-License-Identifier: MIT
// Everything that needs only the standard library; the test kit is apart, in testing/.
#pragma once

#include "core.hpp"
#include "describe.hpp"
#include "guard/bulkhead.hpp"
#include "guard/fallback.hpp"
#include "guard/spend_budget.hpp"
#include "policy/adaptive_throttle.hpp"
#include "policy/concurrent_retry_budget.hpp"
#include "policy/fleet_budget.hpp"
#include "policy/quota_budget.hpp"
#include "policy/ratio_budget.hpp"
#include "policy/token_budget.hpp"
#include "presets.hpp"
#include "run/system.hpp"
#include "vocab/idempotency_key.hpp"
