# Chipmunk, the physics of games/crates: SHOAL_HAS_CHIPMUNK, and the target chipmunk where it is built from its sources.
#
# Debian's libchipmunk.a gives the bits of our options on x86-64 alone: elsewhere its compiler fused multiplications and
# additions. scripts/setup.sh and the tests of other machines fetch the sources.
set(SHOAL_CHIPMUNK_SOURCE "" CACHE PATH "Folder with Chipmunk's sources, for a machine that is no x86-64")
set(SHOAL_HAS_CHIPMUNK FALSE)
if(SHOAL_CHIPMUNK_SOURCE)
    file(GLOB chipmunk ${SHOAL_CHIPMUNK_SOURCE}/src/*.c)
    list(FILTER chipmunk EXCLUDE REGEX "cpHastySpace") # threads
    if(NOT chipmunk)
        message(FATAL_ERROR "SHOAL_CHIPMUNK_SOURCE has no src/*.c: ${SHOAL_CHIPMUNK_SOURCE}")
    endif()
    add_library(chipmunk STATIC ${chipmunk})
    target_include_directories(chipmunk SYSTEM PUBLIC ${SHOAL_CHIPMUNK_SOURCE}/include)
    target_compile_definitions(chipmunk PRIVATE NDEBUG _GNU_SOURCE)
    if(COMMAND shoal_web_game) # what the linker does elsewhere (games/crates/CMakeLists.txt)
        target_compile_definitions(chipmunk PRIVATE sin=__wrap_sin cos=__wrap_cos sqrt=__wrap_sqrt pow=__wrap_pow)
    endif()
    target_compile_options(chipmunk PRIVATE -w -std=gnu99)
    set(SHOAL_HAS_CHIPMUNK TRUE)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
    find_library(SHOAL_LIBRARY_chipmunk NAMES libchipmunk.a chipmunk)
    if(SHOAL_LIBRARY_chipmunk)
        set(SHOAL_HAS_CHIPMUNK TRUE)
    endif()
endif()
if(NOT SHOAL_HAS_CHIPMUNK)
    message(STATUS "The game crates is left out: install libchipmunk-dev (not on x86-64: -DSHOAL_CHIPMUNK_SOURCE=FOLDER)")
endif()
