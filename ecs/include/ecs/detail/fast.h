// SPDX-License-Identifier: MIT
/// What inline functions of entity.h and query.h see of a world. No contract: names and layouts here
/// change with ECS_CORE_VERSION, and only the core writes them. Call ecs_find, ecs_get, ecs_is_alive
/// and the walks instead.
///
/// Why it is public: a look-up by handle costs a few nanoseconds, of which a call is a third; and in a
/// row of random look-ups the processor overlaps more cache misses the fewer instructions lie between
/// them.
///
///     handle --> page --> record {chunk, row}
///                            |
///     chunks[chunk] {block, slots} --> slots[component] {offset, size}
///                                         |
///                             block + offset + size * row
///
/// The slots are those of the archetype, shared by its chunks, so that a look-up touches no header of a
/// chunk: headers begin at page boundaries and would drive each other out of the first cache.
#pragma once

#include "base/assert.h"
#include "ecs/type.h"

#define ECS_PAGE_BITS 12u
#define ECS_PAGE_RECORDS (1u << ECS_PAGE_BITS)
#define ECS_ROW_BITS 14u
#define ECS_ROW_MASK ((1u << ECS_ROW_BITS) - 1u)
#define ECS_LIFE_CREATED 0x8000u ///< in ecs_record.life: the entity lives
#define ECS_SLOT_NONE UINT16_MAX

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
} ecs_slot;

typedef struct ecs_chunk ecs_chunk;
struct ecs_archetype;

typedef struct ecs_place {
    ecs_chunk* chunk;      ///< its block
    const ecs_slot* slots; ///< by component id
    struct ecs_archetype* archetype;
    ecs_entity* entities;
} ecs_place;

/// The first member of a world.
typedef struct ecs_fast {
    ecs_record_page* const* pages; ///< a missing one is a page of zeros: no NULL test
    const ecs_place* places;       ///< by chunk id
    const uint32_t* chunk_counts;  ///< rows by chunk id
    uint32_t slot_count;           ///< component ids are below
    uint32_t walk_depth;           ///< > 0 while a query is walked: structure asserts
} ecs_fast;

/// The first member of a query: its cached chunks, `stride` words each:
///     {chunk id, entities, column of each term, mark of each term that writes}
typedef struct ecs_query_cache {
    uintptr_t* entries;
    uint32_t entry_count;
    uint32_t stride;
    uint32_t mark_count;
} ecs_query_cache;

static inline const ecs_fast* ecs_fast_of(const ecs_world* world) {
    return (const ecs_fast*)(const void*)world;
}

/// The record of a living entity, else NULL. One look-up; any 32 bits are accepted.
static inline const ecs_record* ecs_fast_record(const ecs_fast* fast, ecs_entity entity) {
    uint32_t index = ecs_entity_index(entity);
    const ecs_record* record =
        &fast->pages[index >> ECS_PAGE_BITS]->records[index & (ECS_PAGE_RECORDS - 1)];
    return record->life == (ecs_entity_generation(entity) | ECS_LIFE_CREATED) ? record : NULL;
}

/// Mark a row of a tracked column as written by handle.
void ecs_detail_mark(ecs_chunk* chunk, uint32_t track, uint32_t row);

/// A cell, NULL when the entity is dead or lacks the component; marked when it is to be written.
static inline void* ecs_fast_cell(const ecs_world* world, ecs_entity entity,
                                  ecs_component_id component, bool is_write) {
    const ecs_fast* fast = ecs_fast_of(world);
    const ecs_record* record = ecs_fast_record(fast, entity);
    if (!record || component >= fast->slot_count) return NULL;
    const ecs_place* place = &fast->places[record->place >> ECS_ROW_BITS];
    const ecs_slot* slot = &place->slots[component];
    if (slot->column == ECS_SLOT_NONE) return NULL;
    uint32_t row = record->place & ECS_ROW_MASK;
    if (is_write && slot->track != ECS_SLOT_NONE) ecs_detail_mark(place->chunk, slot->track, row);
    return (uint8_t*)place->chunk + slot->offset + (size_t)slot->size * row;
}
