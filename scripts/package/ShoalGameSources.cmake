# What a game's sources need, wherever the game is built.
#
# shoal_game_sources(TARGET NAME source.c...): run shoal-esgen for each source that includes its own "SOURCE.es.h",
# and for the header NAME.h when something includes "NAME.h.es.h".
# Refuses a source with systems that would never run: it includes no "SOURCE.es.h", or ES_SYSTEMS misses it; and a
# context that is not called NAME. Warns of sources beside them that belong to the game and are in no target.
# shoal_game_entry(VARIABLE NAME): a source with the one symbol that programs look for, which calls NAME_module().
# It is a file of its own, so that a test can link several games at once.
# shoal_game_assets(TARGET NAME FOLDER [COMPONENT component]): all files of assets/ beside the sources, the game's
# pictures and sounds, lie in FOLDER/NAME after the build, and in lib/shoal/games/NAME after an installation.
# shoal_game_pack(TARGET NAME FOLDER TEXTS file... [COMPONENT component]): the same for files that a line
# file:t="rules.lua" of one of the TEXTS names, which are parts of the game itself.
# shoal_game_libraries(TARGET MODULE NAME library...): libraries that the game's objects in TARGET use become a part of
# NAME.so, which is linked as MODULE ("": the game is linked into a program).
include_guard(GLOBAL)

function(shoal_game_sources target name)
    set(files ${ARGN})
    if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${name}.h)
        list(APPEND files ${name}.h)
    endif()
    shoal_game_check_systems(${ARGN})
    shoal_game_check_name(${name} ${files})
    get_property(is_checked DIRECTORY PROPERTY SHOAL_GAME SET)
    set_property(DIRECTORY PROPERTY SHOAL_GAME ${name})
    set_property(DIRECTORY APPEND PROPERTY SHOAL_GAME_SOURCES ${ARGN})
    if(NOT is_checked)
        cmake_language(DEFER CALL shoal_game_check_missing)
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

# The text of a source without the comments that end with their line.
function(shoal_game_read variable file)
    get_filename_component(path ${file} ABSOLUTE)
    if(NOT EXISTS ${path})
        message(FATAL_ERROR "${file} does not exist: correct its name in CMakeLists.txt")
    endif()
    file(READ ${path} text)
    string(REGEX REPLACE "//[^\n]*" "" text "${text}")
    set(${variable} "${text}" PARENT_SCOPE)
endfunction()

function(shoal_game_check_systems)
    set(all)
    foreach(file ${ARGN})
        shoal_game_read(text ${file})
        string(APPEND all "${text}")
    endforeach()
    if(NOT all MATCHES "ES_GAME\\(")
        return()
    endif()
    set(listed)
    if(all MATCHES "ES_SYSTEMS\\(([^)]*)\\)")
        set(listed ",${CMAKE_MATCH_1},")
    endif()
    foreach(file ${ARGN})
        shoal_game_read(text ${file})
        get_filename_component(stem ${file} NAME_WE)
        if(NOT text MATCHES "\nstatic (inline )?void[ \n]+([A-Za-z0-9_]+_es(_event_handler)?)\\(")
            continue()
        endif()
        set(system ${CMAKE_MATCH_2})
        if(NOT text MATCHES "#include \"${stem}\\.es\\.h\"")
            message(FATAL_ERROR "${file}: ${system} never runs: the file does not include \"${stem}.es.h\"")
        endif()
        # By hand is right as well: the function that shoal-esgen writes is called somewhere.
        if(NOT text MATCHES "ES_GAME\\(" AND NOT listed MATCHES ",[ \n\t]*${stem}[ \n\t]*,"
           AND NOT all MATCHES "_register_${stem}[^A-Za-z0-9_]|${stem}_register_systems")
            message(FATAL_ERROR "${file}: ${system} never runs: add ${stem} to ES_SYSTEMS(...) beside ES_GAME; both "
                "files include a header with the game's context")
        endif()
    endforeach()
endfunction()

# The context, from which the name of the table comes, is called as the game.
function(shoal_game_check_name name)
    foreach(file ${ARGN})
        shoal_game_read(text ${file})
        if(text MATCHES "(^|\n)ES_GAME_CONTEXT\\(([^)]*)\\)" AND NOT CMAKE_MATCH_2 STREQUAL name)
            message(FATAL_ERROR "${file}: ES_GAME_CONTEXT(${CMAKE_MATCH_2}): the game is called ${name} in "
                "CMakeLists.txt: both say one name")
        endif()
    endforeach()
endfunction()

# At the end of a folder's CMakeLists.txt: sources beside those of the game that no target has, though one has systems,
# or a function that ES_GAME names.
function(shoal_game_check_missing)
    set(known)
    get_property(name DIRECTORY PROPERTY SHOAL_GAME)
    get_property(sources DIRECTORY PROPERTY SHOAL_GAME_SOURCES)
    get_property(targets DIRECTORY PROPERTY BUILDSYSTEM_TARGETS)
    foreach(target ${targets})
        get_target_property(files ${target} SOURCES)
        foreach(file ${files})
            get_filename_component(path "${file}" ABSOLUTE)
            list(APPEND known ${path})
        endforeach()
    endforeach()
    set(all)
    foreach(file ${sources})
        shoal_game_read(text ${file})
        string(APPEND all "${text}")
    endforeach()
    set(named "[A-Za-z0-9_]+_es(_event_handler)?")
    if(all MATCHES "ES_GAME\\(([^;]*)\\);")
        string(REGEX MATCHALL "\\.[a-z_]+ *= *[A-Za-z0-9_]+" fields "${CMAKE_MATCH_1}")
        foreach(field ${fields})
            string(REGEX REPLACE ".*= *" "" function "${field}")
            string(APPEND named "|${function}")
        endforeach()
    endif()
    file(GLOB beside CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.c)
    list(REMOVE_ITEM beside ${known})
    foreach(path ${beside})
        shoal_game_read(text ${path})
        get_filename_component(file ${path} NAME)
        if(text MATCHES "\n(static )?(inline )?[a-z0-9_]+ \\*?(${named})\\([^;{]*\\)[ \n]*{")
            message(WARNING "${file}: ${CMAKE_MATCH_3} is in no game: add ${file} to shoal_game(${name} ...)")
        endif()
    endforeach()
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

function(shoal_game_pack target name folder texts)
    cmake_parse_arguments(ARG "" "COMPONENT" "" ${ARGN})
    set(component)
    if(ARG_COMPONENT)
        set(component COMPONENT ${ARG_COMPONENT})
    endif()
    set(named)
    foreach(text ${texts})
        file(READ ${text} text)
        string(APPEND named "\n${text}")
    endforeach()
    set(copies)
    foreach(path ${ARG_UNPARSED_ARGUMENTS})
        get_filename_component(from ${path} ABSOLUTE)
        get_filename_component(file ${path} NAME)
        string(LENGTH "${file}" length)
        if(NOT file MATCHES "^[a-z0-9_-][a-z0-9_.-]*$" OR length GREATER 63)
            message(FATAL_ERROR "shoal_game(${name} PACK ${path}): the name of a file has at most 63 of a-z 0-9 _ - and .: "
                "rename it")
        endif()
        if(NOT EXISTS ${from})
            message(FATAL_ERROR "shoal_game(${name} PACK ${path}): ${from} does not exist")
        endif()
        string(REPLACE "." "\\." pattern "${file}")
        if(NOT named MATCHES "[\n;][ \t]*file:t[ \t]*=[ \t]*[\"']?${pattern}[\"' \t\r\n;}]")
            message(FATAL_ERROR "shoal_game(${name} PACK ${path}): the game does not get it: add the line file:t=\"${file}\" to "
                "${name}.blk")
        endif()
        add_custom_command(OUTPUT ${folder}/${name}/${file}
            COMMAND ${CMAKE_COMMAND} -E copy ${from} ${folder}/${name}/${file}
            DEPENDS ${from} COMMENT "" VERBATIM)
        list(APPEND copies ${folder}/${name}/${file})
        install(FILES ${from} DESTINATION lib/shoal/games/${name} ${component})
    endforeach()
    string(REGEX MATCHALL "[\n;][ \t]*file:t[ \t]*=[ \t]*[\"']?[a-z0-9_.-]+" lines "${named}")
    foreach(line ${lines})
        string(REGEX REPLACE ".*[\"'= \t]" "" file "${line}")
        if(file AND NOT ${folder}/${name}/${file} IN_LIST copies)
            message(FATAL_ERROR "${name}.blk names ${file} by file:t, and nothing copies it: add PACK ${file} to "
                "shoal_game(${name} ...)")
        endif()
    endforeach()
    if(copies)
        file(MAKE_DIRECTORY ${folder}/${name})
        add_custom_target(${target}_pack ALL DEPENDS ${copies})
        add_dependencies(${target} ${target}_pack)
    endif()
endfunction()

function(shoal_game_assets target name folder)
    set(from ${CMAKE_CURRENT_SOURCE_DIR}/assets)
    file(GLOB_RECURSE files RELATIVE ${from} CONFIGURE_DEPENDS ${from}/*)
    set(copies)
    foreach(file ${files})
        if(file MATCHES "(^|/)\\.|~$") # what editors and file managers leave
            continue()
        endif()
        string(LENGTH "${file}" length)
        if(NOT file MATCHES "^[A-Za-z0-9_./-]+$" OR length GREATER 63)
            message(FATAL_ERROR "assets/${file}: the name of a picture or a sound has at most 63 of A-Z a-z 0-9 . _ - "
                "and /: rename it")
        endif()
        add_custom_command(OUTPUT ${folder}/${name}/${file}
            COMMAND ${CMAKE_COMMAND} -E copy ${from}/${file} ${folder}/${name}/${file}
            DEPENDS ${from}/${file} COMMENT "" VERBATIM)
        list(APPEND copies ${folder}/${name}/${file})
        get_filename_component(path ${name}/${file} DIRECTORY)
        file(MAKE_DIRECTORY ${folder}/${path})
        install(FILES ${from}/${file} DESTINATION lib/shoal/games/${path} ${ARGN})
    endforeach()
    if(copies)
        add_custom_target(${target}_assets ALL DEPENDS ${copies})
        add_dependencies(${target} ${target}_assets)
    endif()
endfunction()

# The options that keep a library's arithmetic the same on every machine, as shoal::game has them.
set(SHOAL_GAME_ARITHMETIC -fno-fast-math -ffp-contract=off -fno-math-errno -fno-common -fno-strict-aliasing)

function(shoal_game_libraries target module name)
    foreach(library ${ARGN})
        string(REGEX REPLACE "^.*::" "" short ${library})
        if(NOT short MATCHES "^[A-Za-z0-9_.+-]+$")
            message(FATAL_ERROR "shoal_game(${name} LIBRARY ${library}): is no target and no name of a library")
        endif()
        set(is_inside TRUE)
        if(TARGET ${library})
            shoal_game_library_target(is_inside ${library} "${module}" ${name})
            target_link_libraries(${target} PRIVATE ${library})
        elseif(NOT module)
            message(FATAL_ERROR "shoal_game(${name} LIBRARY ${library}): the library is built with the game here: make the "
                "target ${library} from its sources")
        else()
            shoal_game_library_file(file includes ${library} ${name})
            if(NOT file MATCHES "\\.a$")
                set(is_inside FALSE)
                message(STATUS "${name}: ${name}.so needs ${file} where it runs")
            endif()
            target_include_directories(${target} SYSTEM PRIVATE ${includes})
            target_link_libraries(${target} PRIVATE ${file})
        endif()
        if(module AND is_inside)
            string(REGEX REPLACE "[^A-Za-z0-9_.]" "_" symbol ${short})
            # What a reader of the module knows about it: the symbol names the library, whose own stay hidden.
            target_link_options(${module} PRIVATE LINKER:--defsym=shoal_library_${symbol}=0 LINKER:--exclude-libs,ALL)
            shoal_game_own(${target} ${module})
        endif()
    endforeach()
    if(module AND ARGN) # what an archive needs, after all of them
        target_link_libraries(${target} PRIVATE "-Wl,--push-state,--as-needed,-lm,--pop-state")
    endif()
endfunction()

# check finds what the game does itself and not its libraries: the names of its sources are symbols, and its calls use
# no procedure table (net/game/module_check.c).
function(shoal_game_own target module)
    target_compile_options(${target} PRIVATE -fno-plt)
    get_target_property(sources ${target} SOURCES)
    # Objects of an archive may have lost their names (Debian's have): they count as of the file before them, protoc-c's.
    list(FILTER sources EXCLUDE REGEX "\\.pb-c\\.c$")
    foreach(source ${sources})
        get_filename_component(file ${source} NAME)
        string(REGEX REPLACE "[^A-Za-z0-9_.]" "_" symbol ${file})
        target_link_options(${module} PRIVATE LINKER:--defsym=shoal_source_${symbol}=0)
    endforeach()
endfunction()

# A target that is built here gets our arithmetic, and is hidden where its sources leave that to the compiler.
function(shoal_game_library_target is_inside library module name)
    get_target_property(real ${library} ALIASED_TARGET)
    if(NOT real)
        set(real ${library})
    endif()
    get_target_property(type ${real} TYPE)
    get_target_property(is_imported ${real} IMPORTED)
    if(is_imported)
        if(type STREQUAL "SHARED_LIBRARY")
            set(${is_inside} FALSE PARENT_SCOPE)
        endif()
    elseif(type STREQUAL "STATIC_LIBRARY" OR type STREQUAL "OBJECT_LIBRARY")
        target_compile_options(${real} PRIVATE ${SHOAL_GAME_ARITHMETIC})
        set_target_properties(${real} PROPERTIES VISIBILITY_INLINES_HIDDEN ON
            C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden)
        if(module)
            set_target_properties(${real} PROPERTIES POSITION_INDEPENDENT_CODE ON)
        endif()
    elseif(NOT type STREQUAL "INTERFACE_LIBRARY")
        message(FATAL_ERROR "shoal_game(${name} LIBRARY ${library}): is no static library: a game is one file. Set "
            "BUILD_SHARED_LIBS to OFF before the library is added, or write add_library(${library} STATIC ...)")
    endif()
endfunction()

# The archive of a library of this machine, else the shared one, and where its headers are.
function(shoal_game_library_file file includes library name)
    find_package(PkgConfig QUIET)
    set(folders)
    if(PKG_CONFIG_FOUND)
        string(REGEX REPLACE "^lib(.*)\\.so$" "\\1" short ${library})
        foreach(module ${short} lib${short})
            if(NOT SHOAL_PC_${library}_FOUND)
                pkg_check_modules(SHOAL_PC_${library} QUIET ${module})
            endif()
        endforeach()
        set(folders ${SHOAL_PC_${library}_LIBRARY_DIRS} ${SHOAL_PC_${library}_LIBDIR})
    endif()
    if(NOT SHOAL_LIBRARY_${library})
        find_library(SHOAL_LIBRARY_${library} NAMES lib${library}.a ${library} HINTS ${folders})
        mark_as_advanced(SHOAL_LIBRARY_${library})
        # Debian compiles some archives for programs alone. What a game takes of them may serve all the same.
        set(code 0)
        if(SHOAL_LIBRARY_${library} MATCHES "\\.a$")
            separate_arguments(flags UNIX_COMMAND "${CMAKE_C_FLAGS}")
            execute_process(COMMAND ${CMAKE_C_COMPILER} ${flags} -shared -o ${CMAKE_CURRENT_BINARY_DIR}/archive.so
                -Wl,--whole-archive ${SHOAL_LIBRARY_${library}} -Wl,--no-whole-archive
                RESULT_VARIABLE code OUTPUT_QUIET ERROR_QUIET)
        endif()
        if(NOT code EQUAL 0)
            message(STATUS "${name}: ${SHOAL_LIBRARY_${library}} was compiled for programs alone: when the linker asks to "
                "recompile it with -fPIC, say LIBRARY lib${library}.so, or build ${library} with the game")
        endif()
    endif()
    if(NOT SHOAL_LIBRARY_${library})
        message(FATAL_ERROR "shoal_game(${name} LIBRARY ${library}): there is no target ${library}, no lib${library}.a and "
            "no lib${library}.so: install its development package (Debian: lib${library}-dev), or say where it is by "
            "-DCMAKE_PREFIX_PATH=FOLDER, or add its sources by add_subdirectory")
    endif()
    set(${file} ${SHOAL_LIBRARY_${library}} PARENT_SCOPE)
    set(${includes} ${SHOAL_PC_${library}_INCLUDE_DIRS} PARENT_SCOPE)
endfunction()
