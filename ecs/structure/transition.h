// SPDX-License-Identifier: MIT
/// Rows that are created, moved and destroyed (transition.c, recreate.c), and recorded commands
/// applied (command.c).
#pragma once

#include "base/assert.h"
#include "ecs/template.h"
#include "ecs/world.h"
#include "event/command_queue.h"
#include "table/row.h"
#include "table/storage.h"
#include "table/track.h"
#include "type/world.h"

/// Asserts that structure may change now.
static inline void ecs_structure_check(const ecs_world* world) {
    BASE_ASSERT(world->is_sealed && "seal the world before entities are made");
    BASE_ASSERT(world->fast.walk_depth == 0 &&
                "no structural change while a query is walked: use ecs_command_create or its kin");
    BASE_ASSERT((world->fast.stage_depth == 0 || world->commands->is_flushing) &&
                "inside a stage record structural changes with ecs/command.h");
}

// Rows of entities (transition.c). They know nothing of families and of resources.
/// Create an entity that waits for nothing.
/// @return ECS_OK; ECS_ERR_UNKNOWN; ECS_ERR_MISSING; ECS_ERR_FULL; ECS_ERR_TAKEN; ECS_ERR_TEXT.
BASE_MUST_USE ecs_result ecs_structure_create(ecs_world* world, ecs_template_id template_id,
                                              const ecs_init* inits, uint32_t init_count,
                                              ecs_entity* entity);
/// The same with a handle that the caller chose. @return these codes; ECS_ERR_STALE (no handle).
BASE_MUST_USE ecs_result ecs_structure_create_at(ecs_world* world, ecs_entity handle,
                                                 ecs_template_id template_id, const ecs_init* inits,
                                                 uint32_t init_count);
/// An entity of a save, and a template of its archetype that is bound.
typedef struct ecs_row_head {
    ecs_entity entity;
    ecs_template_id template_id;
} ecs_row_head;
/// Append entities with given handles, after ecs_storage_read_indices. Tracking does not list them.
/// The caller fills values and shadows; where a type has functions, they are there with defaults.
/// @return ECS_OK; otherwise those before the first that is refused are placed: ECS_ERR_TAKEN;
///         ECS_ERR_STALE (a handle outside both ranges); ECS_ERR_FULL (chunks).
BASE_MUST_USE ecs_result ecs_structure_place_rows(ecs_world* world, ecs_archetype* archetype,
                                                  const ecs_row_head* heads, uint32_t count);
/// Destroy the row of a living entity; its children stay.
void ecs_structure_destroy(ecs_world* world, ecs_entity entity);
/// All that may refuse `count` entities of plain data at once, and room for them.
/// @return ECS_OK; ECS_ERR_TAKEN; ECS_ERR_FULL.
BASE_MUST_USE ecs_result ecs_structure_reserve_many(ecs_world* world, ecs_template_id template_id,
                                                    const ecs_binding* binding, uint32_t count);
/// Create them, after ecs_structure_reserve_many. No core event and no member list concerns the
/// archetype. With `values` (else NULL) it has their components, and no type with functions.
void ecs_structure_create_many(ecs_world* world, ecs_template_id template_id,
                               const ecs_binding* binding, uint32_t count,
                               const ecs_row_values* values, ecs_entity* entities);

// Bindings.
/// Bind a template, making its archetype if it is new. Archetypes are numbered in order of making,
/// so restore binds ecs_archetype.made_by in the saved order.
/// @return ECS_OK; ECS_ERR_UNKNOWN; ECS_ERR_FULL (archetypes, or 16 rows exceed
/// ECS_CHUNK_BYTES_MAX).
BASE_MUST_USE ecs_result ecs_storage_bind(ecs_world* world, ecs_template_id template_id,
                                          ecs_binding** binding);

// What tracking and the links of parents must know.
/// Before a row goes away: hash subtracted, listed as destroyed.
void ecs_structure_destroying(ecs_world* world, const ecs_chunk* chunk, uint32_t row,
                              ecs_entity entity);
/// A recreate moves an entity from one row to another: before, and after (listed as recreated).
void ecs_structure_leaving(ecs_world* world, const ecs_chunk* chunk, uint32_t row,
                           ecs_entity entity);
void ecs_structure_arrived(ecs_world* world, const ecs_chunk* chunk, uint32_t row,
                           ecs_entity entity);
// Creations that are prepared ahead (runway.c).
/// Prepare the next creations of a bound template of plain types that no handler listens to, while
/// no handle is held. Then `left` > 0 is how many. The first one follows at once.
/// @return ECS_OK; ECS_ERR_FULL (indices, chunks).
BASE_MUST_USE ecs_result ecs_runway_prepare(ecs_world* world, ecs_template_id template_id);
/// Make the next prepared row an entity. @return the row.
static inline uint32_t ecs_runway_take(ecs_storage* storage, ecs_entity* entity) {
    ecs_runway* runway = &storage->runway;
    const uint32_t row = (*runway->rows)++;
    runway->left--;
    ++*runway->row_count;
    const ecs_entity made = runway->entities[row];
    *ecs_record_mut(storage, ecs_entity_index(made)) =
        (ecs_record){.place = runway->place | row,
                     .life = (uint16_t)(ecs_entity_generation(made) | ECS_LIFE_CREATED),
                     .template_id = runway->template_id};
    *entity = made;
    return row;
}
/// Assert what a prepared creation relies on without looking.
void ecs_runway_validate(const ecs_world* world);

/// Point record and row at each other.
static inline void ecs_row_settle(ecs_storage* storage, ecs_chunk* chunk, uint32_t row,
                                  ecs_entity entity, ecs_template_id template_id) {
    ecs_record* record = ecs_record_mut(storage, ecs_entity_index(entity));
    *record = (ecs_record){.place = chunk->id << ECS_ROW_BITS | row,
                           .life = (uint16_t)(ecs_entity_generation(entity) | ECS_LIFE_CREATED),
                           .template_id = template_id};
    chunk->entities[row] = entity;
}
/// The same for rows [row, end) of a chunk, which name their entities already.
static inline void ecs_rows_settle(ecs_storage* storage, const ecs_chunk* chunk, uint32_t row,
                                   uint32_t end, ecs_template_id template_id) {
    BASE_ASSERT(row < end && end <= chunk->capacity);
    const ecs_entity* restrict entities = chunk->entities;
    ecs_record_page* const* restrict pages = storage->pages;
    const uint32_t place = chunk->id << ECS_ROW_BITS;
    for (; row < end; row++) {
        const uint32_t index = ecs_entity_index(entities[row]);
        pages[index >> ECS_PAGE_BITS]->records[index & (ECS_PAGE_RECORDS - 1)] = (ecs_record){
            .place = place | row,
            .life = (uint16_t)(ecs_entity_generation(entities[row]) | ECS_LIFE_CREATED),
            .template_id = template_id};
    }
}

/// List a destruction, while the row is still filled. No call to tracking for rows without a
/// tracked column.
static inline void ecs_row_list_destroying(ecs_world* world, const ecs_chunk* chunk, uint32_t row,
                                           ecs_entity entity) {
    ecs_entity_list* list = &world->tracker->destroyed;
    if (chunk->archetype->track_count > 0 || list->count == list->capacity) {
        ecs_structure_destroying(world, chunk, row, entity);
        return;
    }
    list->items[list->count++] = entity;
}
/// ecs_storage_bind; no call for a template that is bound.
BASE_MUST_USE static inline ecs_result ecs_row_bind(ecs_world* world, ecs_template_id template_id,
                                                    ecs_binding** binding) {
    ecs_storage* storage = world->storage;
    if (template_id >= storage->binding_capacity || !storage->bindings[template_id].archetype)
        return ecs_storage_bind(world, template_id, binding);
    *binding = &storage->bindings[template_id];
    return ECS_OK;
}
/// The chunk that takes the next row, made when there is none.
/// @return ECS_OK; ECS_ERR_FULL (chunk ids).
BASE_MUST_USE static inline ecs_result ecs_row_reserve(ecs_world* world, ecs_archetype* archetype,
                                                       ecs_chunk** chunk) {
    *chunk = archetype->tail;
    if (*chunk && ecs_chunk_count(world->storage, *chunk) < (*chunk)->capacity) return ECS_OK;
    ecs_result result = ecs_archetype_reserve(world, archetype, 1);
    if (result == ECS_OK) *chunk = ecs_archetype_tail(world, archetype);
    return result;
}

/// Choose what every column of a new row is copied from. The archetype has all components of the
/// inits.
static inline void ecs_row_choose_sources(const ecs_binding* binding, const ecs_init* inits,
                                          uint32_t init_count, const void** sources) {
    const ecs_archetype* archetype = binding->archetype;
    for (uint32_t i = 0; i < archetype->column_count; i++)
        sources[i] = binding->defaults[i];
    for (uint32_t i = 0; i < init_count; i++)
        sources[archetype->slots[inits[i].component]] = inits[i].value;
}

/// Has the archetype the components of all inits?
static inline bool ecs_row_has_inits(const ecs_world* world, const ecs_archetype* archetype,
                                     const ecs_init* inits, uint32_t init_count) {
    for (uint32_t i = 0; i < init_count; i++)
        if (inits[i].component >= world->storage->slot_count ||
            archetype->slots[inits[i].component] == ECS_SLOT_NONE)
            return false;
    return true;
}
/// Has it those of all slots?
static inline bool ecs_row_has_values(const ecs_world* world, const ecs_archetype* archetype,
                                      const ecs_value_slot* slots, uint32_t slot_count) {
    for (uint32_t i = 0; i < slot_count; i++)
        if (slots[i].component >= world->storage->slot_count ||
            archetype->slots[slots[i].component] == ECS_SLOT_NONE)
            return false;
    return true;
}
/// Set what differs from the defaults in a row of plain data, value and shadow.
void ecs_row_set_plain(ecs_chunk* chunk, uint32_t row, const ecs_init* inits, uint32_t init_count);

/// May another one of a `_singleton` template be made? false is counted.
bool ecs_singleton_has_room(ecs_world* world, ecs_template_id template_id);

// Destroying an entity of plain data, without a call: ecs_destroy does it in most worlds. Off:
// destroy_seq_1m 13.5 -> 19.8 ns.

/// Destroy an entity if it lives, its row is plain data, and neither tracking nor handlers nor held
/// handles exist for it. @return false when it is not so: nothing happened.
static inline __attribute__((always_inline)) bool ecs_structure_destroy_simple(ecs_world* world,
                                                                               ecs_entity entity) {
    ecs_storage* storage = world->storage;
    const uint32_t index = ecs_entity_index(entity), at = index & (ECS_PAGE_RECORDS - 1);
    ecs_record_page* page = storage->pages[index >> ECS_PAGE_BITS];
    ecs_record* record = &page->records[at];
    const uint32_t generation = ecs_entity_generation(entity), row_place = record->place;
    ecs_entity_list* dead = &world->tracker->destroyed;
    if (record->life != (generation | ECS_LIFE_CREATED)) return false;
    const ecs_place* place = &storage->places[row_place >> ECS_ROW_BITS];
    ecs_index_range* range = &storage->ranges[index >= storage->ranges[1].first];
    if (!place->archetype->is_simple || place->archetype->notify || storage->held.count > 0 ||
        dead->count == dead->capacity || index >= range->fresh)
        return false;
    if (storage->runway.chunk) ecs_runway_disturb(world, place->archetype);
    dead->items[dead->count++] = entity;
    *record = (ecs_record){.life = (uint16_t)generation};
    page->free_words[at / 64] |= 1ull << (at % 64);
    range->free_count++;
    storage->entity_count--;
    ecs_chunk_close_hole(world, storage, place, row_place);
    return true;
}

// Recorded commands applied (command.c).

/// Apply all recorded commands, inside of stages too; ecs_command_flush is this with its checks.
void ecs_commands_apply(ecs_world* world);
