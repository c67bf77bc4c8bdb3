# Linux on a 64-bit ARM: Debian's cross compiler, the libraries of SHOAL_ARM_ROOT, and qemu for tools that the build runs.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(SHOAL_ARM_ROOT "$ENV{SHOAL_ARM_ROOT}" CACHE PATH "Folder with usr/include and usr/lib/aarch64-linux-gnu")
set(CMAKE_FIND_ROOT_PATH ${SHOAL_ARM_ROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(ENV{PKG_CONFIG_LIBDIR} ${SHOAL_ARM_ROOT}/usr/lib/aarch64-linux-gnu/pkgconfig)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${SHOAL_ARM_ROOT})
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L /usr/aarch64-linux-gnu -E
    LD_LIBRARY_PATH=${SHOAL_ARM_ROOT}/usr/lib/aarch64-linux-gnu)
