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
#define ECS_MARK_BYTES 16u              ///< unit of ecs_slot.marks
#define ECS_DIRTY_ROWS_PER_SUMMARY 256u ///< one summary bit stands for four words of row bits

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
    uint16_t marks;  ///< from the start of each block, in units of ECS_MARK_BYTES; 0: not tracked
    uint8_t words; ///< of 4 bytes that a short plain value has, ECS_SLOT_WORDS_MAX at most; else 0
    bool has_ops;  ///< its type has functions
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
    uint32_t stage_depth;              ///< > 0 while a stage runs: structure is deferred
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

/// Mark a row of a tracked column as written by handle. Marks are a summary word, then a bit for
/// each row.
static inline void ecs_fast_mark(uint64_t* marks, uint32_t row) {
    marks[0] |= 1ull << (row / ECS_DIRTY_ROWS_PER_SUMMARY);
    marks[1 + row / 64] |= 1ull << (row % 64);
}
static inline uint64_t* ecs_fast_marks(const ecs_place* place, const ecs_slot* slot) {
    return (uint64_t*)(void*)((uint8_t*)place->chunk + (size_t)ECS_MARK_BYTES * slot->marks);
}

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
    if (slot->column == ECS_SLOT_NONE) return NULL;
    uint32_t row = record->place & ECS_ROW_MASK;
    if (is_write && slot->marks != 0) ecs_fast_mark(ecs_fast_marks(place, slot), row);
    return (uint8_t*)place->chunk + slot->offset + (size_t)slot->size * row;
}

/// ecs_set for everything but what ecs_fast_set does. @return as ecs_set: ECS_OK; ECS_ERR_STALE;
/// ECS_ERR_MISSING.
ecs_result ecs_detail_set(ecs_world* world, ecs_entity entity, ecs_component_id component,
                          const void* value);
/// A short value of which the compiler knows the size. Inline functions read it before anything
/// else, so the caller's value stays in registers and is never written to memory: stores are what a
/// series of sets in random order, or of events, waits for (set_random_1m: an eighth of the time).
typedef struct ecs_words {
    uint32_t word[ECS_SLOT_WORDS_MAX]; ///< of which the first `count` are there
} __attribute__((aligned(16))) ecs_words;

/// Read this many words of a value.
static inline __attribute__((always_inline)) void ecs_words_load(uint32_t* word, const void* value,
                                                                 uint32_t count) {
    const uint8_t* from = (const uint8_t*)value; // no loop: gcc -O2 might keep it
    if (count > 0) memcpy(&word[0], from, 4);
    if (count > 1) memcpy(&word[1], from + 4, 4);
    if (count > 2) memcpy(&word[2], from + 8, 4);
    if (count > 3) memcpy(&word[3], from + 12, 4);
}
/// Write them.
static inline __attribute__((always_inline)) void
ecs_words_store(uint8_t* target, const uint32_t* word, uint32_t count) {
    if (count > 0) memcpy(target, &word[0], 4);
    if (count > 1) memcpy(target + 4, &word[1], 4);
    if (count > 2) memcpy(target + 8, &word[2], 4);
    if (count > 3) memcpy(target + 12, &word[3], 4);
}
/// In memory, for a call: the words themselves stay in registers.
static inline __attribute__((always_inline)) ecs_words ecs_words_kept(const uint32_t* word,
                                                                      uint32_t count) {
    const ecs_words words = {
        {word[0], count > 1 ? word[1] : 0, count > 2 ? word[2] : 0, count > 3 ? word[3] : 0}};
    return words;
}
/// The words of an object of `bytes` bytes (__builtin_object_size) that ecs_words can hold; else 0.
static inline __attribute__((always_inline)) uint32_t ecs_words_of(size_t bytes) {
    return bytes % 4 == 0 && bytes <= 4 * ECS_SLOT_WORDS_MAX ? (uint32_t)bytes / 4 : 0;
}

/// ecs_set of a value of this many words. @return as ecs_set: ECS_OK; ECS_ERR_STALE;
/// ECS_ERR_MISSING.
static inline __attribute__((always_inline)) ecs_result
ecs_fast_set(ecs_world* world, ecs_entity entity, ecs_component_id component, const void* value,
             uint32_t count) {
    uint32_t word[ECS_SLOT_WORDS_MAX];
    ecs_words_load(word, value, count);
    const ecs_fast* fast = ecs_fast_of(world);
    if (BASE_VALIDATE_ON && fast->check) fast->check(world, component, true);
    const ecs_record* record = ecs_fast_record(fast, entity);
    if (__builtin_expect(record && component < fast->slot_count, 1)) {
        const ecs_place* place = &fast->places[record->place >> ECS_ROW_BITS];
        const ecs_slot* slot = &place->slots[component];
        if (__builtin_expect(slot->words == count, 1)) {
            const uint32_t row = record->place & ECS_ROW_MASK;
            uint8_t* cell = (uint8_t*)place->chunk + slot->offset + (size_t)4 * count * row;
            if (slot->marks != 0) ecs_fast_mark(ecs_fast_marks(place, slot), row);
            ecs_words_store(cell, word, count);
            return ECS_OK;
        }
    }
    const ecs_words copy = ecs_words_kept(word, count);
    return ecs_detail_set(world, entity, component, &copy);
}

BASE_C_END
