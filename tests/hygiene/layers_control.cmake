# Shows that layers.cmake tells what it is there for: writes a library in which every line is a fault, and one in which
# none is. Needs DIRECTORY.
cmake_minimum_required(VERSION 3.21...4.0)
function(write_headers root)
  file(REMOVE_RECURSE "${root}")
  while(ARGN)
    list(POP_FRONT ARGN header include)
    file(APPEND "${root}/reprise/${header}" "#include ${include}\n")
  endwhile()
endfunction()

function(check root result said)
  execute_process(COMMAND "${CMAKE_COMMAND}" "-DROOT=${root}" -P "${CMAKE_CURRENT_LIST_DIR}/layers.cmake"
    RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
  set(${result} ${code} PARENT_SCOPE)
  set(${said} "${output}" PARENT_SCOPE)
endfunction()

set(good
  version.hpp <limits> detail/fail.hpp "\"../version.hpp\"" detail/fail.hpp <cstdio> time_span.hpp "\"detail/fail.hpp\""
  verdict.hpp "\"time_span.hpp\"" action.hpp "\"verdict.hpp\"" concepts.hpp "\"action.hpp\""
  policy/classifier.hpp "\"../concepts.hpp\"" policy/retry_budget.hpp <atomic> policy.hpp "\"policy/classifier.hpp\""
  detail/schedule.hpp "\"../policy.hpp\"" engine.hpp "\"detail/schedule.hpp\"" run/execute.hpp "\"../engine.hpp\""
  run/system.hpp "\"execute.hpp\"" run/system.hpp <random> vocab/http.hpp "\"../policy/classifier.hpp\""
  vocab/http.hpp "\"http_date.hpp\"" vocab/http_date.hpp "\"../verdict.hpp\"" vocab/curl.hpp <curl/curl.h>
  core.hpp "\"run/execute.hpp\"" reprise.hpp "\"core.hpp\"" fmt.hpp <fmt/format.h> fmt.hpp "\"engine.hpp\""
  testing/fake_clock.hpp "\"../concepts.hpp\"" testing/script.hpp "\"fake_clock.hpp\"")
write_headers("${DIRECTORY}/good" ${good})
check("${DIRECTORY}/good" code said)
if(NOT code EQUAL 0)
  message(FATAL_ERROR "A library without faults must pass:\n${said}")
endif()

# Each pair is a fault that must be told with both names.
set(bad
  time_span.hpp "\"verdict.hpp\""
  verdict.hpp "\"action.hpp\""
  concepts.hpp "\"policy.hpp\""
  policy/backoff.hpp "\"../policy.hpp\""
  policy/jitter.hpp "\"backoff.hpp\""
  policy.hpp "\"engine.hpp\""
  engine.hpp "\"run/execute.hpp\""
  vocab/grpc.hpp "\"../engine.hpp\""
  vocab/sql.hpp "\"../concepts.hpp\""
  core.hpp "\"reprise.hpp\""
  reprise.hpp "\"fmt.hpp\""
  result.hpp "\"testing/script.hpp\""
  testing/report.hpp "\"../fmt.hpp\""
  guard/fallback.hpp "\"../run/asio.hpp\""
  action.hpp "\"missing.hpp\""
  worst_case.hpp <reprise/policy.hpp>
  policy/deadline.hpp <atomic>
  policy/attempt_log.hpp <string>
  run/execute.hpp <thread>
  version.hpp <cstdio>
  vocab/posix.hpp <curl/curl.h>
  presets.hpp <functional>)
write_headers("${DIRECTORY}/bad" ${bad}
  run/asio.hpp <asio.hpp> testing/script.hpp <tuple> fmt.hpp <fmt/format.h>)
# Through detail/: the policy is above its parts.
file(WRITE "${DIRECTORY}/bad/reprise/detail/schedule.hpp" "#include \"../policy.hpp\"\n")
file(WRITE "${DIRECTORY}/bad/reprise/policy/retry_after.hpp" "#include \"../detail/schedule.hpp\"\n")
file(WRITE "${DIRECTORY}/bad/reprise/newcomer.hpp" "#pragma once\n")
check("${DIRECTORY}/bad" code said)
if(code EQUAL 0)
  message(FATAL_ERROR "A library full of faults passes:\n${said}")
endif()
string(REGEX REPLACE "[ \n]+" " " said "${said}")
set(silent "")
macro(expect header text)
  string(FIND "${said}" "${header} ${text}" at)
  if(at EQUAL -1)
    string(APPEND silent "  ${header} ${text}\n")
  endif()
endmacro()
while(bad)
  list(POP_FRONT bad header include)
  if(include MATCHES "<reprise/")
    expect("${header}" "includes its own library by <>")
  elseif(include MATCHES "<")
    expect("${header}" "includes ${include}")
  else()
    string(REGEX REPLACE "[\"]|\\.\\./" "" path "${include}")
    if(header STREQUAL "policy/jitter.hpp")
      set(path policy/backoff.hpp)
    endif()
    expect("${header}" "includes ${path}")
  endif()
endwhile()
expect(policy/retry_after.hpp "includes policy.hpp")
expect(newcomer.hpp "has no rank")
if(silent)
  message(FATAL_ERROR "Not told:\n${silent}${said}")
endif()
message(STATUS "Every fault is told")
