// SPDX-License-Identifier: MIT
// The version, written once: CMake and the package config read it from here.
// Knows nothing else of the library.
#pragma once

#define REPRISE_VERSION_MAJOR 0
#define REPRISE_VERSION_MINOR 1
#define REPRISE_VERSION_PATCH 0
/// One number to compare: major * 10000 + minor * 100 + patch.
#define REPRISE_VERSION (REPRISE_VERSION_MAJOR * 10000 + REPRISE_VERSION_MINOR * 100 + REPRISE_VERSION_PATCH)
