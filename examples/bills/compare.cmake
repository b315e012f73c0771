# What PROGRAM prints must be the text of EXPECTED, which is committed; it is left in PRINTED.
cmake_minimum_required(VERSION 3.21...4.0)
execute_process(COMMAND "${PROGRAM}" OUTPUT_FILE "${PRINTED}" RESULT_VARIABLE failed)
file(READ "${PRINTED}" printed)
file(READ "${EXPECTED}" expected)
if(failed OR NOT printed STREQUAL expected)
  message(FATAL_ERROR "${PRINTED} is not ${EXPECTED}:\n${printed}")
endif()
