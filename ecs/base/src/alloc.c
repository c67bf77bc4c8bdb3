// SPDX-License-Identifier: MIT
// The heap as an allocator, and the few operations that all containers need on top of an allocator.
//
// An allocator has two functions only, so a test writes a counting or failing one in ten lines. So
// growing means allocate, copy, release. Each block begins on a cache line; columns and queues rely
// on that. A request for 0 bytes gets 1 byte, so NULL of an allocator means that it has no memory.
#include "base/alloc.h"

#include "base/arena.h"
#include "base/assert.h"
#include "base/file.h"
#include "base/quota.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef _WIN32
#include <malloc.h>
#else
#include <sys/mman.h>
#endif

enum { ARRAY_CAPACITY_MIN = 16, LARGE_PAGE_BYTES = 2 << 20, PAGE_BYTES = 4096 };
enum { SPARSE_BYTES_MIN = 1 << 16 }; // a block of this size may be used in part

static void* heap_allocate(void* context, size_t size, size_t align) {
    (void)context;
#ifdef MADV_HUGEPAGE
    const bool is_large = size >= BASE_LARGE_BYTES_MIN;
    if (is_large) align = LARGE_PAGE_BYTES;
#endif
    if (size > SIZE_MAX - align) return NULL;
#ifdef _WIN32
    return _aligned_malloc(size, align);
#else
    void* memory = aligned_alloc(align, (size + align - 1) & ~(align - 1));
#ifdef MADV_HUGEPAGE // whole pages: the last one is not made larger
    if (is_large && memory) (void)madvise(memory, size & ~(align - 1), MADV_HUGEPAGE);
#endif
    return memory;
#endif
}

static void heap_release(void* context, void* memory, size_t size) {
    (void)context, (void)size;
#ifdef _WIN32
    _aligned_free(memory);
#else
    free(memory);
#endif
}

static const base_allocator heap = {heap_allocate, heap_release, NULL};

const base_allocator* base_allocator_heap(void) {
    return &heap;
}

// Memory may run out where no context is available.
static base_memory_fn memory_handler;
static void* memory_context;

void base_memory_handler_set(base_memory_fn handler, void* context) {
    memory_handler = handler;
    memory_context = context;
}

static void end_program(size_t bytes) {
    if (memory_handler)
        memory_handler(memory_context, bytes);
    else
        fprintf(stderr, BASE_NO_MEMORY " (%zu bytes asked)\n", bytes);
    _Exit(EXIT_FAILURE);
}

void* base_allocate(const base_allocator* allocator, size_t size) {
    if (!allocator) allocator = &heap;
    void* memory = allocator->allocate(allocator->context, size ? size : 1, BASE_CACHE_LINE_BYTES);
    if (!memory) end_program(size);
    return memory;
}

void* base_allocate_zero(const base_allocator* allocator, size_t size) {
    static const uint8_t zeros[PAGE_BYTES];
    uint8_t* memory = base_allocate(allocator, size);
    const bool is_sparse = size >= SPARSE_BYTES_MIN && size < BASE_LARGE_BYTES_MIN;
    // Fresh pages are zero, and cost memory from their first write on.
    for (size_t at = 0, part; at < size; at += part) {
        part = is_sparse && size - at > PAGE_BYTES ? PAGE_BYTES : size - at;
        if (!is_sparse || memcmp(memory + at, zeros, part) != 0) memset(memory + at, 0, part);
    }
    return memory;
}

void base_release(const base_allocator* allocator, void* memory, size_t size) {
    if (!memory) return;
    if (!allocator) allocator = &heap;
    allocator->release(allocator->context, memory, size ? size : 1);
}

void* base_reallocate(const base_allocator* allocator, void* memory, size_t old_size,
                      size_t new_size) {
    BASE_ASSERT(memory || old_size == 0);
    uint8_t* grown = base_allocate(allocator, new_size);
    size_t kept = 0;
    if (memory) {
        kept = old_size < new_size ? old_size : new_size;
        memcpy(grown, memory, kept);
        base_release(allocator, memory, old_size);
    }
    memset(grown + kept, 0, new_size - kept);
    return grown;
}

void base_array_reserve(const base_allocator* allocator, void** array, uint32_t* capacity,
                        uint32_t count_needed, size_t element_bytes) {
    BASE_ASSERT(element_bytes > 0);
    if (count_needed <= *capacity) return;
    uint64_t grown =
        *capacity > ARRAY_CAPACITY_MIN / 2 ? (uint64_t)*capacity * 2 : ARRAY_CAPACITY_MIN;
    while (grown < count_needed)
        grown *= 2;
    if (grown > UINT32_MAX) grown = UINT32_MAX;
    if (grown > SIZE_MAX / element_bytes) end_program(SIZE_MAX);
    *array = base_reallocate(allocator, *array, (size_t)*capacity * element_bytes,
                             (size_t)grown * element_bytes);
    *capacity = (uint32_t)grown;
}

// Scratch memory that is dropped all at once. The block never moves and never grows, so pointers
// are valid until the reset. A caller that needs more gets NULL, instead of a slower path that no
// one notices.
//
// Under AddressSanitizer all bytes that are not given out are poisoned. So a read of an earlier
// tick's scratch, or past the end of a push, is reported like any use of freed memory.

#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(memory, size) ((void)(memory), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(memory, size) ((void)(memory), (void)(size))
#endif
// Never inline: what inlines it would check.
#define BASE_READS_POISON BASE_NOINLINE __attribute__((no_sanitize("address")))

enum { PUSH_ALIGN = 16 };

void base_arena_init(base_arena* arena, const base_allocator* allocator, size_t capacity) {
    BASE_ASSERT(arena);
    *arena = (base_arena){.allocator = allocator, .capacity = capacity};
    arena->memory = base_allocate(allocator, capacity);
    ASAN_POISON_MEMORY_REGION(arena->memory, capacity);
}

void base_arena_deinit(base_arena* arena) {
    if (arena->memory) ASAN_UNPOISON_MEMORY_REGION(arena->memory, arena->capacity);
    base_release(arena->allocator, arena->memory, arena->capacity);
    *arena = (base_arena){.allocator = arena->allocator};
}

void* base_arena_push(base_arena* arena, size_t size) {
    BASE_ASSERT(arena->used <= arena->capacity);
    BASE_ASSERT(arena->memory);
    size_t offset = (arena->used + PUSH_ALIGN - 1) & ~(size_t)(PUSH_ALIGN - 1);
    if (offset > arena->capacity || size > arena->capacity - offset) return NULL;
    arena->used = offset + size;
    if (arena->used > arena->used_peak) arena->used_peak = arena->used;
    ASAN_UNPOISON_MEMORY_REGION(arena->memory + offset, size);
    return arena->memory + offset;
}

void base_arena_reset(base_arena* arena) {
    BASE_ASSERT(arena->used <= arena->capacity);
    arena->used = 0;
    if (arena->memory) ASAN_POISON_MEMORY_REGION(arena->memory, arena->capacity);
}

// A list of blocks around another allocator. The link lies after the bytes of the block, mostly in
// what the heap rounds up. So the alignment stays, and most small blocks cost nothing more.

typedef struct base_owned {
    struct base_owned* next;
    struct base_owned** at; // the pointer to this one
    size_t size;
} base_owned;

static size_t owned_offset(size_t size) {
    return (size + _Alignof(base_owned) - 1) & ~(_Alignof(base_owned) - 1);
}

static void owner_lock(base_owner* owner) {
    while (atomic_exchange_explicit(&owner->is_busy, true, memory_order_acquire)) {
    }
}

static void owner_unlock(base_owner* owner) {
    atomic_store_explicit(&owner->is_busy, false, memory_order_release);
}

// Links are poisoned, as what follows a block of the heap is.
BASE_READS_POISON static void owned_link(base_owner* owner, base_owned* block, size_t size) {
    *block = (base_owned){owner->blocks, &owner->blocks, size};
    if (block->next) block->next->at = &block->next;
    owner->blocks = block;
}

BASE_READS_POISON static size_t owned_size(const base_owned* block) {
    return block->size;
}

BASE_READS_POISON static void owned_unlink(const base_owned* block, size_t size) {
    BASE_ASSERT(*block->at == block && block->size == size);
    *block->at = block->next;
    if (block->next) block->next->at = block->at;
}

static void* owner_allocate(void* context, size_t size, size_t align) {
    base_owner* owner = context;
    BASE_ASSERT(align <= BASE_CACHE_LINE_BYTES);
    if (size > PTRDIFF_MAX) return NULL;
    const size_t offset = owned_offset(size);
    uint8_t* memory = base_allocate(owner->from, offset + sizeof(base_owned));
    owner_lock(owner);
    owned_link(owner, (base_owned*)(memory + offset), size);
    owner_unlock(owner);
    ASAN_POISON_MEMORY_REGION(memory + size, offset + sizeof(base_owned) - size);
    return memory;
}

static void owner_release(void* context, void* memory, size_t size) {
    base_owner* owner = context;
    const size_t offset = owned_offset(size);
    owner_lock(owner);
    owned_unlink((base_owned*)((uint8_t*)memory + offset), size);
    owner_unlock(owner);
    ASAN_UNPOISON_MEMORY_REGION((uint8_t*)memory + size, offset + sizeof(base_owned) - size);
    base_release(owner->from, memory, offset + sizeof(base_owned));
}

void* base_owner_create(const base_allocator* from, size_t object_bytes) {
    BASE_ASSERT(object_bytes >= sizeof(base_owner));
    base_owner* owner = base_allocate_zero(from, object_bytes);
    owner->allocator = (base_allocator){owner_allocate, owner_release, owner};
    owner->from = from;
    owner->object_bytes = object_bytes;
    return owner;
}

void base_owner_destroy(void* object) {
    base_owner* owner = object;
    if (!owner) return;
    while (owner->blocks) {
        const size_t size = owned_size(owner->blocks);
        owner_release(owner, (uint8_t*)owner->blocks - owned_offset(size), size);
    }
    base_release(owner->from, owner, owner->object_bytes);
}

// Two counters around another allocator.

static size_t counted(size_t size) {
    return (size + BASE_CACHE_LINE_BYTES - 1) & ~(size_t)(BASE_CACHE_LINE_BYTES - 1);
}

static void* quota_allocate(void* context, size_t size, size_t align) {
    base_quota* quota = context;
    BASE_ASSERT(align <= BASE_CACHE_LINE_BYTES);
    void* memory = base_allocate(quota->parent, size);
    const size_t used = atomic_fetch_add(&quota->used_bytes, counted(size)) + counted(size);
    size_t peak = quota->used_peak;
    while (used > peak && !atomic_compare_exchange_weak(&quota->used_peak, &peak, used)) {
    }
    return memory;
}

static void quota_release(void* context, void* memory, size_t size) {
    base_quota* quota = context;
    const size_t before = atomic_fetch_sub(&quota->used_bytes, counted(size));
    BASE_ASSERT(counted(size) <= before);
    base_release(quota->parent, memory, size);
}

void base_quota_init(base_quota* quota, const base_allocator* parent, size_t bytes_max) {
    *quota = (base_quota){.allocator = {quota_allocate, quota_release, quota},
                          .parent = parent,
                          .bytes_max = bytes_max};
}

bool base_quota_is_over(const base_allocator* allocator) {
    if (!allocator || allocator->allocate != quota_allocate) return false;
    const base_quota* quota = allocator->context;
    return quota->used_bytes > quota->bytes_max;
}
