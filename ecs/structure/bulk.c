// SPDX-License-Identifier: MIT
// Many entities of one template: columns are filled at the speed of memory, then records.
//
// As in transition.c all that may fail comes first: indices are counted, pages and chunks made. Plain
// defaults are spread by copying a block that fits the first cache; types with functions are copied one
// by one and taken back as a whole when one fails.
#include "base/assert.h"
#include "structure/transition.h"

enum { SPREAD_BYTES = 2048, SPREAD_HEAD = 16 };

// Copies of a value whose size the compiler knows: a few wide stores each, no call.
static inline void spread_fixed(uint8_t* out, const void* value, size_t size, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        memcpy(out + i * size, value, size);
}

void ecs_cells_spread(void* target, const void* value, size_t size, uint32_t count) {
    size_t bytes = size * count;
    if (bytes == 0) return;
    uint8_t* out = target;
    size_t done = size;
    const uint32_t head = count < SPREAD_HEAD ? count : SPREAD_HEAD;
    switch (size) {
    case 4:
        spread_fixed(out, value, 4, head);
        done = head * size;
        break;
    case 8:
        spread_fixed(out, value, 8, head);
        done = head * size;
        break;
    case 12:
        spread_fixed(out, value, 12, head);
        done = head * size;
        break;
    case 16:
        spread_fixed(out, value, 16, count);
        return;
    case 24:
        spread_fixed(out, value, 24, count);
        return;
    case 32:
        spread_fixed(out, value, 32, count);
        return;
    case 48:
        spread_fixed(out, value, 48, count);
        return;
    case 64:
        spread_fixed(out, value, 64, count);
        return;
    default:
        memcpy(out, value, size);
        break;
    }
    for (; done < bytes && done < SPREAD_BYTES; done *= 2)
        memcpy(out + done, out, done <= bytes - done ? done : bytes - done);
    for (size_t block = done; done < bytes; done += block)
        memcpy(out + done, out, block <= bytes - done ? block : bytes - done);
}

void ecs_rows_spread(ecs_chunk* chunk, uint32_t row, uint32_t count, const ecs_binding* binding) {
    const ecs_archetype* archetype = chunk->archetype;
    for (uint32_t i = 0; i < archetype->column_count; i++)
        ecs_cells_spread(ecs_chunk_cell(chunk, i, row), binding->defaults[i], chunk->sizes[i],
                         count);
    for (uint32_t t = 0; t < archetype->track_count; t++)
        ecs_cells_spread(ecs_chunk_cell(chunk, archetype->column_count + t, row),
                         binding->defaults[archetype->tracked[t]],
                         chunk->sizes[archetype->tracked[t]], count);
}

// Cells of `count` rows from `row` on. @return how many were filled: fewer when memory ran out.
static uint32_t fill_rows(ecs_world* world, ecs_chunk* chunk, uint32_t row, uint32_t count,
                          const ecs_binding* binding) {
    if (!chunk->archetype->has_ops) {
        ecs_rows_spread(chunk, row, count, binding);
        return count;
    }
    for (uint32_t i = 0; i < count; i++)
        if (!ecs_row_fill(world, chunk, row + i, binding->defaults)) return i;
    return count;
}

// Append and fill; on failure take back all that this call appended.
static bool append_rows(ecs_world* world, const ecs_binding* binding, uint32_t count) {
    ecs_archetype* archetype = binding->archetype;
    uint32_t done = 0;
    while (done < count) {
        ecs_chunk* chunk = ecs_archetype_tail(world, archetype);
        uint32_t room = chunk->capacity - ecs_chunk_count(&world->storage, chunk);
        uint32_t wanted = count - done < room ? count - done : room;
        uint32_t row = ecs_chunk_append(world, chunk, wanted);
        uint32_t filled = fill_rows(world, chunk, row, wanted, binding);
        done += filled;
        if (filled == wanted) continue;
        ecs_chunk_retract(world, chunk, wanted - filled);
        while (done > 0) {
            chunk = archetype->chunks[archetype->tail];
            row = ecs_chunk_count(&world->storage, chunk) - 1;
            ecs_row_destroy_cells(world, chunk, row,
                                  archetype->column_count + archetype->track_count);
            ecs_chunk_retract(world, chunk, 1);
            done--;
        }
        return false;
    }
    return true;
}

// Records of rows whose handles were taken.
static void settle_rows(ecs_world* world, const ecs_chunk* chunk, uint32_t row, uint32_t end,
                        ecs_template_id template_id) {
    const ecs_entity* entities = chunk->entities;
    const uint32_t place = chunk->id << ECS_ROW_BITS;
    for (uint32_t i = row; i < end; i++) {
        ecs_entity entity = entities[i];
        *ecs_record_mut(&world->storage, ecs_entity_index(entity)) =
            (ecs_record){.place = place | i,
                         .life = (uint16_t)(ecs_entity_generation(entity) | ECS_LIFE_CREATED),
                         .template_id = template_id};
    }
}

// The word to tracking, whose lists have room.
static void tell_created_rows(ecs_world* world, const ecs_chunk* chunk, uint32_t row,
                              uint32_t end) {
    ecs_tracker* tracker = &world->tracker;
    const ecs_entity* entities = chunk->entities;
    if (chunk->archetype->track_count > 0) {
        for (uint32_t i = row; i < end; i++)
            ecs_track_created(world, entities[i], chunk->id, i);
        return;
    }
    memcpy(tracker->created.items + tracker->created.count, entities + row,
           (end - row) * sizeof *entities);
    tracker->created.count += end - row;
}

// Where somebody listens each sees the world as it is when that one was made. Nothing but values that own
// memory can fail after the first: those made so far go again, the last first.
static ecs_result create_each(ecs_world* world, const ecs_archetype* archetype,
                              ecs_template_id template_id, uint32_t count, ecs_entity* entities) {
    ecs_result result = ECS_OK;
    bool is_waiting = false;
    uint32_t done = 0;
    for (; done < count && result == ECS_OK; done += result == ECS_OK) {
        ecs_entity made = ECS_ENTITY_NONE;
        result = ecs_create(world, template_id, NULL, 0, &made);
        is_waiting = result == ECS_OK ? ecs_loading_is_pending(world, made) : is_waiting;
        if (result == ECS_OK && entities) entities[done] = made;
    }
    for (; done > 0 && result != ECS_OK; done--) {
        // All of them wait for resources, or none: they have the same values.
        if (is_waiting) {
            bool is_cancelled = ecs_loading_cancel(world, ecs_loading_last(world));
            BASE_ASSERT(is_cancelled);
            continue;
        }
        const ecs_chunk* chunk = archetype->chunks[archetype->tail];
        uint32_t row = ecs_chunk_count(&world->storage, chunk) - 1;
        ecs_result is_gone = ecs_destroy(world, chunk->entities[row]);
        BASE_ASSERT(is_gone == ECS_OK);
    }
    return result;
}

ecs_result ecs_create_many(ecs_world* world, ecs_template_id template_id, uint32_t count,
                           ecs_entity* entities) {
    ecs_structure_check(world);
    ecs_binding* binding = NULL;
    ecs_result result = ecs_storage_bind(world, template_id, &binding);
    if (result != ECS_OK) return result;
    if (count == 0) return ECS_OK;
    if (binding->is_singleton && (count > 1 || !ecs_singleton_has_room(world, template_id))) {
        world->counters.singletons_refused += count > 1;
        return ECS_ERR_TAKEN;
    }
    uint32_t range = binding->is_replicated && !world->is_mirror ? 0 : 1;
    if (ecs_index_available(world, range) < count) return ECS_ERR_FULL;
    if (!ecs_handles_reserve(world, range, count) || !ecs_track_reserve(world, count, 0, 0))
        return ECS_ERR_MEMORY;
    ecs_archetype* archetype = binding->archetype;
    result = ecs_archetype_reserve(world, archetype, count);
    if (result != ECS_OK) return result;
    if (archetype->told) return create_each(world, archetype, template_id, count, entities);
    world->storage.runway.left = 0; // its share of the room in those lists is used up here
    uint32_t chunk_first = archetype->tail;
    uint32_t row = ecs_chunk_count(&world->storage, archetype->chunks[chunk_first]);
    if (!append_rows(world, binding, count)) return ECS_ERR_MEMORY;
    for (uint32_t done = 0; done < count; row = 0) {
        ecs_chunk* chunk = archetype->chunks[chunk_first++];
        uint32_t end = ecs_chunk_count(&world->storage, chunk);
        ecs_handles_take(world, range, end - row, chunk->entities + row);
        settle_rows(world, chunk, row, end, template_id);
        if (entities)
            memcpy(entities + done, chunk->entities + row, (end - row) * sizeof *entities);
        tell_created_rows(world, chunk, row, end);
        done += end - row;
    }
    world->storage.entity_count += count;
    return ECS_OK;
}
