# Ask a program for its manual pages: one for itself, one for each of its commands.
#
#     cmake -DPROGRAM=FILE -DCOMMANDS=a,b -DMAN=FOLDER -DGZIP=FILE -P manual.cmake
get_filename_component(name ${PROGRAM} NAME)
string(REPLACE "," ";" commands "${COMMANDS}")
function(write_page page) # [COMMAND]
    execute_process(COMMAND ${PROGRAM} ${ARGN} --help=man OUTPUT_FILE ${MAN}/${page}.1 RESULT_VARIABLE code)
    if(NOT code EQUAL 0)
        message(FATAL_ERROR "${name} ${ARGN} --help=man ends with ${code}")
    endif()
    execute_process(COMMAND ${GZIP} -9nf ${MAN}/${page}.1 RESULT_VARIABLE code)
    if(NOT code EQUAL 0)
        message(FATAL_ERROR "${GZIP} fails")
    endif()
endfunction()

file(MAKE_DIRECTORY ${MAN})
write_page(${name})
foreach(command ${commands})
    write_page(${name}-${command} ${command})
endforeach()
