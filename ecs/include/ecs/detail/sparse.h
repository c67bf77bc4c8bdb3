// SPDX-License-Identifier: MIT
/// Detail: the set of a sparse component, and giving one to an entity inline. This is no interface,
/// as fast.h.
///
/// Why it is in a public header: an add is a look at the record, one at the entity's entry, and
/// three stores at the end of the set. As a call with a value in memory it took four times the
/// instructions, so that the processor had a third as many of them under way when entities come in
/// random order, and each waits for memory (add_sparse_100k: half of the time).
#pragma once

#include "ecs/detail/fast.h"

BASE_C_BEGIN

/// All values of one sparse component, without a gap (table/sparse.h).
typedef struct ecs_sparse {
    ecs_component_id component;
    bool is_tracked; ///< it has shadows
    uint8_t words;   ///< of 4 bytes that a short plain value without a shadow has; else 0
    uint16_t known;  ///< template of the last look-up that found a default; none: forget it
    uint32_t count;
    uint32_t capacity;    ///< a multiple of 64
    ecs_entity* entities; ///< by position, as the next three
    uint8_t* values;
    uint8_t* shadows;
    uint64_t* dirty; ///< a bit per position: written since the last tracking
    uint32_t size;   ///< of a value
    const ecs_type* type;
    const void* known_default;
    uint32_t* moved; ///< indices with ECS_SPARSE_MOVED
    uint32_t moved_count, moved_capacity;
    /// By index: position + 1; 0: none. A missing page is one of which no entry is 0, and none
    /// holds a position.
    uint32_t* pages[(ECS_INDEX_MAX + 1u) >> ECS_PAGE_BITS];
} ecs_sparse;

/// The entry of an entity's index; not to be written where its page is missing.
static inline uint32_t* ecs_sparse_entry(const ecs_sparse* set, ecs_entity entity) {
    const uint32_t index = ecs_entity_index(entity);
    return &set->pages[index >> ECS_PAGE_BITS][index & (ECS_PAGE_RECORDS - 1)];
}

/// ecs_add for everything but what ecs_fast_add does. @return as ecs_add: ECS_OK; ECS_ERR_STALE;
/// ECS_ERR_MISSING; ECS_ERR_MEMORY.
ecs_result ecs_detail_add(ecs_world* world, ecs_entity entity, ecs_component_id component,
                          const void* value);

/// ecs_add of a value of so many words. @return as ecs_add: ECS_OK; ECS_ERR_STALE;
/// ECS_ERR_MISSING; ECS_ERR_MEMORY.
static inline __attribute__((always_inline)) ecs_result
ecs_fast_add(ecs_world* world, ecs_entity entity, ecs_component_id component, const void* value,
             uint32_t count) {
    uint32_t word[ECS_SLOT_WORDS_MAX];
    ecs_words_load(word, value, count);
    const ecs_fast* fast = ecs_fast_of(world);
    const ecs_record* record = ecs_fast_record(fast, entity);
    if (__builtin_expect(record && component < fast->slot_count &&
                             (fast->walk_depth | fast->stage_depth) == 0,
                         1)) {
        ecs_sparse* set = fast->sparse[component];
        if (set && set->words == count && set->known == record->template_id) {
            uint32_t* entry = ecs_sparse_entry(set, entity);
            const uint32_t position = set->count;
            if (__builtin_expect(*entry == 0 && position < set->capacity, 1)) {
                ecs_words_store(set->values + (size_t)4 * count * position, word, count);
                set->entities[position] = entity;
                set->count = *entry = position + 1;
                return ECS_OK;
            }
        }
    }
    const ecs_words copy = ecs_words_kept(word, count);
    return ecs_detail_add(world, entity, component, &copy);
}

BASE_C_END
