# The direction of includes. Reads every header below ROOT/reprise and tells each #include that must not be there.
# Needs ROOT, the directory that is on the include path.
cmake_minimum_required(VERSION 3.21...4.0)

# A header may include headers of lower ranks only; the first row that fits gives the rank. detail/ has none: what a
# header includes through detail/ counts as included by itself.
set(ranks
  "^version\\.hpp$"                  0
  "^time_span\\.hpp$"                1
  "^verdict\\.hpp$"                  2
  "^action\\.hpp$"                   3
  "^concepts\\.hpp$"                 4
  "^policy/configured\\.hpp$"        7
  "^policy/"                         5
  "^vocab/"                          6
  "^policy\\.hpp$"                   6
  "^(result|engine|worst_case)\\.hpp$" 7
  "^run/execute\\.hpp$"              8
  "^(run|guard)/"                    9
  "^presets/"                        7
  "^describe\\.hpp$"                 8
  "^presets\\.hpp$"                  9
  "^core\\.hpp$"                     20
  "^reprise\\.hpp$"                  21
  "^(fmt|run/asio)\\.hpp$"           30
  "^testing/"                        31)

# Nobody includes these, whatever the ranks say; the second column may.
set(never_included
  "^testing/"    "^testing/"
  "^fmt\\.hpp$"  "^$"
  "^run/asio\\.hpp$" "^$")

# What a vocabulary may include directly.
set(allowed_for_vocab "^(vocab/|detail/|policy/classifier\\.hpp$|verdict\\.hpp$)")

# The standard headers of the core, and those that only some headers may have.
set(standard chrono concepts cstddef cstdint exception initializer_list limits optional ratio stdexcept string_view
  tuple type_traits utility)
set(standard_for_some
  "^detail/fail\\.hpp$"                  "cstdio|cstdlib"
  "^run/system\\.hpp$"                   "condition_variable|mutex|random|stop_token|thread|unistd\\.h"
  "^guard/bulkhead\\.hpp$"               "condition_variable|mutex|stop_token|thread"
  "^(policy|guard)/[a-z_]*budget[a-z_]*\\.hpp$" "atomic"
  "^detail/(clamped_count|recent_total)\\.hpp$" "atomic"
  "^run/coroutine\\.hpp$"                "coroutine")

function(rank_of header result)
  set(rest ${ranks})
  while(rest)
    list(POP_FRONT rest pattern rank)
    if(header MATCHES "${pattern}")
      set(${result} ${rank} PARENT_SCOPE)
      return()
    endif()
  endwhile()
  set(${result} "" PARENT_SCOPE)
endfunction()

# Whether `what` fits the second of a pair of patterns whose first fits `header`.
function(fits_pair pairs header what result)
  set(${result} FALSE PARENT_SCOPE)
  set(rest ${${pairs}})
  while(rest)
    list(POP_FRONT rest first second)
    if(header MATCHES "${first}" AND what MATCHES "^(${second})$")
      set(${result} TRUE PARENT_SCOPE)
    endif()
  endwhile()
endfunction()

set(faults "")
macro(fault text)
  list(APPEND faults "${text}")
endmacro()

# One header's own includes: headers of the library, as paths below reprise/, and others.
file(GLOB_RECURSE headers RELATIVE "${ROOT}/reprise" "${ROOT}/reprise/*.hpp")
foreach(header IN LISTS headers)
  get_filename_component(directory "${ROOT}/reprise/${header}" DIRECTORY)
  file(STRINGS "${ROOT}/reprise/${header}" lines REGEX "^[ \t]*#[ \t]*include")
  foreach(line IN LISTS lines)
    if(line MATCHES "include[ \t]*\"([^\"]+)\"")
      get_filename_component(path "${directory}/${CMAKE_MATCH_1}" ABSOLUTE)
      file(RELATIVE_PATH path "${ROOT}/reprise" "${path}")
      list(APPEND "own_${header}" "${path}")
      if(NOT path IN_LIST headers)
        fault("${header} includes ${path}, which is not there")
      endif()
    elseif(line MATCHES "include[ \t]*<reprise/")
      fault("${header} includes its own library by <>: ${line}")
    elseif(line MATCHES "include[ \t]*<([^>]+)>")
      list(APPEND "other_${header}" "${CMAKE_MATCH_1}")
    else()
      fault("${header} has an include that cannot be read: ${line}")
    endif()
  endforeach()
endforeach()

foreach(header IN LISTS headers)
  # Through detail/.
  set(reached ${own_${header}})
  set(open ${own_${header}})
  while(open)
    list(POP_FRONT open next)
    if(next MATCHES "^detail/")
      foreach(further IN LISTS "own_${next}")
        if(NOT further IN_LIST reached)
          list(APPEND reached "${further}")
          list(APPEND open "${further}")
        endif()
      endforeach()
    endif()
  endwhile()

  if(NOT header MATCHES "^detail/")
    rank_of("${header}" rank)
    if(rank STREQUAL "")
      fault("${header} has no rank: give it a row in layers.cmake")
      continue()
    endif()
    foreach(path IN LISTS reached)
      rank_of("${path}" other_rank)
      if(path MATCHES "^detail/" OR other_rank STREQUAL "" OR rank EQUAL 31)
        continue()
      endif()
      if(header MATCHES "^vocab/" AND path MATCHES "^vocab/")
        continue()
      endif()
      if(NOT other_rank LESS rank)
        fault("${header} includes ${path}, which does not lie below it")
      endif()
    endforeach()
  endif()

  foreach(path IN LISTS "own_${header}")
    set(rest ${never_included})
    while(rest)
      list(POP_FRONT rest target exempt)
      if(path MATCHES "${target}" AND NOT header MATCHES "${exempt}")
        fault("${header} includes ${path}, which nobody includes")
      endif()
    endwhile()
    if(header MATCHES "^vocab/" AND NOT path MATCHES "${allowed_for_vocab}")
      fault("${header} includes ${path}: a vocabulary includes verdict, classifier, detail and vocab only")
    endif()
  endforeach()

  get_filename_component(stem "${header}" NAME_WE)
  foreach(other IN LISTS "other_${header}")
    if(other IN_LIST standard)
      continue()
    endif()
    fits_pair(standard_for_some "${header}" "${other}" allowed)
    # <fmt/format.h> in fmt.hpp: a third-party header only in the header that is named after it.
    string(REGEX REPLACE "\\.[a-z]+$" "" names "${other}")
    string(REPLACE "/" ";" names "${names}")
    if(NOT allowed AND NOT stem IN_LIST names)
      fault("${header} includes <${other}>, which it must not")
    endif()
  endforeach()
endforeach()

list(LENGTH headers count)
if(count EQUAL 0)
  fault("no headers below ${ROOT}/reprise")
endif()
if(faults)
  list(JOIN faults "\n  " text)
  message(FATAL_ERROR "The direction of includes:\n  ${text}")
endif()
message(STATUS "${count} headers include in the right direction")
