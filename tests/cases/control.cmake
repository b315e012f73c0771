# Shows that check.cmake finds each kind of fault: cmake -DCHECK=<check.cmake> -DWORK=<folder> -P control.cmake
cmake_minimum_required(VERSION 3.21)

file(REMOVE_RECURSE "${WORK}")
file(WRITE "${WORK}/deep/made_up_test.cpp" "TEST_CASE(\"one\", \"[A01]\") {}\nTEST_CASE(\"two\", \"[B-02][A03]\") {}\n")

# expect(<what check.cmake must say> <the list>); "" expects it to pass.
function(expect sentence list)
  file(WRITE "${WORK}/cases.txt" "${list}")
  execute_process(COMMAND "${CMAKE_COMMAND}" "-DLIST=${WORK}/cases.txt" "-DTESTS=${WORK}" -P "${CHECK}"
    RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_VARIABLE said)
  if(sentence STREQUAL "")
    if(NOT status EQUAL 0 OR NOT said MATCHES "3 covered, 1 waiting")
      message(FATAL_ERROR "refused a sound list:\n${said}")
    endif()
  elseif(status EQUAL 0)
    message(FATAL_ERROR "accepted a list with this fault: ${sentence}")
  elseif(NOT said MATCHES "${sentence}")
    message(FATAL_ERROR "did not say `${sentence}` but:\n${said}")
  endif()
endfunction()

set(sound "# made up\n\nA01 covered\nB-02 covered\nA03 covered\n")
expect("" "${sound}K01 waiting for hedging\n")
expect("covered by no test: A04" "${sound}A04 covered\n")
expect("not listed as covered: A03" "A01 covered\nB-02 covered\n")
expect("not listed as covered: A03" "A01 covered\nB-02 covered\nA03 waiting for hedging\n")
expect("listed twice: A01" "${sound}A01 covered\n")
expect("listed twice: A01" "${sound}A01 waiting for hedging\n")
expect("listed twice: K01" "${sound}K01 waiting for hedging\nK01 waiting for hedging\n")
expect("not `<id> covered`" "${sound}K01 waiting\n")
expect("not `<id> covered`" "${sound}K01 waiting for \n")
expect("not `<id> covered`" "${sound}K01 skipped\n")
expect("nothing is covered" "")
