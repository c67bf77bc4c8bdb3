// SPDX-License-Identifier: MIT
// Make a world what it was when it was saved.
//
// Empty the world, then read the save from front to back in the order in which it was written:
// templates are composed again, then rows and columns, then what waits.
//
// Reading is total: for all bytes it ends in a valid world, at worst an empty one. Each count is
// checked against a limit or against the bytes that are left before anything is made for it. The
// form of a save is in save.c.
#include "base/assert.h"
#include "ecs/save.h"
#include "event/command_queue.h"
#include "event/event_queue.h"
#include "event/systems.h"
#include "structure/transition.h"
#include "table/row.h"
#include "table/storage.h"
#include "table/track.h"
#include "type/type_registry.h"
#include "type/world.h"
#include "world/save.h"

#include <string.h>

// Rows and columns of a save.
//
// Archetypes are bound in their order, rows appended in theirs. Plain columns are skipped at first,
// since their size is known, and read by all threads that there are (save.c). A fault in one
// of them is before whatever was found after it, so it is reported first: the result is
// that of one thread. The state hash is not read but added up, so it can only be right.

static ecs_result as_damage(ecs_result result) {
    return result == ECS_OK || result == ECS_ERR_FULL ? result : ECS_ERR_MALFORMED;
}

// Bind a template and check that it belongs to the archetype that is being read.
static ecs_result bind_to(ecs_restorer* load, uint32_t saved, uint32_t archetype_id) {
    ecs_template_id id = ecs_restorer_template(load, saved);
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

// Heads of rows, some at a time. Templates come in runs.
static ecs_result read_rows(ecs_restorer* load, ecs_archetype* archetype, uint64_t row_count) {
    enum { HEADS = 256 };
    ecs_row_head heads[HEADS];
    if (row_count > base_reader_left(&load->reader) / row_bytes_min(archetype) ||
        row_count > ECS_INDEX_MAX)
        return ECS_ERR_MALFORMED;
    for (uint32_t i = 0; i < archetype->column_count; i++)
        if (!ecs_restorer_grow(load, archetype->columns[i].type, row_count)) return ECS_ERR_FULL;
    uint32_t left = (uint32_t)row_count, bound = UINT32_MAX;
    ecs_result result = left > 0 ? ecs_archetype_reserve(load->world, archetype, left) : ECS_OK;
    while (left > 0 && result == ECS_OK) {
        uint32_t count = 0;
        for (; count < HEADS && count < left && result == ECS_OK; count++) {
            heads[count].entity = base_reader_u32(&load->reader);
            const uint32_t saved = base_reader_u16(&load->reader);
            if (!may_live(load->world, heads[count].entity)) result = ECS_ERR_MALFORMED;
            if (result == ECS_OK && saved != bound) result = bind_to(load, saved, archetype->id);
            bound = saved;
            heads[count].template_id = ecs_restorer_template(load, saved);
        }
        // A fault of a row in front comes first.
        const uint32_t known = result == ECS_OK ? count : count - 1;
        const ecs_result placed =
            as_damage(ecs_structure_place_rows(load->world, archetype, heads, known));
        if (placed != ECS_OK) return placed;
        left -= known;
    }
    return result;
}

// Add the hashes of a tracked column, on any thread.
static void count_shadows(ecs_world* world, const ecs_chunk* chunk, uint32_t column, uint32_t row,
                          uint32_t count) {
    const ecs_column* info = &chunk->archetype->columns[column];
    if (info->track == ECS_SLOT_NONE) return;
    const uint64_t sum = ecs_track_sum(world, chunk, info->track, row, count);
    __atomic_fetch_add(&world->tracker->hashes[info->component], sum, __ATOMIC_RELAXED);
}

// Values of plain data, as their own shadows too; on any thread.
static void read_block(ecs_restorer* load, const ecs_save_block* block) {
    const ecs_chunk* chunk = block->chunk;
    const uint32_t row = block->first, count = block->count;
    void* cells = ecs_chunk_cell(chunk, block->column, row);
    if (!ecs_cells_restore(block->type, cells, count, load->reader.data + block->offset)) {
        __atomic_store_n(&load->is_damaged, true, __ATOMIC_RELAXED);
        return;
    }
    if (block->track == ECS_SLOT_NONE) return;
    memcpy(ecs_chunk_cell(chunk, chunk->archetype->column_count + block->track, row), cells,
           (size_t)block->type->size * count);
    count_shadows(load->world, chunk, block->column, row, count);
}

static void fill_block(void* context, uint32_t item, uint32_t worker) {
    (void)worker;
    ecs_restorer* load = context;
    read_block(load, &load->blocks.items[item]);
}

// All blocks that wait: they come before the next block.
static ecs_result read_blocks(ecs_restorer* load) {
    ecs_save_blocks_run(&load->blocks, fill_block, load);
    return load->is_damaged ? ECS_ERR_MALFORMED : ECS_OK;
}

static ecs_result read_plain(ecs_restorer* load, const ecs_chunk* chunk, uint32_t column) {
    const ecs_column* info = &chunk->archetype->columns[column];
    const uint32_t count = ecs_chunk_count(load->world->storage, chunk);
    const size_t each = ecs_type_canonical_bytes(info->type);
    ecs_save_block block = {chunk, info->type, column, info->track, 0, 0, 0};
    for (; block.first < count; block.first += block.count) {
        const uint32_t left = count - block.first;
        block.count = left < ECS_BLOCK_ROWS ? left : ECS_BLOCK_ROWS;
        block.offset = load->reader.offset;
        if (!base_reader_skip(&load->reader, each * block.count)) return ECS_ERR_MALFORMED;
        if (!ecs_save_blocks_push(&load->blocks, &block)) read_block(load, &block);
    }
    return load->is_damaged ? ECS_ERR_MALFORMED : ECS_OK;
}

void ecs_shadow_copy(const ecs_world* world, const ecs_type* type, void* shadow, const void* cell) {
    // A shadow that is not created would be destroyed later: swap by way of the old one.
    ecs_cell_destroy(world, type, shadow);
    ecs_cell_copy(world, type, shadow, cell);
}

// Values that own memory, one by one.
static ecs_result read_owning(ecs_restorer* load, const ecs_chunk* chunk, uint32_t column) {
    const ecs_archetype* archetype = chunk->archetype;
    const ecs_column* info = &archetype->columns[column];
    const uint32_t count = ecs_chunk_count(load->world->storage, chunk);
    ecs_type_context context = {load->world->allocator};
    for (uint32_t row = 0; row < count; row++) {
        void* cell = ecs_chunk_cell(chunk, column, row);
        if (!ecs_type_read(info->type, &context, cell, &load->reader)) return ECS_ERR_MALFORMED;
        if (info->track == ECS_SLOT_NONE) continue;
        void* shadow = ecs_chunk_cell(chunk, archetype->column_count + info->track, row);
        ecs_shadow_copy(load->world, info->type, shadow, cell);
    }
    count_shadows(load->world, chunk, column, 0, count);
    return ECS_OK;
}

static ecs_result read_column(ecs_restorer* load, const ecs_archetype* archetype, uint32_t column) {
    const bool is_plain = ecs_type_is_plain(archetype->columns[column].type);
    ecs_result result = ECS_OK;
    for (uint32_t k = 0; k < archetype->chunk_count && result == ECS_OK; k++)
        result = is_plain ? read_plain(load, archetype->chunks[k], column)
                          : read_owning(load, archetype->chunks[k], column);
    return result;
}

static ecs_result read_written(ecs_restorer* load, const ecs_archetype* archetype,
                               uint32_t column) {
    const ecs_column* info = &archetype->columns[column];
    ecs_type_context context = {load->world->allocator};
    uint64_t at = 0;
    uint32_t index = 0;
    uint64_t passed = 0; // rows of the chunks before `index`
    for (;;) {
        uint64_t distance = base_reader_varint(&load->reader);
        if (load->reader.failed || distance > archetype->row_count - at) return ECS_ERR_MALFORMED;
        if (distance == 0) return ECS_OK;
        if (read_blocks(load) != ECS_OK) return ECS_ERR_MALFORMED; // this value is newer
        at += distance;
        const ecs_chunk* chunk = archetype->chunks[index];
        while (at > passed + ecs_chunk_count(load->world->storage, chunk)) {
            passed += ecs_chunk_count(load->world->storage, chunk);
            chunk = archetype->chunks[++index];
        }
        uint32_t row = (uint32_t)(at - passed - 1);
        if (!ecs_type_read(info->type, &context, ecs_chunk_cell(chunk, column, row), &load->reader))
            return ECS_ERR_MALFORMED;
        ecs_chunk_mark_row(chunk, info->track, row);
    }
}

static ecs_result read_archetype(ecs_restorer* load, uint32_t archetype_id) {
    ecs_result result = bind_to(load, base_reader_u16(&load->reader), archetype_id);
    if (result != ECS_OK) return result;
    uint64_t row_count = base_reader_varint(&load->reader);
    ecs_archetype* archetype = load->world->storage->archetypes[archetype_id];
    result = read_rows(load, archetype, row_count);
    for (uint32_t column = 0; column < archetype->column_count && result == ECS_OK; column++) {
        const ecs_column* info = &archetype->columns[column];
        const bool is_tracked = info->track != ECS_SLOT_NONE;
        if (info->size == 0 && !is_tracked) continue; // a tracked tag has no bytes, but a hash
        result = read_column(load, archetype, column);
        if (result == ECS_OK && info->size > 0 && is_tracked)
            result = read_written(load, archetype, column);
    }
    return result;
}

// Read all archetypes, their rows and columns.
// @return ECS_OK; ECS_ERR_MALFORMED; ECS_ERR_FULL: the caller clears the world.
static ecs_result read_archetypes(ecs_restorer* load) {
    uint64_t count = base_reader_varint(&load->reader);
    if (load->reader.failed || count > ECS_ARCHETYPES_MAX) return ECS_ERR_MALFORMED;
    ecs_result result = ECS_OK;
    for (uint32_t i = 0; i < count && result == ECS_OK; i++)
        result = read_archetype(load, i);
    const ecs_result waited = read_blocks(load); // before where the others failed
    ecs_storage_settle_indices(load->world);
    return waited == ECS_OK ? result : waited;
}

enum { SHARED_BYTES_MIN = 128 << 10 }; // less is read by one thread: waking another costs more

// A loaded template has the same id here, since the schema is the same and loaded ones are
// registered in the same order; composed ones are composed again from their parts.
static ecs_result read_templates(ecs_restorer* load) {
    uint64_t count = base_reader_varint(&load->reader);
    if (count > ECS_TEMPLATES_MAX || count > base_reader_left(&load->reader))
        return ECS_ERR_MALFORMED;
    load->templates =
        base_allocate_zero(load->world->allocator, sizeof(ecs_template_id) * (size_t)(count + 1));
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

static ecs_result read_events(ecs_restorer* load) {
    ecs_world* world = load->world;
    uint64_t count = base_reader_varint(&load->reader);
    if (load->reader.failed || count > world->limits.events_queued_max)
        return load->reader.failed ? ECS_ERR_MALFORMED : ECS_ERR_FULL;
    for (uint32_t i = 0; i < count; i++) {
        ecs_entity target = base_reader_u32(&load->reader);
        _Alignas(16) uint8_t payload[ECS_EVENT_BYTES_MAX];
        ecs_event_type type;
        ecs_result result = ecs_restorer_event(load, &type, payload);
        if (result != ECS_OK) return result;
        (void)ecs_event_post(world, target, type, payload); // the count was checked
    }
    return ECS_OK;
}

void ecs_world_empty(ecs_world* world) {
    ecs_storage_clear(world);
    ecs_events_clear(world);
    ecs_track_reset(world);
}

// A world that has no such systems saves nothing here.
static ecs_result read_members(ecs_restorer* load) {
    if (load->reader.failed) return ECS_ERR_MALFORMED;
    ecs_membership_enter_all(load->world);
    load->has_entered = true;
    return base_reader_left(&load->reader) == 0 ? ECS_OK
                                                : ecs_membership_read(load->world, &load->reader);
}

static ecs_result read_world(ecs_restorer* load) {
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
    if (result == ECS_OK) result = ecs_commands_read(load);
    if (result == ECS_OK) result = read_events(load);
    if (result == ECS_OK) result = ecs_loading_read(load);
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
    ecs_world_empty(world);
    ecs_restorer load = {.world = world, .reader = base_reader_make(data, size)};
    ecs_save_blocks_init(&load.blocks, world, size, SHARED_BYTES_MIN);
    ecs_result result = read_world(&load);
    ecs_save_blocks_deinit(&load.blocks);
    base_release(world->allocator, load.templates,
                 sizeof(ecs_template_id) * (load.template_count + 1));
    if (result != ECS_OK && load.has_entered) ecs_membership_leave_all(world);
    if (result != ECS_OK) ecs_world_empty(world);
    world->storage->keeps_blocks = false;
    ecs_blocks_drop_kept(world);
    return result;
}
