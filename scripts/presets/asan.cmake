# Memory errors and undefined behaviour, whole-structure checks. -O1 compiles in half the time of -O2.
set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "")
set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O1 -g1 -DNDEBUG" CACHE STRING "")
set(SHOAL_SANITIZE address,undefined CACHE STRING "")
set(SHOAL_VALIDATE ON CACHE BOOL "")
set(SHOAL_BENCH OFF CACHE BOOL "")
