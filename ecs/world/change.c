// SPDX-License-Identifier: MIT
// The change list as its readers see it, and the state hash.
//
// Tracking (track.c) keeps lists and sums; this file returns them, and computes the same sum the
// slow way for checks. The slow way looks at marks, since the state hash is that of the last step:
// a value written since is not part of it, so a marked row counts with its shadow. A row that is
// not marked counts with its value, so a write that was not marked shows as a difference.
#include "base/assert.h"
#include "ecs/save.h"
#include "event/event_queue.h"
#include "table/storage.h"
#include "table/track.h"
#include "type/world.h"

#include <string.h>

ecs_changes ecs_changes_get(const ecs_world* world) {
    const ecs_tracker* tracker = world->tracker;
    return (ecs_changes){
        .created = tracker->created.items,
        .created_count = tracker->created.count - world->storage->runway.left,
        .destroyed = tracker->destroyed.items,
        .destroyed_count = tracker->destroyed.count,
        .recreated = tracker->recreated.items,
        .recreated_count = tracker->recreated.count,
        .changed = tracker->changed.items,
        .changed_count = tracker->changed.count,
        .events = world->events->exported,
        .event_count = world->events->exported_count,
    };
}

void ecs_changes_clear(ecs_world* world) {
    ecs_track_clear_lists(world);
    ecs_events_clear_exported(world);
}

uint64_t ecs_world_state_hash(const ecs_world* world) {
    uint64_t sum = 0;
    for (uint32_t id = 1; id <= ecs_component_count(world); id++)
        sum += world->tracker->hashes[id];
    return sum;
}

uint64_t ecs_world_state_hash_of(const ecs_world* world, ecs_component_id component) {
    return component <= ECS_COMPONENTS_MAX ? world->tracker->hashes[component] : 0;
}

static uint64_t walk_column(const ecs_world* world, const ecs_chunk* chunk, uint32_t track) {
    BASE_ASSERT(track < chunk->archetype->track_count);
    const ecs_archetype* archetype = chunk->archetype;
    uint32_t value = archetype->tracked[track];
    uint32_t shadow = archetype->column_count + track;
    ecs_component_id component = archetype->columns[value].component;
    const uint64_t* dirty = ecs_chunk_dirty(chunk, track);
    uint32_t count = ecs_chunk_count(world->storage, chunk);
    uint64_t sum = 0;
    for (uint32_t row = 0; row < count; row++) {
        bool is_marked = chunk->written[track] != 0 || (dirty[row / 64] >> (row % 64) & 1) != 0;
        const void* cell = ecs_chunk_cell(chunk, is_marked ? shadow : value, row);
        sum += ecs_track_hash(world, chunk->entities[row], component, cell);
    }
    return sum;
}

uint64_t ecs_world_state_hash_walk(const ecs_world* world) {
    const ecs_storage* storage = world->storage;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < storage->archetype_count; i++) {
        const ecs_archetype* archetype = storage->archetypes[i];
        for (uint32_t k = 0; k < archetype->chunk_count; k++)
            for (uint32_t track = 0; track < archetype->track_count; track++)
                sum += walk_column(world, archetype->chunks[k], track);
    }
    return sum;
}

// Sums of what nothing tracks. There are no shadows to follow it by, so values are hashed as they
// are, in turns of groups of entities. Indices alone say whose turn it is: neither the order of
// rows nor that of archetypes matters.

enum { TURN_TICKS = 8 };  // values that rest have the same sums so long
enum { GROUP_SHIFT = 4 }; // bits of an index that the entities of a group differ in

static bool is_plain(const ecs_type* type) {
    return type && type->object_size > 0 && !(type->ops && type->ops->write && !type->hash);
}

static bool is_untracked(const ecs_column* column) {
    return column->track == ECS_SLOT_NONE && column->size > 0 && is_plain(column->type);
}

static uint32_t count_columns(const ecs_archetype* archetype) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < archetype->column_count; i++)
        count += is_untracked(&archetype->columns[i]);
    return count;
}

static void add_entity(const ecs_world* world, const ecs_record* record, uint64_t* sums) {
    const ecs_chunk* chunk = ecs_record_chunk(world->storage, record);
    const ecs_archetype* archetype = chunk->archetype;
    const uint32_t row = ecs_record_row(record);
    const ecs_entity entity = chunk->entities[row];
    for (uint32_t i = 0; i < archetype->column_count; i++) {
        const ecs_column* column = &archetype->columns[i];
        if (is_untracked(column))
            sums[column->component] +=
                ecs_track_hash(world, entity, column->component, ecs_chunk_cell(chunk, i, row));
    }
}

// The entities of each group, out of `turns`, whose turn it is.
static void add_range(const ecs_world* world, uint32_t first, uint32_t end, uint64_t turns,
                      uint64_t turn, uint64_t* sums) {
    const ecs_storage* storage = world->storage;
    const uint64_t first_group = first >> GROUP_SHIFT;
    uint64_t group = first_group + (turn + turns - first_group % turns) % turns;
    for (; group << GROUP_SHIFT < end; group += turns) {
        for (uint64_t index = group << GROUP_SHIFT; index >> GROUP_SHIFT == group; index++) {
            if (index < first || index >= end) continue;
            const ecs_record* record = ecs_record_at(storage, (uint32_t)index);
            if (record->life & ECS_LIFE_CREATED) add_entity(world, record, sums);
        }
    }
}

void ecs_world_untracked_sums(const ecs_world* world, ecs_tick tick, uint32_t values_max,
                              uint64_t* sums) {
    BASE_ASSERT(world && sums && values_max > 0);
    const ecs_storage* storage = world->storage;
    const ecs_index_range *replicated = &storage->ranges[0], *local = &storage->ranges[1];
    memset(sums, 0, (ecs_component_count(world) + 1u) * sizeof *sums);
    uint64_t values = 0;
    for (uint32_t i = 0; i < storage->archetype_count; i++)
        values += storage->archetypes[i]->row_count * count_columns(storage->archetypes[i]);
    if (values == 0) return;
    const uint64_t turns = (values + values_max - 1) / values_max, turn = tick / TURN_TICKS % turns;
    // A mirror's replicated entities have the indices that their server gave.
    const uint32_t end = world->is_mirror ? local->first : replicated->fresh;
    add_range(world, replicated->first, end, turns, turn, sums);
    add_range(world, local->first, local->fresh, turns, turn, sums);
}
