# The build for Windows, with mingw-w64: base, ecs, proto, and their unit tests. scripts/windows/test makes the
# folder of SHOAL_FOREIGN, with what Debian packages for Linux only: protobuf-c, cmocka and xxhash as sources.
#
# net, server and client are left out: README.md says why.
set(SHOAL_FOREIGN "" CACHE PATH "Folder with protobuf-c/, cmocka's include/ and src/, and xxhash.h")
if(NOT EXISTS ${SHOAL_FOREIGN}/xxhash.h)
    message(FATAL_ERROR "SHOAL_FOREIGN has no sources of other projects: scripts/windows/test makes it")
endif()
find_package(Threads REQUIRED)
find_program(PROTOC_C protoc-c REQUIRED)
set(XXHASH_INCLUDE_DIR ${SHOAL_FOREIGN})
# Formats of C99; macros such as isnan and INFINITY are of double there.
target_compile_definitions(shoal_flags INTERFACE __USE_MINGW_ANSI_STDIO=1)
target_compile_options(shoal_flags INTERFACE -Wno-float-conversion)

add_library(protobuf_c STATIC ${SHOAL_FOREIGN}/protobuf-c/protobuf-c.c)
target_include_directories(protobuf_c SYSTEM PUBLIC ${SHOAL_FOREIGN})
target_compile_options(protobuf_c PRIVATE -w)
add_library(PkgConfig::PROTOBUF_C ALIAS protobuf_c)

add_subdirectory(ecs)
include(ecs/esgen/ShoalEsgen.cmake)
add_subdirectory(proto)

# The client's half of net, and the C++ client with a game linked into it, as libsodium and ENet are.
if(EXISTS ${SHOAL_FOREIGN}/lib/libsodium.a AND EXISTS ${SHOAL_FOREIGN}/enet/host.c)
    enable_language(CXX)
    # Our socket layer defines ten of ENet's functions: those of win32.c get other names.
    set(enet ${SHOAL_FOREIGN}/enet)
    add_library(enet STATIC ${enet}/callbacks.c ${enet}/compress.c ${enet}/host.c ${enet}/list.c ${enet}/packet.c
                ${enet}/peer.c ${enet}/protocol.c ${enet}/win32.c)
    target_include_directories(enet SYSTEM PUBLIC ${enet}/include)
    target_compile_options(enet PRIVATE -w)
    foreach(name socket_send socket_receive socket_create socket_destroy socket_bind socket_get_address
            socket_set_option time_get time_set host_random_seed)
        set_property(SOURCE ${enet}/win32.c APPEND PROPERTY COMPILE_DEFINITIONS enet_${name}=enet_win32_${name})
    endforeach()
    target_link_libraries(enet PUBLIC ws2_32 winmm)

    # Left out: the server, logs, the check of modules (ELF), and what waits for signals.
    file(GLOB sources ${PROJECT_SOURCE_DIR}/net/core/*.c ${PROJECT_SOURCE_DIR}/net/transport/*.c
         ${PROJECT_SOURCE_DIR}/net/secure/*.c ${PROJECT_SOURCE_DIR}/net/state/*.c
         ${PROJECT_SOURCE_DIR}/net/interest/*.c ${PROJECT_SOURCE_DIR}/net/game/*.c ${PROJECT_SOURCE_DIR}/net/session/*.c
         ${PROJECT_SOURCE_DIR}/net/replicate/*.c ${PROJECT_SOURCE_DIR}/net/mirror/*.c ${PROJECT_SOURCE_DIR}/net/present/*.c
         ${PROJECT_SOURCE_DIR}/net/client/*.c ${PROJECT_SOURCE_DIR}/net/solo/*.c ${PROJECT_SOURCE_DIR}/net/simulate/*.c ${PROJECT_SOURCE_DIR}/net/transport/windows/*.c)
    list(FILTER sources EXCLUDE REGEX "/(loop|socket_rebind|module_check|worker)\\.c$")
    add_library(shoal_net STATIC ${sources})
    target_include_directories(shoal_net PUBLIC ${PROJECT_SOURCE_DIR}/net/include
        PRIVATE ${PROJECT_SOURCE_DIR}/net ${PROJECT_SOURCE_DIR}/net/transport/windows/include)
    target_include_directories(shoal_net SYSTEM PRIVATE ${SHOAL_FOREIGN}/include)
    # Sockets are 64 bits wide there, descriptors are int: the warnings of Linux say nothing about it.
    get_target_property(definitions shoal_flags INTERFACE_COMPILE_DEFINITIONS)
    set(arithmetic -ffp-contract=off -fno-math-errno -fno-common -fno-strict-aliasing)
    target_compile_definitions(shoal_net PRIVATE ${definitions})
    target_compile_options(shoal_net PRIVATE ${arithmetic} -Wall)
    foreach(name core/file game/module_files)
        set_property(SOURCE ${PROJECT_SOURCE_DIR}/net/${name}.c PROPERTY COMPILE_OPTIONS -include posix.h)
    endforeach()
    target_link_libraries(shoal_net PUBLIC shoal_ecs shoal_proto
        PRIVATE enet ${SHOAL_FOREIGN}/lib/libsodium.a Threads::Threads)

    # breakout, linked: a DLL could not take ecs_ and base_ from the program that opens it.
    include(scripts/package/ShoalGameSources.cmake)
    function(shoal_own_game name)
        shoal_game_entry(entry ${name})
        cmake_parse_arguments(ARG "" "" "PACK;LIBRARY" ${ARGN})
        add_library(shoal_game_${name} STATIC ${ARG_UNPARSED_ARGUMENTS} ${entry})
        target_include_directories(shoal_game_${name} PUBLIC
            ${CMAKE_CURRENT_SOURCE_DIR} ${CMAKE_CURRENT_BINARY_DIR}/generated/shoal_game_${name})
        target_link_libraries(shoal_game_${name} PUBLIC shoal_net protobuf_c PRIVATE shoal_flags)
        shoal_protobuf(shoal_game_${name} ${name}.proto)
        shoal_game_sources(shoal_game_${name} ${name} ${ARG_UNPARSED_ARGUMENTS})
        shoal_game_libraries(shoal_game_${name} "" ${name} ${ARG_LIBRARY})
    endfunction()
    add_subdirectory(games/breakout)

    set(library ${PROJECT_SOURCE_DIR}/client/library)
    file(READ games/breakout/breakout.blk templates)
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/templates.inc CONTENT "R\"blk(@templates@)blk\"" @ONLY)
    add_library(shoal_client_library STATIC ${library}/client.c ${library}/messages.c ${library}/world.c)
    target_include_directories(shoal_client_library PUBLIC ${library}/include
        PRIVATE ${library} ${PROJECT_SOURCE_DIR}/net/transport/windows/include)
    target_compile_definitions(shoal_client_library PRIVATE ${definitions})
    target_compile_options(shoal_client_library PRIVATE ${arithmetic} -Wall)
    target_link_libraries(shoal_client_library PUBLIC shoal_net shoal_game_breakout)
    add_executable(pilot client/examples/pilot.cc scripts/windows/linked_game.cc)
    target_include_directories(pilot PRIVATE ${library} ${PROJECT_BINARY_DIR})
    target_compile_definitions(pilot PRIVATE SHOAL_VERSION="${PROJECT_VERSION}" __USE_MINGW_ANSI_STDIO=1)
    target_compile_features(pilot PRIVATE cxx_std_17)
    target_link_libraries(pilot PRIVATE shoal_client_library)
else()
    message(STATUS "Windows: no net and no client, ENet or libsodium is not there")
endif()

# Their unit tests, and the example of ecs/README.md, which has to print the same hashes.
if(SHOAL_TESTS)
    add_library(cmocka STATIC ${SHOAL_FOREIGN}/src/cmocka.c)
    target_include_directories(cmocka SYSTEM PUBLIC ${SHOAL_FOREIGN}/include)
    target_compile_definitions(cmocka PRIVATE HAVE_STDINT_H HAVE_STDLIB_H HAVE_MALLOC_H HAVE_IO_H HAVE_PROCESS_H HAVE_TIME_H)
    target_compile_options(cmocka PRIVATE -w)
    set(CMOCKA_LIBRARY cmocka)
    set(CMOCKA_INCLUDE_DIR ${SHOAL_FOREIGN}/include)
    enable_testing()
    add_subdirectory(tests)
endif()
