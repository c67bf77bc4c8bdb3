# shoal_game(NAME source.c... [PROTO NAME.proto] [BLK NAME.blk] [IMPORTS NAME/part.blk...]
#            [PACK file...] [LIBRARY library...] [FOLDER folder]): a game module, target NAME.
#
# Builds ${CMAKE_BINARY_DIR}/games/NAME.so (FOLDER: another place) with NAME.blk beside it: set SHOAL_MODULE_PATH to
# that folder, or name the file: shoal-server --game games/NAME.so. Installs both to lib/shoal/games.
# The sources include "NAME.pb-c.h", generated from the .proto. A source that includes its own "SOURCE.es.h" gets it
# from shoal-esgen, which reads annotated functions and structs (ecs/es.h); so does a header NAME.h that includes
# "NAME.h.es.h". One source has ES_GAME(...), or defines, with default visibility,
#     const net_game_module* net_game_module_get(void);   // net/game.h
# IMPORTS are the files that NAME.blk imports, as paths below its folder; they keep these paths, so keep
# them in a folder of the game's name.
# PACK are files that are no templates, as a script or a level, which NAME.blk names by file:t="rules.lua": the game gets
# their bytes when a match begins (net_game_start.files). They lie in NAME/ beside NAME.blk.
# LIBRARY are libraries that the game uses: CMake targets, or names as chipmunk of libchipmunk.a (libchipmunk.so: the shared one). They become a part of
# NAME.so, which names them for `check`. games/README.md says what a game may keep in them.
# Pictures and sounds: all files of the folder assets beside the sources. They lie in NAME/ beside NAME.blk.
# Everything else is hidden, and the functions of ecs/ and base/ stay undefined: the module uses those of
# the program that opens it. Do not link shoal::ecs into a module: it would bring its own copy.
include_guard(GLOBAL)
list(APPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_LIST_DIR})
include(ShoalProto)
include(ShoalEsgen)
include(${CMAKE_CURRENT_LIST_DIR}/ShoalGameSources.cmake)

function(shoal_game name)
    cmake_parse_arguments(ARG "" "PROTO;BLK;FOLDER" "IMPORTS;PACK;LIBRARY" ${ARGN})
    string(LENGTH "${name}" length)
    if(NOT name MATCHES "^[a-z0-9_]+$" OR length GREATER 32)
        message(FATAL_ERROR "shoal_game: the name '${name}' is not 1 to 32 of a-z 0-9 _")
    endif()
    set(sources ${ARG_UNPARSED_ARGUMENTS})
    if(NOT sources)
        message(FATAL_ERROR "shoal_game(${name} source.c... [PROTO file.proto] [BLK file.blk])")
    endif()
    if(NOT ARG_PROTO)
        set(ARG_PROTO ${name}.proto)
    endif()
    if(NOT ARG_BLK)
        set(ARG_BLK ${name}.blk)
    endif()
    get_filename_component(blk ${ARG_BLK} ABSOLUTE)
    if(NOT EXISTS ${blk})
        message(FATAL_ERROR "shoal_game: ${blk} does not exist")
    endif()

    set(folder ${CMAKE_BINARY_DIR}/games)
    if(ARG_FOLDER)
        set(folder ${ARG_FOLDER})
    endif()
    set(entry)
    foreach(source ${sources})
        file(STRINGS ${source} found REGEX "^ES_GAME\\(" LIMIT_COUNT 1)
        if(found)
            shoal_game_entry(entry ${name})
        endif()
    endforeach()
    add_library(${name} MODULE ${sources} ${entry})
    target_link_libraries(${name} PRIVATE shoal::game)
    target_link_options(${name} PRIVATE LINKER:-z,undefs)
    # No path of this machine in the module: a log names the module by its bytes.
    target_compile_options(${name} PRIVATE -ffile-prefix-map=${CMAKE_SOURCE_DIR}=. -ffile-prefix-map=${CMAKE_BINARY_DIR}=.)
    set_target_properties(${name} PROPERTIES
        PREFIX "" OUTPUT_NAME ${name} SUFFIX ".so" LIBRARY_OUTPUT_DIRECTORY ${folder}
        C_VISIBILITY_PRESET hidden C_STANDARD 17 C_STANDARD_REQUIRED ON)
    shoal_protobuf(${name} ${ARG_PROTO})
    shoal_game_sources(${name} ${name} ${sources})
    shoal_game_libraries(${name} ${name} ${name} ${ARG_LIBRARY})

    # A target of its own: templates are edited far more often than code, and need no compiler.
    add_custom_command(OUTPUT ${folder}/${name}.blk
        COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}
        COMMAND ${CMAKE_COMMAND} -E copy ${blk} ${folder}/${name}.blk
        DEPENDS ${blk} VERBATIM)
    add_custom_target(${name}_templates ALL DEPENDS ${folder}/${name}.blk)
    add_dependencies(${name} ${name}_templates)
    shoal_game_assets(${name} ${name} ${folder})

    install(TARGETS ${name} LIBRARY DESTINATION lib/shoal/games)
    install(FILES ${blk} DESTINATION lib/shoal/games RENAME ${name}.blk)
    get_filename_component(blk_folder ${blk} DIRECTORY)
    foreach(import ${ARG_IMPORTS})
        if(IS_ABSOLUTE ${import} OR import MATCHES "(^|/)\\.\\.(/|$)")
            message(FATAL_ERROR "shoal_game: IMPORTS ${import} is no path below ${blk_folder}")
        endif()
        add_custom_command(OUTPUT ${folder}/${import}
            COMMAND ${CMAKE_COMMAND} -E copy ${blk_folder}/${import} ${folder}/${import}
            DEPENDS ${blk_folder}/${import} VERBATIM)
        list(APPEND imports ${folder}/${import})
        list(APPEND texts ${blk_folder}/${import})
        get_filename_component(import_folder ${import} DIRECTORY)
        file(MAKE_DIRECTORY ${folder}/${import_folder})
        install(FILES ${blk_folder}/${import} DESTINATION lib/shoal/games/${import_folder})
    endforeach()
    if(imports)
        add_custom_target(${name}_imports ALL DEPENDS ${imports})
        add_dependencies(${name} ${name}_imports)
    endif()
    shoal_game_pack(${name} ${name} ${folder} "${blk};${texts}" ${ARG_PACK})
endfunction()
