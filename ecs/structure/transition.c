// SPDX-License-Identifier: MIT
// Entities come, change their template, and go: one at a time here, many of a kind in bulk.c.
//
// Every operation has two halves. In the first anything may fail: names, indices, memory, copies of
// values that own memory; it builds the new row's cells behind the rows that live and takes them back on
// failure. The second half cannot fail: records, marks, and the word to tracking. So an error code
// means that nothing changed.
//
// Recreate is always "build the new row, move what both have, take the old row out", also when the
// archetype stays the same: the new row then falls into the hole that the old one leaves.
//
// Structure may change only while nobody walks and no stage runs, but for the flush points of a stage
// (command.c): pointers to rows are borrowed until then.
#include "structure/transition.h"

#include "base/assert.h"
#include "core/world_internal.h"
#include "event/command_queue.h"
#include "event/core_event.h"
#include "structure/singleton.h"
#include "table/archetype.h"
#include "table/block.h"
#include "table/bytes.h"
#include "table/cell.h"
#include "table/chunk.h"
#include "table/handle.h"
#include "table/index.h"
#include "table/record.h"
#include "table/row.h"
#include "table/runway.h"
#include "table/storage.h"
#include "track/track.h"

// What every column of a new row is copied from.
static bool choose_sources(const ecs_world* world, const ecs_binding* binding,
                           const ecs_init* inits, uint32_t init_count, const void** sources) {
    const ecs_archetype* archetype = binding->archetype;
    for (uint32_t i = 0; i < archetype->column_count; i++)
        sources[i] = binding->defaults[i];
    for (uint32_t i = 0; i < init_count; i++) {
        if (inits[i].component >= world->storage->slot_count) return false;
        uint16_t column = archetype->slots[inits[i].component];
        if (column == ECS_SLOT_NONE) return false;
        sources[column] = inits[i].value;
    }
    return true;
}

static bool are_inits_there(const ecs_world* world, const ecs_archetype* archetype,
                            const ecs_init* inits, uint32_t init_count) {
    for (uint32_t i = 0; i < init_count; i++)
        if (inits[i].component >= world->storage->slot_count ||
            archetype->slots[inits[i].component] == ECS_SLOT_NONE)
            return false;
    return true;
}

// What differs from the defaults in a row of plain data, value and shadow.
static inline void set_plain_init(ecs_chunk* chunk, uint32_t row, ecs_slot slot,
                                  const void* value) {
    ecs_bytes_copy((uint8_t*)chunk + slot.offset + (size_t)slot.size * row, value, slot.size);
    if (slot.track == ECS_SLOT_NONE) return;
    ecs_bytes_copy(ecs_chunk_cell(chunk, chunk->archetype->column_count + slot.track, row), value,
                   slot.size);
}

static inline void set_plain_inits(ecs_chunk* chunk, uint32_t row, const ecs_init* inits,
                                   uint32_t init_count) {
    for (uint32_t i = 0; i < init_count; i++)
        set_plain_init(chunk, row, chunk->lookup[inits[i].component], inits[i].value);
}

// Plain data: defaults are there or copied, then what differs.
static inline ecs_result create_plain_row(ecs_world* world, const ecs_binding* binding,
                                          ecs_template_id template_id, const ecs_init* inits,
                                          uint32_t init_count, ecs_chunk** chunk, uint32_t* row) {
    ecs_archetype* archetype = binding->archetype;
    if (!are_inits_there(world, archetype, inits, init_count)) return ECS_ERR_MISSING;
    if (!ecs_runway_next(world, binding, template_id, chunk, row)) {
        ecs_result result = ecs_row_reserve(world, archetype, chunk);
        if (result != ECS_OK) return result;
        *row = ecs_chunk_append(world, *chunk, 1);
        bool is_filled = ecs_row_fill(world, *chunk, *row, binding->defaults);
        BASE_ASSERT(is_filled);
        // The next one of such a series has more to do than to take a prepared row.
        if (!archetype->told) ecs_runway_created(world, *chunk, *row, template_id);
    }
    set_plain_inits(*chunk, *row, inits, init_count);
    return ECS_OK;
}

static inline ecs_result create_row(ecs_world* world, const ecs_binding* binding,
                                    ecs_template_id template_id, const ecs_init* inits,
                                    uint32_t init_count, ecs_chunk** chunk, uint32_t* row) {
    if (!binding->archetype->has_ops)
        return create_plain_row(world, binding, template_id, inits, init_count, chunk, row);
    const void* sources[ECS_TEMPLATE_COMPONENTS_MAX];
    if (!choose_sources(world, binding, inits, init_count, sources)) return ECS_ERR_MISSING;
    ecs_result result = ecs_row_reserve(world, binding->archetype, chunk);
    if (result != ECS_OK) return result;
    *row = ecs_chunk_append(world, *chunk, 1);
    if (ecs_row_fill(world, *chunk, *row, sources)) return ECS_OK;
    ecs_chunk_retract(world, *chunk, 1);
    return ECS_ERR_MEMORY;
}

// A birth that somebody hears of, or that may not be.
__attribute__((noinline)) static ecs_result prepare_birth(ecs_world* world,
                                                          const ecs_binding* binding,
                                                          ecs_template_id template_id,
                                                          uint32_t index) {
    if (binding->is_singleton && !ecs_singleton_has_room(world, template_id)) return ECS_ERR_TAKEN;
    const ecs_edge* birth = binding->archetype->birth;
    return birth && !ecs_core_event_reserve(world, birth, index) ? ECS_ERR_MEMORY : ECS_OK;
}

__attribute__((noinline)) static void finish_birth(ecs_world* world, ecs_binding* binding,
                                                   ecs_entity entity) {
    if (binding->is_singleton) binding->single = entity;
    if (binding->archetype->birth) ecs_core_event_after(world, binding->archetype->birth, entity);
}

static __attribute__((noinline)) ecs_result create_any(ecs_world* world,
                                                       ecs_template_id template_id,
                                                       const ecs_init* inits, uint32_t init_count,
                                                       ecs_entity* entity) {
    ecs_structure_check(world);
    ecs_binding* binding = NULL;
    ecs_result result = ecs_row_bind(world, template_id, &binding);
    if (result != ECS_OK) return result;
    uint32_t range = binding->is_replicated && !world->is_mirror ? 0 : 1;
    uint32_t index = ecs_index_next(world, world->storage, range);
    if (index == 0) return ECS_ERR_FULL;
    const uint32_t told = binding->archetype->told;
    if (told) {
        result = prepare_birth(world, binding, template_id, index);
        if (result != ECS_OK) return result;
    }
    if ((world->storage->pages[index >> ECS_PAGE_BITS] == world->storage->zero_page &&
         !ecs_record_reserve(world, index)) ||
        !ecs_row_reserve_told(world, 1, 0))
        return ECS_ERR_MEMORY;
    ecs_chunk* chunk = NULL;
    uint32_t row = 0;
    result = create_row(world, binding, template_id, inits, init_count, &chunk, &row);
    if (result != ECS_OK) return result;
    ecs_entity made = ecs_handle_take(world->storage, range, index);
    ecs_row_settle(world, chunk, row, made, template_id);
    world->storage->entity_count++;
    ecs_row_tell_created(world, chunk, row, made);
    ecs_runway_count(world);
    *entity = made;
    if (told) finish_birth(world, binding, made);
    return ECS_OK;
}

// What a row of a series needs beyond its defaults. Apart, so that those that need nothing more save no
// registers.
static __attribute__((noinline)) void finish_prepared(ecs_world* world, ecs_chunk* chunk,
                                                      uint32_t row, const ecs_init* inits,
                                                      uint32_t init_count) {
    set_plain_inits(chunk, row, inits, init_count);
    if (chunk->archetype->track_count > 0) ecs_track_count_row(world, chunk, row, true);
}

// A creation in a series: the next row of the runway holds the defaults already, and there is room for
// the word to tracking (ecs_runway_count). What else may be in the way is left to create_any, and nothing
// changed then: an index that takes a search, values that are not there.
static inline bool create_prepared(ecs_world* world, ecs_template_id template_id,
                                   const ecs_init* inits, uint32_t init_count, ecs_entity* entity) {
    ecs_storage* storage = world->storage;
    ecs_runway* runway = &storage->runway;
    if (runway->left == 0 || runway->template_id != template_id) return false;
    // Where structure may not change create_any asserts.
    if (world->fast.walk_depth > 0 || (world->stage_depth > 0 && !world->commands->is_flushing))
        return false;
    ecs_chunk* chunk = runway->chunk;
    ecs_archetype* archetype = chunk->archetype;
    for (uint32_t i = 0; i < init_count; i++)
        if (inits[i].component >= storage->slot_count ||
            archetype->lookup[inits[i].component].column == ECS_SLOT_NONE)
            return false;
    ecs_entity made = runway->is_fresh ? ecs_entity_make(runway->indices->fresh++, 1)
                                       : ecs_handle_recycle(storage, runway->indices);
    if (made == ECS_ENTITY_NONE) return false;
    runway->left--;
    uint32_t row = storage->chunk_counts[chunk->id]++;
    archetype->row_count++;
    storage->entity_count++;
    ecs_row_settle(world, chunk, row, made, template_id);
    ecs_entity_list* born = &world->tracker->created;
    born->items[born->count++] = made;
    *entity = made;
    if (init_count > 0 || archetype->track_count > 0)
        finish_prepared(world, chunk, row, inits, init_count);
    return true;
}

ecs_result ecs_structure_create(ecs_world* world, ecs_template_id template_id,
                                const ecs_init* inits, uint32_t init_count, ecs_entity* entity) {
    if (create_prepared(world, template_id, inits, init_count, entity)) return ECS_OK;
    return create_any(world, template_id, inits, init_count, entity);
}

// An entity at a handle that somebody else chose.
static ecs_result create_given(ecs_world* world, ecs_entity handle, ecs_template_id template_id,
                               const ecs_init* inits, uint32_t init_count, bool is_told) {
    const ecs_record* record = ecs_record_at(world->storage, ecs_entity_index(handle));
    if (record->life & ECS_LIFE_CREATED) {
        if (ecs_is_alive(world, handle)) ecs_world_count_bad_transition(world);
        return ECS_ERR_TAKEN;
    }
    ecs_binding* binding = NULL;
    ecs_result result = ecs_row_bind(world, template_id, &binding);
    if (result != ECS_OK) return result;
    const ecs_edge* birth = is_told ? binding->archetype->birth : NULL;
    if (!ecs_record_reserve(world, ecs_entity_index(handle)) ||
        (is_told && !ecs_row_reserve_told(world, 1, 0)) ||
        (birth && !ecs_core_event_reserve(world, birth, ecs_entity_index(handle))))
        return ECS_ERR_MEMORY;
    ecs_chunk* chunk = NULL;
    uint32_t row = 0;
    result = create_row(world, binding, template_id, inits, init_count, &chunk, &row);
    if (result != ECS_OK) return result;
    ecs_row_settle(world, chunk, row, handle, template_id);
    world->storage->entity_count++;
    world->storage->runway.left = 0; // its share of the room for the word to tracking is used up
    if (world->storage->held.count > 0) ecs_held_created(world, handle);
    if (is_told) ecs_structure_created(world, chunk, row, handle);
    if (binding->is_singleton) binding->single = handle;
    if (birth) ecs_core_event_after(world, birth, handle);
    return ECS_OK;
}

ecs_result ecs_structure_create_at(ecs_world* world, ecs_entity handle, ecs_template_id template_id,
                                   const ecs_init* inits, uint32_t init_count) {
    return create_given(world, handle, template_id, inits, init_count, true);
}

ecs_result ecs_storage_place(ecs_world* world, ecs_entity handle, ecs_template_id template_id) {
    uint32_t index = ecs_entity_index(handle);
    uint32_t index_max = world->limits.replicated_index_max + world->limits.local_entities_max;
    if (index == 0 || index > index_max || ecs_entity_generation(handle) == 0) return ECS_ERR_STALE;
    ecs_result result = create_given(world, handle, template_id, NULL, 0, false);
    if (result == ECS_OK) ecs_index_settle(world, index);
    return result;
}

// A death where columns hold plain data, nobody tracks them and nobody listens.
static inline void destroy_plain(ecs_world* world, const ecs_place* place, ecs_record* record,
                                 ecs_entity entity) {
    ecs_storage* storage = world->storage;
    ecs_entity_list* dead = &world->tracker->destroyed;
    dead->items[dead->count++] = entity;
    ecs_chunk_remove_plain(world, place, record->place);
    *record = (ecs_record){.life = (uint16_t)ecs_entity_generation(entity)};
    storage->entity_count--;
    ecs_index_free(world, storage, ecs_entity_index(entity));
}

static __attribute__((noinline)) void destroy_any(ecs_world* world, ecs_record* record,
                                                  ecs_entity entity) {
    ecs_chunk* chunk = ecs_record_chunk(world->storage, record);
    uint32_t row = ecs_record_row(record);
    ecs_chunk_prefetch(chunk, row);
    const ecs_archetype* archetype = chunk->archetype;
    const ecs_edge* death = archetype->death;
    if (death) ecs_core_event_before(world, death, entity);
    ecs_row_tell_destroying(world, chunk, row, entity);
    if (archetype->has_ops)
        ecs_row_destroy_cells(world, chunk, row, archetype->column_count + archetype->track_count);
    ecs_chunk_remove(world, chunk, row);
    *record = (ecs_record){.life = (uint16_t)ecs_entity_generation(entity)};
    world->storage->entity_count--;
    if (world->storage->held.count > 0) ecs_held_destroyed(world, entity);
    ecs_index_free(world, world->storage, ecs_entity_index(entity));
    if (death) ecs_core_event_after(world, death, entity);
}

ecs_result ecs_structure_destroy(ecs_world* world, ecs_entity entity) {
    BASE_ASSERT(ecs_is_alive(world, entity));
    ecs_record* record = ecs_record_mut(world->storage, ecs_entity_index(entity));
    const ecs_place* place = &world->storage->places[record->place >> ECS_ROW_BITS];
    const ecs_archetype* archetype = place->archetype;
    // Tracking made room for this death when the entity was created, but for those that were restored.
    const ecs_entity_list* dead = &world->tracker->destroyed;
    if (archetype->is_simple && !archetype->death && world->storage->held.count == 0 &&
        dead->count < dead->capacity)
        destroy_plain(world, place, record, entity);
    else
        destroy_any(world, record, entity);
    return ECS_OK;
}

// The old row's cells that the new one takes over; ECS_SLOT_NONE elsewhere. `sources` of such a column
// is the old value.
typedef struct move_plan {
    uint16_t from[ECS_TEMPLATE_COMPONENTS_MAX]; // by new column
    const void* sources[ECS_TEMPLATE_COMPONENTS_MAX];
} move_plan;

static void plan_move(const ecs_world* world, const ecs_binding* binding, const ecs_chunk* old,
                      const ecs_init* inits, uint32_t init_count, move_plan* plan) {
    bool are_there = choose_sources(world, binding, inits, init_count, plan->sources);
    BASE_ASSERT(are_there);
    const ecs_archetype* archetype = binding->archetype;
    for (uint32_t i = 0; i < archetype->column_count; i++)
        plan->from[i] = old->slots[archetype->columns[i].component];
    for (uint32_t i = 0; i < init_count; i++)
        plan->from[archetype->slots[inits[i].component]] = ECS_SLOT_NONE;
}

// The first half: cells that are new, and all shadows. Cells that will be moved in stay uncreated.
static bool build_cells(ecs_world* world, ecs_chunk* chunk, uint32_t row, const ecs_chunk* old,
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
        if (ecs_cell_copy(world, archetype->columns[column].type, ecs_chunk_cell(chunk, i, row),
                          source))
            continue;
        for (uint32_t k = 0; k < i; k++) {
            uint32_t made = k < count ? k : archetype->tracked[k - count];
            if (k >= count || plan->from[k] == ECS_SLOT_NONE)
                ecs_cell_destroy(world, archetype->columns[made].type,
                                 ecs_chunk_cell(chunk, k, row));
        }
        return false;
    }
    return true;
}

// The second half: move what is kept, destroy the rest of the old row.
static void move_cells(ecs_world* world, ecs_chunk* chunk, uint32_t row, ecs_chunk* old,
                       uint32_t old_row, const move_plan* plan) {
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

// Both halves at once for plain data, where nothing can fail and a move is a copy. A shadow starts as its
// value.
static void move_plain_row(ecs_chunk* chunk, uint32_t row, const ecs_chunk* old, uint32_t old_row,
                           const ecs_binding* binding, const ecs_init* inits, uint32_t init_count) {
    const ecs_archetype* archetype = chunk->archetype;
    for (uint32_t i = 0; i < archetype->column_count; i++) {
        uint16_t from = old->slots[archetype->columns[i].component];
        ecs_bytes_copy(ecs_chunk_cell(chunk, i, row),
                       from == ECS_SLOT_NONE ? binding->defaults[i]
                                             : ecs_chunk_cell(old, from, old_row),
                       chunk->sizes[i]);
    }
    for (uint32_t i = 0; i < init_count; i++) {
        ecs_slot slot = archetype->lookup[inits[i].component];
        ecs_bytes_copy(ecs_chunk_cell(chunk, slot.column, row), inits[i].value, slot.size);
    }
    for (uint32_t t = 0; t < archetype->track_count; t++) {
        uint32_t column = archetype->tracked[t];
        ecs_bytes_copy(ecs_chunk_cell(chunk, archetype->column_count + t, row),
                       ecs_chunk_cell(chunk, column, row), chunk->sizes[column]);
    }
}

// Values that own memory: the parts that may fail first. @return false when memory ran out.
static bool move_owning_row(ecs_world* world, ecs_chunk* chunk, uint32_t row, ecs_chunk* old,
                            uint32_t old_row, const ecs_binding* binding, const ecs_init* inits,
                            uint32_t init_count) {
    move_plan plan;
    plan_move(world, binding, old, inits, init_count, &plan);
    if (!build_cells(world, chunk, row, old, old_row, &plan)) return false;
    ecs_structure_leaving(world, old, old_row, old->entities[old_row]);
    move_cells(world, chunk, row, old, old_row, &plan);
    return true;
}

// The last that may refuse a move; those who hear of its end are told.
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
    if (!((from->told | to->told) & ECS_TOLD_MOVE)) return ECS_OK;
    *edge = ecs_core_event_move(world, from, to);
    if (!*edge || !ecs_core_event_reserve(world, *edge, ecs_entity_index(entity)))
        return ECS_ERR_MEMORY;
    ecs_core_event_before(world, *edge, entity);
    return ECS_OK;
}

__attribute__((noinline)) static void finish_move(ecs_world* world, ecs_binding* binding,
                                                  const ecs_edge* edge, ecs_entity entity) {
    if (binding->is_singleton) binding->single = entity;
    if (edge) ecs_core_event_after(world, edge, entity);
}

// A move between plain rows that nobody tracks or hears of, one value after another by offsets that all
// blocks of an archetype share. What may be in the way is left to recreate_any, and nothing changed then.
static inline bool recreate_simple(ecs_world* world, ecs_record* record, ecs_entity entity,
                                   ecs_template_id template_id) {
    ecs_storage* storage = world->storage;
    if (template_id >= storage->binding_capacity) return false;
    const ecs_binding* binding = &storage->bindings[template_id];
    ecs_archetype* to = binding->archetype;
    const uint32_t old_place = record->place;
    const ecs_place* place = &storage->places[old_place >> ECS_ROW_BITS];
    const ecs_archetype* from = place->archetype;
    ecs_entity_list *recreated = &world->tracker->recreated, *dead = &world->tracker->destroyed;
    if (!to || to == from || !to->is_simple || !from->is_simple || (to->told | from->told) ||
        (binding->is_replicated && ecs_entity_index(entity) > world->limits.replicated_index_max) ||
        to->chunk_count == 0 || recreated->count == recreated->capacity ||
        dead->capacity - dead->count < storage->entity_count)
        return false;
    ecs_chunk* chunk = to->chunks[to->tail];
    const uint32_t row = storage->chunk_counts[chunk->id];
    if (row == chunk->capacity || storage->runway.chunk == chunk) return false;
    if (row == chunk->clean_end) ecs_chunk_clean(chunk, row + 1);
    storage->chunk_counts[chunk->id] = row + 1;
    to->row_count++;
    const uint8_t* old = (const uint8_t*)place->chunk;
    const uint32_t old_row = old_place & ECS_ROW_MASK, count = to->column_count;
    const ecs_span *spans = to->spans, *old_spans = from->spans;
    const ecs_column* columns = to->columns;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t size = spans[i].size;
        const uint16_t column = from->slots[columns[i].component];
        ecs_bytes_copy((uint8_t*)chunk + spans[i].offset + (size_t)size * row,
                       column == ECS_SLOT_NONE
                           ? binding->defaults[i]
                           : old + old_spans[column].offset + (size_t)size * old_row,
                       size);
    }
    chunk->entities[row] = entity;
    record->place = chunk->id << ECS_ROW_BITS | row;
    record->template_id = template_id;
    recreated->items[recreated->count++] = entity;
    ecs_chunk_remove_plain(world, place, old_place);
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
    if (!are_inits_there(world, archetype, inits, init_count)) return ECS_ERR_MISSING;
    if (!ecs_row_reserve_told(world, 0, 1)) return ECS_ERR_MEMORY;
    ecs_chunk* chunk = NULL;
    result = ecs_row_reserve(world, archetype, &chunk);
    if (result != ECS_OK) return result;
    ecs_chunk* old = ecs_record_chunk(world->storage, record);
    const ecs_edge* edge = NULL;
    const uint32_t told = old->archetype->told | archetype->told;
    if (told) {
        result = prepare_move(world, entity, old->archetype, template_id, &edge);
        if (result != ECS_OK) return result;
    }
    uint32_t old_row = ecs_record_row(record);
    uint32_t row = ecs_chunk_append(world, chunk, 1);
    if (!archetype->has_ops && !old->archetype->has_ops) {
        ecs_structure_leaving(world, old, old_row, entity);
        move_plain_row(chunk, row, old, old_row, binding, inits, init_count);
    } else if (!move_owning_row(world, chunk, row, old, old_row, binding, inits, init_count)) {
        ecs_chunk_retract(world, chunk, 1);
        if (edge) ecs_core_event_stayed(world, edge, entity);
        return ECS_ERR_MEMORY;
    }
    ecs_row_settle(world, chunk, row, entity, template_id);
    ecs_chunk_remove(world, old, old_row);
    ecs_structure_arrived(world, ecs_record_chunk(world->storage, record), ecs_record_row(record),
                          entity);
    if (told) finish_move(world, binding, edge, entity);
    return ECS_OK;
}

ecs_result ecs_structure_recreate(ecs_world* world, ecs_entity entity, ecs_template_id template_id,
                                  const ecs_init* inits, uint32_t init_count) {
    if (init_count == 0 &&
        recreate_simple(world, ecs_record_mut(world->storage, ecs_entity_index(entity)), entity,
                        template_id))
        return ECS_OK;
    return recreate_any(world, entity, template_id, inits, init_count);
}
