// SPDX-License-Identifier: MIT
// Make a world what it was when it was saved.
//
// Empty the world, then read the save from front to back in the order in which it was written:
// templates are composed again, archetypes bound in their order, rows appended in theirs. The state
// hash is not read but added up, so it can only be right.
//
// Reading is total: for all bytes it ends in a valid world, at worst an empty one. Each count is
// checked against a limit or against the bytes that are left before anything is made for it. The
// form of a save is in save.c.
#include "base/assert.h"
#include "ecs/save.h"
#include "core/world_internal.h"
#include "event/command_queue.h"
#include "event/event_queue.h"
#include "event/membership.h"
#include "loading/loading.h"
#include "structure/transition.h"
#include "table/archetype.h"
#include "table/cell.h"
#include "table/chunk.h"
#include "table/sparse.h"
#include "table/storage.h"
#include "track/track.h"
#include "type/type_registry.h"
#include "world/save_format.h"
#include "world/storage_save.h"

#include <string.h>

typedef struct loader {
    ecs_world* world;
    base_reader reader;
    ecs_template_id* templates; // [saved id] -> id here
    uint32_t template_count;
    bool has_entered; // who lives here is in the lists of members
} loader;

static ecs_template_id map_template(const loader* load, uint32_t saved) {
    return saved == 0 || saved > load->template_count ? ECS_TEMPLATE_NONE : load->templates[saved];
}

// A loaded template has the same id here, since the schema is the same and loaded ones are
// registered in the same order; composed ones are composed again from their parts.
static ecs_result read_templates(loader* load) {
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
            parts[i] = saved < id ? map_template(load, saved) : ECS_TEMPLATE_NONE;
            if (parts[i] == ECS_TEMPLATE_NONE) return ECS_ERR_MALFORMED;
        }
        load->templates[id] = ecs_template_compose(load->world, parts, part_count);
        if (load->templates[id] == ECS_TEMPLATE_NONE) return ECS_ERR_FULL;
    }
    return load->reader.failed ? ECS_ERR_MALFORMED : ECS_OK;
}

static ecs_result as_damage(ecs_result result) {
    return result == ECS_OK || result == ECS_ERR_MEMORY || result == ECS_ERR_FULL
               ? result
               : ECS_ERR_MALFORMED;
}

// Why a value could not be read.
static ecs_result read_fault(const loader* load) {
    return load->reader.failed ? ECS_ERR_MALFORMED : ECS_ERR_MEMORY;
}

// Bind a template and check that it belongs to the archetype that is being read.
static ecs_result bind_to(loader* load, uint32_t saved, uint32_t archetype_id) {
    ecs_template_id id = map_template(load, saved);
    if (id == ECS_TEMPLATE_NONE) return ECS_ERR_MALFORMED;
    ecs_binding* binding = NULL;
    ecs_result result = ecs_storage_bind(load->world, id, &binding);
    if (result != ECS_OK) return as_damage(result);
    return binding->archetype->id == archetype_id ? ECS_OK : ECS_ERR_MALFORMED;
}

// Only an index that was given out before can live; a mirror's replicated ones come from elsewhere.
static bool may_live(const ecs_world* world, ecs_entity entity) {
    uint32_t index = ecs_entity_index(entity);
    for (uint32_t i = 0; i < 2; i++) {
        const ecs_index_range* range = &world->storage->ranges[i];
        if (index >= range->first && index <= range->last)
            return index < range->fresh || (world->is_mirror && i == 0);
    }
    return false;
}

// Bytes that a row takes at the least: handle, template and what plain values are written as. Asked
// before rows are made, since a row in memory may be thousands of times a handle.
static uint64_t row_bytes_min(const ecs_archetype* archetype) {
    uint64_t bytes = sizeof(ecs_entity) + sizeof(ecs_template_id);
    for (uint32_t i = 0; i < archetype->column_count; i++) {
        const ecs_type* type = archetype->columns[i].type;
        bytes += ecs_type_is_plain(type) ? ecs_type_canonical_bytes(type) : 0;
    }
    return bytes;
}

static ecs_result read_rows(loader* load, uint32_t archetype_id, uint64_t row_count) {
    const ecs_archetype* archetype = load->world->storage->archetypes[archetype_id];
    if (row_count > base_reader_left(&load->reader) / row_bytes_min(archetype))
        return ECS_ERR_MALFORMED;
    for (uint64_t row = 0; row < row_count; row++) {
        ecs_entity entity = base_reader_u32(&load->reader);
        uint32_t saved = base_reader_u16(&load->reader);
        ecs_result result =
            may_live(load->world, entity) ? bind_to(load, saved, archetype_id) : ECS_ERR_MALFORMED;
        if (result == ECS_OK)
            result = as_damage(ecs_storage_place(load->world, entity, map_template(load, saved)));
        if (result != ECS_OK) return result;
    }
    return ECS_OK;
}

static ecs_result read_column(loader* load, const ecs_archetype* archetype, uint32_t column) {
    const ecs_column* info = &archetype->columns[column];
    ecs_type_context context = {load->world->allocator};
    for (uint32_t k = 0; k < archetype->chunk_count; k++) {
        const ecs_chunk* chunk = archetype->chunks[k];
        uint32_t count = ecs_chunk_count(load->world->storage, chunk);
        for (uint32_t row = 0; row < count; row++) {
            void* cell = ecs_chunk_cell(chunk, column, row);
            if (!ecs_type_read(info->type, &context, cell, &load->reader)) return read_fault(load);
            if (info->track == ECS_SLOT_NONE) continue;
            void* shadow = ecs_chunk_cell(chunk, archetype->column_count + info->track, row);
            if (ecs_type_is_plain(info->type)) {
                memcpy(shadow, cell, info->size);
                continue;
            }
            // A shadow that is not created would be destroyed later: swap by way of the old one.
            ecs_cell_destroy(load->world, info->type, shadow);
            if (!ecs_cell_copy(load->world, info->type, shadow, cell)) {
                (void)!ecs_value_create(info->type, &context, shadow);
                return ECS_ERR_MEMORY;
            }
        }
    }
    return ECS_OK;
}

static ecs_result read_written(loader* load, const ecs_archetype* archetype, uint32_t column) {
    const ecs_column* info = &archetype->columns[column];
    ecs_type_context context = {load->world->allocator};
    uint64_t at = 0;
    uint32_t index = 0;
    uint64_t passed = 0; // rows of the chunks before `index`
    for (;;) {
        uint64_t distance = base_reader_varint(&load->reader);
        if (load->reader.failed || distance > archetype->row_count - at) return ECS_ERR_MALFORMED;
        if (distance == 0) return ECS_OK;
        at += distance;
        const ecs_chunk* chunk = archetype->chunks[index];
        while (at > passed + ecs_chunk_count(load->world->storage, chunk)) {
            passed += ecs_chunk_count(load->world->storage, chunk);
            chunk = archetype->chunks[++index];
        }
        uint32_t row = (uint32_t)(at - passed - 1);
        if (!ecs_type_read(info->type, &context, ecs_chunk_cell(chunk, column, row), &load->reader))
            return read_fault(load);
        ecs_chunk_mark_row(chunk, info->track, row);
    }
}

static ecs_result read_archetype(loader* load, uint32_t archetype_id) {
    ecs_result result = bind_to(load, base_reader_u16(&load->reader), archetype_id);
    if (result != ECS_OK) return result;
    uint64_t row_count = base_reader_varint(&load->reader);
    result = read_rows(load, archetype_id, row_count);
    const ecs_archetype* archetype = load->world->storage->archetypes[archetype_id];
    for (uint32_t column = 0; column < archetype->column_count && result == ECS_OK; column++) {
        if (archetype->columns[column].size == 0) continue;
        result = read_column(load, archetype, column);
        if (result == ECS_OK && archetype->columns[column].track != ECS_SLOT_NONE)
            result = read_written(load, archetype, column);
    }
    return result;
}

static ecs_result read_archetypes(loader* load) {
    uint64_t count = base_reader_varint(&load->reader);
    if (load->reader.failed || count > ECS_ARCHETYPES_MAX) return ECS_ERR_MALFORMED;
    for (uint32_t i = 0; i < count; i++) {
        ecs_result result = read_archetype(load, i);
        if (result != ECS_OK) return result;
    }
    return ECS_OK;
}

static ecs_result read_commands(loader* load) {
    ecs_result result = ecs_commands_read(load->world, &load->reader);
    if (result != ECS_OK) return result;
    ecs_commands* commands = load->world->commands;
    for (uint32_t i = 0; i < commands->item_count; i++) {
        ecs_template_id* id = &commands->items[i].template_id;
        if (*id != ECS_TEMPLATE_NONE) {
            *id = map_template(load, *id);
            if (*id == ECS_TEMPLATE_NONE) return ECS_ERR_MALFORMED;
        }
    }
    return ECS_OK;
}

static ecs_template_id map_pending(const void* load, uint32_t saved) {
    return map_template(load, saved);
}

static ecs_result read_events(loader* load) {
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
            return read_fault(load);
        if (!ecs_event_post(world, target, type, payload)) return ECS_ERR_MEMORY;
    }
    return ECS_OK;
}

// Hashes are not saved: they are the sum over the shadows.
static void rebuild_hashes(ecs_world* world) {
    const ecs_storage* storage = world->storage;
    for (uint32_t i = 0; i < storage->archetype_count; i++) {
        const ecs_archetype* archetype = storage->archetypes[i];
        for (uint32_t k = 0; k < archetype->chunk_count; k++) {
            uint32_t count = ecs_chunk_count(storage, archetype->chunks[k]);
            for (uint32_t row = 0; row < count; row++)
                ecs_track_count_row(world, archetype->chunks[k], row, true);
        }
    }
}

static void empty_world(ecs_world* world) {
    ecs_storage_clear(world);
    ecs_events_clear(world);
    ecs_track_reset(world);
}

// The value passes through a cell of its own, from which set and shadow are copied.
static ecs_result read_sparse_value(loader* load, ecs_sparse* set, ecs_entity entity, void* cell) {
    const ecs_type_context context = {load->world->allocator};
    if (!ecs_type_read(set->type, &context, cell, &load->reader)) return read_fault(load);
    if (!ecs_sparse_push(load->world, set, entity, cell)) return ECS_ERR_MEMORY;
    if (!set->is_tracked) return ECS_OK;
    const uint32_t at = set->count - 1;
    load->world->tracker->hashes[set->component] +=
        ecs_track_hash(load->world, entity, set->component, ecs_sparse_shadow(set, at));
    if (base_reader_u8(&load->reader) == 0) return ECS_OK;
    ecs_sparse_mark(set, at);
    return ecs_type_read(set->type, &context, ecs_sparse_cell(set, at), &load->reader)
               ? ECS_OK
               : read_fault(load);
}

static ecs_result read_sparse(loader* load, ecs_sparse* set) {
    ecs_world* world = load->world;
    const ecs_type_context context = {world->allocator};
    const uint64_t count = base_reader_varint(&load->reader);
    if (load->reader.failed || count > base_reader_left(&load->reader) / sizeof(ecs_entity))
        return ECS_ERR_MALFORMED;
    void* cell = base_allocate_zero(world->allocator, set->type->size);
    if (!cell || !ecs_value_create(set->type, &context, cell)) {
        base_release(world->allocator, cell, set->type->size);
        return ECS_ERR_MEMORY;
    }
    ecs_result result = ECS_OK;
    for (uint64_t i = 0; i < count && result == ECS_OK; i++) {
        const ecs_entity entity = base_reader_u32(&load->reader);
        if (!ecs_is_alive(world, entity) || ecs_sparse_position(set, entity) != UINT32_MAX ||
            !ecs_sparse_default(world, set, ecs_entity_template(world, entity)))
            result = ECS_ERR_MALFORMED;
        else
            result = read_sparse_value(load, set, entity, cell);
    }
    ecs_value_destroy(set->type, &context, cell);
    base_release(world->allocator, cell, set->type->size);
    return result;
}

// A world that has no such systems saves nothing here.
static ecs_result read_members(loader* load) {
    if (load->reader.failed) return ECS_ERR_MALFORMED;
    if (!ecs_membership_enter_all(load->world)) return ECS_ERR_MEMORY;
    load->has_entered = true;
    return base_reader_left(&load->reader) == 0 ? ECS_OK
                                                : ecs_membership_read(load->world, &load->reader);
}

static ecs_result read_world(loader* load) {
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
    if (result == ECS_OK) result = read_archetypes(load);
    if (result == ECS_OK) result = read_commands(load);
    if (result == ECS_OK) result = read_events(load);
    if (result == ECS_OK) result = ecs_loading_read(world, reader, map_pending, load);
    for (uint32_t i = 0; i < world->storage->sparse_count && result == ECS_OK; i++)
        result = read_sparse(load, world->storage->sparse[i]);
    if (result == ECS_OK) result = read_members(load);
    if (result == ECS_OK && (reader->failed || base_reader_left(reader) != 0))
        result = ECS_ERR_MALFORMED;
    if (result == ECS_OK) {
        world->tick = tick;
        world->rng = rng;
        rebuild_hashes(world);
    }
    return result;
}

ecs_result ecs_world_restore(ecs_world* world, const void* data, size_t size) {
    BASE_ASSERT(world->is_sealed && world->fast.stage_depth == 0 && world->fast.walk_depth == 0);
    ecs_membership_leave_all(world);
    empty_world(world);
    loader load = {.world = world, .reader = base_reader_make(data, size)};
    ecs_result result = read_world(&load);
    base_release(world->allocator, load.templates,
                 sizeof(ecs_template_id) * (load.template_count + 1));
    if (result != ECS_OK && load.has_entered) ecs_membership_leave_all(world);
    if (result != ECS_OK) empty_world(world);
    return result;
}
