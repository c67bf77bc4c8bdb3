// SPDX-License-Identifier: MIT
// Recreate: an entity gets another template, or other values.
//
// It is always "build the new row, move what both have, take the old row out", also when the
// archetype stays the same: the new row then falls into the hole that the old one leaves.
#include "base/assert.h"
#include "event/systems.h"
#include "structure/loading.h"
#include "structure/transition.h"

// The old row's cells that the new one takes over; ECS_SLOT_NONE elsewhere. `sources` of such a
// column is the old value.
typedef struct move_plan {
    uint16_t from[ECS_TEMPLATE_COMPONENTS_MAX]; // by new column
    const void* sources[ECS_TEMPLATE_COMPONENTS_MAX];
} move_plan;

// The first half: cells that are new, and all shadows. Cells that will be moved in stay uncreated.
static void build_cells(ecs_world* world, ecs_chunk* chunk, uint32_t row, const ecs_chunk* old,
                        uint32_t old_row, const move_plan* plan) {
    const ecs_archetype* archetype = chunk->archetype;
    uint32_t count = archetype->column_count;
    for (uint32_t i = 0; i < count + archetype->track_count; i++) {
        uint32_t column = i < count ? i : archetype->tracked[i - count];
        bool is_kept = plan->from[column] != ECS_SLOT_NONE;
        if (i < count && is_kept) continue;
        const void* source = plan->sources[column];
        if (i >= count)
            source = is_kept ? ecs_chunk_cell(old, plan->from[column], old_row)
                             : ecs_chunk_cell(chunk, column, row);
        ecs_cell_copy(world, archetype->columns[column].type, ecs_chunk_cell(chunk, i, row),
                      source);
    }
}

// The second half: move the kept cells, destroy the rest of the old row.
static void move_cells(ecs_world* world, ecs_chunk* chunk, uint32_t row, ecs_chunk* old,
                       uint32_t old_row, const move_plan* plan) {
    BASE_ASSERT(chunk != old || row != old_row);
    const ecs_archetype* archetype = chunk->archetype;
    const ecs_archetype* old_archetype = old->archetype;
    uint64_t is_moved[ECS_TEMPLATE_COMPONENTS_MAX / 64] = {0};
    for (uint32_t i = 0; i < archetype->column_count; i++) {
        uint16_t from = plan->from[i];
        if (from == ECS_SLOT_NONE) continue;
        is_moved[from / 64] |= 1ull << (from % 64);
        ecs_cell_move(world, archetype->columns[i].type, ecs_chunk_cell(chunk, i, row),
                      ecs_chunk_cell(old, from, old_row));
    }
    if (!old_archetype->has_ops) return;
    for (uint32_t i = 0; i < old_archetype->column_count; i++) {
        const ecs_column* column = &old_archetype->columns[i];
        if (!(is_moved[i / 64] >> (i % 64) & 1))
            ecs_cell_destroy(world, column->type, ecs_chunk_cell(old, i, old_row));
        if (column->track != ECS_SLOT_NONE)
            ecs_cell_destroy(
                world, column->type,
                ecs_chunk_cell(old, old_archetype->column_count + column->track, old_row));
    }
}

// Both halves at once for plain data, where nothing can fail and a move is a copy. A shadow starts
// as its value.
static void move_plain_row(ecs_chunk* chunk, uint32_t row, const ecs_chunk* old, uint32_t old_row,
                           const ecs_binding* binding, const ecs_init* inits, uint32_t init_count) {
    const ecs_archetype* archetype = chunk->archetype;
    for (uint32_t i = 0; i < archetype->column_count; i++) {
        uint16_t from = old->archetype->slots[archetype->columns[i].component];
        ecs_bytes_copy(ecs_chunk_cell(chunk, i, row),
                       from == ECS_SLOT_NONE ? binding->defaults[i]
                                             : ecs_chunk_cell(old, from, old_row),
                       chunk->sizes[i]);
    }
    for (uint32_t t = 0; t < archetype->track_count; t++) {
        uint32_t column = archetype->tracked[t];
        ecs_bytes_copy(ecs_chunk_cell(chunk, archetype->column_count + t, row),
                       ecs_chunk_cell(chunk, column, row), chunk->sizes[column]);
    }
    ecs_row_set_plain(chunk, row, inits, init_count);
}

// Values that own memory.
static void move_owning_row(ecs_world* world, ecs_chunk* chunk, uint32_t row, ecs_chunk* old,
                            uint32_t old_row, const ecs_binding* binding, const ecs_init* inits,
                            uint32_t init_count) {
    move_plan plan;
    BASE_ASSERT(init_count <= ECS_TEMPLATE_COMPONENTS_MAX);
    ecs_row_choose_sources(binding, inits, init_count, plan.sources);
    const ecs_archetype* archetype = binding->archetype;
    for (uint32_t i = 0; i < archetype->column_count; i++)
        plan.from[i] = old->archetype->slots[archetype->columns[i].component];
    for (uint32_t i = 0; i < init_count; i++)
        plan.from[archetype->slots[inits[i].component]] = ECS_SLOT_NONE;
    build_cells(world, chunk, row, old, old_row, &plan);
    ecs_structure_leaving(world, old, old_row, old->entities[old_row]);
    move_cells(world, chunk, row, old, old_row, &plan);
}

// The last check that may refuse a move; handlers before the change run.
__attribute__((noinline)) static ecs_result prepare_move(ecs_world* world, ecs_entity entity,
                                                         const ecs_archetype* from,
                                                         ecs_template_id template_id,
                                                         const ecs_edge** edge) {
    const ecs_binding* binding = &world->storage->bindings[template_id];
    const ecs_archetype* to = binding->archetype;
    bool is_foreign =
        world->is_mirror && ecs_entity_index(entity) <= world->limits.replicated_index_max;
    if (binding->is_singleton && !is_foreign && ecs_entity_template(world, entity) != template_id &&
        !ecs_singleton_has_room(world, template_id))
        return ECS_ERR_TAKEN;
    if (!((from->notify | to->notify) & ECS_NOTIFY_MOVE)) return ECS_OK;
    *edge = ecs_core_event_move(world, from, to);
    ecs_core_event_before(world, *edge, entity);
    return ECS_OK;
}

__attribute__((noinline)) static void finish_move(ecs_world* world, ecs_binding* binding,
                                                  const ecs_edge* edge, ecs_entity entity) {
    BASE_ASSERT(binding->archetype && ecs_is_alive(world, entity));
    if (binding->is_singleton) binding->single = entity;
    if (edge) ecs_core_event_after(world, edge, entity);
}

// A move between plain rows without tracking, handlers and member lists, one value after another by
// offsets that all blocks of an archetype share. What may be in the way is left to recreate_any,
// and nothing changed then.
static inline bool recreate_simple(ecs_world* world, ecs_record* record, ecs_entity entity,
                                   ecs_template_id template_id) {
    ecs_storage* storage = world->storage;
    if (template_id >= storage->binding_capacity) return false;
    const ecs_binding* binding = &storage->bindings[template_id];
    ecs_archetype* to = binding->archetype;
    const uint32_t old_place = record->place;
    const ecs_place* place = &storage->places[old_place >> ECS_ROW_BITS];
    const ecs_archetype* from = place->archetype;
    ecs_entity_list* recreated = &world->tracker->recreated;
    if (!to || to == from || !to->is_simple || !from->is_simple || (to->notify | from->notify) ||
        (binding->is_replicated && ecs_entity_index(entity) > world->limits.replicated_index_max) ||
        !to->tail || recreated->count == recreated->capacity)
        return false;
    ecs_chunk* chunk = to->tail;
    const uint32_t id = chunk->id, row = storage->chunk_counts[id];
    if (row == chunk->capacity || storage->runway.chunk == chunk) return false;
    if (storage->runway.chunk) ecs_runway_disturb(world, from);
    if (row == chunk->clean_end) ecs_chunk_clean(chunk, row + 1);
    storage->chunk_counts[id] = row + 1;
    to->row_count++;
    chunk->entities[row] = entity;
    *record = (ecs_record){
        .place = id << ECS_ROW_BITS | row, .life = record->life, .template_id = template_id};
    recreated->items[recreated->count++] = entity;
    const uint8_t* old = (const uint8_t*)place->chunk;
    const uint32_t old_row = old_place & ECS_ROW_MASK;
    const ecs_span *span = to->spans, *end = span + to->column_count;
    const ecs_column* column = to->columns;
    for (const void** value = binding->defaults; span < end; span++, column++, value++) {
        const size_t size = span->size;
        const ecs_slot* kept = &place->slots[column->component];
        ecs_bytes_copy_short((uint8_t*)chunk + span->offset + size * row,
                             kept->column == ECS_SLOT_NONE ? *value
                                                           : old + kept->offset + size * old_row,
                             span->size);
    }
    ecs_chunk_close_hole(world, storage, place, old_place);
    return true;
}

static __attribute__((noinline)) ecs_result recreate_any(ecs_world* world, ecs_entity entity,
                                                         ecs_template_id template_id,
                                                         const ecs_init* inits,
                                                         uint32_t init_count) {
    const ecs_record* record = ecs_record_find(world->storage, entity);
    BASE_ASSERT(record && "a row is recreated, not what waits");
    if (record->template_id == template_id && init_count == 0) return ECS_OK;
    ecs_binding* binding = NULL;
    ecs_result result = ecs_row_bind(world, template_id, &binding);
    if (result != ECS_OK) return result;
    if (binding->is_replicated && !world->is_mirror &&
        ecs_entity_index(entity) > world->limits.replicated_index_max)
        return ECS_ERR_TYPE;
    ecs_archetype* archetype = binding->archetype;
    if (!ecs_row_has_inits(world, archetype, inits, init_count)) return ECS_ERR_MISSING;
    ecs_chunk* chunk = NULL;
    if (archetype->has_ops) result = ecs_inits_check(world, inits, init_count);
    if (result == ECS_OK) result = ecs_row_reserve(world, archetype, &chunk);
    if (result != ECS_OK) return result;
    ecs_chunk* old = ecs_record_chunk(world->storage, record);
    const ecs_edge* edge = NULL;
    const uint32_t notify = old->archetype->notify | archetype->notify;
    if (notify) {
        result = prepare_move(world, entity, old->archetype, template_id, &edge);
        if (result != ECS_OK) return result;
    }
    uint32_t old_row = ecs_record_row(record);
    uint32_t row = ecs_chunk_append(world, chunk, 1);
    if (!archetype->has_ops && !old->archetype->has_ops) {
        ecs_structure_leaving(world, old, old_row, entity);
        move_plain_row(chunk, row, old, old_row, binding, inits, init_count);
    } else {
        move_owning_row(world, chunk, row, old, old_row, binding, inits, init_count);
    }
    ecs_row_settle(world->storage, chunk, row, entity, template_id);
    ecs_chunk_remove(world, old, old_row);
    ecs_structure_arrived(world, ecs_record_chunk(world->storage, record), ecs_record_row(record),
                          entity);
    if (notify) finish_move(world, binding, edge, entity);
    return ECS_OK;
}

ecs_result ecs_recreate(ecs_world* world, ecs_entity entity, ecs_template_id template_id,
                        const ecs_init* inits, uint32_t init_count) {
    ecs_structure_check(world);
    ecs_record* record = ecs_record_mut(world->storage, ecs_entity_index(entity));
    if (record->life != (ecs_entity_generation(entity) | ECS_LIFE_CREATED))
        return ecs_loading_recreate(world, entity, template_id, inits, init_count);
    if (init_count == 0 && recreate_simple(world, record, entity, template_id)) return ECS_OK;
    return recreate_any(world, entity, template_id, inits, init_count);
}
