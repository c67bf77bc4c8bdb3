// SPDX-License-Identifier: MIT
// One block of memory for a chunk: where columns lie in it, and which rows are zero.
//
//   | header, column pointers | summary and dirty bits | written | entities | col 0 .. | shadows |
//                             ^ 16, by tracked column            ^ 64       ^ 64, each skewed
//
// Every column starts on a cache line. Capacities are powers of two, so columns of 4 KiB and more
// would all start at the same place of a page: row i of each would fall into the same cache set,
// and a store to one would look like a hazard to the load from the next. Each column is therefore
// pushed SKEW_LINES lines further than the one before; 9 is odd, so 64 columns take 64 different
// lines, and far from 1, so that neighbours do not chase each other.
//
// A block is not cleared as a whole: rows are zeroed a few steps ahead of the count (clean_end),
// while the lines are about to be used anyway.
#include "table/block.h"

#include "table/archetype.h"
#include "table/bytes.h"
#include "table/chunk.h"
#include "table/storage.h"
#include "type/world.h"

#include <string.h>

enum {
    SKEW_LINES = 9,
    SKEW_BYTES_MIN = 4096,
    LARGE_BYTES_MIN = 4 << 20,
    KEPT_BYTES_MIN = 64 << 10
};

_Static_assert((sizeof(ecs_chunk) + 2 * ECS_TEMPLATE_COMPONENTS_MAX * sizeof(void*) +
                ECS_TEMPLATE_COMPONENTS_MAX * (ECS_CHUNK_ROWS_MAX / 64 + 2) * sizeof(uint64_t)) /
                       ECS_MARK_BYTES <
                   UINT16_MAX,
               "ecs_slot.marks reaches all marks of a block");

static size_t align_line(size_t offset) {
    return (offset + BASE_CACHE_LINE_BYTES - 1) & ~(size_t)(BASE_CACHE_LINE_BYTES - 1);
}

// Start of a column of `bytes` after `end`.
static size_t column_start(size_t end, size_t bytes) {
    size_t skew = bytes >= SKEW_BYTES_MIN ? SKEW_LINES * BASE_CACHE_LINE_BYTES : 0;
    return align_line(end) + skew;
}

static size_t head_bytes(const ecs_archetype* archetype) {
    const size_t bytes = sizeof(ecs_chunk) + ecs_archetype_columns(archetype) * sizeof(void*);
    return (bytes + ECS_MARK_BYTES - 1) & ~(size_t)(ECS_MARK_BYTES - 1);
}

// Words of the marks of one tracked column: a summary and dirty bits, in whole units.
static uint32_t mark_words(uint32_t capacity) {
    return (1 + ecs_dirty_words(capacity) + 1) & ~1u;
}

// Offsets: [0] entities, [1 + column]. @return bytes of the block.
size_t ecs_chunk_layout(const ecs_archetype* archetype, uint32_t capacity, size_t* offsets) {
    size_t end = head_bytes(archetype);
    end += archetype->track_count * (sizeof(uint64_t) * mark_words(capacity) + 1);
    for (uint32_t i = 0; i <= ecs_archetype_columns(archetype); i++) {
        size_t bytes = (size_t)capacity * (i == 0 ? sizeof(ecs_entity) : archetype->sizes[i - 1]);
        size_t start = column_start(end, bytes);
        if (offsets) offsets[i] = start;
        end = start + bytes;
    }
    return align_line(end);
}

void ecs_block_release(const ecs_world* world, ecs_chunk* chunk) {
    ecs_storage* storage = world->storage;
    if (!storage->keeps_blocks || chunk->bytes < KEPT_BYTES_MIN) {
        base_release(world->allocator, chunk, chunk->bytes);
        return;
    }
    *chunk = (ecs_chunk){.bytes = chunk->bytes, .next_kept = storage->kept_blocks};
    storage->kept_blocks = chunk;
}

void ecs_blocks_drop_kept(const ecs_world* world) {
    ecs_storage* storage = world->storage;
    while (storage->kept_blocks) {
        ecs_chunk* chunk = storage->kept_blocks;
        storage->kept_blocks = chunk->next_kept;
        base_release(world->allocator, chunk, chunk->bytes);
    }
}

// One that is kept, else a new one; when there is no memory, those that are kept make room.
static ecs_chunk* take_block(const ecs_world* world, size_t bytes) {
    ecs_storage* storage = world->storage;
    for (ecs_chunk** at = &storage->kept_blocks; *at; at = &(*at)->next_kept) {
        ecs_chunk* chunk = *at;
        if (chunk->bytes != bytes) continue;
        *at = chunk->next_kept;
        return chunk;
    }
    ecs_chunk* chunk = base_allocate(world->allocator, bytes);
    if (!chunk && storage->kept_blocks) {
        ecs_blocks_drop_kept(world);
        chunk = base_allocate(world->allocator, bytes);
    }
    if (chunk && bytes >= LARGE_BYTES_MIN) base_advise_large(chunk, bytes);
    return chunk;
}

ecs_chunk* ecs_block_create(const ecs_world* world, ecs_archetype* archetype, uint32_t capacity) {
    size_t offsets[2 * ECS_TEMPLATE_COMPONENTS_MAX + 1];
    size_t bytes = ecs_chunk_layout(archetype, capacity, offsets);
    ecs_chunk* chunk = take_block(world, bytes);
    if (!chunk) return NULL;
    memset(chunk, 0, offsets[0]);
    uint8_t* block = (uint8_t*)chunk;
    chunk->capacity = capacity;
    chunk->bytes = bytes;
    chunk->slots = archetype->slots;
    chunk->lookup = archetype->lookup;
    chunk->sizes = archetype->sizes;
    chunk->archetype = archetype;
    chunk->entities = (ecs_entity*)(void*)(block + offsets[0]);
    chunk->marks = (uint64_t*)(void*)(block + head_bytes(archetype));
    chunk->mark_words = mark_words(capacity);
    chunk->dirty_words = ecs_dirty_words(capacity);
    chunk->written = (uint8_t*)(chunk->marks + (size_t)archetype->track_count * chunk->mark_words);
    for (uint32_t i = 0; i < ecs_archetype_columns(archetype); i++)
        chunk->columns[i] = block + offsets[i + 1];
    return chunk;
}

void ecs_chunk_zero(ecs_chunk* chunk, uint32_t from, uint32_t end) {
    if (from >= end) return;
    if (end - from == 1) {
        chunk->entities[from] = ECS_ENTITY_NONE;
        for (uint32_t i = 0; i < ecs_archetype_columns(chunk->archetype); i++)
            ecs_bytes_zero(ecs_chunk_cell(chunk, i, from), chunk->sizes[i]);
        return;
    }
    memset(chunk->entities + from, 0, (end - from) * sizeof(ecs_entity));
    for (uint32_t i = 0; i < ecs_archetype_columns(chunk->archetype); i++) {
        size_t size = chunk->sizes[i];
        memset((uint8_t*)chunk->columns[i] + size * from, 0, size * (end - from));
    }
}

void ecs_chunk_clean(ecs_chunk* chunk, uint32_t end) {
    if (end <= chunk->clean_end) return;
    uint32_t clean_end = (end + ECS_CLEAN_ROWS - 1) & ~(ECS_CLEAN_ROWS - 1);
    if (clean_end > chunk->capacity) clean_end = chunk->capacity;
    // Handles of rows that are only prepared stay zero.
    memset(chunk->entities + chunk->clean_end, 0,
           (clean_end - chunk->clean_end) * sizeof(ecs_entity));
    ecs_chunk_zero(chunk, end, clean_end);
    chunk->clean_end = clean_end;
}
