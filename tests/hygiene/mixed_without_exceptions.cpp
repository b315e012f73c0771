// SPDX-License-Identifier: MIT
#include "mixed.hpp"

#ifdef __cpp_exceptions
#error This half must be built without exceptions.
#endif

int attempts_without_exceptions() { return mixed::attempts(); }
