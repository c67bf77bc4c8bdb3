# The most that the compiler does, for this machine and its like. The same bits: -ffp-contract=off holds here too.
set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "")
set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O3 -march=native -g -DNDEBUG" CACHE STRING "")
set(CMAKE_INTERPROCEDURAL_OPTIMIZATION ON CACHE BOOL "")
