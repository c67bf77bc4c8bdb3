// SPDX-License-Identifier: MIT
/// Storage: records of handles, free indices, archetypes, chunks, query caches, queued commands.
///
/// Picture:
///
///     handle --> page --> record {chunk, row}
///                            |
///     archetype "pos vel" -> chunk 0 (full) -> chunk 1 (full) -> chunk 2 (the tail, may be partial)
///                            |
///                            one block: header | entities | pos | vel | dirty bits | shadow of pos
///
/// Invariants (ecs_storage_validate checks them):
///   - all chunks of an archetype but the last that holds rows are full; empty ones come after it;
///   - all have the same capacity (only a single one is smaller than rows_max), and ecs_slot.offset is
///     where its column lies in a block of that capacity;
///   - rows [0, count) live; rows [count, clean_end) of every column are zero bytes, and clean_end is
///     a multiple of 16 that covers count. Outside of walks the runway's rows hold defaults instead;
///   - a dirty bit is set only for rows < count, its summary bit is set too;
///   - a record in use points at the row whose entities[row] is its handle;
///   - a shadow cell is created like its value. Storage fills it (a copy of the value) before it calls
///     ecs_track_created or ecs_track_arrived, moves it with the row and destroys it; afterwards
///     tracking writes it.
#pragma once

#include "ecs/detail/fast.h" // ecs_record, ecs_slot
#include "ecs/query.h"
#include "table/link.h"

#include <string.h>

#define ECS_PAGES ((ECS_INDEX_MAX + 1u) >> ECS_PAGE_BITS)
#define ECS_ARCHETYPE_NONE UINT32_MAX
#define ECS_CHUNK_SHRINK_BYTES_MIN                                                                 \
    (256u << 10)                        ///< smaller blocks are never given back before the end
#define ECS_DIRTY_ROWS_PER_SUMMARY 256u ///< one summary bit stands for four words of row bits

/// Who hears of the rows of an archetype: one test when nobody does.
typedef enum ecs_told {
    ECS_TOLD_BIRTH = 1u << 0, ///< somebody handles core events of creation, or takes members
    ECS_TOLD_DEATH = 1u << 1,
    ECS_TOLD_MOVE = 1u << 2,
    ECS_TOLD_SINGLE = 1u << 7, ///< some template of it is a singleton
    ECS_TOLD_LOAD = 1u << 3,   ///< a type of it names resources
    ECS_TOLD_PARENT = 1u << 4, ///< its rows may have parents
} ecs_told;
_Static_assert(sizeof(ecs_record) == 8, "a record is two words: alive() is bound by memory");

/// One range of indices and its free ones. An index is free when it was used before (< fresh), no
/// entity lives there and no handle of it is held.
typedef struct ecs_index_range {
    uint32_t first, last; ///< inclusive; last < first for an empty range
    uint32_t fresh;       ///< lowest never-used index; last + 1 when all were used
    uint32_t cursor;      ///< where the walk over freed indices goes on
    uint32_t free_count;
} ecs_index_range;

/// A handle that somebody refers to or loads. Open addressing by index, so that all generations of an
/// index lie on one probe path. Iterated only for saves, which sort.
typedef struct ecs_held_handle {
    ecs_entity handle; ///< ECS_ENTITY_NONE: empty slot
    uint32_t references;
    uint32_t pending; ///< slot + 1 in ecs_loading.slots; 0: it waits for no resources
    ecs_template_id pending_template; ///< with `pending`: of the entity that waits
    bool is_loading;
} ecs_held_handle;

typedef struct ecs_held_handles {
    ecs_held_handle* slots;
    uint32_t capacity; ///< a power of two or 0
    uint32_t count;
    uint32_t allocated_count; ///< in state ALLOCATED
    uint32_t loading_count;   ///< in state LOADING
} ecs_held_handles;

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
    bool is_replicated;   ///< some template of it is; hint only
    ecs_template_id
        made_by;         ///< a template that makes it again; none: a reload left nobody who does
    uint32_t rows_max;   ///< capacity of a full-grown chunk
    ecs_column* columns; ///< sorted by component id
    uint16_t* tracked;   ///< track index -> column
    uint16_t* slots;     ///< component id -> column, ECS_SLOT_NONE when missing
    ecs_slot* lookup;    ///< component id -> all of it
    uint32_t* sizes;     ///< by column, shadows too
    ecs_span* spans;     ///< by column, without shadows
    ecs_chunk** chunks;
    uint32_t chunk_count;
    uint32_t chunk_capacity;
    uint32_t tail; ///< chunk that holds the last row; 0 when there are none
    uint64_t row_count;
    uint64_t row_room;      ///< rows that fit into its chunks
    uint64_t idle_removals; ///< removals in a row that found three quarters of the room empty
    uint64_t hash;          ///< of the sorted (component, tracked) list
    uint32_t told;          ///< ecs_told: who hears of its rows
    struct ecs_edge* birth; ///< who hears of rows that are made; NULL: nobody
    struct ecs_edge* death; ///< that go
    size_t bytes;           ///< of this block, which holds the arrays above but `chunks`
} ecs_archetype;

/// Header of one block. Its address changes when it grows; `id` does not. The row count is
/// ecs_storage.chunk_counts[id].
struct ecs_chunk {
    uint32_t id;
    uint32_t index;         ///< position in archetype->chunks
    uint32_t capacity;      ///< rows, a multiple of 16
    uint32_t clean_end;     ///< rows [count, clean_end) are zero
    size_t bytes;           ///< of the block
    const uint16_t* slots;  ///< archetype->slots
    const ecs_slot* lookup; ///< archetype->lookup
    const uint32_t* sizes;  ///< archetype->sizes
    ecs_archetype* archetype;
    ecs_entity* entities;
    uint8_t* written;     ///< by track index: opened by a WRITE walk since the last tracking
    uint64_t* summary;    ///< by track index: bit s = rows [256 s, 256 s + 256) have dirty bits
    uint64_t* dirty;      ///< by track index, dirty_words each: rows written by handle
    uint32_t dirty_words; ///< capacity / 64, rounded up
    void* columns[];      ///< values by column, then shadows by track index; a tag's is not NULL
};

/// How one template fills a row of its archetype; made on first use.
typedef struct ecs_binding {
    ecs_archetype* archetype; ///< NULL: not bound yet
    const void** defaults;    ///< by column; borrowed from the template
    bool is_replicated;       ///< its entities get replicated indices
    bool is_singleton;
    ecs_entity
        single; ///< of a singleton: the one made last, maybe dead or of another template by now
} ecs_binding;

/// One archetype that a query matches.
typedef struct ecs_match {
    ecs_archetype* archetype;
    uint32_t entry_first; ///< its chunks are entries [entry_first, entry_first + chunk_count)
    uint16_t* columns;    ///< by term, ECS_SLOT_NONE for none
} ecs_match;

/// What a term says of a component: the key of a group is a sorted list of these.
typedef enum ecs_want {
    ECS_WANT_ALL,  ///< must be there
    ECS_WANT_NONE, ///< must not
    ECS_WANT_ANY,  ///< one of these must
    ECS_WANT_MAY,  ///< matters only where nothing else is allowed
} ecs_want;

typedef struct ecs_group_term {
    char name[ECS_NAME_BYTES_MAX];
    ecs_want want;
    ecs_component_id component; ///< bound by seal; ECS_COMPONENT_NONE: nobody has it
} ecs_group_term;

/// All queries that ask for the same: which archetypes match, asked once each.
typedef struct ecs_group {
    bool is_only;          ///< nothing but what is named
    bool is_hopeless;      ///< something that it must have exists nowhere: it never matches
    bool is_wanting;       ///< scratch: it matches the archetype that is being made
    ecs_group_term* terms; ///< sorted by name and want, each once
    uint32_t term_count;
    ecs_archetype** matches; ///< rising archetype id
    uint32_t match_count;
    uint32_t match_capacity;
} ecs_group;

struct ecs_query {
    ecs_query_cache cache; ///< first: what inline walks see
    uint32_t id;
    uint32_t term_count;
    bool is_bound;    ///< names are resolved
    ecs_group* group; ///< shared
    uint16_t write_terms[ECS_QUERY_TERMS_MAX];
    ecs_component_id components[ECS_QUERY_TERMS_MAX];
    ecs_access access[ECS_QUERY_TERMS_MAX];
    char (*names)[2][ECS_NAME_BYTES_MAX]; ///< {component, type} by term
    const char* owner; ///< name of the system for messages; NULL: an ad-hoc query. Borrowed
    uint32_t entry_capacity;
    ecs_match* matches; ///< rising archetype id
    uint32_t match_count;
    uint32_t match_capacity;
    uint32_t* match_of; ///< archetype id -> position in matches + 1; 0: no match
    uint32_t match_of_capacity;
};

typedef enum ecs_command_op {
    ECS_COMMAND_CREATE,
    ECS_COMMAND_DESTROY,
    ECS_COMMAND_RECREATE,
    ECS_COMMAND_SET,
} ecs_command_op;

/// In front of one packed value; multiples of 64 bytes apart, so that every type's alignment holds.
typedef struct ecs_command_value {
    ecs_component_id component;
    uint32_t bytes; ///< of this head and the value, padded
} ecs_command_value;

/// Header of queued commands that are alike but for their targets: one, or several without values. The
/// packed inits of one are at `values`, each an ecs_command_value and then the value in its type's
/// memory form.
typedef struct ecs_command {
    uint32_t system, job; ///< the order in which commands are applied, then `first`
    uint32_t first;       ///< it stands for the commands from this one to the next header's first
    uint16_t init_count;  ///< ECS_TEMPLATE_COMPONENTS_MAX at most
    ecs_template_id template_id;
    ecs_command_value* values;
    uint8_t op; ///< ecs_command_op
} ecs_command;
_Static_assert(sizeof(ecs_command) == 32, "two commands fill a cache line");

/// Memory for packed values. Blocks never move, so values need not be movable.
typedef struct ecs_command_block {
    uint8_t* memory;
    size_t capacity;
} ecs_command_block;

/// What applying a run needs to know per command (batch.c).
typedef struct ecs_batch_item {
    uint32_t row;      ///< of the command's entity, counted through all chunks of its archetype
    uint32_t occupant; ///< by place in the window of last rows: which of them lies there
    uint32_t place;    ///< by row of that window: where it lies
} ecs_batch_item;

/// Scratch of a run, kept from flush to flush.
typedef struct ecs_batch {
    ecs_batch_item* items;
    uint64_t* seen; ///< a bit per row of the archetype; all zero between runs
    uint32_t item_capacity;
    uint32_t seen_capacity; ///< words
} ecs_batch;

typedef struct ecs_commands {
    ecs_entity* targets; ///< by command: its target, or the placeholder that a creation hands out
    uint32_t count;      ///< of commands
    uint32_t room;       ///< commands that targets and created have room for and the limit allows
    uint64_t open_key;   ///< of the last header, when commands like it may join it; else 0
    uint32_t target_capacity;
    ecs_command* items; ///< headers, rising by first
    uint32_t item_count;
    uint32_t item_capacity;
    ecs_command_block* blocks;
    uint32_t block_count;
    uint32_t block_capacity;
    uint32_t block_used; ///< block that takes the next values
    size_t block_bytes;  ///< used of that block
    ecs_batch batch;
    ecs_entity* created;    ///< placeholder ordinal - 1 -> handle, during a flush
    uint32_t created_count; ///< placeholders handed out
    uint32_t created_capacity;
    uint32_t system; ///< key of what is recorded now: set by the stage
    uint32_t job;    ///< who changes it sets open_key to 0
    bool is_flushing;
} ecs_commands;

/// Rows [count, end) of a chunk that hold their template's defaults already (runway.c).
typedef struct ecs_runway {
    ecs_chunk* chunk; ///< NULL: none
    uint32_t end;
    uint32_t length;          ///< of the last extension
    uint32_t left;            ///< creations that nothing is in the way of; 0 without a chunk
    bool is_fresh;            ///< those take never-used indices, all of one page; else freed ones
    ecs_index_range* indices; ///< from here
    ecs_template_id template_id; ///< of the last creation of plain data, with or without a runway
} ecs_runway;

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
    uint32_t* archetype_table; ///< hash -> id + 1, open addressing
    uint32_t archetype_table_capacity;
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
    uint32_t group_count;
    uint32_t group_capacity;
    ecs_query** queries;
    uint32_t query_count;
    uint32_t query_capacity;
    uint32_t slot_count; ///< of every archetype's slots: components + 1, fixed by seal
    uint8_t mark_sink;   ///< where walks mark columns that nobody tracks
    ecs_runway runway;
    ecs_commands commands;
} ecs_storage;

// Reading. All O(1), no checks but those named.
static inline const ecs_record* ecs_record_at(const ecs_storage* storage, uint32_t index) {
    return &storage->pages[index >> ECS_PAGE_BITS]->records[index & (ECS_PAGE_RECORDS - 1)];
}
/// The record of a living entity, else NULL. One look-up; any 32 bits are accepted.
static inline const ecs_record* ecs_record_find(const ecs_storage* storage, ecs_entity entity) {
    const ecs_record* record = ecs_record_at(storage, ecs_entity_index(entity));
    return record->life == (ecs_entity_generation(entity) | ECS_LIFE_CREATED) ? record : NULL;
}
static inline ecs_chunk* ecs_record_chunk(const ecs_storage* storage, const ecs_record* record) {
    return storage->chunks[record->place >> ECS_ROW_BITS];
}
static inline uint32_t ecs_record_row(const ecs_record* record) {
    return record->place & ECS_ROW_MASK;
}
static inline uint32_t ecs_chunk_count(const ecs_storage* storage, const ecs_chunk* chunk) {
    return storage->chunk_counts[chunk->id];
}
/// Value of column `column` (a shadow: column_count + track index) in `row`.
static inline void* ecs_chunk_cell(const ecs_chunk* chunk, uint32_t column, uint32_t row) {
    return (uint8_t*)chunk->columns[column] + (size_t)chunk->sizes[column] * row;
}
/// Ask for a row that is about to be written: stores go out in order, so each miss would wait for the
/// one before.
static inline void ecs_chunk_prefetch(const ecs_chunk* chunk, uint32_t row) {
    enum { COLUMNS_MAX = 8 };
    uint32_t count = chunk->archetype->column_count;
    __builtin_prefetch(chunk->entities + row, 1);
    for (uint32_t i = 0; i < count && i < COLUMNS_MAX; i++)
        __builtin_prefetch(ecs_chunk_cell(chunk, i, row), 1);
}
static inline uint64_t* ecs_chunk_dirty(const ecs_chunk* chunk, uint32_t track) {
    return chunk->dirty + (size_t)chunk->dirty_words * track;
}
static inline void ecs_chunk_mark_row(const ecs_chunk* chunk, uint32_t track, uint32_t row) {
    ecs_chunk_dirty(chunk, track)[row / 64] |= 1ull << (row % 64);
    chunk->summary[track] |= 1ull << (row / ECS_DIRTY_ROWS_PER_SUMMARY);
}

/// memcpy with the sizes that most components have as plain moves instead of a call.
static inline void ecs_bytes_copy(void* target, const void* source, uint32_t size) {
    switch (size) {
    case 0:
        break;
    case 1:
        memcpy(target, source, 1);
        break;
    case 4:
        memcpy(target, source, 4);
        break;
    case 8:
        memcpy(target, source, 8);
        break;
    case 12:
        memcpy(target, source, 12);
        break;
    case 16:
        memcpy(target, source, 16);
        break;
    case 24:
        memcpy(target, source, 24);
        break;
    case 32:
        memcpy(target, source, 32);
        break;
    case 48:
        memcpy(target, source, 48);
        break;
    case 64:
        memcpy(target, source, 64);
        break;
    default:
        memcpy(target, source, size);
    }
}

/// memset to zero in the same manner.
static inline void ecs_bytes_zero(void* target, uint32_t size) {
    switch (size) {
    case 0:
        break;
    case 1:
        memset(target, 0, 1);
        break;
    case 4:
        memset(target, 0, 4);
        break;
    case 8:
        memset(target, 0, 8);
        break;
    case 12:
        memset(target, 0, 12);
        break;
    case 16:
        memset(target, 0, 16);
        break;
    case 24:
        memset(target, 0, 24);
        break;
    case 32:
        memset(target, 0, 32);
        break;
    case 48:
        memset(target, 0, 48);
        break;
    case 64:
        memset(target, 0, 64);
        break;
    default:
        memset(target, 0, size);
    }
}

// Cells: one value in one row, whatever its type. `created` cells hold a value, others any bytes.
/// Make `target` (not created) a copy. @return false when memory ran out: still not created.
BASE_MUST_USE bool ecs_cell_copy(const ecs_world* world, const ecs_type* type, void* target,
                                 const void* source);
/// Make a created `target` equal to `source`. @return false when memory ran out: the old value stays.
BASE_MUST_USE bool ecs_cell_assign(const ecs_world* world, const ecs_type* type, void* target,
                                   const void* source);
void ecs_cell_move(const ecs_world* world, const ecs_type* type, void* target, void* source);
void ecs_cell_destroy(const ecs_world* world, const ecs_type* type, void* value);

// Indices and handles (entity.c, handle.c).
/// Make the page of `index`. @return false when memory ran out.
BASE_MUST_USE bool ecs_record_reserve(ecs_world* world, uint32_t index);
/// The record of any index whose page was made.
static inline ecs_record* ecs_record_mut(ecs_storage* storage, uint32_t index) {
    return &storage->pages[index >> ECS_PAGE_BITS]->records[index & (ECS_PAGE_RECORDS - 1)];
}
/// Choose an index of a range (0 replicated, 1 local) without taking it; 0 when the range is full.
uint32_t ecs_index_peek(const ecs_world* world, uint32_t range);
/// ecs_index_peek; no call while the answer is next to the last one and nobody holds a handle.
static inline uint32_t ecs_index_next(const ecs_world* world, const ecs_storage* storage,
                                      uint32_t range_number) {
    const ecs_index_range* range = &storage->ranges[range_number];
    uint32_t fresh = range->fresh;
    bool has_enough_free = range->free_count >= ECS_FREE_INDICES_MIN;
    if (storage->held.count > 0) return ecs_index_peek(world, range_number);
    if (fresh <= range->last && (fresh % ECS_PAGE_RECORDS != 0 || !has_enough_free)) return fresh;
    uint32_t place = range->cursor & (ECS_PAGE_RECORDS - 1);
    uint64_t word = storage->pages[range->cursor >> ECS_PAGE_BITS]->free_words[place / 64] &
                    (~0ull << (place % 64));
    if (!has_enough_free || !word) return ecs_index_peek(world, range_number);
    // This range's bits are set below its `fresh` only; above may be those of the next range.
    uint32_t found = (range->cursor & ~63u) + (uint32_t)__builtin_ctzll(word);
    return found < fresh ? found : ecs_index_peek(world, range_number);
}
/// How many creations a range can still take: a lower bound.
uint32_t ecs_index_available(const ecs_world* world, uint32_t range);
/// Make the pages of all indices that the next `count` takes may choose. @return false when memory ran
/// out.
BASE_MUST_USE bool ecs_handles_reserve(ecs_world* world, uint32_t range, uint32_t count);
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
/// The next freed index of a range whose turn it is (ecs_runway_count), taken; ECS_ENTITY_NONE when that
/// takes a search, and nothing was taken.
static inline ecs_entity ecs_handle_recycle(ecs_storage* storage, ecs_index_range* range) {
    uint32_t cursor = range->cursor;
    ecs_record_page* page = storage->pages[cursor >> ECS_PAGE_BITS];
    uint64_t* word = &page->free_words[(cursor & (ECS_PAGE_RECORDS - 1)) / 64];
    uint64_t bits = *word >> (cursor % 64);
    if (!bits) return ECS_ENTITY_NONE;
    uint32_t index = cursor + (uint32_t)__builtin_ctzll(bits);
    // This range's bits are set below its `fresh` only; above may be those of the next range.
    if (index >= range->fresh) return ECS_ENTITY_NONE;
    *word &= ~(1ull << (index % 64));
    range->free_count--;
    range->cursor = index == range->last ? range->first : index + 1;
    uint32_t generation = page->records[index & (ECS_PAGE_RECORDS - 1)].life;
    return ecs_entity_make(index, generation == ECS_GENERATION_MAX ? 1 : generation + 1);
}
/// Take `count` handles at once, in the order in which they would come one by one. The range has them
/// (ecs_index_available) and their pages exist (ecs_handles_reserve).
void ecs_handles_take(ecs_world* world, uint32_t range, uint32_t count, ecs_entity* handles);
/// An index whose entity is gone or whose handle was released: free it if nothing holds it any more.
void ecs_index_settle(ecs_world* world, uint32_t index);
/// The same for the index of an entity that just died; no call while nobody holds a handle.
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

// Archetypes and chunks (archetype.c, chunk.c).
/// Bind a template, making its archetype if it is new (ecs_storage_bind does, with core events).
/// @return as ecs_storage_bind.
BASE_MUST_USE ecs_result ecs_binding_make(ecs_world* world, ecs_template_id template_id,
                                          ecs_binding** binding);
/// Release a binding that was made; its archetype stays.
void ecs_binding_drop(ecs_world* world, ecs_binding* binding);
/// Make room for `count` more rows, in the tail chunk and in empty ones behind it.
/// @return ECS_OK; ECS_ERR_FULL (chunk ids); ECS_ERR_MEMORY. On failure no row is affected.
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
/// The same for an archetype that is_simple. `row_place` is the record's.
void ecs_chunk_remove_plain(ecs_world* world, const ecs_place* place, uint32_t row_place);
/// Take out all but the first `count` rows of plain data; no runway is open.
void ecs_archetype_truncate(ecs_world* world, ecs_archetype* archetype, uint32_t count);
/// The marks of a row that moves into a row without marks.
void ecs_chunk_move_marks(ecs_chunk* to, uint32_t row, const ecs_chunk* from, uint32_t from_row);
void ecs_chunk_clear_mark(ecs_chunk* chunk, uint32_t row); ///< in all tracked columns
/// Zero the runway's unused rows and forget it.
void ecs_runway_close(ecs_world* world);
void ecs_archetype_destroy(ecs_world* world, ecs_archetype* archetype);
/// The archetype of a template that is not bound (yet): for a reload. @return as ecs_storage_bind.
BASE_MUST_USE ecs_result ecs_archetype_find_or_make(ecs_world* world, const ecs_template* made_from,
                                                    ecs_archetype** found);
/// Fill the table anew. An archetype that no template makes any more (made_by is none; it has no rows)
/// is not in it, and a template that asks for the same columns gets a new one.
void ecs_archetypes_index(ecs_world* world);
/// Take back the archetype that was made last; it has no rows and no binding.
void ecs_archetypes_drop_last(ecs_world* world);
/// Take back its last chunk, which has no rows.
void ecs_archetype_drop_chunk(ecs_world* world, ecs_archetype* archetype);

// Query caches (query.c). Reserve may fail and changes nothing that a walk sees; the others cannot.
BASE_MUST_USE bool ecs_queries_reserve_chunk(ecs_world* world, ecs_archetype* archetype);
void ecs_queries_add_chunk(ecs_world* world, ecs_chunk* chunk);
void ecs_queries_patch_chunk(ecs_world* world, ecs_chunk* chunk); ///< the block moved
void ecs_queries_drop_chunk(ecs_world* world, ecs_chunk* chunk);  ///< the last of its archetype
BASE_MUST_USE bool ecs_queries_add_archetype(ecs_world* world, ecs_archetype* archetype);
void ecs_queries_drop_archetype(ecs_world* world, const ecs_archetype* archetype); ///< the newest
void ecs_queries_clear(ecs_world* world); ///< forget all archetypes
/// Does the query match an archetype of that kind? Asks its group, not the cache.
bool ecs_query_wants(const ecs_query* query, const ecs_archetype* archetype);
uint32_t ecs_group_count(const ecs_query* query); ///< ecs_query_count
/// May another one of a `_singleton` template be made? false is counted (singleton.c).
bool ecs_singleton_has_room(ecs_world* world, ecs_template_id template_id);
// Groups (group.c).
/// The group of terms, made when there is none yet. NULL when memory ran out.
ecs_group* ecs_group_ensure(ecs_world* world, const ecs_term* terms, uint32_t term_count);
/// Bind names; reports a group of ECS_ANY terms that all exist nowhere.
BASE_MUST_USE ecs_result ecs_groups_seal(ecs_world* world, const base_reporter* reporter);
bool ecs_group_matches(const ecs_group* group, const ecs_archetype* archetype);
void ecs_groups_deinit(ecs_world* world);
void ecs_queries_deinit(ecs_world* world);
/// ecs_query_find for a record that lives.
bool ecs_query_find_record(ecs_world* world, ecs_query* query, const ecs_record* record,
                           ecs_query_iter* iter);
void ecs_query_validate(const ecs_world* world, const ecs_query* query);
/// Name the owner of a query for the messages of seal; `owner` must outlive the world.
void ecs_query_own(ecs_query* query, const char* owner);

// Commands (command.c). ecs_commands_apply and ecs_command_resolve are declared in events.h.
void ecs_commands_clear(ecs_world* world); ///< drop what is queued
void ecs_commands_deinit(ecs_world* world);

// For save, restore and checks.
/// Back to just after seal: no entities, archetypes, chunks, commands or held handles; indices fresh.
/// Values are destroyed; tracking is not told. Compiled queries and counters stay.
void ecs_storage_clear(ecs_world* world);
/// Free indices, generations and held handles as bytes. Read on a cleared storage, before entities
/// are placed. @return ECS_OK; ECS_ERR_MALFORMED; ECS_ERR_MEMORY.
void ecs_storage_write_indices(const ecs_world* world, base_bytes* bytes);
BASE_MUST_USE ecs_result ecs_storage_read_indices(ecs_world* world, base_reader* reader);
/// Queued commands as bytes. Read with an empty queue.
/// @return ECS_OK; ECS_ERR_MALFORMED; ECS_ERR_MEMORY; the caller clears the queue after an error.
void ecs_commands_write(const ecs_world* world, base_bytes* bytes);
BASE_MUST_USE ecs_result ecs_commands_read(ecs_world* world, base_reader* reader);
/// Append an entity with a given handle and its template's defaults, after read_indices. Tracking is
/// not told and shadows are copies of the defaults: the caller overwrites cells and shadows.
/// @return ECS_OK; ECS_ERR_TAKEN; ECS_ERR_STALE (a handle outside both ranges); those of create.
BASE_MUST_USE ecs_result ecs_storage_place(ecs_world* world, ecs_entity handle,
                                           ecs_template_id template_id);
/// Assert every invariant above. O(storage).
void ecs_storage_validate(const ecs_world* world);
