// SPDX-License-Identifier: MIT
/// Private: from a hash to small ids, by open addressing. The caller owns keys and compares them.
#pragma once

#include "base/alloc.h"

typedef struct ecs_name_slot {
    uint64_t hash;
    uint32_t id; ///< 0: empty
} ecs_name_slot;

typedef struct ecs_name_index {
    ecs_name_slot* slots;
    uint32_t capacity; ///< 0 or a power of two
    uint32_t count;
} ecs_name_index;

/// Make room for `count` entries in all; adding up to then cannot fail. @return false: no memory.
BASE_MUST_USE bool ecs_name_index_reserve(ecs_name_index* index, const base_allocator* allocator,
                                          uint32_t count);
void ecs_name_index_deinit(ecs_name_index* index, const base_allocator* allocator);
/// Room must have been reserved (asserted). `id` is not 0. Equal keys are the caller's business.
void ecs_name_index_add(ecs_name_index* index, uint64_t hash, uint32_t id);
/// Ids stored under a hash, one after the other: start with *cursor = 0. 0 ends it.
uint32_t ecs_name_index_next(const ecs_name_index* index, uint64_t hash, uint32_t* cursor);
