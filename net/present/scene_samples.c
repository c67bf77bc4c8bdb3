// SPDX-License-Identifier: MIT
// The ring puts the head of a sample in its place; the row is copied behind it there.
#include "present/scene_samples.h"

#include "base/assert.h"
#include <string.h>

bool net_scene_samples_put(net_tick_ring* samples, const base_allocator* allocator, ecs_tick tick,
                           const net_scene_sample* sample, const uint64_t* row) {
    BASE_ASSERT((sample->handle == ECS_ENTITY_NONE) == !sample->entry);
    BASE_ASSERT(!sample->entry || row);
    uint32_t position = net_tick_ring_find(samples, tick);
    if (position != UINT32_MAX && net_tick_ring_tick(samples, position) == tick) return true;
    size_t row_bytes = sample->entry ? sample->entry->layout.field_count * sizeof *row : 0;
    uint32_t stride = (uint32_t)(sizeof *sample + row_bytes);
    if (stride > samples->stride_bytes && !net_tick_ring_widen(samples, allocator, stride))
        return false;
    if (!net_tick_ring_put(samples, allocator, NET_SCENE_SAMPLES_MAX, tick, sample, sizeof *sample))
        return false;
    position = net_tick_ring_find(samples, tick);
    if (position == UINT32_MAX || net_tick_ring_tick(samples, position) != tick)
        return true; // it was forgotten at once
    uint8_t* place = net_tick_ring_entry(samples, position);
    if (row_bytes > 0) memcpy(place + sizeof *sample, row, row_bytes);
    return true;
}
