# cmake -P cmake/test.cmake: builds and runs all tests and examples, from nothing.
cmake_minimum_required(VERSION 3.21...4.0)
include("${CMAKE_CURRENT_LIST_DIR}/packages.cmake")

reprise_need_packages(catch2 libfmt-dev nlohmann-json3-dev libcpp-httplib-dev libhiredis-dev redis-server)
reprise_configure(test Debug -DREPRISE_BUILD_TESTS=ON -DREPRISE_BUILD_EXAMPLES=ON)
reprise_build(test)

# The unit tests alone first, for their numbers: the end of this script's output is ctest's own summary.
set(ctest "${CMAKE_CTEST_COMMAND}" --test-dir "${reprise_source}/build/test")
execute_process(COMMAND ${ctest} -L unit -V OUTPUT_VARIABLE said ERROR_VARIABLE said)
if(said MATCHES "All tests passed \\(([0-9]+) assertions? in ([0-9]+) test cases?\\)")
  message(STATUS "unit tests: ${CMAKE_MATCH_2} test cases, ${CMAKE_MATCH_1} assertions")
elseif(said MATCHES "test cases: ([^\n]*)\n[^\n]*assertions: ([^\n]*)")
  message(STATUS "unit tests: test cases ${CMAKE_MATCH_1}; assertions ${CMAKE_MATCH_2}")
else()
  message(STATUS "unit tests: they gave no numbers; see below")
endif()

message(STATUS "running all tests")
execute_process(COMMAND ${ctest} --output-on-failure --parallel ${reprise_cores} RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "Some tests fail: they are listed above.")
endif()
