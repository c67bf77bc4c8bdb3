# shoal_esgen(TARGET FILE.c... [INCLUDES FOLDER...]): run shoal-esgen in the build for each file;
# `#include "FILE.es.h"` works in TARGET. The files are sources of TARGET. Headers with types are found beside
# them or in INCLUDES. ecs/ESGEN.md says what the files may hold.
#
# Of a header FILE.h with a game's context, "FILE.h.es.h".
#
#   shoal_esgen(breakout pad.c ball.c INCLUDES ${CMAKE_CURRENT_SOURCE_DIR})
include_guard(GLOBAL)

function(shoal_esgen target)
    find_package(Python3 3.9 QUIET COMPONENTS Interpreter REQUIRED) # Debian: python3
    cmake_parse_arguments(ARG "" "" "INCLUDES" ${ARGN})
    if(NOT ARG_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "shoal_esgen(${target} FILE.c... [INCLUDES FOLDER...])")
    endif()
    set(tool ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/shoal-esgen)
    file(GLOB parts ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/*.py)
    set(generated ${CMAKE_CURRENT_BINARY_DIR}/generated/${target})
    file(MAKE_DIRECTORY ${generated})
    set(options)
    foreach(folder ${ARG_INCLUDES})
        get_filename_component(folder ${folder} ABSOLUTE)
        list(APPEND options -I ${folder})
    endforeach()
    foreach(file ${ARG_UNPARSED_ARGUMENTS})
        get_filename_component(path ${file} ABSOLUTE)
        get_filename_component(name ${path} NAME_WE)
        if(file MATCHES "\\.h$")
            set(name ${name}.h)
        endif()
        set(out ${generated}/${name}.es.h)
        add_custom_command(
            OUTPUT ${out}
            COMMAND ${Python3_EXECUTABLE} -B ${tool} ${options} -d ${out}.d -o ${out} ${path}
            DEPENDS ${path} ${tool} ${parts}
            DEPFILE ${out}.d
            COMMENT "shoal-esgen ${file}"
            VERBATIM)
        target_sources(${target} PRIVATE ${out})
    endforeach()
    target_include_directories(${target} PRIVATE ${generated})
endfunction()
