// SPDX-License-Identifier: MIT
// The storage as a whole: set up, cleared, torn down, and what a save needs beside rows.
//
// A save keeps what decides the future: generations and cursors of the index walk, held handles,
// the order of archetypes and of rows. Free bits, chunk ids and caches follow from those.
#include "base/assert.h"
#include "event/command_queue.h"
#include "event/core_event.h"
#include "structure/hierarchy.h"
#include "structure/loading.h"
#include "structure/transition.h"
#include "table/entity.h"
#include "table/query_cache.h"
#include "table/storage.h"
#include "type/world.h"
#include "world/storage_save.h"

#include <stdlib.h>
#include <string.h>

enum {
    HELD_PENDING = 2
}; // saved state of a handle that waits for resources; 0 and 1 are is_loading

static void reset_ranges(ecs_world* world) {
    uint32_t replicated_max = world->limits.replicated_index_max;
    world->storage->ranges[0] =
        (ecs_index_range){.first = 1, .last = replicated_max, .fresh = 1, .cursor = 1};
    world->storage->ranges[1] =
        (ecs_index_range){.first = replicated_max + 1,
                          .last = replicated_max + world->limits.local_entities_max,
                          .fresh = replicated_max + 1,
                          .cursor = replicated_max + 1};
}

bool ecs_storage_init(ecs_world* world) {
    BASE_ASSERT(!world->storage->zero_page);
    ecs_storage* storage = world->storage;
    storage->zero_page = base_allocate_zero(world->allocator, sizeof *storage->zero_page);
    if (!storage->zero_page) return false;
    for (uint32_t i = 0; i < ECS_PAGES; i++)
        storage->pages[i] = storage->zero_page;
    world->fast.pages = storage->pages;
    reset_ranges(world);
    return true;
}

void ecs_storage_clear(ecs_world* world) {
    ecs_storage* storage = world->storage;
    const base_allocator* allocator = world->allocator;
    ecs_loading_clear(world);
    ecs_commands_clear(world);
    ecs_core_event_clear(world);
    ecs_queries_clear(world);
    ecs_hierarchy_reset(world);
    storage->runway = (ecs_runway){0};
    for (uint32_t id = 0; id < storage->binding_capacity; id++)
        if (storage->bindings[id].archetype) ecs_binding_drop(world, &storage->bindings[id]);
    for (uint32_t id = 0; id < storage->archetype_count; id++) {
        ecs_core_event_unbind(world, storage->archetypes[id]);
        ecs_archetype_destroy(world, storage->archetypes[id]);
    }
    storage->archetype_count = storage->tracked_count = 0;
    base_table_clear(&storage->archetype_ids);
    storage->chunk_id_next = 0;
    storage->chunk_ids_free_count = 0;
    for (uint32_t i = 0; i < ECS_PAGES; i++) {
        if (storage->pages[i] && storage->pages[i] != storage->zero_page)
            base_release(allocator, storage->pages[i], sizeof *storage->pages[i]);
        storage->pages[i] = storage->zero_page;
    }
    ecs_held_deinit(world);
    storage->entity_count = 0;
    reset_ranges(world);
}

void ecs_storage_deinit(ecs_world* world) {
    ecs_storage* storage = world->storage;
    const base_allocator* allocator = world->allocator;
    ecs_storage_clear(world);
    ecs_loading_deinit(world);
    ecs_hierarchy_deinit(world);
    ecs_batch_deinit(world);
    ecs_commands_deinit(world);
    ecs_queries_deinit(world);
    BASE_ARRAY_RELEASE(allocator, storage->archetypes, storage->archetype_capacity);
    BASE_ARRAY_RELEASE(allocator, storage->tracked, storage->tracked_capacity);
    base_table_deinit(&storage->archetype_ids, allocator);
    BASE_ARRAY_RELEASE(allocator, storage->bindings, storage->binding_capacity);
    BASE_ARRAY_RELEASE(allocator, storage->chunks, storage->chunk_capacity);
    BASE_ARRAY_RELEASE(allocator, storage->places, storage->chunk_capacity);
    BASE_ARRAY_RELEASE(allocator, storage->chunk_counts, storage->chunk_capacity);
    BASE_ARRAY_RELEASE(allocator, storage->chunk_ids_free, storage->chunk_capacity);
    base_release(allocator, storage->zero_page, sizeof *storage->zero_page);
    *storage = (ecs_storage){0};
}

static int by_handle(const void* a, const void* b) {
    ecs_entity left = ((const ecs_held_handle*)a)->handle;
    ecs_entity right = ((const ecs_held_handle*)b)->handle;
    return (left > right) - (left < right);
}

static void write_held(const ecs_world* world, base_bytes* bytes) {
    const ecs_held_handles* held = &world->storage->held;
    base_bytes_write_varint(bytes, held->count);
    if (held->count == 0) return;
    ecs_held_handle* sorted = base_allocate(world->allocator, held->count * sizeof *sorted);
    if (!sorted) {
        bytes->failed = true;
        return;
    }
    memcpy(sorted, held->items, held->count * sizeof *sorted);
    qsort(sorted, held->count, sizeof *sorted, by_handle);
    for (uint32_t i = 0; i < held->count; i++) {
        base_bytes_write_u32(bytes, sorted[i].handle);
        base_bytes_write_varint(bytes, sorted[i].references);
        base_bytes_write_u8(bytes, sorted[i].pending != 0 ? HELD_PENDING : sorted[i].is_loading);
    }
    BASE_ARRAY_RELEASE(world->allocator, sorted, held->count);
}

static ecs_result read_held(ecs_world* world, base_reader* reader) {
    ecs_held_handles* held = &world->storage->held;
    uint64_t count = base_reader_varint(reader);
    for (uint64_t i = 0; i < count && !reader->failed; i++) {
        ecs_entity handle = base_reader_u32(reader);
        uint64_t references = base_reader_varint(reader);
        uint8_t state = base_reader_u8(reader);
        bool is_loading = state != 0;
        if (reader->failed || !ecs_handle_is_in_range(world, handle) ||
            ecs_held_find(world, handle) || references > UINT32_MAX || state > HELD_PENDING ||
            (references == 0 && !is_loading))
            return ECS_ERR_MALFORMED;
        ecs_held_handle* entry = ecs_handle_hold(world, handle);
        if (!entry) return ECS_ERR_MEMORY;
        entry->references = (uint32_t)references;
        entry->is_loading = is_loading;
        entry->pending = state == HELD_PENDING ? ECS_PENDING_AWAITED : 0;
        world->loading->awaited += state == HELD_PENDING;
        held->loading_count += is_loading ? 1 : 0;
        held->allocated_count += is_loading ? 0 : 1;
    }
    return reader->failed ? ECS_ERR_MALFORMED : ECS_OK;
}

// The indices of a page whose generation is not 0, each as its distance from the one before.
static void write_page(const ecs_record_page* page, uint32_t first, uint32_t* last,
                       base_bytes* bytes) {
    enum { INDEX_BYTES_MAX = 4 + 2, BYTES_MAX = ECS_PAGE_RECORDS * INDEX_BYTES_MAX };
    uint8_t* begin = base_bytes_extend(bytes, BYTES_MAX);
    uint8_t* target = begin;
    for (uint32_t i = 0; begin && i < ECS_PAGE_RECORDS; i++) {
        const uint32_t generation = page->records[i].life & ECS_GENERATION_MAX;
        if (page->records[i].life == 0) continue;
        target += base_varint_put(target, first + i - *last);
        target += base_varint_put(target, generation);
        *last = first + i;
    }
    if (begin) bytes->size -= BYTES_MAX - (size_t)(target - begin);
}

void ecs_storage_write_indices(const ecs_world* world, base_bytes* bytes) {
    const ecs_storage* storage = world->storage;
    for (uint32_t i = 0; i < 2; i++) {
        base_bytes_write_u32(bytes, storage->ranges[i].fresh);
        base_bytes_write_u32(bytes, storage->ranges[i].cursor);
    }
    uint32_t last = 0;
    for (uint32_t i = 0; i < ECS_PAGES; i++)
        if (storage->pages[i] != storage->zero_page)
            write_page(storage->pages[i], i << ECS_PAGE_BITS, &last, bytes);
    base_bytes_write_varint(bytes, 0);
    write_held(world, bytes);
}

static ecs_result read_range(ecs_world* world, ecs_index_range* range, base_reader* reader) {
    uint32_t fresh = base_reader_u32(reader);
    uint32_t cursor = base_reader_u32(reader);
    if (reader->failed || fresh < range->first || fresh > range->last + 1 ||
        cursor < range->first || cursor > fresh || cursor > range->last)
        return ECS_ERR_MALFORMED;
    range->fresh = fresh;
    range->cursor = cursor;
    for (uint64_t index = range->first; index < fresh; index = (index | (ECS_PAGE_RECORDS - 1)) + 1)
        if (!ecs_record_reserve(world, (uint32_t)index)) return ECS_ERR_MEMORY;
    return ECS_OK;
}

// May an index carry a generation, as far as the ranges say?
static bool is_used(const ecs_world* world, uint64_t index) {
    const ecs_index_range* ranges = world->storage->ranges;
    if (index <= ranges[0].last) return world->is_mirror || index < ranges[0].fresh;
    return index < ranges[1].fresh;
}

ecs_result ecs_storage_read_indices(ecs_world* world, base_reader* reader) {
    ecs_storage* storage = world->storage;
    BASE_ASSERT(storage->entity_count == 0 && storage->held.count == 0);
    for (uint32_t i = 0; i < 2; i++) {
        ecs_result result = read_range(world, &storage->ranges[i], reader);
        if (result != ECS_OK) return result;
    }
    uint64_t index = 0;
    for (;;) {
        uint64_t step = base_reader_varint(reader);
        if (reader->failed) return ECS_ERR_MALFORMED;
        if (step == 0) break;
        uint64_t generation = base_reader_varint(reader);
        if (reader->failed || step > ECS_INDEX_MAX || !is_used(world, index += step) ||
            generation < 1 || generation > ECS_GENERATION_MAX)
            return ECS_ERR_MALFORMED;
        if (storage->pages[index >> ECS_PAGE_BITS] == storage->zero_page &&
            !ecs_record_reserve(world, (uint32_t)index))
            return ECS_ERR_MEMORY;
        ecs_record_mut(storage, (uint32_t)index)->life = (uint16_t)generation;
    }
    return read_held(world, reader);
}

void ecs_storage_settle_indices(ecs_world* world) {
    const ecs_storage* storage = world->storage;
    for (uint32_t i = 0; i < 2; i++)
        for (uint32_t used = storage->ranges[i].first; used < storage->ranges[i].fresh; used++)
            if (!(ecs_record_at(storage, used)->life & ECS_LIFE_CREATED))
                ecs_index_settle(world, used);
}
