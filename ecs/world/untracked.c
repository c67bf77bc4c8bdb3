// SPDX-License-Identifier: MIT
// Sums of what nothing tracks. There are no shadows to follow it by, so values are hashed as they
// are, in turns of groups of entities. Indices alone say whose turn it is: neither the order of
// rows nor that of archetypes matters.
#include "base/assert.h"
#include "ecs/save.h"
#include "table/storage.h"
#include "table/track.h"
#include "type/world.h"

#include <string.h>

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

static uint64_t count_values(const ecs_storage* storage) {
    uint64_t count = 0;
    for (uint32_t i = 0; i < storage->archetype_count; i++)
        count += storage->archetypes[i]->row_count * count_columns(storage->archetypes[i]);
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
    const uint64_t values = count_values(storage);
    if (values == 0) return;
    const uint64_t turns = (values + values_max - 1) / values_max, turn = tick / TURN_TICKS % turns;
    // A mirror's replicated entities have the indices that their server gave.
    const uint32_t end = world->is_mirror ? local->first : replicated->fresh;
    add_range(world, replicated->first, end, turns, turn, sums);
    add_range(world, local->first, local->fresh, turns, turn, sums);
}
