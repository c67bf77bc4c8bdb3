// SPDX-License-Identifier: MIT
#include "log/log_sums.h"

#include "ecs/save.h"

#include <string.h>

uint32_t net_log_sums_untracked(const ecs_world* world) {
    for (uint32_t id = 1; id <= ecs_template_count(world); id++) {
        const ecs_template* template_ = ecs_template_get(world, (ecs_template_id)id);
        for (uint32_t i = 0; i < template_->component_count; i++) {
            const ecs_template_component* own = &template_->components[i];
            const ecs_component* component = ecs_component_get(world, own->component);
            if (!(own->flags & ECS_COMPONENT_TRACKED) &&
                ecs_type_get(world, component->type)->object_size > 0)
                return NET_LOG_UNTRACKED_VALUES;
        }
    }
    return 0;
}

void net_log_sums_of(const ecs_world* world, uint32_t untracked_values, uint64_t* sums) {
    uint32_t count = ecs_component_count(world);
    if (untracked_values > 0)
        ecs_world_untracked_sums(world, ecs_world_tick(world), untracked_values, sums);
    else
        memset(sums, 0, (count + 1u) * sizeof *sums);
    for (uint32_t id = 1; id <= count; id++)
        sums[id] += ecs_world_state_hash_of(world, (ecs_component_id)id);
}

void net_log_sums_init(net_log_sums* sums, const base_allocator* allocator,
                       uint32_t untracked_values) {
    *sums = (net_log_sums){.untracked_values = untracked_values};
    net_log_rows_init(&sums->rows, allocator, NULL);
    net_log_piece_init(&sums->part, allocator);
}

void net_log_sums_deinit(net_log_sums* sums) {
    net_log_piece_deinit(&sums->part);
    net_log_rows_deinit(&sums->rows);
}

void net_log_sums_take(net_log_sums* sums, ecs_tick tick, const uint8_t* changes, size_t size) {
    const bool follows = tick == sums->tick + 1;
    sums->tick = tick;
    sums->is_known = sums->is_known && follows;
    if (size == 0 || (changes[0] != NET_LOG_FORM_DELTA && changes[0] != NET_LOG_FORM_RAW)) return;
    // A full tick, the first one of a log with sums alone: all that are not 0 come with it.
    const bool is_read =
        net_log_piece_read_sums(&sums->part, &sums->rows, tick, changes, size) == NET_OK;
    if (is_read && sums->part.is_full) {
        memset(sums->rows.sums, 0, sizeof sums->rows.sums);
        sums->is_known = true;
    }
    sums->is_known = sums->is_known && is_read;
    if (sums->is_known) net_log_piece_keep_sums(&sums->part, &sums->rows);
}

ecs_component_id net_log_sums_differ(const net_log_sums* sums, const ecs_world* world) {
    uint64_t own[ECS_COMPONENTS_MAX + 1];
    if (!sums->is_known || sums->untracked_values == 0) return ECS_COMPONENT_NONE;
    net_log_sums_of(world, sums->untracked_values, own);
    for (uint32_t id = 1; id <= ecs_component_count(world); id++)
        if ((own[id] & NET_LOG_SUM_MASK) != sums->rows.sums[id]) return (ecs_component_id)id;
    return ECS_COMPONENT_NONE;
}
