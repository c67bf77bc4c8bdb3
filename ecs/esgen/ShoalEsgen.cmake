# shoal_esgen(TARGET FILE.c...): run shoal-esgen in the build for each file; `#include "FILE.es.h"` works in
# TARGET. The files are sources of TARGET; a header with ES_TYPE lines is found beside them or in INCLUDES.
#
#   shoal_esgen(breakout pad.c ball.c INCLUDES ${CMAKE_CURRENT_SOURCE_DIR})
include_guard(GLOBAL)

function(shoal_esgen target)
    cmake_parse_arguments(ARG "" "" "INCLUDES" ${ARGN})
    set(tool shoal-esgen)
    if(NOT TARGET shoal-esgen)
        set(tool shoal::shoal-esgen)
    endif()
    set(generated ${CMAKE_CURRENT_BINARY_DIR}/generated/${target})
    file(MAKE_DIRECTORY ${generated})
    set(options)
    foreach(folder ${ARG_INCLUDES})
        list(APPEND options -I ${folder})
    endforeach()
    foreach(file ${ARG_UNPARSED_ARGUMENTS})
        get_filename_component(path ${file} ABSOLUTE)
        get_filename_component(folder ${path} DIRECTORY)
        get_filename_component(name ${path} NAME_WE)
        file(GLOB headers CONFIGURE_DEPENDS ${folder}/*.h)
        add_custom_command(
            OUTPUT ${generated}/${name}.es.h
            COMMAND ${tool} ${options} -o ${generated}/${name}.es.h ${path}
            DEPENDS ${path} ${headers} ${tool}
            COMMENT "shoal-esgen ${name}.c"
            VERBATIM)
        target_sources(${target} PRIVATE ${generated}/${name}.es.h)
    endforeach()
    target_include_directories(${target} PRIVATE ${generated})
endfunction()
