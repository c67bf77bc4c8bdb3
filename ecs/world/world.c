// SPDX-License-Identifier: MIT
// The world as a whole: made, sealed, torn down; what belongs to no single concern.
//
// world.h lists the concerns in the order in which they are set up. The block of the world owns all
// memory, contexts of modules too: nothing here knows what they hold.
#include "base/assert.h"
#include "base/text.h"
#include "ecs/need.h"
#include "event/command_queue.h"
#include "event/systems.h"
#include "event/event_queue.h"
#include "structure/hierarchy.h"
#include "structure/loading.h"
#include "structure/transition.h"
#include "table/entity.h"
#include "table/query_cache.h"
#include "table/storage.h"
#include "table/track.h"
#include "template/template_registry.h"
#include "type/type_registry.h"
#include "type/world.h"
#include "world/save.h"

#include <stdlib.h>
#include <string.h>

// The storage as a whole: set up, cleared, torn down, and what a save needs beside rows.
//
// A save keeps what decides the future: generations and cursors of the index walk, held handles,
// the order of archetypes and of rows. Free bits, chunk ids and caches follow from those.

enum {
    HELD_PENDING = 2
}; // saved state of a handle that waits for resources; 0 and 1 are is_loading

static void reset_ranges(ecs_world* world) {
    uint32_t replicated_max = world->limits.replicated_index_max;
    world->storage->ranges[0] =
        (ecs_index_range){.first = 1, .last = replicated_max, .fresh = 1, .cursor = 1};
    world->storage->ranges[1] =
        (ecs_index_range){.first = replicated_max + 1,
                          .last = replicated_max + world->limits.local_entities_max,
                          .fresh = replicated_max + 1,
                          .cursor = replicated_max + 1};
}

// Of all worlds: it is never written.
static const ecs_record_page ZERO_PAGE;

void ecs_storage_clear(ecs_world* world) {
    ecs_storage* storage = world->storage;
    const base_allocator* allocator = world->allocator;
    ecs_loading_clear(world);
    ecs_commands_clear(world);
    ecs_core_event_clear(world);
    ecs_queries_clear(world);
    ecs_hierarchy_reset(world);
    storage->runway = (ecs_runway){0};
    for (uint32_t id = 0; id < storage->binding_capacity; id++)
        if (storage->bindings[id].archetype) ecs_binding_drop(world, &storage->bindings[id]);
    for (uint32_t id = 0; id < storage->archetype_count; id++) {
        ecs_core_event_unbind(world, storage->archetypes[id]);
        ecs_archetype_destroy(world, storage->archetypes[id]);
    }
    storage->archetype_count = storage->tracked_count = 0;
    base_table_clear(&storage->archetype_ids);
    storage->chunk_id_next = 0;
    storage->chunk_ids_free_count = 0;
    for (uint32_t i = 0; i < ECS_PAGES; i++) {
        if (storage->pages[i] && storage->pages[i] != storage->zero_page)
            base_release(allocator, storage->pages[i], sizeof *storage->pages[i]);
        storage->pages[i] = storage->zero_page;
    }
    ecs_held_deinit(world);
    storage->entity_count = 0;
    reset_ranges(world);
}

static int by_handle(const void* a, const void* b) {
    ecs_entity left = ((const ecs_held_handle*)a)->handle;
    ecs_entity right = ((const ecs_held_handle*)b)->handle;
    return (left > right) - (left < right);
}

static void write_held(const ecs_world* world, base_bytes* bytes) {
    const ecs_held_handles* held = &world->storage->held;
    base_bytes_write_varint(bytes, held->count);
    if (held->count == 0) return;
    ecs_held_handle* sorted = base_allocate(world->allocator, held->count * sizeof *sorted);
    memcpy(sorted, held->items, held->count * sizeof *sorted);
    qsort(sorted, held->count, sizeof *sorted, by_handle);
    for (uint32_t i = 0; i < held->count; i++) {
        base_bytes_write_u32(bytes, sorted[i].handle);
        base_bytes_write_varint(bytes, sorted[i].references);
        base_bytes_write_u8(bytes, sorted[i].pending != 0 ? HELD_PENDING : sorted[i].is_loading);
    }
    BASE_ARRAY_RELEASE(world->allocator, sorted, held->count);
}

static ecs_result read_held(ecs_world* world, base_reader* reader) {
    ecs_held_handles* held = &world->storage->held;
    uint64_t count = base_reader_varint(reader);
    for (uint64_t i = 0; i < count && !reader->failed; i++) {
        ecs_entity handle = base_reader_u32(reader);
        uint64_t references = base_reader_varint(reader);
        uint8_t state = base_reader_u8(reader);
        bool is_loading = state != 0;
        if (reader->failed || !ecs_handle_is_in_range(world, handle) ||
            ecs_held_find(world, handle) || references > UINT32_MAX || state > HELD_PENDING ||
            (references == 0 && !is_loading))
            return ECS_ERR_MALFORMED;
        ecs_held_handle* entry = ecs_handle_hold(world, handle);
        entry->references = (uint32_t)references;
        entry->is_loading = is_loading;
        entry->pending = state == HELD_PENDING ? ECS_PENDING_AWAITED : 0;
        world->loading->awaited += state == HELD_PENDING;
        held->loading_count += is_loading ? 1 : 0;
        held->allocated_count += is_loading ? 0 : 1;
    }
    return reader->failed ? ECS_ERR_MALFORMED : ECS_OK;
}

// The indices of a page whose generation is not 0, each as its distance from the one before.
static void write_page(const ecs_record_page* page, uint32_t first, uint32_t* last,
                       base_bytes* bytes) {
    enum { INDEX_BYTES_MAX = 4 + 2, BYTES_MAX = ECS_PAGE_RECORDS * INDEX_BYTES_MAX };
    uint8_t* begin = base_bytes_extend(bytes, BYTES_MAX);
    uint8_t* target = begin;
    for (uint32_t i = 0; i < ECS_PAGE_RECORDS; i++) {
        const uint32_t generation = page->records[i].life & ECS_GENERATION_MAX;
        if (page->records[i].life == 0) continue;
        target += base_varint_put(target, first + i - *last);
        target += base_varint_put(target, generation);
        *last = first + i;
    }
    bytes->size -= BYTES_MAX - (size_t)(target - begin);
}

void ecs_storage_write_indices(const ecs_world* world, base_bytes* bytes) {
    const ecs_storage* storage = world->storage;
    ecs_runway_return(world);
    for (uint32_t i = 0; i < 2; i++) {
        base_bytes_write_u32(bytes, storage->ranges[i].fresh);
        base_bytes_write_u32(bytes, storage->ranges[i].cursor);
    }
    uint32_t last = 0;
    for (uint32_t i = 0; i < ECS_PAGES; i++)
        if (storage->pages[i] != storage->zero_page)
            write_page(storage->pages[i], i << ECS_PAGE_BITS, &last, bytes);
    base_bytes_write_varint(bytes, 0);
    write_held(world, bytes);
}

static ecs_result read_range(ecs_world* world, ecs_index_range* range, base_reader* reader) {
    uint32_t fresh = base_reader_u32(reader);
    uint32_t cursor = base_reader_u32(reader);
    if (reader->failed || fresh < range->first || fresh > range->last + 1 ||
        cursor < range->first || cursor > fresh || cursor > range->last)
        return ECS_ERR_MALFORMED;
    range->fresh = fresh;
    range->cursor = cursor;
    for (uint64_t index = range->first; index < fresh; index = (index | (ECS_PAGE_RECORDS - 1)) + 1)
        ecs_record_reserve(world, (uint32_t)index);
    return ECS_OK;
}

// May an index carry a generation, as far as the ranges say?
static bool is_used(const ecs_world* world, uint64_t index) {
    const ecs_index_range* ranges = world->storage->ranges;
    if (index <= ranges[0].last) return world->is_mirror || index < ranges[0].fresh;
    return index < ranges[1].fresh;
}

ecs_result ecs_storage_read_indices(ecs_world* world, base_reader* reader) {
    ecs_storage* storage = world->storage;
    BASE_ASSERT(storage->entity_count == 0 && storage->held.count == 0);
    for (uint32_t i = 0; i < 2; i++) {
        ecs_result result = read_range(world, &storage->ranges[i], reader);
        if (result != ECS_OK) return result;
    }
    uint64_t index = 0;
    for (;;) {
        uint64_t step = base_reader_varint(reader);
        if (reader->failed) return ECS_ERR_MALFORMED;
        if (step == 0) break;
        uint64_t generation = base_reader_varint(reader);
        if (reader->failed || step > ECS_INDEX_MAX || !is_used(world, index += step) ||
            generation < 1 || generation > ECS_GENERATION_MAX)
            return ECS_ERR_MALFORMED;
        // Elsewhere the ranges have made all pages.
        if (world->is_mirror) ecs_record_reserve(world, (uint32_t)index);
        ecs_record_mut(storage, (uint32_t)index)->life = (uint16_t)generation;
    }
    return read_held(world, reader);
}

void ecs_storage_settle_indices(ecs_world* world) {
    const ecs_storage* storage = world->storage;
    for (uint32_t i = 0; i < 2; i++)
        for (uint32_t used = storage->ranges[i].first; used < storage->ranges[i].fresh; used++)
            if (!(ecs_record_at(storage, used)->life & ECS_LIFE_CREATED))
                ecs_index_settle(world, used);
}

enum { REPLICATED_INDEX_LIMIT = 1 << 20 };

// A world and its parts in one block. The parts' headers are included here only, so that a file
// that uses one part does not depend on the others.
typedef struct world_block {
    base_owner owner;
    ecs_world world;
    ecs_types types;
    ecs_templates templates;
    ecs_storage storage;
    ecs_commands commands;
    ecs_loading loading;
    ecs_hierarchy hierarchy;
    ecs_systems systems;
    ecs_events events;
    ecs_tracker tracker;
} world_block;

static ecs_world* make_block(const base_allocator* allocator) {
    world_block* block = base_owner_create(allocator, sizeof *block);
    ecs_world* world = &block->world;
    world->allocator = &block->owner.allocator;
    world->types = &block->types;
    world->templates = &block->templates;
    world->storage = &block->storage;
    world->commands = &block->commands;
    world->fast.commands = &block->commands.view;
    world->loading = &block->loading;
    world->hierarchy = &block->hierarchy;
    world->systems = &block->systems;
    world->events = &block->events;
    world->fast.events = &block->events.view;
    world->tracker = &block->tracker;
    return world;
}

ecs_world_config ecs_world_config_default(void) {
    return (ecs_world_config){.limits = ecs_limits_default()};
}

static bool is_queue_limit(uint32_t count) {
    return count >= 1 && count <= ECS_INDEX_MAX;
}

static bool are_limits_valid(const ecs_world_config* config) {
    const ecs_limits* limits = &config->limits;
    if (limits->replicated_index_max < 1 || limits->replicated_index_max > REPLICATED_INDEX_LIMIT)
        return false;
    if (limits->local_entities_max < 1 ||
        limits->local_entities_max > ECS_INDEX_MAX - limits->replicated_index_max)
        return false;
    if (!is_queue_limit(limits->events_per_flush_max) ||
        !is_queue_limit(limits->events_queued_max) || !is_queue_limit(limits->commands_queued_max))
        return false;
    if (config->tag_count > ECS_TAGS_MAX) return false;
    for (uint32_t i = 0; i < config->tag_count; i++)
        if (strlen(config->tags[i]) >= ECS_NAME_BYTES_MAX) return false;
    return true;
}

ecs_result ecs_world_create(const ecs_world_config* config, ecs_world** world) {
    *world = NULL;
    if (!are_limits_valid(config)) return ECS_ERR_FULL;
    ecs_world* made = make_block(config->allocator);
    made->limits = config->limits;
    made->rng = base_rng_make(config->seed, 0);
    made->is_mirror = config->is_mirror;
    BASE_ASSERT(!made->storage->zero_page);
    ecs_storage* storage = made->storage;
    storage->zero_page = (ecs_record_page*)(uintptr_t)&ZERO_PAGE;
    for (uint32_t i = 0; i < ECS_PAGES; i++)
        storage->pages[i] = storage->zero_page;
    made->fast.pages = storage->pages;
    reset_ranges(made);
    BASE_ASSERT(config->tag_count <= ECS_TAGS_MAX);
    made->tags = base_allocate_zero(made->allocator, config->tag_count * sizeof *made->tags);
    made->tag_count = config->tag_count;
    for (uint32_t i = 0; i < config->tag_count; i++)
        memcpy(made->tags[i], config->tags[i], strlen(config->tags[i]));
    ecs_types_init(made);
    ecs_templates_init(made);
    ecs_systems_init(made);
    ecs_events_init(made);
    ecs_tracker_init(made);
    made->events->park = ecs_loading_park;
    *world = made;
    return ECS_OK;
}

void ecs_world_destroy(ecs_world* world) {
    if (!world) return;
    ecs_storage_clear(world);
    ecs_templates_deinit(world);
    ecs_types_deinit(world);
    base_owner_destroy(world->allocator->context);
}

ecs_result ecs_world_seal(ecs_world* world, const base_reporter* reporter) {
    if (world->is_sealed) return ECS_ERR_SEALED;
    ecs_result result = ecs_hierarchy_seal(world, reporter);
    if (result == ECS_OK) result = ecs_storage_seal(world, reporter);
    if (result == ECS_OK) result = ecs_systems_seal(world, reporter);
    world->is_sealed = result == ECS_OK;
    return result;
}

bool ecs_world_has_tag(const ecs_world* world, const char* tag) {
    for (uint32_t i = 0; i < world->tag_count; i++)
        if (strcmp(world->tags[i], tag) == 0) return true;
    return false;
}

base_rng* ecs_world_rng(ecs_world* world) {
    BASE_ASSERT(!(world->running && world->running->is_confined) && "use ecs_stage_rng");
    return &world->rng;
}

const base_allocator* ecs_world_allocator(const ecs_world* world) {
    return world->allocator;
}

const ecs_limits* ecs_world_limits(const ecs_world* world) {
    return &world->limits;
}

void* ecs_world_context(ecs_world* world, size_t size) {
    return base_allocate_zero(world->allocator, size);
}

const char* ecs_world_full(const ecs_world* world, uint32_t* max) {
    *max = world->full_max;
    return world->full;
}

const ecs_counters* ecs_world_counters(const ecs_world* world) {
    return &world->counters;
}

ecs_tick ecs_world_tick(const ecs_world* world) {
    return world->tick;
}

// Empty a world that goes on.
//
// Entities are destroyed one at a time, so handlers, tracking and held handles see each
// destruction, and old handles stay stale; they would not if indices began from the start. Commands
// and events that wait name entities that are gone, so they are dropped before AfterClear, whose
// handlers may fill the world again.

void ecs_world_clear(ecs_world* world) {
    BASE_ASSERT(world->is_sealed && world->fast.stage_depth == 0 && world->fast.walk_depth == 0);
    ecs_core_event_broadcast(world, ECS_EVENT_BEFORE_CLEAR);
    for (ecs_entity entity = ecs_entity_next(world, ECS_ENTITY_NONE); entity != ECS_ENTITY_NONE;
         entity = ecs_entity_next(world, entity)) {
        ecs_result result = ecs_destroy(world, entity);
        BASE_ASSERT(result == ECS_OK);
    }
    ecs_loading_clear(world);
    ecs_commands_clear(world);
    ecs_events_clear_queue(world);
    ecs_core_event_broadcast(world, ECS_EVENT_AFTER_CLEAR);
}

// Look-ups of names that must exist.

static void miss(ecs_need* need, const char* kind, const char* name, const char* hint) {
    need->missing++;
    base_report(need->reporter, NULL, 0, "%s%sthere is no %s '%.80s'%s",
                need->place ? need->place : "", need->place ? ": " : "", kind, name, hint);
}

ecs_component_id ecs_component_need(ecs_need* need, const char* name) {
    BASE_ASSERT(need->world && name);
    const ecs_component_id found = ecs_component_find(need->world, name);
    char hint[BASE_HINT_BYTES];
    if (found == ECS_COMPONENT_NONE)
        miss(need, "component", name, ecs_component_hint(need->world, name, hint));
    return found;
}

ecs_template_id ecs_template_need(ecs_need* need, const char* name) {
    BASE_ASSERT(need->world && name);
    const ecs_template_id found = ecs_template_find(need->world, name);
    if (found != ECS_TEMPLATE_NONE) return found;
    base_nearest nearest = base_nearest_begin(name);
    for (uint32_t id = 1; id <= ecs_template_count(need->world); id++)
        base_nearest_offer(&nearest, ecs_template_get(need->world, (ecs_template_id)id)->name);
    char hint[BASE_HINT_BYTES];
    miss(need, "template", name, base_nearest_hint(&nearest, hint));
    return found;
}

ecs_event_type ecs_event_need(ecs_need* need, const char* name) {
    BASE_ASSERT(need->world && name);
    const ecs_event_type found = ecs_event_find(need->world, name);
    char hint[BASE_HINT_BYTES];
    if (found == ECS_EVENT_NONE) miss(need, "event", name, ecs_event_hint(need->world, name, hint));
    return found;
}

const void* ecs_value_need(ecs_need* need, const char* template_name, const char* component,
                           size_t bytes) {
    const ecs_template_id template_ = ecs_template_need(need, template_name);
    const ecs_component_id id = ecs_component_need(need, component);
    if (template_ == ECS_TEMPLATE_NONE || id == ECS_COMPONENT_NONE) return NULL;
    const void* value = ecs_template_default(need->world, template_, id);
    const ecs_type* type = ecs_type_get(need->world, ecs_component_get(need->world, id)->type);
    if (value && type->size == bytes) return value;
    need->missing++;
    base_report(need->reporter, NULL, 0,
                value ? "%s%stemplate '%s': component '%s' has another type than its reader"
                      : "%s%stemplate '%s' has no component '%s'",
                need->place ? need->place : "", need->place ? ": " : "", template_name, component);
    return NULL;
}

ecs_result ecs_need_result(const ecs_need* need) {
    return need->missing > 0 ? ECS_ERR_UNKNOWN : ECS_OK;
}

// ---- scenes ----

// The components of an entity of a scene that this world has.
static uint32_t find_inits(const ecs_world* world, const ecs_scene_entity* entity,
                           ecs_init inits[ECS_TEMPLATE_COMPONENTS_MAX]) {
    const ecs_template* template_ = ecs_template_get(world, entity->template_id);
    uint32_t count = 0;
    for (uint32_t i = 0; i < entity->init_count; i++) {
        const ecs_init* init = &world->templates->inits[entity->init_first + i];
        if (ecs_template_find_component(template_, init->component)) inits[count++] = *init;
    }
    return count;
}

ecs_result ecs_scene_create(ecs_world* world, const base_reporter* reporter) {
    BASE_ASSERT(world->is_sealed);
    const ecs_templates* templates = world->templates;
    for (uint32_t i = 0; i < templates->scene_count; i++) {
        const ecs_scene_entity* one = &templates->scenes[i];
        ecs_init inits[ECS_TEMPLATE_COMPONENTS_MAX];
        ecs_entity made = ECS_ENTITY_NONE;
        const uint32_t count = find_inits(world, one, inits);
        const ecs_result result = ecs_create(world, one->template_id, inits, count, &made);
        if (result == ECS_OK) continue;
        base_report(reporter, one->file, one->line, "this entity cannot be created, a '%s': %s",
                    ecs_template_get(world, one->template_id)->name,
                    result == ECS_ERR_TAKEN ? "one of this _singleton template lives already"
                                            : ecs_result_text(result));
        return result;
    }
    return ECS_OK;
}
