# Runs a scenario built with a planted fault: it must fail, and by a named check, not by a crash.
execute_process(COMMAND ${SCENARIO} --first 1 --count 100
                RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
message("${output}")
if(code EQUAL 0)
    message(FATAL_ERROR "the planted fault was not seen")
endif()
if(NOT code EQUAL 1 OR NOT output MATCHES "FAILED seed=[0-9]+ [^\n]*: [a-z ]+ check: ")
    message(FATAL_ERROR "it failed (${code}), but by no check")
endif()
