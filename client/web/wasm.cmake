# NAME.wasm of each game: base, ecs, proto, the half of net that reads logs, client/web and the game, for a page to
# load. CMakeLists.txt beside it configures this build.
set(SHOAL_WASM_DEPS "" CACHE PATH "Folder with the sources protobuf-c/ and libzstd/")
set(SHOAL_WASM_OUT ${CMAKE_BINARY_DIR}/web CACHE PATH "Where NAME.wasm goes")
foreach(file protobuf-c/protobuf-c/protobuf-c.c libzstd/lib/zstd.h)
    if(NOT EXISTS ${SHOAL_WASM_DEPS}/${file})
        message(FATAL_ERROR "SHOAL_WASM_DEPS=${SHOAL_WASM_DEPS} has no ${file}: scripts/test --web makes that folder")
    endif()
endforeach()
find_program(PROTOC_C protoc-c REQUIRED)
set(CMAKE_POSITION_INDEPENDENT_CODE OFF)
# Sizes have 32 bits here, and clang knows warnings that gcc does not.
target_compile_options(shoal_flags INTERFACE -Wno-shorten-64-to-32 -Wno-sign-conversion -Wno-bitwise-instead-of-logical
                       -Wno-unneeded-internal-declaration -Wno-unused-variable)
find_program(SHOAL_WASM_OPT wasm-opt)

# Headers alone, out of a folder with those of the machine's C library, which must not be seen.
set(headers ${CMAKE_BINARY_DIR}/headers)
foreach(header xxhash.h sodium.h sodium)
    file(GLOB_RECURSE found RELATIVE /usr/include /usr/include/${header} /usr/include/${header}/*.h
         /usr/include/*-linux-gnu/${header}/*.h)
    foreach(file ${found})
        string(REGEX REPLACE "^[^/]*-linux-gnu/" "" to ${file})
        configure_file(/usr/include/${file} ${headers}/${to} COPYONLY)
    endforeach()
endforeach()
set(XXHASH_INCLUDE_DIR ${headers})

add_library(Threads::Threads INTERFACE IMPORTED GLOBAL)
add_library(protobuf_c STATIC ${SHOAL_WASM_DEPS}/protobuf-c/protobuf-c/protobuf-c.c)
target_include_directories(protobuf_c SYSTEM PUBLIC ${SHOAL_WASM_DEPS}/protobuf-c)
target_compile_options(protobuf_c PRIVATE -w)
add_library(PkgConfig::PROTOBUF_C ALIAS protobuf_c)
file(GLOB zstd ${SHOAL_WASM_DEPS}/libzstd/lib/common/*.c ${SHOAL_WASM_DEPS}/libzstd/lib/decompress/*.c)
add_library(zstd STATIC ${zstd})
target_include_directories(zstd SYSTEM PUBLIC ${SHOAL_WASM_DEPS}/libzstd/lib)
target_compile_definitions(zstd PRIVATE ZSTD_DISABLE_ASM=1 ZSTD_LEGACY_SUPPORT=0)
target_compile_options(zstd PRIVATE -w)

include(ecs/esgen/ShoalEsgen.cmake)
add_subdirectory(ecs)
add_subdirectory(proto)

# What is not reached is not linked; here is what does not compile, or belongs to sockets.
file(GLOB sources ${PROJECT_SOURCE_DIR}/net/core/end.c ${PROJECT_SOURCE_DIR}/net/core/worker.c
     ${PROJECT_SOURCE_DIR}/net/state/*.c ${PROJECT_SOURCE_DIR}/net/interest/*.c ${PROJECT_SOURCE_DIR}/net/game/*.c
     ${PROJECT_SOURCE_DIR}/net/session/*.c ${PROJECT_SOURCE_DIR}/net/client/*.c
     ${PROJECT_SOURCE_DIR}/net/core/address.c ${PROJECT_SOURCE_DIR}/net/core/ration.c
     ${PROJECT_SOURCE_DIR}/net/replicate/*.c ${PROJECT_SOURCE_DIR}/net/solo/*.c
     ${PROJECT_SOURCE_DIR}/net/mirror/*.c ${PROJECT_SOURCE_DIR}/net/present/*.c ${PROJECT_SOURCE_DIR}/net/log/*.c
     ${PROJECT_SOURCE_DIR}/net/replay/*.c ${PROJECT_SOURCE_DIR}/net/logtools/*.c ${PROJECT_SOURCE_DIR}/net/playback/*.c)
list(FILTER sources EXCLUDE REGEX "/(module_check|log_set|log_queue|log_sign)\\.c$")
file(GLOB web ${PROJECT_SOURCE_DIR}/client/web/*.c)
add_library(shoal_net STATIC ${sources})
target_include_directories(shoal_net PUBLIC ${PROJECT_SOURCE_DIR}/net/include PRIVATE ${PROJECT_SOURCE_DIR}/net)
target_include_directories(shoal_net SYSTEM PRIVATE ${headers})
target_link_libraries(shoal_net PUBLIC shoal_ecs shoal_proto protobuf_c PRIVATE zstd shoal_flags)
add_library(shoal_web OBJECT ${web})
target_include_directories(shoal_web PUBLIC ${PROJECT_SOURCE_DIR}/client/web PRIVATE ${PROJECT_SOURCE_DIR}/net
                           ${PROJECT_SOURCE_DIR}/ecs)
target_link_libraries(shoal_web PUBLIC shoal_net PRIVATE shoal_flags)

# shoal_web_game(TARGET NAME BLK IMPORTS file...): NAME.wasm of the static library TARGET, with its templates, its files,
# and what lies in the folder assets.
# The one whose longjmp is an exception, which old ones lack.
find_file(SHOAL_WASM_RUNTIME NAMES libcompiler_rt-wasm-sjlj.a libcompiler_rt.a
    PATHS ${SHOAL_WASM_SYSROOT}/lib/wasm32-emscripten NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH REQUIRED)
set(SHOAL_WEB_FOLDER ${PROJECT_SOURCE_DIR}/client/web)
function(shoal_web_game target name blk imports)
    set(from ${CMAKE_CURRENT_SOURCE_DIR})
    if(NOT blk)
        set(blk ${name}.blk)
    endif()
    # A game without ES_GAME has the one symbol itself.
    set(entry)
    get_target_property(sources ${target} SOURCES)
    foreach(source ${sources})
        get_filename_component(path ${source} ABSOLUTE)
        if(EXISTS ${path})
            file(STRINGS ${path} found REGEX "^ES_GAME\\(" LIMIT_COUNT 1)
            if(found)
                shoal_game_entry(entry ${name})
            endif()
        endif()
    endforeach()
    set(templates ${blk} ${imports})
    shoal_web_link(${name} ${target} "${entry}" ${from} "${templates}" "${ARGN}" ${from}/assets)
endfunction()

# A game whose rules are a script: the module of games/lua, and what the folder's templates name.
function(shoal_web_script folder)
    file(GLOB modules ${folder}/*.so)
    if(NOT modules MATCHES "/([a-z0-9_]+)\\.so$")
        message(FATAL_ERROR "${folder} is no game: it has neither CMakeLists.txt nor NAME.so")
    elseif(NOT TARGET lua)
        message(FATAL_ERROR "SHOAL_WASM_DEPS=${SHOAL_WASM_DEPS} has no lua5.4")
    endif()
    set(name ${CMAKE_MATCH_1})
    set(templates ${name}.blk)
    set(files)
    set(at 0)
    list(LENGTH templates count)
    while(at LESS count)
        list(GET templates ${at} file)
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${folder}/${file})
        file(STRINGS ${folder}/${file} lines REGEX "^[ \t]*(import|import_optional|file):t[ \t]*=")
        get_filename_component(beside ${folder}/${file} DIRECTORY)
        foreach(line ${lines})
            string(REGEX MATCH "^[ \t]*([a-z_]+):t[ \t]*=[ \t]*\"?([^\" \t;]+)" found "${line}")
            set(list templates)
            if(CMAKE_MATCH_1 STREQUAL "file")
                set(list files)
            endif()
            file(GLOB found RELATIVE ${folder} ${beside}/${CMAKE_MATCH_2})
            list(APPEND ${list} ${found})
            list(REMOVE_DUPLICATES ${list})
        endforeach()
        list(LENGTH templates count)
        math(EXPR at "${at} + 1")
    endwhile()
    shoal_game_entry(entry lua)
    shoal_web_link(${name} lua ${entry} ${folder} "${templates}" "${files}" ${folder}/${name})
endfunction()

# NAME.wasm of all that.
function(shoal_web_link name target entry from templates files assets)
    list(TRANSFORM templates PREPEND ${from}/)
    list(TRANSFORM files PREPEND ${from}/)
    file(GLOB_RECURSE pictures CONFIGURE_DEPENDS ${assets}/*.png ${assets}/*.wav ${assets}/*.ogg)
    set(inside ${CMAKE_CURRENT_BINARY_DIR}/generated/${name}_inside.c)
    add_custom_command(OUTPUT ${inside}
        COMMAND ${CMAKE_COMMAND} -DFROM=${from} "-DTEMPLATES=${templates}" "-DPACK=${files}"
                "-DPICTURES=${pictures}" -DASSETS=${assets}
                -DFILE=${inside} -P ${SHOAL_WEB_FOLDER}/inside.cmake
        DEPENDS ${templates} ${files} ${pictures} ${SHOAL_WEB_FOLDER}/inside.cmake
        COMMENT "" VERBATIM)
    add_executable(web_${name} ${inside} ${entry})
    target_link_libraries(web_${name} PRIVATE ${target} shoal_web shoal_flags)
    set(lib ${SHOAL_WASM_SYSROOT}/lib/wasm32-emscripten)
    target_link_options(web_${name} PRIVATE -nostdlib -Wl,--no-entry -Wl,--strip-debug -Wl,--gc-sections
        -Wl,-z,stack-size=1048576 -Wl,--stack-first -Wl,--initial-memory=33554432 -Wl,--max-memory=2147483648
        -Wl,--export=_initialize ${lib}/crt1_reactor.o)
    target_link_libraries(web_${name} PRIVATE ${lib}/libc.a ${lib}/libdlmalloc.a ${lib}/libstandalonewasm-memgrow.a
                          ${SHOAL_WASM_RUNTIME} ${lib}/libc.a)
    set_target_properties(web_${name} PROPERTIES OUTPUT_NAME ${name} SUFFIX .wasm RUNTIME_OUTPUT_DIRECTORY ${SHOAL_WASM_OUT})
    if(SHOAL_WASM_OPT)
        set(file ${SHOAL_WASM_OUT}/${name}.wasm)
        add_custom_command(TARGET web_${name} POST_BUILD VERBATIM
            COMMAND ${SHOAL_WASM_OPT} -O3 --enable-exception-handling --strip-debug --strip-producers
                    ${file} -o ${file})
    endif()
    find_program(SHOAL_GZIP gzip)
    if(SHOAL_GZIP) # what shoal-server sends to those that take it
        add_custom_command(TARGET web_${name} POST_BUILD VERBATIM
            COMMAND ${SHOAL_GZIP} -9 -n -k -f ${SHOAL_WASM_OUT}/${name}.wasm)
    endif()
endfunction()

include(scripts/package/ShoalGameSources.cmake)
# A library of LIBRARY that no project makes is built from the sources in SHOAL_WASM_DEPS/NAME.
function(shoal_web_library library)
    set(from ${SHOAL_WASM_DEPS}/${library})
    file(GLOB files ${from}/*.c ${from}/src/*.c)
    list(FILTER files EXCLUDE REGEX "/cpHastySpace\\.c$") # chipmunk's threads, which a page does not have
    if(TARGET ${library} OR NOT files)
        return()
    endif()
    add_library(${library} STATIC ${files})
    target_include_directories(${library} SYSTEM PUBLIC ${from} ${from}/include ${from}/src)
    target_compile_options(${library} PRIVATE -w)
    set_target_properties(${library} PROPERTIES C_EXTENSIONS ON)
endfunction()
# As shoal_game() of the installed package (scripts/package/ShoalGame.cmake).
function(shoal_game name)
    cmake_parse_arguments(ARG "" "PROTO;BLK;FOLDER" "IMPORTS;PACK;LIBRARY" ${ARGN})
    if(NOT ARG_PROTO)
        set(ARG_PROTO ${name}.proto)
    endif()
    set(target ${name}) # its project may set options of it
    add_library(${target} STATIC ${ARG_UNPARSED_ARGUMENTS})
    target_include_directories(${target} PUBLIC
        ${CMAKE_CURRENT_SOURCE_DIR} ${CMAKE_CURRENT_BINARY_DIR}/generated/${target}
        $<TARGET_PROPERTY:shoal_net,INTERFACE_INCLUDE_DIRECTORIES>)
    target_link_libraries(${target} PUBLIC shoal_ecs protobuf_c PRIVATE shoal_flags)
    shoal_protobuf(${target} ${ARG_PROTO})
    shoal_game_sources(${target} ${name} ${ARG_UNPARSED_ARGUMENTS})
    foreach(library ${ARG_LIBRARY})
        shoal_web_library(${library})
    endforeach()
    shoal_game_libraries(${target} "" ${name} ${ARG_LIBRARY})
    shoal_web_game(${target} ${name} "${ARG_BLK}" "${ARG_IMPORTS}" ${ARG_PACK})
endfunction()
function(shoal_own_game)
    shoal_game(${ARGN})
endfunction()
add_subdirectory(games/arena)
add_subdirectory(games/breakout)
add_subdirectory(games/cubes)
if(EXISTS ${SHOAL_WASM_DEPS}/chipmunk)
    set(SHOAL_CHIPMUNK_SOURCE ${SHOAL_WASM_DEPS}/chipmunk)
endif()
include(scripts/package/chipmunk.cmake)
if(SHOAL_HAS_CHIPMUNK)
    add_subdirectory(games/crates)
endif()
# A fault of Lua is a longjmp, which is an exception here. What its objects of other machines are linked against
# (games/lua/numbers.c) they have from the start: no time, and no seed of addresses.
if(EXISTS ${SHOAL_WASM_DEPS}/lua5.4 AND SHOAL_WASM_RUNTIME MATCHES "sjlj")
    file(GLOB sources ${SHOAL_WASM_DEPS}/lua5.4/src/*.c)
    list(FILTER sources EXCLUDE REGEX "/luac?\\.c$")
    add_library(lua5.4 STATIC ${sources})
    target_include_directories(lua5.4 SYSTEM PUBLIC ${SHOAL_WASM_DEPS}/lua5.4/src)
    target_compile_definitions(lua5.4 PRIVATE fopen=fopen64 freopen=freopen64)
    target_compile_options(lua5.4 PRIVATE -w "-Dluai_makeseed(L)=1u" -mexception-handling "SHELL:-mllvm -wasm-enable-sjlj")
    target_link_options(lua5.4 INTERFACE LINKER:--wrap=lua_topointer)
    add_subdirectory(games/lua)
endif()

# Games of other folders find here what the package would give them.
set(SHOAL_WEB_GAMES "" CACHE STRING "Folders of further games")
macro(find_package package)
    if(NOT "${package}" MATCHES "^[Ss]hoal$")
        string(REGEX REPLACE "REQUIRED(;COMPONENTS)?" "COMPONENTS" words "${ARGV}")
        _find_package(${words} QUIET)
        if(NOT ${package}_FOUND AND ";${ARGV};" MATCHES ";REQUIRED;")
            message(FATAL_ERROR "find_package(${package}): a browser has no libraries of this machine. Let the game's "
                "CMakeLists.txt build ${package} from its sources, by add_subdirectory (games/README.md, \"Build\")")
        endif()
    endif()
endmacro()
foreach(folder ${SHOAL_WEB_GAMES})
    get_filename_component(name ${folder} NAME)
    if(EXISTS ${folder}/CMakeLists.txt)
        add_subdirectory(${folder} ${CMAKE_BINARY_DIR}/further/${name})
    else()
        shoal_web_script(${folder})
    endif()
endforeach()
