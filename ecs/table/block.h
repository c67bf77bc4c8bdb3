// SPDX-License-Identifier: MIT
/// The memory block of a chunk (block.c).
#pragma once

#include "table/chunk.h"

#define ECS_CLEAN_ROWS 64u ///< rows are made zero so many at a time

/// Words of dirty bits for one tracked column.
static inline uint32_t ecs_dirty_words(uint32_t capacity) {
    return (capacity + 63) / 64;
}
/// Bytes of a block of `capacity` rows. `offsets` may be NULL; else it gets the offset of the
/// entities and, from [1] on, those of the columns.
size_t ecs_chunk_layout(const ecs_archetype* archetype, uint32_t capacity, size_t* offsets);
/// A block with its header filled and no rows. NULL when memory ran out.
ecs_chunk* ecs_block_create(const ecs_world* world, ecs_archetype* archetype, uint32_t capacity);
/// Give a block back, or keep it for the next one of its size (ecs_storage.keeps_blocks).
void ecs_block_release(const ecs_world* world, ecs_chunk* chunk);
/// Give back those that are kept.
void ecs_blocks_drop_kept(const ecs_world* world);
/// Make rows [end, clean_end) zero with clean_end >= end; rows before `end` are the caller's.
void ecs_chunk_clean(ecs_chunk* chunk, uint32_t end);
/// Zero all columns of rows [from, end).
void ecs_chunk_zero(ecs_chunk* chunk, uint32_t from, uint32_t end);
