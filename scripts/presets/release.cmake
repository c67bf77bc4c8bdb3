# What users get: optimized, with line numbers for debuggers and profilers.
set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "")
