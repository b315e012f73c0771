# cmake -Dprogram=... -Dexpected=... -P compare.cmake: what the program prints must be the expected file, exactly.
execute_process(COMMAND "${program}" OUTPUT_VARIABLE got RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "${program} ended with ${failed}:\n${got}")
endif()
file(READ "${expected}" wanted)
string(REPLACE "\r\n" "\n" got "${got}")  # what some systems make of a line's end
string(REPLACE "\r\n" "\n" wanted "${wanted}")
if(NOT got STREQUAL wanted)
  message(FATAL_ERROR "The output is not ${expected}. It is:\n${got}")
endif()
