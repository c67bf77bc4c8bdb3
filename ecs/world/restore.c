// SPDX-License-Identifier: MIT
// Make a world what it was when it was saved.
//
// Empty the world, then read the save from front to back in the order in which it was written:
// templates are composed again, then rows and columns (restore_rows.c), then what waits.
//
// Reading is total: for all bytes it ends in a valid world, at worst an empty one. Each count is
// checked against a limit or against the bytes that are left before anything is made for it. The
// form of a save is in save.c.
#include "base/assert.h"
#include "ecs/save.h"
#include "event/command_queue.h"
#include "event/event_queue.h"
#include "event/membership.h"
#include "structure/loading.h"
#include "table/storage.h"
#include "table/track.h"
#include "type/type_registry.h"
#include "type/world.h"
#include "world/restore.h"
#include "world/save_format.h"
#include "world/storage_save.h"

enum { SHARED_BYTES_MIN = 128 << 10 }; // less is read by one thread: waking another costs more

typedef ecs_restorer restorer;

// A loaded template has the same id here, since the schema is the same and loaded ones are
// registered in the same order; composed ones are composed again from their parts.
static ecs_result read_templates(restorer* load) {
    uint64_t count = base_reader_varint(&load->reader);
    if (count > ECS_TEMPLATES_MAX || count > base_reader_left(&load->reader))
        return ECS_ERR_MALFORMED;
    load->templates =
        base_allocate_zero(load->world->allocator, sizeof(ecs_template_id) * (size_t)(count + 1));
    if (!load->templates) return ECS_ERR_MEMORY;
    load->template_count = (uint32_t)count;
    uint32_t here = 0;
    for (uint32_t id = 1; id <= count; id++) {
        uint32_t part_count = base_reader_u8(&load->reader);
        if (part_count == 0) {
            const ecs_template* template_ = NULL;
            do {
                template_ = ecs_template_get(load->world, (ecs_template_id)++here);
            } while (template_ && template_->part_count > 1);
            if (!template_) return ECS_ERR_MALFORMED;
            load->templates[id] = (ecs_template_id)here;
            continue;
        }
        if (part_count < 2 || part_count > ECS_TEMPLATE_PARTS_MAX) return ECS_ERR_MALFORMED;
        ecs_template_id parts[ECS_TEMPLATE_PARTS_MAX];
        for (uint32_t i = 0; i < part_count; i++) {
            uint32_t saved = base_reader_u16(&load->reader);
            parts[i] = saved < id ? ecs_restorer_template(load, saved) : ECS_TEMPLATE_NONE;
            if (parts[i] == ECS_TEMPLATE_NONE) return ECS_ERR_MALFORMED;
        }
        load->templates[id] = ecs_template_compose(load->world, parts, part_count);
        if (load->templates[id] == ECS_TEMPLATE_NONE) return ECS_ERR_FULL;
    }
    return load->reader.failed ? ECS_ERR_MALFORMED : ECS_OK;
}

static ecs_result read_commands(restorer* load) {
    ecs_result result = ecs_commands_read(load->world, &load->reader);
    if (result != ECS_OK) return result;
    ecs_commands* commands = load->world->commands;
    for (uint32_t i = 0; i < commands->item_count; i++) {
        ecs_template_id* id = &commands->items[i].template_id;
        if (*id != ECS_TEMPLATE_NONE) {
            *id = ecs_restorer_template(load, *id);
            if (*id == ECS_TEMPLATE_NONE) return ECS_ERR_MALFORMED;
        }
    }
    return ECS_OK;
}

static ecs_template_id map_pending(const void* load, uint32_t saved) {
    return ecs_restorer_template(load, saved);
}

static ecs_result read_events(restorer* load) {
    ecs_world* world = load->world;
    ecs_type_context context = {world->allocator};
    uint64_t count = base_reader_varint(&load->reader);
    if (load->reader.failed || count > world->limits.events_queued_max)
        return load->reader.failed ? ECS_ERR_MALFORMED : ECS_ERR_FULL;
    for (uint32_t i = 0; i < count; i++) {
        ecs_entity target = base_reader_u32(&load->reader);
        ecs_event_type type = base_reader_u16(&load->reader);
        if (load->reader.failed || !ecs_event_is_queued(world->events, type))
            return ECS_ERR_MALFORMED;
        _Alignas(16) uint8_t payload[ECS_EVENT_BYTES_MAX] = {0};
        if (!ecs_type_read(&world->events->kinds[type - 1]->type, &context, payload, &load->reader))
            return ecs_restorer_fault(load);
        if (!ecs_event_post(world, target, type, payload)) return ECS_ERR_MEMORY;
    }
    return ECS_OK;
}

static void empty_world(ecs_world* world) {
    ecs_storage_clear(world);
    ecs_events_clear(world);
    ecs_track_reset(world);
}

// A world that has no such systems saves nothing here.
static ecs_result read_members(restorer* load) {
    if (load->reader.failed) return ECS_ERR_MALFORMED;
    if (!ecs_membership_enter_all(load->world)) return ECS_ERR_MEMORY;
    load->has_entered = true;
    return base_reader_left(&load->reader) == 0 ? ECS_OK
                                                : ecs_membership_read(load->world, &load->reader);
}

static ecs_result read_world(restorer* load) {
    ecs_world* world = load->world;
    base_reader* reader = &load->reader;
    uint32_t magic = base_reader_u32(reader);
    uint32_t version = base_reader_u32(reader);
    uint64_t schema = base_reader_u64(reader);
    if (magic != ECS_SAVE_MAGIC || version != ECS_SAVE_VERSION || schema != ecs_schema_hash(world))
        return ECS_ERR_MALFORMED;
    uint64_t tick = base_reader_u64(reader);
    base_rng rng = {0};
    rng.state = base_reader_u64(reader);
    rng.stream = base_reader_u64(reader);
    if (rng.stream % 2 == 0) return ECS_ERR_MALFORMED;
    ecs_result result = read_templates(load);
    if (result == ECS_OK) result = ecs_storage_read_indices(world, reader);
    if (result == ECS_OK) result = ecs_restorer_read_archetypes(load);
    if (result == ECS_OK) result = read_commands(load);
    if (result == ECS_OK) result = read_events(load);
    if (result == ECS_OK) result = ecs_loading_read(world, reader, map_pending, load);
    if (result == ECS_OK) result = read_members(load);
    if (result == ECS_OK && (reader->failed || base_reader_left(reader) != 0))
        result = ECS_ERR_MALFORMED;
    if (result == ECS_OK) {
        world->tick = tick;
        world->rng = rng;
    }
    return result;
}

ecs_result ecs_world_restore(ecs_world* world, const void* data, size_t size) {
    BASE_ASSERT(world->is_sealed && world->fast.stage_depth == 0 && world->fast.walk_depth == 0);
    ecs_membership_leave_all(world);
    world->storage->keeps_blocks = true;
    empty_world(world);
    restorer load = {.world = world, .reader = base_reader_make(data, size)};
    ecs_save_blocks_init(&load.blocks, world, size, SHARED_BYTES_MIN);
    ecs_result result = read_world(&load);
    ecs_save_blocks_deinit(&load.blocks);
    base_release(world->allocator, load.templates,
                 sizeof(ecs_template_id) * (load.template_count + 1));
    if (result != ECS_OK && load.has_entered) ecs_membership_leave_all(world);
    if (result != ECS_OK) empty_world(world);
    world->storage->keeps_blocks = false;
    ecs_blocks_drop_kept(world);
    return result;
}
