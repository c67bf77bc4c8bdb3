// SPDX-License-Identifier: MIT
/// Private: where the objects of a boxed type live. A cell holds a pointer; the object never moves.
#pragma once

#include <stdatomic.h>

#include "ecs/type.h"

#define ECS_BOX_SLABS_MAX 32u

typedef struct ecs_box_slab {
    uint8_t* memory;
    uint32_t count;
} ecs_box_slab;

/// Slabs double, so addresses stay and few blocks are asked for. Objects that were given back wait in
/// `free`, the last one first; with a reset hook they wait ready made, otherwise as bare memory.
typedef struct ecs_box {
    const base_allocator* allocator;
    const ecs_type_ops* ops; ///< as registered; NULL: plain data
    uint32_t size;           ///< of an object
    uint32_t stride;
    atomic_flag lock; ///< jobs may record values of commands at once
    ecs_box_slab slabs[ECS_BOX_SLABS_MAX];
    uint32_t slab_count;
    uint32_t fresh; ///< objects of the last slab that were handed out at least once
    void** free;    ///< room for every object there is: giving back cannot fail
    uint32_t free_count, free_capacity;
    uint32_t live;
    uint32_t room; ///< objects in all slabs
} ecs_box;

/// NULL when memory ran out.
ecs_box* ecs_box_create(const base_allocator* allocator, const ecs_type_ops* ops, uint32_t size,
                        uint32_t align);
/// Every object must be back.
void ecs_box_destroy(ecs_box* box);
/// Memory for an object, with one ready made in it when `*is_made`. NULL when memory ran out.
void* ecs_box_take(ecs_box* box, bool* is_made);
/// Give memory back as it is: ready made if the type has a reset hook, else without an object.
void ecs_box_return(ecs_box* box, void* memory);
static inline bool ecs_box_keeps_objects(const ecs_box* box) {
    return box->ops && box->ops->reset;
}
