# Runs a scenario with a planted fault: it must fail, by the named check and not by a crash.
execute_process(COMMAND ${SCENARIO} --first ${FIRST} --count ${COUNT} --fault ${FAULT}
                RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
message("${output}")
if(code EQUAL 0)
    message(FATAL_ERROR "the planted fault was not seen")
endif()
if(NOT code EQUAL 1 OR NOT output MATCHES "FAILED seed=[0-9]+ [^\n]*: (${CHECK}) check: ")
    message(FATAL_ERROR "it failed (${code}), but not by the ${CHECK} check")
endif()
