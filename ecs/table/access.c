// SPDX-License-Identifier: MIT
// One component of one entity: handle -> record -> chunk -> column -> row.
//
// A few dependent loads, no hash; ecs/fast.h has them inline, this is the rest. Writers mark the row, so
// that tracking compares that row and no other; the mark is set when the pointer is handed out, since
// nobody says when the write happens.
#include "base/assert.h"
#include "world/world_internal.h"

void ecs_detail_mark(ecs_chunk* chunk, uint32_t track, uint32_t row) {
    ecs_chunk_mark_row(chunk, track, row);
}

// Two waits per entity, one behind the other: for the record, then for the cell. So records are asked for
// well ahead, and cells as soon as their record has come: only their address is taken here.
void ecs_find_many(const ecs_world* world, ecs_component_id component, const ecs_entity* entities,
                   uint32_t count, const void** cells) {
    enum { RECORDS_AHEAD = 32 };
    const ecs_fast* fast = &world->fast;
    for (uint32_t i = 0; i < count; i++) {
        if (i + RECORDS_AHEAD < count) {
            uint32_t index = ecs_entity_index(entities[i + RECORDS_AHEAD]);
            __builtin_prefetch(
                &fast->pages[index >> ECS_PAGE_BITS]->records[index & (ECS_PAGE_RECORDS - 1)]);
        }
        const void* cell = ecs_fast_cell(world, entities[i], component, false);
        __builtin_prefetch(cell);
        cells[i] = cell;
    }
}

ecs_result ecs_set(ecs_world* world, ecs_entity entity, ecs_component_id component,
                   const void* value) {
    const ecs_record* record = ecs_fast_record(&world->fast, entity);
    if (!record) return ecs_loading_set_value(world, entity, component, value);
    if (component >= world->fast.slot_count) return ECS_ERR_MISSING;
    const ecs_place* place = &world->fast.places[record->place >> ECS_ROW_BITS];
    const ecs_slot* slot = &place->slots[component];
    if (slot->column == ECS_SLOT_NONE) return ECS_ERR_MISSING;
    uint32_t row = ecs_record_row(record);
    void* cell = (uint8_t*)place->chunk + slot->offset + (size_t)slot->size * row;
    if (slot->track != ECS_SLOT_NONE) ecs_chunk_mark_row(place->chunk, slot->track, row);
    if (!slot->has_ops) {
        ecs_bytes_copy(cell, value, slot->size);
        return ECS_OK;
    }
    const ecs_column* column = &place->chunk->archetype->columns[slot->column];
    return ecs_cell_assign(world, column->type, cell, value) ? ECS_OK : ECS_ERR_MEMORY;
}
