// SPDX-License-Identifier: MIT
// Other systems' published retry policies, reproduced: fragments to complete with `with()`.
// Knows none of the systems' errors: classifiers are given only where the original fixes the statuses.
//
// What holds of all of them: an original that waits for a shorter time than its own backoff because a server said so
// waits its own here (the decision's rule 7); a wait that does not fit into the time left ends the call (rule 8).
// Formulas that exceed their own cap by design (gRPC, cenkalti) do so here.
#pragma once

#include "presets/aws.hpp"
#include "presets/azure.hpp"
#include "presets/cenkalti.hpp"
#include "presets/curl_retry.hpp"
#include "presets/envoy.hpp"
#include "presets/finagle.hpp"
#include "presets/google_cloud.hpp"
#include "presets/grpc.hpp"
#include "presets/polly.hpp"
#include "presets/stainless.hpp"
#include "presets/tower.hpp"
#include "presets/urllib3.hpp"
