# shoal_protobuf(TARGET FILE.proto): run protoc-c in the build and compile the result into TARGET, without
# the warnings that our own code has to pass. `#include "FILE.pb-c.h"` works in TARGET and, for a library, in
# targets that link to it in the same build. Needs protoc-c and libprotobuf-c's development files.
include_guard(GLOBAL)

if(NOT PROTOC_C)
    find_program(PROTOC_C protoc-c REQUIRED)
endif()
if(NOT TARGET PkgConfig::PROTOBUF_C)
    find_package(PkgConfig REQUIRED)
    pkg_check_modules(PROTOBUF_C REQUIRED IMPORTED_TARGET libprotobuf-c)
endif()

function(shoal_protobuf target file)
    get_filename_component(path ${file} ABSOLUTE)
    get_filename_component(folder ${path} DIRECTORY)
    get_filename_component(name ${path} NAME_WE)
    set(generated ${CMAKE_CURRENT_BINARY_DIR}/generated/${target})
    file(MAKE_DIRECTORY ${generated})
    add_custom_command(
        OUTPUT ${generated}/${name}.pb-c.c ${generated}/${name}.pb-c.h
        COMMAND ${PROTOC_C} --c_out=${generated} -I${folder} ${path}
        DEPENDS ${path}
        COMMENT "protoc-c ${name}.proto"
        VERBATIM)
    set_source_files_properties(${generated}/${name}.pb-c.c PROPERTIES COMPILE_OPTIONS -w)
    target_sources(${target} PRIVATE ${generated}/${name}.pb-c.c ${generated}/${name}.pb-c.h)
    get_target_property(type ${target} TYPE)
    if(type STREQUAL "STATIC_LIBRARY" OR type STREQUAL "SHARED_LIBRARY" OR type STREQUAL "OBJECT_LIBRARY")
        target_include_directories(${target} SYSTEM PUBLIC $<BUILD_INTERFACE:${generated}>)
    else()
        target_include_directories(${target} SYSTEM PRIVATE ${generated})
    endif()
endfunction()
