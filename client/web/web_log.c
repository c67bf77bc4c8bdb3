// SPDX-License-Identifier: MIT
// The files of a log in a page, in place of net/log/log_set.c: bytes that the page was given so
// far. There is no queue: what a server did not write into the file does not come here.
#include "web.h"

#include "base/assert.h"
#include "log/log_queue.h"
#include "log/log_read.h"

#include <errno.h>
#include <netdb.h>
#include <string.h>

#define NUMBER UINT32_MAX ///< of a segment: the page does not say which it is

// A set of the page's files from the one on with which it begins: its place is the file's device.
static void look(net_log_set* set) {
    const uint32_t first = set->count > 0 ? (uint32_t)set->files[0].device : 0;
    const uint32_t count = web_file_count() - first;
    while (set->count < count) {
        BASE_ARRAY_RESERVE(set->allocator, set->files, set->capacity, set->count + 1);
        set->files[set->count] = (net_log_set_file){.device = first + set->count, .number = NUMBER};
        set->count++;
    }
    set->bytes = 0;
    for (uint32_t i = 0; i < count; i++) {
        set->files[i].base = set->bytes;
        set->files[i].bytes = (uint64_t)web_file_bytes(first + i);
        set->bytes += set->files[i].bytes;
    }
}

net_result net_log_set_open(net_log_set* set, const base_allocator* allocator, const char* file,
                            uint32_t last, const base_reporter* reporter) {
    (void)last, (void)reporter;
    *set = (net_log_set){.allocator = allocator, .file = file, .fd_last = -1, .fd = -1};
    look(set);
    return NET_OK;
}

void net_log_set_follow(net_log_set* set) {
    look(set);
}

void net_log_set_begin(net_log_set* set, uint32_t index) {
    set->count -= index;
    memmove(set->files, set->files + index, set->count * sizeof *set->files);
    look(set);
}

void net_log_set_close(net_log_set* set) {
    (void)set;
}

const net_log_set_file* net_log_set_at(const net_log_set* set, uint64_t offset) {
    BASE_ASSERT(offset < set->bytes);
    uint32_t at = set->count - 1;
    while (set->files[at].base > offset)
        at--;
    return &set->files[at];
}

bool net_log_set_read(net_log_set* set, uint64_t offset, void* target, size_t size) {
    if (size == 0) return true;
    const net_log_set_file* file = net_log_set_at(set, offset);
    BASE_ASSERT(size <= file->base + file->bytes - offset);
    web_file_read((uint32_t)file->device, (double)(offset - file->base), target, (uint32_t)size);
    return true;
}

void net_log_queue_load(net_log_queue_copy* copy, const base_allocator* allocator,
                        const char* log_file) {
    (void)log_file;
    *copy = (net_log_queue_copy){.allocator = allocator};
}

net_log_queue_state net_log_queue_take(net_log_queue_copy* copy, uint64_t identity,
                                       uint64_t next_number, base_bytes* records,
                                       uint64_t* lost_bytes, const char** reason) {
    (void)copy, (void)identity, (void)next_number, (void)records, (void)lost_bytes, (void)reason;
    return NET_LOG_QUEUE_NONE;
}

void net_log_queue_unload(net_log_queue_copy* copy) {
    *copy = (net_log_queue_copy){0};
}

// ---- what the C library asks of a system, where its own answer would be an import

// The rest that it imports (wasi_snapshot_preview1) the page answers: clock, standard error, end.

void emscripten_notify_memory_growth(uint32_t memory);
int __syscall_madvise(uintptr_t address, uintptr_t size, int advice);

// The page makes new views of the memory after each call.
void emscripten_notify_memory_growth(uint32_t memory) {
    (void)memory;
}

// That of the C library wants help of a page for more than 512 bytes, as in its realloc, which
// libraries of games call.
void* memcpy(void* restrict target, const void* restrict source, size_t size) {
    return __builtin_memcpy(target, source, size); // one instruction (-mbulk-memory)
}

int __syscall_madvise(uintptr_t address, uintptr_t size, int advice) {
    (void)address, (void)size, (void)advice;
    return -ENOSYS;
}

// A page knows its server by itself.
int getaddrinfo(const char* restrict host, const char* restrict port,
                const struct addrinfo* restrict hints, struct addrinfo** restrict found) {
    (void)host, (void)port, (void)hints, (void)found;
    return EAI_FAIL;
}

void freeaddrinfo(struct addrinfo* found) {
    (void)found;
}
