# Computes the golden vectors of the presets anew and compares them with the committed ones. Needs SOURCE, this
# directory. Skipped aloud where there is no python3.
cmake_minimum_required(VERSION 3.21...4.0)
find_program(python NAMES python3)
if(NOT python)
  message(STATUS "not run: no python3")
  return()
endif()
execute_process(COMMAND "${python}" "${SOURCE}/golden.py" --check "${SOURCE}/golden.hpp" RESULT_VARIABLE failed
  OUTPUT_VARIABLE said ERROR_VARIABLE said)
message(STATUS "${said}")
if(failed)
  message(FATAL_ERROR "The committed golden vectors are not those of the formulas.")
endif()
