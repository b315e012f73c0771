# Compiles one source, and with CASE=WRONG_<what> the wrong use that this macro turns on. Without CASE it must compile
# without a word; with CASE it must not compile, and the first error must contain the sentence that the source gives:
#   // WRONG_<what>: <sentence>
# Values that are refused in constant expressions are told in the compiler's own words. They are tried all at once: with
#   // WRONG_<what>: each line with <text>
# every such line must be refused, and nothing else.
# A line `// FLAGS: <flags>` gives flags of the source's own.
# Needs COMPILER, COMPILER_ID, FLAGS, INCLUDE and SOURCE.
cmake_minimum_required(VERSION 3.21...4.0)
file(READ "${SOURCE}" source)
if(source MATCHES "\n// FLAGS: ([^\n]+)")
  string(APPEND FLAGS " ${CMAKE_MATCH_1}")
endif()
separate_arguments(flags UNIX_COMMAND "${FLAGS}")
set(command "${COMPILER}" -std=c++20 ${flags} "-I${INCLUDE}" -fsyntax-only)
if(DEFINED CASE)
  # A warning about the wrong use must not come before the sentence.
  list(APPEND command -Wno-error "-D${CASE}")
endif()
# Source lines are left out, so that no sentence is found in them.
if(COMPILER_ID STREQUAL "GNU")
  list(APPEND command -fno-diagnostics-show-caret)
else()
  list(APPEND command -fno-caret-diagnostics -ferror-limit=0)
endif()
list(APPEND command "${SOURCE}")
list(JOIN command " " shown)
# Messages in English, with plain quotes.
set(ENV{LC_ALL} C)
execute_process(COMMAND ${command} RESULT_VARIABLE result OUTPUT_VARIABLE said ERROR_VARIABLE said)

if(NOT DEFINED CASE)
  if(NOT result EQUAL 0 OR NOT said STREQUAL "")
    message(FATAL_ERROR "The right uses must compile without a word:\n${shown}\n${said}")
  endif()
  return()
endif()

if(NOT source MATCHES "\n// ${CASE}: ([^\n]+)")
  message(FATAL_ERROR "The source gives no sentence for ${CASE}")
endif()
set(sentence "${CMAKE_MATCH_1}")
if(result EQUAL 0)
  message(FATAL_ERROR "${CASE} compiles and must not:\n${shown}")
endif()

if(sentence MATCHES "^each line with (.*)$")
  set(marker "${CMAKE_MATCH_1}")
  get_filename_component(name "${SOURCE}" NAME)
  string(REGEX MATCHALL "error: [^\n]*" errors "${said}")
  list(LENGTH errors error_count)
  list(FILTER errors INCLUDE REGEX
    "must be initialized by a constant expression|call to non-'constexpr' function .*refuse\\(")
  list(LENGTH errors refused)
  # As a list of lines: without the characters that mean something in a list, and no line empty.
  string(REGEX REPLACE "[][;]" "_" lines "${source}")
  string(REPLACE "\n" " ;" lines "${lines}")
  set(number 0)
  set(wrong 0)
  set(missing "")
  foreach(line IN LISTS lines)
    math(EXPR number "${number} + 1")
    string(FIND "${line}" "${marker}" at)
    if(at EQUAL -1 OR line MATCHES "^(//|#)")
      continue()
    endif()
    math(EXPR wrong "${wrong} + 1")
    if(NOT said MATCHES "${name}:${number}:")
      string(APPEND missing "  ${number}: ${line}\n")
    endif()
  endforeach()
  if(wrong EQUAL 0 OR NOT missing STREQUAL "" OR NOT error_count EQUAL wrong OR NOT refused EQUAL wrong)
    message(FATAL_ERROR "${CASE}: ${wrong} lines, ${error_count} errors, ${refused} of them refusals; lines without:\n"
      "${missing}${shown}\n${said}")
  endif()
  message(STATUS "${wrong} values are refused")
  return()
endif()

# Clang escapes the quotes of a sentence.
string(REPLACE "\\\"" "\"" said "${said}")
string(REGEX MATCH "[^\n]*error: [^\n]*" first "${said}")
string(FIND "${first}" "${sentence}" found)
if(found EQUAL -1)
  message(FATAL_ERROR "${CASE}: the first error must say\n  ${sentence}\nbut it is\n  ${first}\n${shown}\n${said}")
endif()
message(STATUS "${first}")
