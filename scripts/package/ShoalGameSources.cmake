# What a game's sources need, wherever the game is built.
#
# shoal_game_sources(TARGET NAME source.c...): run shoal-esgen for each source that includes its own "SOURCE.es.h",
# and for the header NAME.h when something includes "NAME.h.es.h".
# shoal_game_entry(VARIABLE NAME): a source with the one symbol that programs look for, which calls NAME_module().
# It is a file of its own, so that a test can link several games at once.
include_guard(GLOBAL)

function(shoal_game_sources target name)
    set(files ${ARGN})
    if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${name}.h)
        list(APPEND files ${name}.h)
    endif()
    set(generated)
    foreach(file ${files})
        get_filename_component(path ${file} ABSOLUTE)
        get_filename_component(stem ${path} NAME_WE)
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
        set(wanted ${stem})
        if(file MATCHES "\\.h$")
            set(wanted ${stem}.h)
        endif()
        string(REPLACE "." "\\." wanted "${wanted}.es.h")
        file(STRINGS ${path} found REGEX "^#include \"${wanted}\"" LIMIT_COUNT 1)
        if(found)
            list(APPEND generated ${file})
        endif()
    endforeach()
    if(generated)
        shoal_esgen(${target} ${generated})
    endif()
endfunction()

function(shoal_game_entry variable name)
    set(file ${CMAKE_CURRENT_BINARY_DIR}/generated/${name}_entry.c)
    file(CONFIGURE OUTPUT ${file} @ONLY CONTENT [[
// Written by CMake: the one symbol that programs look for in @name@.so.
#include "net/game.h"

const net_game_module* @name@_module(void);
__attribute__((visibility("default"))) const net_game_module* net_game_module_get(void);

const net_game_module* net_game_module_get(void) {
    return @name@_module();
}
]])
    set(${variable} ${file} PARENT_SCOPE)
endfunction()
