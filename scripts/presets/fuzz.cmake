# libFuzzer programs in test/fuzz_*. libFuzzer comes with clang.
set(CMAKE_C_COMPILER clang CACHE STRING "")
set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "")
set(SHOAL_SANITIZE address,undefined CACHE STRING "")
set(SHOAL_FUZZ ON CACHE BOOL "")
set(SHOAL_BENCH OFF CACHE BOOL "")
