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

net_log_sums net_log_sums_begin(uint32_t untracked_values) {
    return (net_log_sums){.untracked_values = untracked_values};
}

void net_log_sums_write(net_log_sums* sums, const ecs_world* world, proto_pb_writer* to) {
    uint64_t now[ECS_COMPONENTS_MAX + 1];
    uint32_t count = ecs_component_count(world), before = 0;
    net_log_sums_of(world, sums->untracked_values, now);
    proto_pb_write_varint(to, !sums->is_known);
    for (uint32_t id = 1; id <= count; id++) {
        if (now[id] == (sums->is_known ? sums->values[id] : 0)) continue;
        proto_pb_write_varint(to, id - before);
        proto_pb_write_raw(to, now[id] & NET_LOG_SUM_MASK, 1);
        before = id;
    }
    memcpy(sums->values, now, (count + 1u) * sizeof *now);
    sums->is_known = true;
}

bool net_log_sums_read(net_log_sums* sums, ecs_tick tick, const uint8_t* data, size_t size) {
    base_reader reader = base_reader_make(data, size);
    sums->is_known = sums->is_known && tick == sums->tick + 1;
    sums->tick = tick;
    const uint64_t is_whole = base_reader_varint(&reader);
    if (is_whole == 1) {
        memset(sums->values, 0, sizeof sums->values);
        sums->is_known = true;
    }
    uint64_t id = 0;
    while (!reader.failed && base_reader_left(&reader) > 0) {
        const uint64_t gap = base_reader_varint(&reader);
        const uint8_t* sum = base_reader_skip(&reader, 1);
        if (gap < 1 || gap > ECS_COMPONENTS_MAX - id || !sum) reader.failed = true;
        if (reader.failed) break;
        id += gap;
        sums->values[id] = *sum;
    }
    if (reader.failed || is_whole > 1) sums->is_known = false;
    return !reader.failed && is_whole <= 1;
}

ecs_component_id net_log_sums_differ(const net_log_sums* sums, const ecs_world* world) {
    uint64_t own[ECS_COMPONENTS_MAX + 1];
    if (!sums->is_known) return ECS_COMPONENT_NONE;
    net_log_sums_of(world, sums->untracked_values, own);
    for (uint32_t id = 1; id <= ecs_component_count(world); id++)
        if ((own[id] & NET_LOG_SUM_MASK) != sums->values[id]) return (ecs_component_id)id;
    return ECS_COMPONENT_NONE;
}
