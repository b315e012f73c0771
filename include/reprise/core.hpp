// SPDX-License-Identifier: MIT
// The cheap include: policies, engine, blocking execute, bill and the HTTP vocabulary.
// Leaves out what needs threads, atomics or randomness: that is in reprise.hpp.
#pragma once

#include "action.hpp"
#include "concepts.hpp"
#include "engine.hpp"
#include "policy.hpp"
#include "policy/attempt_log.hpp"
#include "policy/configured.hpp"
#include "policy/on_event.hpp"
#include "result.hpp"
#include "run/execute.hpp"
#include "time_span.hpp"
#include "verdict.hpp"
#include "version.hpp"
#include "vocab/http.hpp"
#include "worst_case.hpp"
