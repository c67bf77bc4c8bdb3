// SPDX-License-Identifier: MIT
/// Chunks: blocks of rows of one archetype (chunk.c, block.c).
#pragma once

#include "table/archetype.h"

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
    const uint16_t* slots;  ///< archetype->slots
    const ecs_slot* lookup; ///< archetype->lookup
    const uint32_t* sizes;  ///< archetype->sizes
    union {
        ecs_archetype* archetype;
        struct ecs_chunk* next_kept; ///< of a block that is kept (block.h)
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
/// Rows behind its count no longer are zero: the next walk makes them so (ecs_storage_tidy).
static inline void ecs_archetype_soil(ecs_archetype* archetype, ecs_archetype** soiled) {
    if (archetype->is_soiled) return;
    archetype->is_soiled = true;
    archetype->soiled_next = *soiled;
    *soiled = archetype;
}
/// Before a walk: rows behind the counts are zero. Forgets the runway.
void ecs_storage_tidy(ecs_world* world);
/// Forget the runway (ecs_storage.runway). Its unused rows are like removed ones.
void ecs_runway_close(ecs_world* world);
/// Take out all but the first `count` rows of plain data; no runway is open.
void ecs_archetype_truncate(ecs_world* world, ecs_archetype* archetype, uint32_t count);
/// The marks of a row that moves into a row without marks.
void ecs_chunk_move_marks(ecs_chunk* to, uint32_t row, const ecs_chunk* from, uint32_t from_row);
void ecs_chunk_clear_mark(ecs_chunk* chunk, uint32_t row); ///< in all tracked columns
/// Take back its last chunk, which has no rows.
void ecs_archetype_drop_chunk(ecs_world* world, ecs_archetype* archetype);
