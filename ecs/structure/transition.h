// SPDX-License-Identifier: MIT
/// Rows coming to life, for transition.c, bulk.c and command.c.
#pragma once

#include "base/assert.h"
#include "world/world_internal.h"

/// Asserts that structure may change now.
static inline void ecs_structure_check(const ecs_world* world) {
    BASE_ASSERT(world->is_sealed && "seal the world before entities are made");
    BASE_ASSERT(world->fast.walk_depth == 0 && "no structural change while a query is walked");
    BASE_ASSERT((world->stage_depth == 0 || world->storage.commands.is_flushing) &&
                "inside a stage record structural changes with ecs/command.h");
}
/// ecs_destroy of this one alone. @return as ecs_destroy.
BASE_MUST_USE ecs_result ecs_destroy_one(ecs_world* world, ecs_entity entity);
/// Create an entity that waited for resources. @return as ecs_create_at.
BASE_MUST_USE ecs_result ecs_create_pending(ecs_world* world, ecs_entity handle,
                                            ecs_template_id template_id, const ecs_init* inits,
                                            uint32_t init_count);
/// Create the cells of a row, shadows too, each a copy of sources[column].
/// @return false when memory ran out: no cell is created then.
BASE_MUST_USE bool ecs_row_fill(ecs_world* world, ecs_chunk* chunk, uint32_t row,
                                const void* const* sources);
/// Destroy the cells of columns [0, end), counting shadows after values.
void ecs_row_destroy_cells(ecs_world* world, ecs_chunk* chunk, uint32_t row, uint32_t end);
/// Point record and row at each other.
static inline void ecs_row_settle(ecs_world* world, ecs_chunk* chunk, uint32_t row,
                                  ecs_entity entity, ecs_template_id template_id) {
    ecs_record* record = ecs_record_mut(&world->storage, ecs_entity_index(entity));
    *record = (ecs_record){.place = chunk->id << ECS_ROW_BITS | row,
                           .life = (uint16_t)(ecs_entity_generation(entity) | ECS_LIFE_CREATED),
                           .template_id = template_id};
    chunk->entities[row] = entity;
}

/// Room in tracking's lists; no call while there is some.
BASE_MUST_USE static inline bool ecs_row_reserve_told(ecs_world* world, uint32_t created,
                                                      uint32_t recreated) {
    const ecs_tracker* tracker = &world->tracker;
    const ecs_entity_list *born = &tracker->created, *dead = &tracker->destroyed;
    const ecs_entity_list* moved = &tracker->recreated;
    if (born->capacity - born->count >= created && moved->capacity - moved->count >= recreated &&
        dead->capacity - dead->count >= world->storage.entity_count + created)
        return true;
    return ecs_track_reserve(world, created, 0, recreated);
}
/// Tell tracking of a birth, after the row is filled, or of a death, while it is; no call for rows that
/// have no tracked column.
static inline void ecs_row_tell_created(ecs_world* world, const ecs_chunk* chunk, uint32_t row,
                                        ecs_entity entity) {
    ecs_tracker* tracker = &world->tracker;
    if (chunk->archetype->track_count > 0 || tracker->created.count == tracker->created.capacity) {
        ecs_track_created(world, entity, chunk->id, row);
        return;
    }
    tracker->created.items[tracker->created.count++] = entity;
}
static inline void ecs_row_tell_destroying(ecs_world* world, const ecs_chunk* chunk, uint32_t row,
                                           ecs_entity entity) {
    ecs_entity_list* list = &world->tracker.destroyed;
    if (chunk->archetype->track_count > 0 || list->count == list->capacity) {
        ecs_track_destroying(world, entity, chunk->id, row);
        return;
    }
    list->items[list->count++] = entity;
}
/// ecs_storage_bind; no call for a template that is bound.
BASE_MUST_USE static inline ecs_result ecs_row_bind(ecs_world* world, ecs_template_id template_id,
                                                    ecs_binding** binding) {
    ecs_storage* storage = &world->storage;
    if (template_id >= storage->binding_capacity || !storage->bindings[template_id].archetype)
        return ecs_storage_bind(world, template_id, binding);
    *binding = &storage->bindings[template_id];
    return ECS_OK;
}
/// The chunk that takes the next row, made when there is none. @return as ecs_archetype_reserve.
BASE_MUST_USE static inline ecs_result ecs_row_reserve(ecs_world* world, ecs_archetype* archetype,
                                                       ecs_chunk** chunk) {
    if (archetype->chunk_count > 0) {
        *chunk = archetype->chunks[archetype->tail];
        if (ecs_chunk_count(&world->storage, *chunk) < (*chunk)->capacity) return ECS_OK;
    }
    ecs_result result = ecs_archetype_reserve(world, archetype, 1);
    if (result == ECS_OK) *chunk = ecs_archetype_tail(world, archetype);
    return result;
}

/// `count` copies of a plain value of `size` bytes.
void ecs_cells_spread(void* target, const void* value, size_t size, uint32_t count);
/// Fill rows of plain data with a template's defaults, shadows too.
void ecs_rows_spread(ecs_chunk* chunk, uint32_t row, uint32_t count, const ecs_binding* binding);
/// Append the next row of the template's runway: its cells are the defaults.
/// @return false when there is none: append and fill a row instead, then call ecs_runway_created.
bool ecs_runway_take(ecs_world* world, const ecs_binding* binding, ecs_template_id template_id,
                     ecs_chunk** chunk, uint32_t* row);
/// ecs_runway_take; no call while prepared rows are left or there is no runway.
static inline bool ecs_runway_next(ecs_world* world, const ecs_binding* binding,
                                   ecs_template_id template_id, ecs_chunk** chunk, uint32_t* row) {
    const ecs_runway* runway = &world->storage.runway;
    if (!runway->chunk || runway->template_id != template_id) return false;
    uint32_t* count = &world->storage.chunk_counts[runway->chunk->id];
    if (*count == runway->end) return ecs_runway_take(world, binding, template_id, chunk, row);
    *chunk = runway->chunk;
    *row = (*count)++;
    binding->archetype->row_count++;
    return true;
}
/// A row of plain data was appended without a runway: when its template repeats one starts behind it.
void ecs_runway_created(ecs_world* world, ecs_chunk* chunk, uint32_t row,
                        ecs_template_id template_id);
/// After a creation: how many of its kind nothing is in the way of. Who uses up room in tracking's lists
/// or indices in another way sets `left` to 0: creation of others, held handles.
void ecs_runway_count(ecs_world* world);
