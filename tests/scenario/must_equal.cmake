# Runs the golden seeds: what they print must be golden.txt, byte for byte, whatever built the
# program.
execute_process(COMMAND ${SCENARIO} --hashes --first 1 --count 20
                RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE errors)
if(NOT code EQUAL 0)
    message(FATAL_ERROR "it failed (${code}): ${errors}")
endif()
file(READ ${GOLDEN} golden)
if(NOT output STREQUAL golden)
    message("${output}")
    message(FATAL_ERROR "other bytes than ${GOLDEN}: a build that computes otherwise, or a change of what "
                        "is sent or simulated (how to bless one: tests/README.md)")
endif()
