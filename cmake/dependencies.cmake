# Where the dependencies of tests and examples come from: the system's package (CMake's, else pkg-config's), else a
# pinned archive. FETCHCONTENT_SOURCE_DIR_<NAME> gives sources at hand precedence over all of them.

# reprise_archive(name url hash): declares and builds an archive.
function(reprise_archive name url hash)
  message(STATUS "reprise: ${name} is not installed; fetching ${url}")
  FetchContent_Declare(${name} URL "${url}" URL_HASH "SHA256=${hash}")
  FetchContent_MakeAvailable(${name})
endfunction()

function(reprise_need_fmt)
  if(TARGET fmt::fmt)
    return()
  endif()
  if(NOT FETCHCONTENT_SOURCE_DIR_FMT)
    find_package(fmt 9...<13 QUIET GLOBAL)
  endif()
  if(NOT TARGET fmt::fmt)
    reprise_archive(fmt "https://github.com/fmtlib/fmt/archive/refs/tags/10.2.1.tar.gz"
      1250e4cc58bf06ee631567523f48848dc4596133e163f02615c97f78bab6c811)
  endif()
endfunction()

function(reprise_need_json)
  if(TARGET nlohmann_json::nlohmann_json)
    return()
  endif()
  if(NOT FETCHCONTENT_SOURCE_DIR_NLOHMANN_JSON)
    find_package(nlohmann_json 3 QUIET GLOBAL)
  endif()
  if(NOT TARGET nlohmann_json::nlohmann_json)
    set(JSON_BuildTests OFF)
    reprise_archive(nlohmann_json "https://github.com/nlohmann/json/releases/download/v3.11.3/json.tar.xz"
      d6c65aca6b1ed68e7a182f4757257b107ae403032760ed6ef121c9d55e81757d)
  endif()
endfunction()

# Gives the target reprise_catch: Catch2 2.13 or 3, with a main.
function(reprise_need_catch)
  if(TARGET reprise_catch)
    return()
  endif()
  # No version is asked for: Catch2's package refuses ranges, and both majors will do.
  if(NOT FETCHCONTENT_SOURCE_DIR_CATCH2)
    find_package(Catch2 QUIET GLOBAL)
  endif()
  if(NOT TARGET Catch2::Catch2)
    reprise_archive(catch2 "https://github.com/catchorg/Catch2/archive/refs/tags/v3.6.0.tar.gz"
      485932259a75c7c6b72d4b874242c489ea5155d17efa345eb8cc72159f49f356)
  endif()
  add_library(reprise_catch INTERFACE)
  if(TARGET Catch2::Catch2WithMain)
    target_link_libraries(reprise_catch INTERFACE Catch2::Catch2WithMain)
  else()
    # Catch2 2 as its authors ship it has no library with a main.
    file(WRITE "${PROJECT_BINARY_DIR}/catch_main.cpp" "#define CATCH_CONFIG_MAIN\n#include <catch2/catch.hpp>\n")
    add_library(reprise_catch_main STATIC "${PROJECT_BINARY_DIR}/catch_main.cpp")
    target_link_libraries(reprise_catch_main PUBLIC Catch2::Catch2)
    target_link_libraries(reprise_catch INTERFACE reprise_catch_main)
  endif()
endfunction()

# Gives the target reprise_httplib. Debian's package has no CMake files; the macros in its .pc are part of its ABI, so
# that it must be found through them.
function(reprise_need_httplib)
  if(TARGET reprise_httplib)
    return()
  endif()
  add_library(reprise_httplib INTERFACE)
  if(NOT FETCHCONTENT_SOURCE_DIR_HTTPLIB)
    find_package(httplib 0.11...<0.19 QUIET GLOBAL)  # later ones have other errors
    if(NOT TARGET httplib::httplib)
      find_package(PkgConfig QUIET)
      if(PkgConfig_FOUND)
        pkg_check_modules(reprise_httplib QUIET IMPORTED_TARGET GLOBAL "cpp-httplib>=0.11" "cpp-httplib<0.19")
      endif()
    endif()
  endif()
  if(TARGET PkgConfig::reprise_httplib)
    target_link_libraries(reprise_httplib INTERFACE PkgConfig::reprise_httplib)
    return()
  endif()
  if(NOT TARGET httplib::httplib)
    reprise_archive(httplib "https://github.com/yhirose/cpp-httplib/archive/refs/tags/v0.14.3.tar.gz"
      dcf6486d9030937636d8a4f820ca9531808fd7edb283893dddbaa05f99357e63)
  endif()
  target_link_libraries(reprise_httplib INTERFACE httplib::httplib)
endfunction()
