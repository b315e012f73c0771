# What the project's own tests and examples need; never part of what a consumer gets.
include(FetchContent)
include("${CMAKE_CURRENT_LIST_DIR}/dependencies.cmake")

add_library(reprise_warnings INTERFACE)
target_compile_options(reprise_warnings INTERFACE
  $<$<CXX_COMPILER_ID:GNU,Clang,AppleClang>:-Wall;-Wextra;-Wpedantic;-Wconversion;-Wshadow;-Werror>
  $<$<CXX_COMPILER_ID:MSVC>:/W4;/WX;/permissive->)

# A program or library of the project: it uses the library and obeys its warnings.
function(reprise_own target)
  target_link_libraries(${target} PRIVATE reprise::reprise reprise_warnings)
  set_target_properties(${target} PROPERTIES CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF)
endfunction()
