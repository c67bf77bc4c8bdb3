// SPDX-License-Identifier: MIT
// The mirror: the client's copy of the world. mirror_apply.c says how records change it.
#include "mirror/mirror.h"

#include "core/fault.h"
#include "base/assert.h"
#include "mirror/snapshot_reader.h"

#include <string.h>

net_result net_mirror_create(const net_mirror_config* config, net_mirror** mirror) {
    BASE_ASSERT(config && config->rows && config->index_max && mirror);
    *mirror = NULL;
    net_mirror* made = base_allocate_zero(config->allocator, sizeof *made);
    if (!made) return NET_ERR_MEMORY;
    made->allocator = config->allocator;
    base_quota_init(&made->memory, config->allocator,
                    config->memory_bytes_max ? config->memory_bytes_max : NET_MIRROR_BYTES_MAX);
    net_pool_init(&made->pool, &made->memory.allocator);
    made->world = config->world;
    made->rows = config->rows;
    uint32_t index_max =
        config->world ? ecs_world_limits(config->world)->replicated_index_max : config->index_max;
    made->index_bits = net_snapshot_index_bits(config->index_max);
    made->index_max = config->index_max < index_max ? config->index_max : index_max;
    made->target = (net_row_world){
        .allocator = &made->memory.allocator, .world = config->world, .index_max = made->index_max};
    made->trace = config->trace;
    made->trace_context = config->trace_context;
    made->sink = config->sink;
    const base_allocator* memory = &made->memory.allocator;
    made->part_count = net_rows_component_count(config->rows) + 1;
    made->parts = base_allocate_zero(memory, made->part_count * sizeof *made->parts);
    if (config->is_solo) made->solo = net_solo_receiver_create(memory);
    if (!made->parts || (config->is_solo && !made->solo)) {
        net_mirror_destroy(made);
        return NET_ERR_MEMORY;
    }
    *mirror = made;
    return NET_OK;
}

void net_mirror_destroy(net_mirror* mirror) {
    if (!mirror) return;
    const base_allocator* memory = &mirror->memory.allocator;
    net_mirror_drop_previous(mirror);
    net_mirror_drop_all_values(mirror);
    for (uint32_t i = 0; i < mirror->slots.count; i++) {
        net_mirror_release_newest(mirror, net_mirror_slot_of(mirror, i));
        net_tick_ring_deinit(&net_mirror_slot_of(mirror, i)->incarnation.ring,
                             &mirror->pool.allocator);
    }
    for (uint32_t i = 0; i < NET_SNAPSHOT_PACKETS; i++)
        base_release(&mirror->pool.allocator, mirror->packets[i].gaps,
                     mirror->packets[i].gaps_capacity);
    net_pool_deinit(&mirror->pool);
    net_mirror_release_pages(mirror);
    BASE_ARRAY_RELEASE(memory, mirror->records, mirror->record_capacity);
    base_release(memory, mirror->packed, mirror->packed_capacity);
    base_release(memory, mirror->gaps, mirror->gaps_capacity);
    BASE_ARRAY_RELEASE(memory, mirror->listed, mirror->listed_capacity);
    BASE_ARRAY_RELEASE(memory, mirror->parts, mirror->part_count);
    net_solo_receiver_destroy(mirror->solo);
    net_row_world_deinit(&mirror->target);
    BASE_ASSERT(mirror->memory.used_bytes == 0);
    base_release(mirror->allocator, mirror, sizeof *mirror);
}

net_result net_mirror_read(net_mirror* mirror, uint16_t seq, ecs_tick tick,
                           proto_bit_reader* snapshot, net_mirror_result* result) {
    if (result) *result = (net_mirror_result){0};
    if (mirror->broken != NET_OK) return mirror->broken;
    net_mirror_counters before = mirror->counters;
    net_result code = net_mirror_decode(mirror, seq, tick, snapshot);
    if (code == NET_OK) {
        code = net_mirror_remember(mirror, seq, tick);
        if (code == NET_OK) code = net_mirror_apply(mirror, tick);
        mirror->broken = code;
    }
    if (code == NET_ERR_STALE) mirror->counters.stale++;
    if (code == NET_ERR_MALFORMED) mirror->counters.malformed++;
    if (code != NET_OK) return code;
    mirror->counters.packets++;
    if (!mirror->has_tick || tick > mirror->tick) mirror->tick = tick;
    mirror->has_tick = true;
    net_mirror_expire_previous(mirror);
    if (mirror->counters.packets % NET_MIRROR_TRIM_PACKETS == 0) net_pool_trim(&mirror->pool);
    if (NET_VALIDATE_ON) net_mirror_validate(mirror);
    if (result) {
        const net_mirror_counters* now = &mirror->counters;
        *result = (net_mirror_result){
            .applied = (uint32_t)(now->updates - before.updates),
            .destroyed = (uint32_t)(now->destroys - before.destroys),
            .stale = (uint32_t)(now->stale_records - before.stale_records),
        };
    }
    return NET_OK;
}

ecs_tick net_mirror_tick(const net_mirror* mirror) {
    return mirror->tick;
}

bool net_mirror_entity_tick(const net_mirror* mirror, ecs_entity entity, ecs_tick* tick) {
    const net_mirror_slot* slot = net_mirror_find(mirror, entity);
    if (slot) *tick = slot->tick;
    return slot != NULL;
}

bool net_mirror_known_incarnation(const net_mirror* mirror, uint32_t index, ecs_entity* handle,
                                  ecs_tick* tick) {
    *handle = ECS_ENTITY_NONE;
    *tick = 0;
    if (index >= mirror->indices.count) return false;
    const net_mirror_index* at = net_mirror_index_of(mirror, index);
    if (at->slot_next > 0) {
        *handle = net_mirror_slot_of(mirror, at->slot_next - 1)->handle;
        *tick = net_mirror_slot_of(mirror, at->slot_next - 1)->tick;
        return true;
    }
    *tick = at->gone_tick > at->tick ? at->gone_tick : at->tick;
    return at->is_known || at->gone_tick > 0;
}

uint64_t net_mirror_component_bits(const net_mirror* mirror, ecs_component_id component) {
    return component < mirror->part_count ? mirror->parts[component].all : 0;
}

const net_mirror_counters* net_mirror_get_counters(const net_mirror* mirror) {
    return &mirror->counters;
}
