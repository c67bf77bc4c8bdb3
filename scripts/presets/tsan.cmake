# Data races between threads.
set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "")
set(SHOAL_SANITIZE thread CACHE STRING "")
set(SHOAL_BENCH OFF CACHE BOOL "")
