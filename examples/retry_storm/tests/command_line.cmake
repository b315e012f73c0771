# Bad arguments get a sentence and exit code 2; --help gets the help.
cmake_minimum_required(VERSION 3.21...4.0)

function(require_refusal sentence)
  execute_process(COMMAND "${program}" ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE err)
  string(FIND "${err}" "retry_storm: ${sentence}" at)
  if(NOT code EQUAL 2 OR NOT at EQUAL 0 OR NOT out STREQUAL "")
    message(SEND_ERROR "retry_storm ${ARGN}: exit code ${code}, printed ${out}${err}where 2 was expected, and: ${sentence}")
  endif()
endfunction()

require_refusal("Say what to simulate: contention, outage, sweep or scale.")
require_refusal("There is no command storm; there are contention, outage, sweep and scale." storm)
require_refusal("There is no option --client here; there are --clients, " contention --client 10)
require_refusal("There is no option 10 here; " contention 10)
require_refusal("The option --clients needs a value." contention --clients)
require_refusal("The option --seed is given twice." contention --seed 1 --seed 2)
foreach(number IN ITEMS ten 0 -5 10x 1.5 "10," ",10" 99999999999999999999)
  require_refusal("The option --clients takes whole numbers from 1 to 100000, not \"" contention --clients "${number}")
endforeach()
require_refusal("The option --load takes whole numbers from 1 to 1000, not \"0\"." outage --load 0)
require_refusal("The option --after takes whole numbers from 7 to 3600, not \"1\"." outage --after 1)
require_refusal("The file published.csv is not one that retry_storm sweep --csv wrote." sweep --from published.csv)
require_refusal("The file nowhere.csv cannot be read." contention --against nowhere.csv)
require_refusal("The file nowhere/c.csv cannot be written." contention --clients 1 --trials 1 --csv nowhere/c.csv)

foreach(words IN ITEMS "--help" "help" "contention;--help")
  execute_process(COMMAND "${program}" ${words} RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE err)
  if(NOT code EQUAL 0 OR NOT err STREQUAL "" OR NOT out MATCHES "^retry_storm: .*contention.*outage.*sweep.*scale.*--seed")
    message(SEND_ERROR "retry_storm ${words}: exit code ${code}, printed ${out}${err}")
  endif()
endforeach()

execute_process(COMMAND "${program}" contention --clients 10,20 --trials 2 --seed 1 --csv -
  RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE err)
if(NOT code EQUAL 0 OR NOT out MATCHES "^clients,policy,completion_ms,calls\n(10,[a-z]+,[0-9.]+,[0-9.]+\n)+(20,[a-z]+,[0-9.]+,[0-9.]+\n)+$")
  message(SEND_ERROR "--csv - printed something else than the table: ${out}${err}")
endif()

# A published table that is a tenth off is noticed, with exit code 1.
file(READ published.csv table)
string(REPLACE "50,full,2927," "50,full,3250," table "${table}")
file(WRITE "${wrong}" "${table}")
execute_process(COMMAND "${program}" contention --clients 50 --trials 20 --against "${wrong}"
  RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE err)
if(NOT code EQUAL 1 OR NOT err MATCHES "more than 5 % off")
  message(SEND_ERROR "--against took a wrong table: exit code ${code}, ${out}${err}")
endif()
