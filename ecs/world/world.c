// SPDX-License-Identifier: MIT
// The world as a whole: made, sealed, torn down; what belongs to no single concern.
//
// world.h lists the concerns in the order in which they are set up. Each *_deinit accepts
// a zeroed struct, so a failure at any point of create is one call to destroy. Contexts of modules
// go last-in first-out with the rest; nothing here knows what they hold.
#include "base/assert.h"
#include "event/command_queue.h"
#include "event/event_queue.h"
#include "event/systems.h"
#include "structure/hierarchy.h"
#include "structure/loading.h"
#include "table/storage.h"
#include "table/track.h"
#include "template/template_registry.h"
#include "type/type_registry.h"
#include "type/world.h"

#include <string.h>

enum { REPLICATED_INDEX_LIMIT = 1 << 20 };

// A world and its parts in one block. The parts' headers are included here only, so that a file
// that uses one part does not depend on the others.
typedef struct world_block {
    ecs_world world; // first: the block is released by its address
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
    world_block* block = base_allocate_zero(allocator, sizeof *block);
    if (!block) return NULL;
    ecs_world* world = &block->world;
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

static bool copy_tags(ecs_world* world, const ecs_world_config* config) {
    BASE_ASSERT(config->tag_count <= ECS_TAGS_MAX);
    world->tags = base_allocate_zero(world->allocator, config->tag_count * sizeof *world->tags);
    if (!world->tags) return false;
    world->tag_count = config->tag_count;
    for (uint32_t i = 0; i < config->tag_count; i++)
        memcpy(world->tags[i], config->tags[i], strlen(config->tags[i]));
    return true;
}

ecs_result ecs_world_create(const ecs_world_config* config, ecs_world** world) {
    *world = NULL;
    if (!are_limits_valid(config)) return ECS_ERR_FULL;
    ecs_world* made = make_block(config->allocator);
    if (!made) return ECS_ERR_MEMORY;
    made->allocator = config->allocator ? config->allocator : base_allocator_heap();
    made->limits = config->limits;
    made->rng = base_rng_make(config->seed, 0);
    made->is_mirror = config->is_mirror;
    if (!copy_tags(made, config) || !ecs_types_init(made) || !ecs_templates_init(made) ||
        !ecs_storage_init(made) || !ecs_systems_init(made) || !ecs_events_init(made) ||
        !ecs_tracker_init(made)) {
        ecs_world_destroy(made);
        return ECS_ERR_MEMORY;
    }
    made->events->park = ecs_loading_park;
    *world = made;
    return ECS_OK;
}

void ecs_world_destroy(ecs_world* world) {
    if (!world) return;
    ecs_tracker_deinit(world);
    ecs_events_deinit(world);
    ecs_systems_deinit(world);
    ecs_storage_deinit(world);
    ecs_templates_deinit(world);
    ecs_types_deinit(world);
    const base_allocator* allocator = world->allocator;
    for (uint32_t i = 0; i < world->context_count; i++)
        base_release(allocator, world->contexts[i], world->context_bytes[i]);
    BASE_ARRAY_RELEASE(allocator, world->contexts, world->context_capacity);
    BASE_ARRAY_RELEASE(allocator, world->context_bytes, world->context_bytes_capacity);
    BASE_ARRAY_RELEASE(allocator, world->tags, world->tag_count);
    base_release(allocator, world, sizeof(world_block));
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
    uint32_t needed = world->context_count + 1;
    if (!BASE_ARRAY_RESERVE(world->allocator, world->contexts, world->context_capacity, needed) ||
        !BASE_ARRAY_RESERVE(world->allocator, world->context_bytes, world->context_bytes_capacity,
                            needed))
        return NULL;
    void* memory = base_allocate_zero(world->allocator, size);
    if (!memory) return NULL;
    world->contexts[world->context_count] = memory;
    world->context_bytes[world->context_count] = size;
    world->context_count++;
    return memory;
}

const ecs_counters* ecs_world_counters(const ecs_world* world) {
    return &world->counters;
}

ecs_tick ecs_world_tick(const ecs_world* world) {
    return world->tick;
}
