// SPDX-License-Identifier: MIT
// The optimiser sees further, and so do the warnings that it gives.
#include <fmt/format.h>

#include <memory>
#include <reprise/fmt.hpp>
#include <reprise/reprise.hpp>
#include <reprise/testing/script.hpp>
#include <stdexcept>
#include <string>

#include "much_of_it.hpp"

int main(int argc, char** argv) { return much_of_it::all(argc, argv[0]) > 0 ? 0 : 1; }
