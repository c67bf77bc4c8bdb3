// SPDX-License-Identifier: MIT
// Pools of boxed objects. The address of an object decides nothing: no code orders by it, so pools
// may reuse memory in any order.
#include "type/box.h"

#include "base/assert.h"

#include <string.h>

enum { FIRST_SLAB_BYTES = 4096, FIRST_SLAB_OBJECTS = 64 };

ecs_box* ecs_box_create(const base_allocator* allocator, const ecs_type_ops* ops, uint32_t size,
                        uint32_t align) {
    BASE_ASSERT(size > 0 && align > 0 && (align & (align - 1)) == 0);
    ecs_box* box = base_allocate_zero(allocator, sizeof *box);
    if (!box) return NULL;
    box->allocator = allocator;
    box->ops = ops;
    box->size = size;
    box->stride = (size + align - 1) & ~(align - 1);
    atomic_flag_clear(&box->lock);
    return box;
}

void ecs_box_destroy(ecs_box* box) {
    if (!box) return;
    BASE_ASSERT(box->live == 0);
    ecs_type_context context = {box->allocator};
    for (uint32_t i = 0; ecs_box_keeps_objects(box) && i < box->free_count; i++)
        box->ops->destroy(&context, box->free[i]);
    for (uint32_t i = 0; i < box->slab_count; i++)
        base_release(box->allocator, box->slabs[i].memory,
                     (size_t)box->slabs[i].count * box->stride);
    BASE_ARRAY_RELEASE(box->allocator, box->free, box->free_capacity);
    base_release(box->allocator, box, sizeof *box);
}

static void lock(ecs_box* box) {
    while (atomic_flag_test_and_set_explicit(&box->lock, memory_order_acquire)) {
    }
}

static void unlock(ecs_box* box) {
    atomic_flag_clear_explicit(&box->lock, memory_order_release);
}

// Add a slab, and room in `free` for all its objects.
static bool grow(ecs_box* box) {
    BASE_ASSERT(box->room <= box->free_capacity || box->room == 0);
    if (box->slab_count == ECS_BOX_SLABS_MAX) return false;
    uint32_t first = FIRST_SLAB_BYTES / box->stride;
    if (first < 1) first = 1;
    if (first > FIRST_SLAB_OBJECTS) first = FIRST_SLAB_OBJECTS;
    uint32_t count = box->slab_count ? box->slabs[box->slab_count - 1].count * 2 : first;
    if (count > (1u << 24)) count = 1u << 24;
    if (!BASE_ARRAY_RESERVE(box->allocator, box->free, box->free_capacity, box->room + count))
        return false;
    uint8_t* memory = base_allocate(box->allocator, (size_t)count * box->stride);
    if (!memory) return false;
    box->slabs[box->slab_count++] = (ecs_box_slab){memory, count};
    box->fresh = 0;
    box->room += count;
    return true;
}

void* ecs_box_take(ecs_box* box, bool* is_made) {
    BASE_ASSERT(box && is_made);
    void* memory = NULL;
    *is_made = false;
    lock(box);
    if (box->free_count) {
        memory = box->free[--box->free_count];
        *is_made = ecs_box_keeps_objects(box);
    } else if ((box->slab_count && box->fresh < box->slabs[box->slab_count - 1].count) ||
               grow(box)) {
        memory = box->slabs[box->slab_count - 1].memory + (size_t)box->stride * box->fresh++;
    }
    if (memory) box->live++;
    unlock(box);
    return memory;
}

void ecs_box_return(ecs_box* box, void* memory) {
    BASE_ASSERT(box && memory);
    lock(box);
    BASE_ASSERT(box->live > 0 && box->free_count < box->free_capacity);
    box->free[box->free_count++] = memory;
    box->live--;
    unlock(box);
}
