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
add_subdirectory(ecs/esgen)
include(ecs/esgen/ShoalEsgen.cmake)
add_subdirectory(proto)

# Their unit tests, and the example of README.md, which has to print the same hashes.
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
