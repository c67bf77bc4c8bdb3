// SPDX-License-Identifier: MIT
// One component of one entity: handle -> record -> chunk -> column -> row.
//
// A few dependent loads, no hash. Writers mark the row, so that tracking compares that row and no other;
// the mark is set when the pointer is handed out, since nobody says when the write happens.
#include "base/assert.h"
#include "world_internal.h"

// Where a component of an entity is; cell is NULL when it is dead or lacks the component.
typedef struct place {
    void* cell;
    const ecs_chunk* chunk;
    uint32_t row;
    uint32_t size;
    uint16_t track;
} place;

static inline place find_place(const ecs_world* world, ecs_entity entity,
                               ecs_component_id component) {
    const ecs_storage* storage = &world->storage;
    const ecs_record* record = ecs_record_find(storage, entity);
    if (!record || component >= storage->slot_count) return (place){0};
    const ecs_chunk* chunk = ecs_record_chunk(storage, record);
    ecs_slot slot = chunk->lookup[component];
    if (slot.column == ECS_SLOT_NONE) return (place){0};
    uint32_t row = ecs_record_row(record);
    return (place){.cell = (uint8_t*)chunk->columns[slot.column] + (size_t)slot.size * row,
                   .chunk = chunk,
                   .row = row,
                   .size = slot.size,
                   .track = slot.track};
}

static inline void mark(place found) {
    if (found.cell && found.track != ECS_SLOT_NONE)
        ecs_chunk_mark_row(found.chunk, found.track, found.row);
}

const void* ecs_find(const ecs_world* world, ecs_entity entity, ecs_component_id component) {
    return find_place(world, entity, component).cell;
}

const void* ecs_get(const ecs_world* world, ecs_entity entity, ecs_component_id component) {
    const void* cell = find_place(world, entity, component).cell;
    BASE_ASSERT(cell && "the entity is dead or lacks the component: use ecs_find");
    return cell;
}

void* ecs_find_mut(ecs_world* world, ecs_entity entity, ecs_component_id component) {
    place found = find_place(world, entity, component);
    mark(found);
    return found.cell;
}

void* ecs_get_mut(ecs_world* world, ecs_entity entity, ecs_component_id component) {
    void* cell = ecs_find_mut(world, entity, component);
    BASE_ASSERT(cell && "the entity is dead or lacks the component: use ecs_find_mut");
    return cell;
}

ecs_result ecs_set(ecs_world* world, ecs_entity entity, ecs_component_id component,
                   const void* value) {
    place found = find_place(world, entity, component);
    if (!found.cell) return ecs_is_alive(world, entity) ? ECS_ERR_MISSING : ECS_ERR_STALE;
    mark(found);
    const ecs_archetype* archetype = found.chunk->archetype;
    if (!archetype->has_ops) {
        ecs_bytes_copy(found.cell, value, found.size);
        return ECS_OK;
    }
    const ecs_column* column = &archetype->columns[archetype->slots[component]];
    return ecs_cell_assign(world, column->type, found.cell, value) ? ECS_OK : ECS_ERR_MEMORY;
}
