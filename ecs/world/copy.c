// SPDX-License-Identifier: MIT
// Make one world equal to another one.
//
// Two worlds of one registration that hold the same entities in the same rows differ in values
// only, and whole columns of them are copied. That is the steady case of a prediction that is made
// again from its mirror many times a second. Any other difference takes the long way, save and
// restore. Both ways handle everything that a save holds, so both give the same world.
//
// Invariant: the choice between the two ways is made before anything is changed.
#include "base/assert.h"
#include "ecs/save.h"
#include "event/command_queue.h"
#include "event/event_queue.h"
#include "event/systems.h"
#include "structure/loading.h"
#include "table/entity.h"
#include "table/row.h"
#include "table/storage.h"
#include "type/type_registry.h"
#include "type/world.h"

#include <string.h>

static bool is_same_template(const ecs_world* a, const ecs_world* b, ecs_template_id id) {
    const ecs_template* x = ecs_template_get(a, id);
    const ecs_template* y = ecs_template_get(b, id);
    if (!x || !y || x->part_count != y->part_count) return false;
    // A loaded template is what was registered.
    return x->part_count <= 1 ||
           memcmp(x->parts, y->parts, x->part_count * sizeof(x->parts[0])) == 0;
}

// Has `world` those that `from` composed?
static bool has_templates(const ecs_world* world, const ecs_world* from) {
    const uint32_t templates = ecs_template_count(from);
    for (uint32_t id = 1; id <= templates; id++)
        if (!is_same_template(world, from, (ecs_template_id)id)) return false;
    return true;
}

static bool is_same_chunk(const ecs_world* world, const ecs_world* from, const ecs_chunk* chunk,
                          const ecs_chunk* source) {
    uint32_t count = ecs_chunk_count(from->storage, source);
    if (ecs_chunk_count(world->storage, chunk) != count ||
        memcmp(chunk->entities, source->entities, count * sizeof(ecs_entity)) != 0)
        return false;
    for (uint32_t row = 0; row < count; row++) {
        ecs_template_id id = ecs_entity_template(from, source->entities[row]);
        if (ecs_entity_template(world, source->entities[row]) != id) return false;
    }
    return true;
}

// Chunks in use: the others hold no rows.
static uint32_t chunks_used(const ecs_archetype* archetype) {
    return archetype->row_count == 0 ? 0 : archetype->tail->index + 1;
}

static bool is_same_archetype(const ecs_world* world, const ecs_world* from,
                              const ecs_archetype* archetype, const ecs_archetype* source) {
    if (archetype->made_by != source->made_by || archetype->row_count != source->row_count ||
        archetype->column_count != source->column_count ||
        archetype->track_count != source->track_count ||
        chunks_used(archetype) != chunks_used(source))
        return false;
    for (uint32_t k = 0; k < chunks_used(source); k++)
        if (!is_same_chunk(world, from, archetype->chunks[k], source->chunks[k])) return false;
    return true;
}

static bool is_same_held(const ecs_world* world, const ecs_world* from) {
    const ecs_held_handles* a = &world->storage->held;
    const ecs_held_handles* b = &from->storage->held;
    if (a->count != b->count || a->allocated_count != b->allocated_count ||
        a->loading_count != b->loading_count)
        return false;
    for (uint32_t i = 0; i < a->count; i++) {
        const ecs_held_handle* x = &a->items[i];
        const ecs_held_handle* y = ecs_held_find(from, x->handle);
        if (!y || x->references != y->references || x->is_loading != y->is_loading) return false;
    }
    return true;
}

// Dead indices too: their generations decide handles to come.
static bool is_same_page(const ecs_record_page* a, const ecs_record_page* b) {
    if (memcmp(a->free_words, b->free_words, sizeof(a->free_words)) != 0) return false;
    uint32_t differences = 0;
    for (uint32_t i = 0; i < ECS_PAGE_RECORDS; i++)
        differences |= (uint32_t)(a->records[i].life ^ b->records[i].life);
    return differences == 0;
}

static bool is_same_indices(const ecs_world* world, const ecs_world* from) {
    const ecs_storage* storage = world->storage;
    const ecs_storage* source = from->storage;
    if (memcmp(storage->ranges, source->ranges, sizeof(storage->ranges)) != 0 ||
        !is_same_held(world, from))
        return false;
    for (uint32_t i = 0; i < ECS_PAGES; i++) {
        // A missing page reads as zeros, as does one where nothing ever lived.
        bool is_missing =
            storage->pages[i] == storage->zero_page && source->pages[i] == source->zero_page;
        if (!is_missing && !is_same_page(storage->pages[i], source->pages[i])) return false;
    }
    return true;
}

static bool is_same_structure(const ecs_world* world, const ecs_world* from) {
    BASE_ASSERT(world != from);
    const ecs_storage* storage = world->storage;
    const ecs_storage* source = from->storage;
    ecs_runway_return(world);
    ecs_runway_return(from);
    if (storage->archetype_count != source->archetype_count || from->commands->view.count != 0 ||
        storage->entity_count != source->entity_count || world->loading->count != 0 ||
        from->loading->count != 0)
        return false;
    if (!has_templates(world, from)) return false;
    for (uint32_t i = 0; i < source->archetype_count; i++)
        if (!is_same_archetype(world, from, storage->archetypes[i], source->archetypes[i]))
            return false;
    return is_same_indices(world, from);
}

static void copy_cells(ecs_world* world, const ecs_type* type, void* target, const void* source,
                       uint32_t count) {
    if (ecs_type_is_plain(type)) {
        memcpy(target, source, (size_t)type->size * count);
        return;
    }
    ecs_type_context context = {world->allocator};
    for (uint32_t row = 0; row < count; row++) {
        uint8_t* to = (uint8_t*)target + (size_t)type->size * row;
        const uint8_t* from = (const uint8_t*)source + (size_t)type->size * row;
        ecs_cell_assign(world, type, to, from);
        // The version too: a value and its shadow differ in it wherever they differ.
        if (type->ops->version) (void)ecs_value_compare(type, &context, to, from);
    }
}

static void copy_chunk(ecs_world* world, ecs_chunk* chunk, const ecs_chunk* source,
                       uint32_t count) {
    const ecs_archetype* archetype = chunk->archetype;
    for (uint32_t column = 0; column < archetype->column_count; column++) {
        const ecs_column* info = &archetype->columns[column];
        if (info->size > 0)
            copy_cells(world, info->type, chunk->columns[column], source->columns[column], count);
    }
    for (uint32_t track = 0; track < archetype->track_count; track++) {
        const ecs_column* info = &archetype->columns[archetype->tracked[track]];
        uint32_t shadow = archetype->column_count + track;
        if (info->size > 0)
            copy_cells(world, info->type, chunk->columns[shadow], source->columns[shadow], count);
        memset(ecs_chunk_dirty(chunk, track), 0, chunk->dirty_words * sizeof(uint64_t));
        *ecs_chunk_summary(chunk, track) = 0;
        chunk->written[track] =
            source->written[track] != 0 || *ecs_chunk_summary(source, track) != 0;
    }
}

// Of an area: those whose target is in it.
static bool copy_events(ecs_world* world, const ecs_events* source, bool is_area) {
    ecs_event_walk walk = {.at = source->head};
    for (const uint8_t* payload; (payload = ecs_events_next(source, &walk)) != NULL;) {
        const ecs_entity target = ecs_event_target(payload);
        const bool is_here = target == ECS_ENTITY_NONE || !is_area || ecs_is_alive(world, target);
        if (is_here && !ecs_event_post(world, target, (ecs_event_type)walk.kind->id, payload))
            return false;
    }
    return true;
}

static bool copy_values(ecs_world* world, const ecs_world* from) {
    const ecs_storage* source = from->storage;
    for (uint32_t i = 0; i < source->archetype_count; i++) {
        const ecs_archetype* archetype = source->archetypes[i];
        for (uint32_t k = 0; k < chunks_used(archetype); k++) {
            uint32_t count = ecs_chunk_count(source, archetype->chunks[k]);
            copy_chunk(world, world->storage->archetypes[i]->chunks[k], archetype->chunks[k],
                       count);
        }
    }
    return copy_events(world, from->events, false);
}

// The functions of another build of a module do not know the values of this one, only their bytes.
static bool is_same_code(const ecs_world* world, const ecs_world* from) {
    const uint32_t count = ecs_type_count(world);
    bool is_same = count == ecs_type_count(from);
    for (uint32_t id = 1; id <= count && is_same; id++)
        is_same =
            ecs_type_get(world, (ecs_type_id)id)->ops == ecs_type_get(from, (ecs_type_id)id)->ops;
    return is_same;
}

static ecs_result copy_by_save(ecs_world* world, const ecs_world* from) {
    base_bytes bytes;
    base_bytes_init(&bytes, world->allocator);
    ecs_world_save(from, &bytes);
    ecs_result result = ecs_world_restore(world, bytes.data, bytes.size);
    base_bytes_deinit(&bytes);
    return result;
}

ecs_result ecs_world_copy(ecs_world* world, const ecs_world* from) {
    BASE_ASSERT(world != from && world->is_sealed && from->is_sealed);
    BASE_ASSERT(world->fast.stage_depth == 0 && world->fast.walk_depth == 0 &&
                from->fast.stage_depth == 0);
    ecs_commands_clear(world);
    if (!is_same_structure(world, from) || !is_same_code(world, from))
        return copy_by_save(world, from);
    ecs_events_clear(world);
    ecs_changes_clear(world);
    if (!copy_values(world, from)) return copy_by_save(world, from);
    ecs_membership_copy(world, from);
    memcpy(world->tracker->hashes, from->tracker->hashes,
           (ecs_component_count(from) + 1) * sizeof(uint64_t));
    world->storage->links.is_behind = true;
    world->rng = from->rng;
    world->tick = from->tick;
    return ECS_OK;
}

// ---- an area of a world ----

typedef struct area {
    ecs_world* world;
    const ecs_world* from;
    ecs_area_fn is_inside;
    void* context;
    ecs_entity* gone; // of `world`, to be destroyed: a walk allows no change
    uint32_t gone_count, gone_capacity;
} area;

static bool is_in_area(const area* it, ecs_entity entity) {
    return ecs_entity_index(entity) <= it->from->limits.replicated_index_max &&
           it->is_inside(it->from, it->context, entity);
}

// Destroy what left the area, and what got another template.
static void destroy_gone(area* it) {
    ecs_world* world = it->world;
    for (ecs_entity at = ecs_entity_next(world, ECS_ENTITY_NONE); at != ECS_ENTITY_NONE;
         at = ecs_entity_next(world, at)) {
        const ecs_template_id of = ecs_entity_template(it->from, at);
        if (of != ECS_TEMPLATE_NONE && of == ecs_entity_template(world, at) && is_in_area(it, at))
            continue;
        BASE_ARRAY_RESERVE(world->allocator, it->gone, it->gone_capacity, it->gone_count + 1);
        it->gone[it->gone_count++] = at;
    }
    for (uint32_t i = 0; i < it->gone_count; i++)
        if (ecs_is_alive(world, it->gone[i])) (void)!ecs_destroy(world, it->gone[i]);
    BASE_ARRAY_RELEASE(world->allocator, it->gone, it->gone_capacity);
}

// The values of an entity that both have; tracking finds the differences.
static void copy_entity(const area* it, const ecs_template* of, ecs_entity entity) {
    for (uint32_t i = 0; i < of->component_count; i++) {
        const ecs_component_id id = of->components[i].component;
        const ecs_type* type = ecs_type_get(it->world, ecs_component_get(it->world, id)->type);
        const void* source = type->size > 0 ? ecs_find(it->from, entity, id) : NULL;
        void* target = source ? ecs_find_mut(it->world, entity, id) : NULL;
        if (target) ecs_cell_assign(it->world, type, target, source);
    }
}

static ecs_result copy_entities(const area* it) {
    ecs_result result = ECS_OK;
    for (ecs_entity at = ecs_entity_next(it->from, ECS_ENTITY_NONE);
         at != ECS_ENTITY_NONE && result == ECS_OK; at = ecs_entity_next(it->from, at)) {
        if (!is_in_area(it, at)) continue;
        const ecs_template_id id = ecs_entity_template(it->from, at);
        if (!ecs_is_alive(it->world, at)) result = ecs_create_at(it->world, at, id, NULL, 0);
        if (result == ECS_OK) copy_entity(it, ecs_template_get(it->from, id), at);
    }
    return result;
}

ecs_result ecs_world_copy_area(ecs_world* world, const ecs_world* from, ecs_area_fn is_inside,
                               void* context) {
    BASE_ASSERT(world != from && world->is_sealed && from->is_sealed);
    BASE_ASSERT(world->is_mirror && from->is_mirror);
    BASE_ASSERT(world->fast.stage_depth == 0 && world->fast.walk_depth == 0 &&
                from->fast.stage_depth == 0);
    area it = {.world = world, .from = from, .is_inside = is_inside, .context = context};
    ecs_commands_clear(world);
    // A template that was composed meanwhile comes with the whole world.
    ecs_result result = has_templates(world, from) ? ECS_OK : ecs_world_copy(world, from);
    if (result != ECS_OK) return result;
    destroy_gone(&it);
    result = copy_entities(&it);
    if (result != ECS_OK) return result;
    ecs_events_clear(world);
    ecs_changes_clear(world);
    world->storage->links.is_behind = true;
    world->rng = from->rng;
    world->tick = from->tick;
    return copy_events(world, from->events, true) ? ECS_OK : ECS_ERR_FULL;
}
