// SPDX-License-Identifier: MIT
// One component of one entity: handle -> record -> chunk -> column -> row.
//
// Four dependent loads, no hash. Writers mark the row, so that tracking compares that row and no other;
// the mark is set when the pointer is handed out, since nobody says when the write happens.
#include "base/assert.h"
#include "world_internal.h"

// The cell, NULL when the entity is dead or lacks the component.
static inline void* find_cell(const ecs_world* world, ecs_entity entity,
                              ecs_component_id component) {
    const ecs_storage* storage = &world->storage;
    const ecs_record* record = ecs_record_find(storage, entity);
    if (!record || component >= storage->slot_count) return NULL;
    const ecs_chunk* chunk = ecs_record_chunk(storage, record);
    uint16_t column = chunk->slots[component];
    if (column == ECS_SLOT_NONE) return NULL;
    return ecs_chunk_cell(chunk, column, ecs_record_row(record));
}

static inline void mark(const ecs_world* world, ecs_entity entity, ecs_component_id component) {
    const ecs_record* record = ecs_record_find(&world->storage, entity);
    const ecs_chunk* chunk = ecs_record_chunk(&world->storage, record);
    uint16_t track = chunk->archetype->columns[chunk->slots[component]].track;
    if (track != ECS_SLOT_NONE) ecs_chunk_mark_row(chunk, track, ecs_record_row(record));
}

const void* ecs_find(const ecs_world* world, ecs_entity entity, ecs_component_id component) {
    return find_cell(world, entity, component);
}

const void* ecs_get(const ecs_world* world, ecs_entity entity, ecs_component_id component) {
    const void* cell = find_cell(world, entity, component);
    BASE_ASSERT(cell && "the entity is dead or lacks the component: use ecs_find");
    return cell;
}

void* ecs_find_mut(ecs_world* world, ecs_entity entity, ecs_component_id component) {
    void* cell = find_cell(world, entity, component);
    if (cell) mark(world, entity, component);
    return cell;
}

void* ecs_get_mut(ecs_world* world, ecs_entity entity, ecs_component_id component) {
    void* cell = ecs_find_mut(world, entity, component);
    BASE_ASSERT(cell && "the entity is dead or lacks the component: use ecs_find_mut");
    return cell;
}

ecs_result ecs_set(ecs_world* world, ecs_entity entity, ecs_component_id component,
                   const void* value) {
    if (!ecs_is_alive(world, entity)) return ECS_ERR_STALE;
    void* cell = ecs_find_mut(world, entity, component);
    if (!cell) return ECS_ERR_MISSING;
    const ecs_type* type = ecs_type_get(world, ecs_component_get(world, component)->type);
    return ecs_cell_assign(world, type, cell, value) ? ECS_OK : ECS_ERR_MEMORY;
}
