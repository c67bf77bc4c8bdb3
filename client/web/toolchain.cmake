# WebAssembly with Debian's clang and the C library of its emscripten. emcc, and the node that it wants, are not used:
# what is linked has no JavaScript of its own.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR wasm32)
set(SHOAL_WASM_SYSROOT /usr/share/emscripten/cache/sysroot CACHE PATH "The C library of emscripten")
find_program(SHOAL_WASM_CLANG NAMES clang-14 clang REQUIRED)
find_program(SHOAL_WASM_AR NAMES llvm-ar-14 llvm-ar REQUIRED)
find_program(SHOAL_WASM_RANLIB NAMES llvm-ranlib-14 llvm-ranlib REQUIRED)
set(CMAKE_C_COMPILER ${SHOAL_WASM_CLANG})
set(CMAKE_C_COMPILER_TARGET wasm32-unknown-emscripten)
set(CMAKE_AR ${SHOAL_WASM_AR} CACHE FILEPATH "")
set(CMAKE_RANLIB ${SHOAL_WASM_RANLIB} CACHE FILEPATH "")
set(CMAKE_SYSROOT ${SHOAL_WASM_SYSROOT})
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(CMAKE_EXECUTABLE_SUFFIX .wasm)
# What every browser since 2021 has.
set(CMAKE_C_FLAGS_INIT "-mbulk-memory -msign-ext -mnontrapping-fptoint -mmutable-globals")
