// SPDX-License-Identifier: MIT
// What the C library asks of a system, where its own answer would be an import. The rest that it
// imports (wasi_snapshot_preview1) the page answers: clock, standard error, the end.
#include <errno.h>
#include <stdint.h>

void emscripten_notify_memory_growth(uint32_t memory);
int __syscall_madvise(uintptr_t address, uintptr_t size, int advice);

// The page makes new views of the memory after each call.
void emscripten_notify_memory_growth(uint32_t memory) {
    (void)memory;
}

int __syscall_madvise(uintptr_t address, uintptr_t size, int advice) {
    (void)address;
    (void)size;
    (void)advice;
    return -ENOSYS;
}
