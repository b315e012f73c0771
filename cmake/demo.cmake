# cmake -P cmake/demo.cmake: builds and runs examples/http_client, from nothing.
cmake_minimum_required(VERSION 3.21...4.0)
include("${CMAKE_CURRENT_LIST_DIR}/packages.cmake")

reprise_need_packages(libfmt-dev libcpp-httplib-dev)
reprise_configure(demo Release -DREPRISE_BUILD_TESTS=OFF -DREPRISE_BUILD_EXAMPLES=ON)
reprise_build(demo http_client)

message(STATUS "running it")
execute_process(COMMAND "${reprise_source}/build/demo/examples/http_client/http_client" RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "The demo ran, but not all of its claims are so (${failed}): see NOT SO above.")
endif()
