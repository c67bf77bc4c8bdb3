// SPDX-License-Identifier: MIT
// A machine without memory: loaded before a program (LD_PRELOAD), it refuses call NO_MEMORY_CALL of
// aligned_alloc, from which all blocks of the programs come.

#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

void* aligned_alloc(size_t align, size_t size) {
    static atomic_ulong calls;
    const char* refused = getenv("NO_MEMORY_CALL");
    const unsigned long call = atomic_fetch_add(&calls, 1) + 1;
    void* memory = NULL;
    if (refused && call == strtoul(refused, NULL, 10)) return NULL;
    return posix_memalign(&memory, align, size) == 0 ? memory : NULL;
}
