// SPDX-License-Identifier: MIT
// Create and destroy rows, one at a time and many of one template; recreate.c moves them.
//
// Every operation has two halves. In the first anything may fail: names, indices, values that no
// cell may have. The second half cannot fail: cells, records, marks, and the lists of tracking. So
// an error code means that nothing changed.
//
// Structure may change only while no query is walked and no stage runs, except at its flush points
// (command.c): pointers to rows are borrowed until then.
#include "structure/transition.h"

#include "event/systems.h"
#include "table/entity.h"

#include <string.h>

// Binding a template to its archetype, and an archetype to those that handle its changes.
//
// The table makes archetypes and knows of no handlers; core events find out once per archetype
// which handlers and members its rows concern. Both happen before the first row, here.

ecs_result ecs_storage_bind(ecs_world* world, ecs_template_id template_id, ecs_binding** binding) {
    const ecs_storage* storage = world->storage;
    BASE_ASSERT(world->is_sealed && "seal the world before entities are made");
    const uint32_t count = storage->archetype_count;
    ecs_result result = ecs_binding_make(world, template_id, binding);
    if (result != ECS_OK || storage->archetype_count == count) return result;
    ecs_core_event_bind(world, (*binding)->archetype);
    return ECS_OK;
}

// What tracking and the links of parents must know of rows that come, move and go.

static void record_parent(ecs_world* world, const ecs_chunk* chunk, ecs_entity entity) {
    if (chunk->archetype->notify & ECS_NOTIFY_PARENT)
        ecs_link_record(&world->storage->links, entity);
}

void ecs_structure_destroying(ecs_world* world, const ecs_chunk* chunk, uint32_t row,
                              ecs_entity entity) {
    ecs_track_destroying(world, entity, chunk, row);
    if (chunk->archetype->notify & ECS_NOTIFY_PARENT)
        ecs_link_remove(&world->storage->links, ecs_entity_index(entity));
}

void ecs_structure_leaving(ecs_world* world, const ecs_chunk* chunk, uint32_t row,
                           ecs_entity entity) {
    ecs_track_count_row(world, chunk, row, false);
    record_parent(world, chunk, entity);
}

void ecs_structure_arrived(ecs_world* world, const ecs_chunk* chunk, uint32_t row,
                           ecs_entity entity) {
    ecs_track_arrived(world, entity, chunk, row);
    record_parent(world, chunk, entity);
}

// Templates of which one entity exists at a time.
//
// A binding remembers the entity that was made last of its template; a look at its record shows
// whether it still exists. So a destruction needs no work here.
//
// A mirror takes what its authority sends, even two entities: then the one made last counts, and
// when it is gone the rows are searched.

static bool is_of(const ecs_world* world, ecs_entity entity, ecs_template_id template_id) {
    const ecs_record* record = ecs_record_find(world->storage, entity);
    return record && record->template_id == template_id;
}

static ecs_entity look_through(const ecs_world* world, const ecs_archetype* archetype,
                               ecs_template_id template_id) {
    for (uint32_t k = 0; k < archetype->chunk_count; k++) {
        const ecs_chunk* chunk = archetype->chunks[k];
        uint32_t count = ecs_chunk_count(world->storage, chunk);
        for (uint32_t row = 0; row < count; row++)
            if (is_of(world, chunk->entities[row], template_id)) return chunk->entities[row];
    }
    return ECS_ENTITY_NONE;
}

ecs_entity ecs_singleton(const ecs_world* world, ecs_template_id template_id) {
    const ecs_storage* storage = world->storage;
    if (template_id >= storage->binding_capacity || !storage->bindings[template_id].is_singleton)
        return ECS_ENTITY_NONE;
    const ecs_binding* binding = &storage->bindings[template_id];
    if (is_of(world, binding->single, template_id)) return binding->single;
    return world->is_mirror ? look_through(world, binding->archetype, template_id)
                            : ECS_ENTITY_NONE;
}

bool ecs_singleton_has_room(ecs_world* world, ecs_template_id template_id) {
    if (ecs_singleton(world, template_id) == ECS_ENTITY_NONE &&
        !ecs_held_has_pending(world, template_id))
        return true;
    world->counters.singletons_refused++;
    return false;
}

void ecs_row_set_plain(ecs_chunk* chunk, uint32_t row, const ecs_init* inits, uint32_t init_count) {
    for (uint32_t i = 0; i < init_count; i++) {
        ecs_slot slot = chunk->lookup[inits[i].component];
        ecs_detail_copy_value((uint8_t*)chunk + slot.offset + (size_t)slot.size * row,
                              inits[i].value, slot.size);
        if (slot.track == ECS_SLOT_NONE) continue;
        ecs_bytes_copy(ecs_chunk_cell(chunk, chunk->archetype->column_count + slot.track, row),
                       inits[i].value, slot.size);
    }
}

// A creation gives a component that its template lacks: a tool (ecs_inspect_writes) wants to know.
static __attribute__((noinline, cold)) ecs_result refuse_inits(const ecs_world* world,
                                                               ecs_template_id template_id,
                                                               const ecs_init* inits,
                                                               uint32_t init_count) {
    const ecs_template* source = ecs_template_get(world, template_id);
    for (uint32_t i = 0; i < init_count && world->write_reporter; i++) {
        if (inits[i].component != ECS_COMPONENT_NONE &&
            inits[i].component <= ecs_component_count(world) &&
            !ecs_template_find_component(source, inits[i].component))
            base_report(world->write_reporter, NULL, 0,
                        "a creation of %s gives it component %s, which the template lacks: no "
                        "entity is made; add the component to the template",
                        source->name, ecs_component_get(world, inits[i].component)->name);
    }
    return ECS_ERR_MISSING;
}

static ecs_result create_row(ecs_world* world, const ecs_binding* binding, const ecs_init* inits,
                             uint32_t init_count, ecs_chunk** chunk, uint32_t* row) {
    if (!ecs_row_has_inits(world, binding->archetype, inits, init_count)) return ECS_ERR_MISSING;
    const void* sources[ECS_TEMPLATE_COMPONENTS_MAX];
    ecs_row_choose_sources(binding, inits, init_count, sources);
    ecs_result result =
        binding->archetype->has_ops ? ecs_inits_check(world, inits, init_count) : ECS_OK;
    if (result == ECS_OK) result = ecs_row_reserve(world, binding->archetype, chunk);
    if (result != ECS_OK) return result;
    *row = ecs_chunk_append(world, *chunk, 1);
    ecs_row_fill(world, *chunk, *row, sources);
    return ECS_OK;
}

// `given`: the handle that the caller chose; ECS_ENTITY_NONE: the next free one.
static __attribute__((noinline)) ecs_result create_any(ecs_world* world, ecs_entity given,
                                                       ecs_template_id template_id,
                                                       const ecs_init* inits, uint32_t init_count,
                                                       ecs_entity* entity) {
    ecs_storage* storage = world->storage;
    ecs_binding* binding = NULL;
    ecs_result result = ecs_row_bind(world, template_id, &binding);
    if (result != ECS_OK) return result;
    ecs_runway_return(world);
    const bool is_given = given != ECS_ENTITY_NONE;
    const uint32_t range = binding->is_replicated && !world->is_mirror ? 0 : 1;
    const uint32_t index = is_given ? ecs_entity_index(given) : ecs_index_peek(world, range);
    if (index == 0) return ECS_ERR_FULL;
    if (binding->is_singleton && !is_given && !ecs_singleton_has_room(world, template_id))
        return ECS_ERR_TAKEN;
    const ecs_edge* edge = binding->archetype->on_create;
    ecs_record_reserve(world, index);
    ecs_chunk* chunk = NULL;
    uint32_t row = 0;
    result = create_row(world, binding, inits, init_count, &chunk, &row);
    if (result == ECS_ERR_MISSING) return refuse_inits(world, template_id, inits, init_count);
    if (result != ECS_OK) return result;
    ecs_entity made = is_given ? given : ecs_handle_take(storage, range, index);
    ecs_row_settle(storage, chunk, row, made, template_id);
    storage->entity_count++;
    if (is_given && storage->held.count > 0) ecs_held_created(world, made);
    ecs_track_created(world, made, chunk, row);
    record_parent(world, chunk, made);
    if (binding->is_singleton) binding->single = made;
    *entity = made;
    BASE_ASSERT(ecs_is_alive(world, made));
    if (edge) ecs_core_event_after(world, edge, made);
    return ECS_OK;
}

// Values that own memory and handlers see one entity at a time; all others are prepared.
ecs_result ecs_structure_create(ecs_world* world, ecs_template_id template_id,
                                const ecs_init* inits, uint32_t init_count, ecs_entity* entity) {
    const ecs_runway* runway = &world->storage->runway;
    const bool is_prepared = runway->left > 0 && runway->template_id == template_id;
    const ecs_archetype* archetype = is_prepared ? runway->chunk->archetype : NULL;
    if (!is_prepared) {
        ecs_binding* binding = NULL;
        ecs_structure_check(world);
        ecs_result result = ecs_row_bind(world, template_id, &binding);
        if (result != ECS_OK) return result;
        archetype = binding->archetype;
        if (archetype->has_ops || archetype->notify || world->storage->held.count > 0)
            return create_any(world, ECS_ENTITY_NONE, template_id, inits, init_count, entity);
    }
    if (!ecs_row_has_inits(world, archetype, inits, init_count))
        return refuse_inits(world, template_id, inits, init_count);
    if (!is_prepared) {
        ecs_result result = ecs_runway_prepare(world, template_id);
        if (result != ECS_OK) return result;
    }
    const uint32_t row = ecs_runway_take(world->storage, entity);
    ecs_row_set_plain(runway->chunk, row, inits, init_count);
    if (archetype->track_count > 0) ecs_track_count_row(world, runway->chunk, row, true);
    return ECS_OK;
}

ecs_result ecs_structure_create_at(ecs_world* world, ecs_entity handle, ecs_template_id template_id,
                                   const ecs_init* inits, uint32_t init_count) {
    BASE_ASSERT(ecs_entity_index(handle) != 0 && ecs_entity_generation(handle) != 0);
    if (!(ecs_record_at(world->storage, ecs_entity_index(handle))->life & ECS_LIFE_CREATED))
        return create_any(world, handle, template_id, inits, init_count, &handle);
    if (ecs_is_alive(world, handle)) ecs_world_count_bad_transition(world);
    return ECS_ERR_TAKEN;
}

static __attribute__((noinline)) void destroy_any(ecs_world* world, ecs_record* record,
                                                  ecs_entity entity) {
    BASE_ASSERT(record->life & ECS_LIFE_CREATED);
    ecs_chunk* chunk = ecs_record_chunk(world->storage, record);
    uint32_t row = ecs_record_row(record);
    ecs_chunk_prefetch(chunk, row);
    const ecs_archetype* archetype = chunk->archetype;
    const ecs_edge* edge = archetype->on_destroy;
    if (edge) ecs_core_event_before(world, edge, entity);
    ecs_row_list_destroying(world, chunk, row, entity);
    if (archetype->has_ops)
        ecs_row_destroy_cells(world, chunk, row, archetype->column_count + archetype->track_count);
    ecs_chunk_remove(world, chunk, row);
    *record = (ecs_record){.life = (uint16_t)ecs_entity_generation(entity)};
    world->storage->entity_count--;
    if (world->storage->held.count > 0) ecs_held_destroyed(world, entity);
    ecs_index_free(world, world->storage, ecs_entity_index(entity));
    if (edge) ecs_core_event_after(world, edge, entity);
}

void ecs_structure_destroy(ecs_world* world, ecs_entity entity) {
    ecs_record* record = ecs_record_mut(world->storage, ecs_entity_index(entity));
    BASE_ASSERT(record->life == (ecs_entity_generation(entity) | ECS_LIFE_CREATED));
    if (!ecs_structure_destroy_simple(world, entity)) destroy_any(world, record, entity);
}

// Many entities of one template: columns are filled at the speed of memory, then records.
//
// As above all that may fail comes first: indices are counted, pages and chunks made.
// Plain defaults are spread by copying a block that fits the first cache; types with functions are
// copied one by one.

// Cells of `count` rows from `row` on.
static void fill_rows(ecs_world* world, ecs_chunk* chunk, uint32_t row, uint32_t count,
                      const ecs_binding* binding, const ecs_row_values* values) {
    if (values)
        ecs_rows_fill(chunk, row, count, binding, values);
    else if (!chunk->archetype->has_ops)
        ecs_rows_spread(chunk, row, count, binding);
    else
        for (uint32_t i = 0; i < count; i++)
            ecs_row_fill(world, chunk, row + i, binding->defaults);
}

static void append_rows(ecs_world* world, const ecs_binding* binding, uint32_t count,
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
        fill_rows(world, chunk, row, wanted, binding, values ? &left : NULL);
        done += wanted;
        if (values) left.rows += (size_t)left.stride * wanted;
    }
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
    ecs_track_reserve(world, count, 0, 0);
    return ecs_archetype_reserve(world, binding->archetype, count);
}

void ecs_structure_create_many(ecs_world* world, ecs_template_id template_id,
                               const ecs_binding* binding, uint32_t count,
                               const ecs_row_values* values, ecs_entity* entities) {
    ecs_archetype* archetype = binding->archetype;
    BASE_ASSERT(count > 0 && !archetype->notify);
    const uint32_t range = binding->is_replicated && !world->is_mirror ? 0 : 1;
    uint32_t chunk_first = archetype->tail->index;
    uint32_t row = ecs_chunk_count(world->storage, archetype->tail);
    append_rows(world, binding, count, values);
    for (uint32_t done = 0; done < count; row = 0) {
        ecs_chunk* chunk = archetype->chunks[chunk_first++];
        uint32_t end = ecs_chunk_count(world->storage, chunk);
        if (row == end) continue; // the tail was full to the last row
        ecs_handles_take(world, range, end - row, chunk->entities + row);
        ecs_rows_settle(world->storage, chunk, row, end, template_id);
        if (entities)
            memcpy(entities + done, chunk->entities + row, (end - row) * sizeof *entities);
        // The lists have room.
        ecs_tracker* tracker = world->tracker;
        ecs_track_count_rows(world, chunk, row, end - row, true);
        memcpy(tracker->created.items + tracker->created.count, chunk->entities + row,
               (end - row) * sizeof *entities);
        tracker->created.count += end - row;
        done += end - row;
    }
    world->storage->entity_count += count;
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
    ecs_record_reserve(world, index);
    if (ecs_record_at(storage, index)->life & ECS_LIFE_CREATED) return ECS_ERR_TAKEN;
    if (chunk->archetype->has_ops) ecs_row_fill(world, chunk, row, binding->defaults);
    ecs_row_settle(storage, chunk, row, head->entity, head->template_id);
    storage->entity_count++;
    if (storage->held.count > 0) ecs_held_created(world, head->entity);
    if (binding->is_singleton) binding->single = head->entity;
    return ECS_OK;
}

ecs_result ecs_structure_place_rows(ecs_world* world, ecs_archetype* archetype,
                                    const ecs_row_head* heads, uint32_t count) {
    ecs_runway_return(world);
    ecs_result result = count > 0 ? ecs_archetype_reserve(world, archetype, count) : ECS_OK;
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
