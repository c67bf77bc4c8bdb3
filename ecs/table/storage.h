// SPDX-License-Identifier: MIT
/// The storage of a world: pages of records, archetypes, chunks, queries.
///
/// Picture:
///
///     handle --> page --> record {chunk, row}
///                            |
///     archetype "pos vel" -> chunk 0 (full) -> chunk 1 (full) -> chunk 2 (the tail, maybe partial)
///                            |
///                            one block: header | entities | pos | vel | dirty bits | shadow of pos
///
/// Invariants (ecs_storage_validate checks them):
///   - all chunks of an archetype before the last that holds rows are full; empty ones follow it;
///   - all have the same capacity (only a single one may be smaller than rows_max), and
///     ecs_slot.offset is where its column lies in a block of that capacity;
///   - rows [0, count) hold entities; rows [count, clean_end) of every column are zero bytes, and
///     clean_end is a multiple of 16 that covers count. Outside of walks those of an archetype that
///     is_soiled hold anything: defaults of a runway, what removed rows left;
///   - a dirty bit is set only for rows < count, and its summary bit is set too;
///   - a record in use points at the row whose entities[row] is its handle;
///   - a shadow cell is created like its value. Storage fills it (a copy of the value) before it
///     calls ecs_track_created or ecs_track_arrived, moves it with the row and destroys it;
///     tracking writes it afterwards.
#pragma once

#include "base/table.h"
#include "ecs/query.h"
#include "table/chunk.h"
#include "table/held.h"
#include "table/link.h"

#define ECS_PAGES ((ECS_INDEX_MAX + 1u) >> ECS_PAGE_BITS)

/// One range of indices and its free ones. An index is free when it was used before (< fresh), no
/// entity lives there and no handle of it is held.
typedef struct ecs_index_range {
    uint32_t first, last; ///< inclusive; last < first for an empty range
    uint32_t fresh;       ///< lowest never-used index; last + 1 when all were used
    uint32_t cursor;      ///< where the walk over freed indices goes on
    uint32_t free_count;
} ecs_index_range;

/// Creations that are prepared (runway.c): rows [count, end) of a chunk hold their template's
/// defaults already, and `left` of them need no check.
typedef struct ecs_runway {
    ecs_chunk* chunk; ///< NULL: none
    uint32_t end;
    uint32_t length;             ///< of the last extension
    uint32_t left;               ///< creations that nothing is in the way of
    ecs_template_id template_id; ///< of the last creation that was prepared
    // While `left` > 0: where such a creation writes.
    bool is_fresh;            ///< it takes never-used indices, all of one page; else freed ones
    ecs_index_range* indices; ///< from here
    uint64_t* free_word;      ///< with the bit at the cursor, and all of those
    uint32_t* rows;           ///< count of the chunk
    uint64_t* row_count;      ///< of its archetype
    ecs_entity* entities;     ///< of the chunk
    uint32_t place;           ///< of its row 0, as in a record
    ecs_record* records;      ///< of the page of the next index
    const ecs_slot* lookup;
    bool is_tracked; ///< has tracked columns
} ecs_runway;

typedef struct ecs_group ecs_group;

typedef struct ecs_storage {
    ecs_record_page* pages[ECS_PAGES]; ///< a missing one is the world's zero page: no NULL test
    ecs_record_page* zero_page;
    ecs_index_range ranges[2]; ///< 0 replicated, 1 local
    ecs_links links;
    ecs_held_handles held;
    uint32_t entity_count;
    ecs_archetype** archetypes; ///< in order of making
    uint32_t archetype_count;
    uint32_t archetype_capacity;
    base_table archetype_ids; ///< by hash
    ecs_archetype** tracked;  ///< those with tracked columns: what a step looks at
    uint32_t tracked_count;
    uint32_t tracked_capacity;
    ecs_binding* bindings; ///< by template id
    uint32_t binding_capacity;
    ecs_chunk** chunks;     ///< by chunk id; NULL: id is free
    ecs_place* places;      ///< the same for look-ups: ecs_fast.places
    uint32_t* chunk_counts; ///< rows by chunk id, dense: what walks read
    uint32_t chunk_capacity;
    uint32_t chunk_id_next;   ///< lowest id never used
    uint32_t* chunk_ids_free; ///< stack
    uint32_t chunk_ids_free_count;
    ecs_group** groups;
    base_table group_ids; ///< by hash of the terms, as query_ids
    uint32_t group_count;
    uint32_t group_capacity;
    ecs_query** queries;
    base_table query_ids;
    uint32_t query_count;
    uint32_t query_capacity;
    struct ecs_chunk* kept_blocks; ///< of a storage that was cleared, to be filled again
    bool keeps_blocks;             ///< a restore is under way: fresh memory costs it most
    struct ecs_archetype* soiled;  ///< those that ecs_storage_tidy makes zero again
    uint32_t slot_count;           ///< of every archetype's slots: components + 1, fixed by seal
    uint8_t mark_sink;             ///< where walks mark columns that are not tracked
    ecs_runway runway;
} ecs_storage;

static inline uint32_t ecs_chunk_count(const ecs_storage* storage, const ecs_chunk* chunk) {
    return storage->chunk_counts[chunk->id];
}
/// Assert every invariant above (storage_check.c). O(storage).
void ecs_storage_validate(const ecs_world* world);
