// SPDX-License-Identifier: MIT
// Many entities of one template: columns are filled at the speed of memory, then records.
//
// As in transition.c all that may fail comes first: indices are counted, pages and chunks made.
// Plain defaults are spread by copying a block that fits the first cache; types with functions are
// copied one by one and taken back as a whole when one fails.
#include "base/assert.h"
#include "structure/singleton.h"
#include "structure/transition.h"
#include "table/entity.h"
#include "table/row.h"
#include "table/storage.h"
#include "table/track.h"
#include "type/world.h"

#include <string.h>

// Cells of `count` rows from `row` on. @return how many were filled: fewer when memory ran out.
static uint32_t fill_rows(ecs_world* world, ecs_chunk* chunk, uint32_t row, uint32_t count,
                          const ecs_binding* binding, const ecs_row_values* values) {
    if (values) {
        ecs_rows_fill(chunk, row, count, binding, values);
        return count;
    }
    if (!chunk->archetype->has_ops) {
        ecs_rows_spread(chunk, row, count, binding);
        return count;
    }
    for (uint32_t i = 0; i < count; i++)
        if (!ecs_row_fill(world, chunk, row + i, binding->defaults)) return i;
    return count;
}

// Append and fill; on failure take back all that this call appended.
static bool append_rows(ecs_world* world, const ecs_binding* binding, uint32_t count,
                        const ecs_row_values* values) {
    BASE_ASSERT(count > 0 && binding->archetype);
    ecs_archetype* archetype = binding->archetype;
    ecs_row_values left = values ? *values : (ecs_row_values){0};
    uint32_t done = 0;
    while (done < count) {
        ecs_chunk* chunk = ecs_archetype_tail(world, archetype);
        uint32_t room = chunk->capacity - ecs_chunk_count(world->storage, chunk);
        uint32_t wanted = count - done < room ? count - done : room;
        uint32_t row = ecs_chunk_append(world, chunk, wanted);
        uint32_t filled = fill_rows(world, chunk, row, wanted, binding, values ? &left : NULL);
        done += filled;
        if (values) left.rows += (size_t)left.stride * filled;
        if (filled == wanted) continue;
        ecs_chunk_retract(world, chunk, wanted - filled);
        while (done > 0) {
            chunk = archetype->chunks[archetype->tail];
            row = ecs_chunk_count(world->storage, chunk) - 1;
            ecs_row_destroy_cells(world, chunk, row,
                                  archetype->column_count + archetype->track_count);
            ecs_chunk_retract(world, chunk, 1);
            done--;
        }
        return false;
    }
    return true;
}

// List the rows as created; the lists have room.
static void list_created_rows(ecs_world* world, const ecs_chunk* chunk, uint32_t row,
                              uint32_t end) {
    ecs_tracker* tracker = world->tracker;
    const ecs_entity* entities = chunk->entities;
    ecs_track_count_rows(world, chunk, row, end - row, true);
    memcpy(tracker->created.items + tracker->created.count, entities + row,
           (end - row) * sizeof *entities);
    tracker->created.count += end - row;
}

ecs_result ecs_structure_reserve_many(ecs_world* world, ecs_template_id template_id,
                                      const ecs_binding* binding, uint32_t count) {
    BASE_ASSERT(binding->archetype && count > 0);
    if (binding->is_singleton && (count > 1 || !ecs_singleton_has_room(world, template_id))) {
        world->counters.singletons_refused += count > 1;
        return ECS_ERR_TAKEN;
    }
    uint32_t range = binding->is_replicated && !world->is_mirror ? 0 : 1;
    if (ecs_index_available(world, range) < count) return ECS_ERR_FULL;
    if (!ecs_handles_reserve(world, range, count) || !ecs_track_reserve(world, count, 0, 0))
        return ECS_ERR_MEMORY;
    return ecs_archetype_reserve(world, binding->archetype, count);
}

ecs_result ecs_structure_create_many(ecs_world* world, ecs_template_id template_id,
                                     const ecs_binding* binding, uint32_t count,
                                     const ecs_row_values* values, ecs_entity* entities) {
    ecs_archetype* archetype = binding->archetype;
    BASE_ASSERT(count > 0 && !archetype->notify);
    const uint32_t range = binding->is_replicated && !world->is_mirror ? 0 : 1;
    world->storage->runway.left = 0; // its share of the room in tracking's lists is used up here
    uint32_t chunk_first = archetype->tail;
    uint32_t row = ecs_chunk_count(world->storage, archetype->chunks[chunk_first]);
    if (!append_rows(world, binding, count, values)) return ECS_ERR_MEMORY;
    for (uint32_t done = 0; done < count; row = 0) {
        ecs_chunk* chunk = archetype->chunks[chunk_first++];
        uint32_t end = ecs_chunk_count(world->storage, chunk);
        if (row == end) continue; // the tail was full to the last row
        ecs_handles_take(world, range, end - row, chunk->entities + row);
        ecs_rows_settle(world->storage, chunk, row, end, template_id);
        if (entities)
            memcpy(entities + done, chunk->entities + row, (end - row) * sizeof *entities);
        list_created_rows(world, chunk, row, end);
        done += end - row;
    }
    world->storage->entity_count += count;
    return ECS_OK;
}

// The record and, where types have functions, the cells of one row that was appended.
static ecs_result place_row(ecs_world* world, ecs_chunk* chunk, uint32_t row,
                            const ecs_row_head* head) {
    ecs_storage* storage = world->storage;
    const uint32_t index = ecs_entity_index(head->entity);
    ecs_binding* binding = &storage->bindings[head->template_id];
    BASE_ASSERT(binding->archetype == chunk->archetype);
    if (index == 0 || index > storage->ranges[1].last || ecs_entity_generation(head->entity) == 0)
        return ECS_ERR_STALE;
    if (storage->pages[index >> ECS_PAGE_BITS] == storage->zero_page &&
        !ecs_record_reserve(world, index))
        return ECS_ERR_MEMORY;
    if (ecs_record_at(storage, index)->life & ECS_LIFE_CREATED) return ECS_ERR_TAKEN;
    if (chunk->archetype->has_ops && !ecs_row_fill(world, chunk, row, binding->defaults))
        return ECS_ERR_MEMORY;
    ecs_row_settle(storage, chunk, row, head->entity, head->template_id);
    storage->entity_count++;
    if (storage->held.count > 0) ecs_held_created(world, head->entity);
    if (binding->is_singleton) binding->single = head->entity;
    return ECS_OK;
}

ecs_result ecs_structure_place_rows(ecs_world* world, ecs_archetype* archetype,
                                    const ecs_row_head* heads, uint32_t count) {
    ecs_result result = count > 0 ? ecs_archetype_reserve(world, archetype, count) : ECS_OK;
    world->storage->runway.left = 0;
    for (uint32_t done = 0; result == ECS_OK && done < count;) {
        ecs_chunk* chunk = ecs_archetype_tail(world, archetype);
        uint32_t wanted = chunk->capacity - ecs_chunk_count(world->storage, chunk);
        if (wanted > count - done) wanted = count - done;
        const uint32_t row = ecs_chunk_append(world, chunk, wanted);
        uint32_t placed = 0;
        while (placed < wanted && result == ECS_OK) {
            result = place_row(world, chunk, row + placed, &heads[done + placed]);
            placed += result == ECS_OK;
        }
        if (placed < wanted) ecs_chunk_retract(world, chunk, wanted - placed);
        done += placed;
    }
    return result;
}
