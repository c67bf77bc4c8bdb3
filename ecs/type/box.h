// SPDX-License-Identifier: MIT
/// Private: the memory of boxed types. A cell holds a pointer; the object never moves.
#pragma once

#include <stdatomic.h>

#include "ecs/type.h"

#define ECS_BOX_SLABS_MAX 32u

typedef struct ecs_box_slab {
    uint8_t* memory;
    uint32_t count;
} ecs_box_slab;

/// Each slab is twice as large as the previous one, so few blocks are allocated and no object
/// moves. Returned objects wait in `free`; the last one is given out first. With a reset hook they
/// wait as created objects, otherwise as bare memory.
typedef struct ecs_box {
    const base_allocator* allocator;
    const ecs_type_ops* ops; ///< as registered; NULL: plain data
    uint32_t size;           ///< bytes of an object
    uint32_t stride;
    atomic_flag lock; ///< several jobs may record values of commands at the same time
    ecs_box_slab slabs[ECS_BOX_SLABS_MAX];
    uint32_t slab_count;
    uint32_t fresh; ///< objects of the last slab that were given out at least once
    void** free;    ///< room for every object of the pool, so ecs_box_return cannot fail
    uint32_t free_count, free_capacity;
    uint32_t live;
    uint32_t room; ///< objects in all slabs
} ecs_box;

/// `ops` must outlive the box. @return NULL when memory ran out.
ecs_box* ecs_box_create(const base_allocator* allocator, const ecs_type_ops* ops, uint32_t size,
                        uint32_t align);
/// Destroy the pool. Every object was returned (asserted). NULL is accepted.
void ecs_box_destroy(ecs_box* box);
/// Get memory for an object. With *is_made it holds a created object. Any thread. @return NULL when
/// memory ran out.
void* ecs_box_take(ecs_box* box, bool* is_made);
/// Give memory back: with a reset hook it holds a created object, else none. Any thread.
void ecs_box_return(ecs_box* box, void* memory);
static inline bool ecs_box_keeps_objects(const ecs_box* box) {
    return box->ops && box->ops->reset;
}
