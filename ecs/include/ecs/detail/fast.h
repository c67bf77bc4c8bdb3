// SPDX-License-Identifier: MIT
/// Detail: the part of a world that the inline functions of component.h and query.h read. This is
/// no interface: names and layouts change with ECS_CORE_VERSION, and only the core writes them.
/// Call ecs_find, ecs_get, ecs_is_alive and the walks instead.
///
/// Why it is in a public header: a look-up by handle takes a few nanoseconds, and a call would be a
/// third of that. In a series of random look-ups the processor also overlaps more cache misses when
/// fewer instructions lie between them.
///
///     handle --> page --> record {chunk, row}
///                            |
///     chunks[chunk] {block, slots} --> slots[component] {offset, size}
///                                         |
///                             block + offset + size * row
///
/// The chunks of an archetype share its slots, so a look-up does not read the header of a chunk.
/// Headers begin at page boundaries and would evict each other from the first-level cache.
#pragma once

#include "base/assert.h"
#include "ecs/type.h"

#include <string.h>

BASE_C_BEGIN

#define ECS_PAGE_BITS 12u
#define ECS_PAGE_RECORDS (1u << ECS_PAGE_BITS)
#define ECS_ROW_BITS 14u
#define ECS_ROW_MASK ((1u << ECS_ROW_BITS) - 1u)
#define ECS_LIFE_CREATED 0x8000u ///< in ecs_record.life: the entity lives
#define ECS_SLOT_NONE UINT16_MAX
#define ECS_SLOT_WORDS_MAX 4u

/// Where an index's entity is. 8 bytes.
typedef struct ecs_record {
    uint32_t place; ///< chunk << 14 | row, while it lives
    uint16_t life;  ///< generation (the last one given out) | ECS_LIFE_CREATED while it lives
    uint16_t template_id;
} ecs_record;

/// Records never move once made; `free_words` has a bit per index that may be given out again.
typedef struct ecs_record_page {
    ecs_record records[ECS_PAGE_RECORDS];
    uint64_t free_words[ECS_PAGE_RECORDS / 64];
} ecs_record_page;

/// What access by handle needs of a component, in one load.
typedef struct ecs_slot {
    uint32_t offset; ///< of row 0 from the start of each block of the archetype
    uint32_t size;
    uint16_t column; ///< ECS_SLOT_NONE when missing
    uint16_t track;  ///< ECS_SLOT_NONE when not tracked
    bool has_ops;    ///< its type has functions
    bool is_sparse;  ///< missing here: its values lie beside the tables
    uint8_t words; ///< of 4 bytes that a short plain value has, ECS_SLOT_WORDS_MAX at most; else 0
} ecs_slot;

typedef struct ecs_chunk ecs_chunk;
struct ecs_archetype;

/// Where a chunk is, by chunk id.
typedef struct ecs_place {
    ecs_chunk* chunk;      ///< its block
    const ecs_slot* slots; ///< by component id
    struct ecs_archetype* archetype;
    ecs_entity* entities;
} ecs_place;

/// The first member of a world.
typedef struct ecs_fast {
    ecs_record_page* const* pages;     ///< a missing one is a page of zeros: no NULL test
    const ecs_place* places;           ///< by chunk id
    const uint32_t* chunk_counts;      ///< rows by chunk id
    uint32_t slot_count;               ///< component ids are below
    uint32_t walk_depth;               ///< > 0 while a query is walked: structure asserts
    struct ecs_command_view* commands; ///< of the recorder (queues.h)
    struct ecs_event_view* events;
    /// In validating builds, while a system that is_confined runs: asserts that it declares this
    /// access by handle or by a query. Else NULL.
    void (*check)(const ecs_world* world, uint32_t component, bool is_write);
} ecs_fast;

/// The first member of a query: its cached chunks, `stride` words each:
///     {chunk id, entities, column of each term, mark of each term that writes}
typedef struct ecs_query_cache {
    uintptr_t* entries;
    uint32_t entry_count;
    uint32_t stride;
    uint32_t mark_count;
    const uint32_t* counts; ///< rows by the first word of an entry; NULL: ecs_fast.chunk_counts
} ecs_query_cache;

/// The first member of the world.
static inline const ecs_fast* ecs_fast_of(const ecs_world* world) {
    return (const ecs_fast*)(const void*)world;
}

/// The record of a living entity. One look-up; any 32 bits are accepted. @return NULL when it does
/// not live.
static inline const ecs_record* ecs_fast_record(const ecs_fast* fast, ecs_entity entity) {
    uint32_t index = ecs_entity_index(entity);
    const ecs_record* record =
        &fast->pages[index >> ECS_PAGE_BITS]->records[index & (ECS_PAGE_RECORDS - 1)];
    return record->life == (ecs_entity_generation(entity) | ECS_LIFE_CREATED) ? record : NULL;
}

/// Mark a row of a tracked column as written by handle.
void ecs_detail_mark(ecs_chunk* chunk, uint32_t track, uint32_t row);

/// ecs_fast_cell of a sparse component. Cold and pure, so that a loop over others keeps its
/// registers and does not read again what it has read (get_seq_1m: a quarter of the time).
__attribute__((cold, pure)) const void* ecs_detail_sparse(const ecs_world* world, ecs_entity entity,
                                                          ecs_component_id component);
/// The same, marked as written.
__attribute__((cold)) void* ecs_detail_sparse_mut(const ecs_world* world, ecs_entity entity,
                                                  ecs_component_id component);

/// The cell of a component; marked as written when `is_write`. @return NULL when the entity does
/// not live or does not have the component.
static inline void* ecs_fast_cell(const ecs_world* world, ecs_entity entity,
                                  ecs_component_id component, bool is_write) {
    const ecs_fast* fast = ecs_fast_of(world);
    if (BASE_VALIDATE_ON && fast->check) fast->check(world, component, is_write);
    const ecs_record* record = ecs_fast_record(fast, entity);
    if (!record || component >= fast->slot_count) return NULL;
    const ecs_place* place = &fast->places[record->place >> ECS_ROW_BITS];
    const ecs_slot* slot = &place->slots[component];
    if (slot->column == ECS_SLOT_NONE) {
        if (!slot->is_sparse) return NULL;
        return is_write ? ecs_detail_sparse_mut(world, entity, component)
                        : (void*)(uintptr_t)ecs_detail_sparse(world, entity, component);
    }
    uint32_t row = record->place & ECS_ROW_MASK;
    if (is_write && slot->track != ECS_SLOT_NONE) ecs_detail_mark(place->chunk, slot->track, row);
    return (uint8_t*)place->chunk + slot->offset + (size_t)slot->size * row;
}

/// ecs_set for everything but what ecs_fast_set does. @return as ecs_set: ECS_OK; ECS_ERR_STALE;
/// ECS_ERR_MISSING; ECS_ERR_MEMORY.
ecs_result ecs_detail_set(ecs_world* world, ecs_entity entity, ecs_component_id component,
                          const void* value);
/// ecs_set. Short plain values are stored here, without a call: 2.4 times the
/// time of the hand-written twin instead of 3.6 (set_random_1m). @return as ecs_set: ECS_OK;
/// ECS_ERR_STALE; ECS_ERR_MISSING; ECS_ERR_MEMORY.
static inline ecs_result ecs_fast_set(ecs_world* world, ecs_entity entity,
                                      ecs_component_id component, const void* value) {
    const ecs_fast* fast = ecs_fast_of(world);
    if (BASE_VALIDATE_ON && fast->check) fast->check(world, component, true);
    const ecs_record* record = ecs_fast_record(fast, entity);
    if (!record || component >= fast->slot_count)
        return ecs_detail_set(world, entity, component, value);
    const ecs_place* place = &fast->places[record->place >> ECS_ROW_BITS];
    const ecs_slot* slot = &place->slots[component];
    const uint32_t row = record->place & ECS_ROW_MASK;
    void* cell = (uint8_t*)place->chunk + slot->offset + (size_t)slot->size * row;
    const uint32_t words = slot->words;
    if (words == 0) return ecs_detail_set(world, entity, component, value);
    if (slot->track != ECS_SLOT_NONE) ecs_detail_mark(place->chunk, slot->track, row);
    const uint8_t* from = (const uint8_t*)value;
    __asm__("" : "+r"(from)); // else gcc -O3 warns of words behind short values
    for (uint32_t i = 0; i < words; i++)
        memcpy((uint32_t*)cell + i, from + (size_t)4 * i, 4);
    return ECS_OK;
}

BASE_C_END
