# For stepping through the code: not optimized, whole-structure checks.
set(CMAKE_BUILD_TYPE Debug CACHE STRING "")
set(SHOAL_VALIDATE ON CACHE BOOL "")
