// SPDX-License-Identifier: MIT
// Create and destroy rows one at a time; bulk.c makes many of one template, recreate.c moves them.
//
// Every operation has two halves. In the first anything may fail: names, indices, memory, copies of
// values that own memory; it builds the new row's cells behind the rows that live and takes them
// back on failure. The second half cannot fail: records, marks, and the lists of tracking. So an
// error code means that nothing changed.
//
// Recreate is always "build the new row, move what both have, take the old row out", also when the
// archetype stays the same: the new row then falls into the hole that the old one leaves.
//
// Structure may change only while no query is walked and no stage runs, except at its flush points
// (command.c): pointers to rows are borrowed until then.
#include "structure/transition.h"

#include "base/assert.h"
#include "event/command_queue.h"
#include "event/core_event.h"
#include "structure/destroy_simple.h"
#include "structure/singleton.h"
#include "table/entity.h"
#include "table/row.h"
#include "table/storage.h"
#include "table/track.h"
#include "type/world.h"

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

static ecs_result create_row(ecs_world* world, const ecs_binding* binding, const ecs_init* inits,
                             uint32_t init_count, ecs_chunk** chunk, uint32_t* row) {
    if (!ecs_row_has_inits(world, binding->archetype, inits, init_count)) return ECS_ERR_MISSING;
    const void* sources[ECS_TEMPLATE_COMPONENTS_MAX];
    ecs_row_choose_sources(binding, inits, init_count, sources);
    ecs_result result = ecs_row_reserve(world, binding->archetype, chunk);
    if (result != ECS_OK) return result;
    *row = ecs_chunk_append(world, *chunk, 1);
    if (ecs_row_fill(world, *chunk, *row, sources)) return ECS_OK;
    ecs_chunk_retract(world, *chunk, 1);
    return ECS_ERR_MEMORY;
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
    const bool is_given = given != ECS_ENTITY_NONE;
    const uint32_t range = binding->is_replicated && !world->is_mirror ? 0 : 1;
    const uint32_t index = is_given ? ecs_entity_index(given) : ecs_index_peek(world, range);
    if (index == 0) return ECS_ERR_FULL;
    if (binding->is_singleton && !is_given && !ecs_singleton_has_room(world, template_id))
        return ECS_ERR_TAKEN;
    const ecs_edge* edge = binding->archetype->on_create;
    if (!ecs_record_reserve(world, index) || !ecs_row_reserve_lists(world, 1, 0) ||
        (edge && !ecs_core_event_reserve(world, edge, index)))
        return ECS_ERR_MEMORY;
    ecs_chunk* chunk = NULL;
    uint32_t row = 0;
    result = create_row(world, binding, inits, init_count, &chunk, &row);
    if (result != ECS_OK) return result;
    ecs_entity made = is_given ? given : ecs_handle_take(storage, range, index);
    ecs_row_settle(storage, chunk, row, made, template_id);
    storage->entity_count++;
    if (is_given && storage->held.count > 0) ecs_held_created(world, made);
    ecs_structure_created(world, chunk, row, made);
    storage->runway.left = 0; // room in tracking's lists that a series was promised may be used up
    if (binding->is_singleton) binding->single = made;
    *entity = made;
    BASE_ASSERT(ecs_is_alive(world, made));
    if (edge) ecs_core_event_after(world, edge, made);
    return ECS_OK;
}

// The two below are apart, so that a prepared creation saves no registers.
static __attribute__((noinline)) ecs_result
finish_prepared(ecs_world* world, uint32_t row, const ecs_init* inits, uint32_t init_count) {
    ecs_chunk* chunk = world->storage->runway.chunk;
    ecs_row_set_plain(chunk, row, inits, init_count);
    if (chunk->archetype->track_count > 0) ecs_track_count_row(world, chunk, row, true);
    return ECS_OK;
}

// Values that own memory and handlers see one entity at a time; all others are prepared.
static __attribute__((noinline)) ecs_result create_next(ecs_world* world,
                                                        ecs_template_id template_id,
                                                        const ecs_init* inits, uint32_t init_count,
                                                        ecs_entity* entity) {
    ecs_structure_check(world);
    ecs_binding* binding = NULL;
    ecs_result result = ecs_row_bind(world, template_id, &binding);
    if (result != ECS_OK) return result;
    const ecs_archetype* archetype = binding->archetype;
    if (archetype->has_ops || archetype->notify || world->storage->held.count > 0)
        return create_any(world, ECS_ENTITY_NONE, template_id, inits, init_count, entity);
    if (!ecs_row_has_inits(world, archetype, inits, init_count)) return ECS_ERR_MISSING;
    result = ecs_runway_prepare(world, template_id);
    if (result != ECS_OK) return result;
    if (world->storage->runway.left == 0) // behind its index the walk over freed ones begins again
        return create_any(world, ECS_ENTITY_NONE, template_id, inits, init_count, entity);
    return ecs_structure_create(world, template_id, inits, init_count, entity);
}

// Take the next freed index of the runway's word of bits.
static inline ecs_entity take_recycled(ecs_runway* runway, ecs_record** record) {
    ecs_index_range* range = runway->indices;
    const uint32_t cursor = range->cursor;
    const uint64_t bits = *runway->free_word;
    const uint32_t index = cursor + (uint32_t)__builtin_ctzll(bits >> (cursor % 64));
    *runway->free_word = bits & ~(1ull << (index % 64));
    range->free_count--;
    range->cursor = index + 1;
    *record = &runway->records[index & (ECS_PAGE_RECORDS - 1)];
    const uint32_t generation = (*record)->life;
    return ecs_entity_make(index, generation == ECS_GENERATION_MAX ? 1 : generation + 1);
}

// The next row of the runway holds the defaults already, and nothing is in the way.
ecs_result ecs_structure_create(ecs_world* world, ecs_template_id template_id,
                                const ecs_init* inits, uint32_t init_count, ecs_entity* entity) {
    ecs_storage* storage = world->storage;
    ecs_runway* runway = &storage->runway;
    if (runway->left == 0 || runway->template_id != template_id || world->fast.walk_depth > 0 ||
        (world->fast.stage_depth > 0 && !world->commands->is_flushing))
        return create_next(world, template_id, inits, init_count, entity);
    for (uint32_t i = 0; i < init_count; i++)
        if (inits[i].component >= storage->slot_count ||
            runway->lookup[inits[i].component].column == ECS_SLOT_NONE)
            return ECS_ERR_MISSING;
    ecs_entity made;
    ecs_record* record;
    if (runway->is_fresh) {
        const uint32_t index = runway->indices->fresh++;
        made = ecs_entity_make(index, 1);
        record = &runway->records[index & (ECS_PAGE_RECORDS - 1)];
    } else {
        made = take_recycled(runway, &record);
    }
    runway->left--;
    const uint32_t row = (*runway->rows)++;
    ++*runway->row_count;
    storage->entity_count++;
    *record = (ecs_record){.place = runway->place | row,
                           .life = (uint16_t)(ecs_entity_generation(made) | ECS_LIFE_CREATED),
                           .template_id = template_id};
    runway->entities[row] = made;
    ecs_entity_list* born = &world->tracker->created;
    born->items[born->count++] = made;
    *entity = made;
    if (init_count == 0 && !runway->is_tracked) return ECS_OK;
    return finish_prepared(world, row, inits, init_count);
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

ecs_result ecs_structure_destroy(ecs_world* world, ecs_entity entity) {
    ecs_record* record = ecs_record_mut(world->storage, ecs_entity_index(entity));
    BASE_ASSERT(record->life == (ecs_entity_generation(entity) | ECS_LIFE_CREATED));
    if (!ecs_structure_destroy_simple(world, entity)) destroy_any(world, record, entity);
    return ECS_OK;
}
