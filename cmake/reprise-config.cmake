# The library needs nothing but the standard library; who includes reprise/fmt.hpp links {fmt}.
include("${CMAKE_CURRENT_LIST_DIR}/reprise-targets.cmake")
