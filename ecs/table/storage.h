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
#include "ecs/detail/fast.h"
#include "ecs/query.h"
#include "ecs/template.h"
#include "table/entity.h"

// Archetypes and how templates are bound to them (archetype.c).

struct ecs_edge;

/// What changes of the rows of an archetype concern: one test when it is nothing.
typedef enum ecs_notify {
    ECS_NOTIFY_CREATE = 1u << 0, ///< handlers of creation or member lists exist
    ECS_NOTIFY_DESTROY = 1u << 1,
    ECS_NOTIFY_MOVE = 1u << 2,
    ECS_NOTIFY_SINGLE = 1u << 7, ///< some template of it is a singleton
    ECS_NOTIFY_LOAD = 1u << 3,   ///< a type of it names resources
    ECS_NOTIFY_PARENT = 1u << 4, ///< its rows may have parents
} ecs_notify;

/// One component of an archetype.
typedef struct ecs_column {
    ecs_component_id component;
    uint16_t track; ///< index among the tracked columns, ECS_SLOT_NONE when not tracked
    uint32_t size;  ///< bytes of one value; 0 for a tag
    const ecs_type* type;
} ecs_column;

/// Where a column lies in each block of its archetype.
typedef struct ecs_span {
    uint32_t offset;
    uint32_t size; ///< of one value
} ecs_span;

typedef struct ecs_archetype {
    uint32_t id;           ///< position in ecs_storage.archetypes: the order of making
    uint32_t column_count; ///< components, tags too
    uint32_t track_count; ///< tracked ones; their shadows are columns [column_count, + track_count)
    bool has_ops;         ///< some type has functions: no plain-memory path
    bool is_simple;       ///< it has none, and no tracked column
    bool is_soiled;       ///< rows after its count may not be zero
    ecs_template_id made_by;           ///< a template that makes it again
    uint32_t rows_max;                 ///< capacity of a full-grown chunk
    ecs_column* columns;               ///< sorted by component id
    uint16_t* tracked;                 ///< track index -> column
    uint16_t* slots;                   ///< component id -> column, ECS_SLOT_NONE when missing
    ecs_slot* lookup;                  ///< component id -> all of it
    uint32_t* sizes;                   ///< by column, shadows too
    ecs_span* spans;                   ///< by column, without shadows
    struct ecs_archetype* soiled_next; ///< in ecs_storage.soiled
    ecs_chunk** chunks;
    uint32_t chunk_count;
    uint32_t chunk_capacity;
    ecs_chunk* tail; ///< that holds the last row; the first when there are none; NULL: no chunk
    uint64_t row_count;
    uint64_t row_room;          ///< rows that fit into its chunks
    uint64_t idle_removals;     ///< removals in a row that found three quarters of the room empty
    uint64_t hash;              ///< of the sorted (component, tracked) list
    uint64_t has;               ///< a bit for each component, by its id modulo 64
    struct ecs_query** queries; ///< those that match it, in their order
    uint32_t query_count, query_capacity;
    uint32_t notify;             ///< ecs_notify: what its rows concern
    struct ecs_edge* on_create;  ///< calls when a row is created; NULL: none
    struct ecs_edge* on_destroy; ///< calls when a row is destroyed; NULL: none
    size_t bytes;                ///< of this block, which holds the arrays above but `chunks`
} ecs_archetype;

/// How one template fills a row of its archetype; made on first use.
typedef struct ecs_binding {
    ecs_archetype* archetype; ///< NULL: not bound yet
    const void** defaults;    ///< by column; borrowed from the template
    bool is_replicated;       ///< its entities get replicated indices
    bool is_singleton;
    ecs_entity single; ///< of a singleton: the one made last; it may be destroyed or changed by now
} ecs_binding;

/// Columns of a chunk, shadows too.
static inline uint32_t ecs_archetype_columns(const ecs_archetype* archetype) {
    return archetype->column_count + archetype->track_count;
}
/// Bind a template, making its archetype if it is new (ecs_storage_bind does, with core events).
/// @return ECS_OK; ECS_ERR_UNKNOWN; ECS_ERR_FULL.
BASE_MUST_USE ecs_result ecs_binding_make(ecs_world* world, ecs_template_id template_id,
                                          ecs_binding** binding);
/// Release a binding that was made; its archetype stays.
void ecs_binding_drop(ecs_world* world, ecs_binding* binding);
void ecs_archetype_destroy(ecs_world* world, ecs_archetype* archetype);

// Chunks: blocks of rows of one archetype (chunk.c).

#define ECS_CHUNK_SHRINK_BYTES_MIN                                                                 \
    (256u << 10) ///< smaller blocks are never given back before the end

/// Header of one block. Its address changes when it grows; `id` does not. The row count is
/// ecs_storage.chunk_counts[id].
struct ecs_chunk {
    uint32_t id;
    uint32_t index;         ///< position in archetype->chunks
    uint32_t capacity;      ///< rows, a multiple of 16
    uint32_t clean_end;     ///< rows [count, clean_end) are zero
    size_t bytes;           ///< of the block
    const ecs_slot* lookup; ///< archetype->lookup
    const uint32_t* sizes;  ///< archetype->sizes
    union {
        ecs_archetype* archetype;
        struct ecs_chunk* next_kept; ///< of a block that is kept (storage.h)
    };
    ecs_entity* entities;
    uint8_t* written;     ///< by track index: opened by a WRITE walk since the last tracking
    uint64_t* marks;      ///< by track index, mark_words each: ecs_chunk_summary, ecs_chunk_dirty
    uint32_t mark_words;  ///< a summary and dirty_words, an even number
    uint32_t dirty_words; ///< capacity / 64, rounded up
    void* columns[];      ///< values by column, then shadows by track index; a tag's is not NULL
};

/// Value of column `column` (a shadow: column_count + track index) in `row`.
static inline void* ecs_chunk_cell(const ecs_chunk* chunk, uint32_t column, uint32_t row) {
    return (uint8_t*)chunk->columns[column] + (size_t)chunk->sizes[column] * row;
}
/// Ask for a row that is about to be written: stores go out in order, so each miss would wait for
/// the one before.
static inline void ecs_chunk_prefetch(const ecs_chunk* chunk, uint32_t row) {
    enum { COLUMNS_MAX = 8 };
    uint32_t count = chunk->archetype->column_count;
    __builtin_prefetch(chunk->entities + row, 1);
    for (uint32_t i = 0; i < count && i < COLUMNS_MAX; i++)
        __builtin_prefetch(ecs_chunk_cell(chunk, i, row), 1);
}
/// Bit s: rows [256 s, 256 s + 256) have dirty bits.
static inline uint64_t* ecs_chunk_summary(const ecs_chunk* chunk, uint32_t track) {
    return chunk->marks + (size_t)chunk->mark_words * track;
}
/// A bit for each row that was written by handle.
static inline uint64_t* ecs_chunk_dirty(const ecs_chunk* chunk, uint32_t track) {
    return ecs_chunk_summary(chunk, track) + 1;
}
static inline void ecs_chunk_mark_row(const ecs_chunk* chunk, uint32_t track, uint32_t row) {
    ecs_fast_mark(ecs_chunk_summary(chunk, track), row);
}

/// Make room for `count` more rows, in the tail chunk and in empty ones after it.
/// @return ECS_OK; ECS_ERR_FULL (chunk ids): no row is affected.
BASE_MUST_USE ecs_result ecs_archetype_reserve(ecs_world* world, ecs_archetype* archetype,
                                               uint32_t count);
/// The chunk that takes the next row. Room was reserved.
ecs_chunk* ecs_archetype_tail(ecs_world* world, ecs_archetype* archetype);
/// Append `count` rows to the tail chunk (room was reserved): their cells are not created, their
/// zero tail is kept, dirty bits are clear. @return the first new row.
uint32_t ecs_chunk_append(ecs_world* world, ecs_chunk* chunk, uint32_t count);
/// Take the last `count` rows of the tail chunk back: their cells are not created.
void ecs_chunk_retract(ecs_world* world, ecs_chunk* chunk, uint32_t count);
/// Take a row out whose cells are no longer created: the archetype's last row fills the hole.
void ecs_chunk_remove(ecs_world* world, ecs_chunk* chunk, uint32_t row);
/// Rows after its count no longer are zero: the next walk makes them so (ecs_storage_tidy).
static inline void ecs_archetype_soil(ecs_archetype* archetype, ecs_archetype** soiled) {
    if (archetype->is_soiled) return;
    archetype->is_soiled = true;
    archetype->soiled_next = *soiled;
    *soiled = archetype;
}
/// Before a walk: rows after the counts are zero. Forgets the runway.
void ecs_storage_tidy(ecs_world* world);
/// Forget the runway (ecs_storage.runway). Its unused rows are like removed ones.
void ecs_runway_close(ecs_world* world);
/// A row of an archetype goes, and maybe its index: give handles back, and forget a runway there.
void ecs_runway_disturb(ecs_world* world, const ecs_archetype* archetype);
/// Take out all but the first `count` rows of plain data; no runway is open.
void ecs_archetype_truncate(ecs_world* world, ecs_archetype* archetype, uint32_t count);
/// The marks of a row that moves into a row without marks.
void ecs_chunk_move_marks(ecs_chunk* to, uint32_t row, const ecs_chunk* from, uint32_t from_row);
void ecs_chunk_clear_mark(ecs_chunk* chunk, uint32_t row); ///< in all tracked columns

// The memory block of a chunk (chunk.c).

#define ECS_CLEAN_ROWS 64u ///< rows are made zero this many at a time

/// Words of dirty bits for one tracked column.
static inline uint32_t ecs_dirty_words(uint32_t capacity) {
    return (capacity + 63) / 64;
}
/// Bytes of a block of `capacity` rows. `offsets` may be NULL; else it gets the offset of the
/// entities and, from [1] on, those of the columns.
size_t ecs_chunk_layout(const ecs_archetype* archetype, uint32_t capacity, size_t* offsets);
/// Give a block back, or keep it for the next one of its size (ecs_storage.keeps_blocks).
void ecs_block_release(const ecs_world* world, ecs_chunk* chunk);
/// Give back those that are kept.
void ecs_blocks_drop_kept(const ecs_world* world);
/// Make rows [end, clean_end) zero with clean_end >= end; rows before `end` are the caller's.
void ecs_chunk_clean(ecs_chunk* chunk, uint32_t end);

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
/// defaults already. `left` of them need no check: they have their handles, which are taken from
/// their range, listed as created and counted in `entity_count`, but do not live yet.
typedef struct ecs_runway {
    ecs_chunk* chunk; ///< NULL: none
    uint32_t end;
    uint32_t length; ///< of the last extension
    uint32_t run;    ///< handles to take at once: more while a series goes on
    uint32_t left;
    ecs_template_id template_id; ///< of the last creation that was prepared
    // While `left` > 0: where such a creation writes.
    bool is_tracked;            ///< has tracked columns
    uint32_t place;             ///< of row 0 of the chunk, as in a record
    uint32_t* rows;             ///< count of the chunk
    uint64_t* row_count;        ///< of its archetype
    const ecs_entity* entities; ///< of the chunk
    const ecs_slot* lookup;
    ecs_index_range* indices;
    ecs_index_range before; ///< `indices` before the handles were taken
} ecs_runway;

typedef struct ecs_group ecs_group;

typedef struct ecs_storage {
    ecs_record_page* pages[ECS_PAGES]; ///< a missing one is the world's zero page: no NULL test
    ecs_record_page* zero_page;
    ecs_index_range ranges[2]; ///< 0 replicated, 1 local
    ecs_links links;
    ecs_held_handles held;
    uint32_t entity_count;      ///< and runway.left that do not live yet
    ecs_archetype** archetypes; ///< in order of making
    uint32_t archetype_count;
    uint32_t archetype_capacity;
    base_table archetype_ids; ///< by hash
    ecs_archetype** tracked;  ///< those with tracked columns: what a step looks at
    uint32_t tracked_count;
    uint32_t tracked_capacity;
    ecs_binding* bindings; ///< by template id
    uint32_t binding_capacity;
    ecs_place* places;      ///< by chunk id: ecs_fast.places; of a free id all is NULL
    uint32_t* chunk_counts; ///< rows by chunk id, dense: what walks read
    uint32_t chunk_capacity;
    uint32_t chunk_id_next;   ///< lowest id never used
    uint32_t* chunk_ids_free; ///< stack
    uint32_t chunk_ids_free_count;
    ecs_group** groups;
    uint32_t group_count;
    uint32_t group_capacity;
    ecs_query** queries;
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
/// Assert every invariant above. O(storage).
void ecs_storage_validate(const ecs_world* world);

// Records of handles: find, read. All O(1), no checks but those named.

_Static_assert(sizeof(ecs_record) == 8, "a record is two words: alive() is bound by memory");

static inline const ecs_record* ecs_record_at(const ecs_storage* storage, uint32_t index) {
    return &storage->pages[index >> ECS_PAGE_BITS]->records[index & (ECS_PAGE_RECORDS - 1)];
}
/// The record of a living entity, else NULL. One look-up; any 32 bits are accepted.
static inline const ecs_record* ecs_record_find(const ecs_storage* storage, ecs_entity entity) {
    const ecs_record* record = ecs_record_at(storage, ecs_entity_index(entity));
    return record->life == (ecs_entity_generation(entity) | ECS_LIFE_CREATED) ? record : NULL;
}
static inline ecs_chunk* ecs_record_chunk(const ecs_storage* storage, const ecs_record* record) {
    return storage->places[record->place >> ECS_ROW_BITS].chunk;
}
static inline uint32_t ecs_record_row(const ecs_record* record) {
    return record->place & ECS_ROW_MASK;
}
/// The record of any index whose page was made.
static inline ecs_record* ecs_record_mut(ecs_storage* storage, uint32_t index) {
    return &storage->pages[index >> ECS_PAGE_BITS]->records[index & (ECS_PAGE_RECORDS - 1)];
}

// Free indices and the handles that are made of them (entity.c).

/// Make the page of `index`.
void ecs_record_reserve(ecs_world* world, uint32_t index);
/// Give back the handles that the runway has taken: no creation is prepared any more. Who reads or
/// takes indices, lists creations, or forbids them, calls it before.
void ecs_runway_return(const ecs_world* world);
/// Choose an index of a range (0 replicated, 1 local) without taking it; 0 when the range is full.
uint32_t ecs_index_peek(const ecs_world* world, uint32_t range);
/// How many creations a range can still take: a lower bound.
uint32_t ecs_index_available(const ecs_world* world, uint32_t range);
/// How many takes need no new page: a lower bound.
uint32_t ecs_index_ready(const ecs_world* world, uint32_t range);
/// Take what peek chose; its page exists. @return the handle with its next generation.
static inline ecs_entity ecs_handle_take(ecs_storage* storage, uint32_t range_number,
                                         uint32_t index) {
    ecs_index_range* range = &storage->ranges[range_number];
    ecs_record_page* page = storage->pages[index >> ECS_PAGE_BITS];
    uint32_t place = index & (ECS_PAGE_RECORDS - 1);
    uint32_t generation = page->records[place].life & ECS_GENERATION_MAX;
    if (index >= range->fresh) {
        range->fresh = index + 1;
    } else {
        page->free_words[place / 64] &= ~(1ull << (place % 64));
        range->free_count--;
        range->cursor = index == range->last ? range->first : index + 1;
    }
    return ecs_entity_make(index, generation == ECS_GENERATION_MAX ? 1 : generation + 1);
}
/// Take `count` handles at once, in the order in which they would come one by one. The range has
/// them (ecs_index_available).
void ecs_handles_take(ecs_world* world, uint32_t range, uint32_t count, ecs_entity* handles);
/// An index whose entity is gone or whose handle was released: free it if nothing holds it any
/// more.
void ecs_index_settle(ecs_world* world, uint32_t index);
/// The same for the index of an entity that was just destroyed; no call while no handle is held.
static inline void ecs_index_free(ecs_world* world, ecs_storage* storage, uint32_t index) {
    ecs_index_range* range = &storage->ranges[index >= storage->ranges[1].first];
    if (storage->held.count > 0 || index >= range->fresh) {
        ecs_index_settle(world, index);
        return;
    }
    uint32_t place = index & (ECS_PAGE_RECORDS - 1);
    storage->pages[index >> ECS_PAGE_BITS]->free_words[place / 64] |= 1ull << (place % 64);
    range->free_count++;
}
