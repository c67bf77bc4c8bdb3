// SPDX-License-Identifier: MIT
// Places count bytes ever added, so a place that was dropped is less than every place that is
// there.
#include "log/log_ring.h"

#include "base/assert.h"

#include <string.h>

bool net_log_ring_init(net_log_ring* ring, const base_allocator* allocator, uint64_t capacity,
                       ecs_tick ticks_min) {
    BASE_ASSERT(capacity > 0);
    memset(ring, 0, sizeof *ring);
    ring->allocator = allocator;
    ring->memory = base_allocate(allocator, capacity);
    ring->capacity = capacity;
    ring->ticks_min = ticks_min;
    ring->count = 1;
    return ring->memory != NULL;
}

void net_log_ring_deinit(net_log_ring* ring) {
    base_release(ring->allocator, ring->memory, ring->capacity);
    ring->memory = NULL;
}

static void drop_oldest(net_log_ring* ring) {
    BASE_ASSERT(ring->count > 0);
    ring->count--;
    memmove(ring->groups, ring->groups + 1, ring->count * sizeof *ring->groups);
}

void net_log_ring_begin(net_log_ring* ring, ecs_tick tick) {
    if (ring->last_tick != tick) ring->count = 0;
    if (ring->count == NET_LOG_RING_GROUPS_MAX) drop_oldest(ring);
    ring->groups[ring->count++] = (net_log_ring_group){tick, ring->head};
    if (ring->last_tick == tick) return;
    ring->last_tick = tick;
    ring->data_end = 0;
}

static void copy_in(net_log_ring* ring, const uint8_t* data, size_t size) {
    uint64_t place = ring->head % ring->capacity;
    size_t first = size < ring->capacity - place ? size : (size_t)(ring->capacity - place);
    memcpy(ring->memory + place, data, first);
    memcpy(ring->memory, data + first, size - first);
    ring->head += size;
}

// A group is of use as long as the one behind it begins too late.
static bool is_too_old(const net_log_ring* ring) {
    return ring->count > 1 && ring->groups[1].tick + ring->ticks_min <= ring->last_tick;
}

void net_log_ring_add(net_log_ring* ring, const net_log_block* block, const uint8_t* data,
                      size_t size) {
    // A save has a header and an index of its own.
    if (block->type == NET_LOG_BLOCK_HEADER || block->type == NET_LOG_BLOCK_INDEX) return;
    while (ring->count > 0 && ring->head + size - ring->groups[0].start > ring->capacity)
        drop_oldest(ring);
    if (ring->count == 0) return;
    uint64_t start = ring->head;
    copy_in(ring, data, size);
    if (block->type != NET_LOG_BLOCK_DATA) return;
    ring->last_data = start;
    ring->data_end = ring->head;
    ring->last_tick = block->last_tick;
    while (is_too_old(ring))
        drop_oldest(ring);
}

void net_log_ring_undo(net_log_ring* ring, uint64_t head) {
    BASE_ASSERT(head <= ring->head);
    while (ring->count > 0 && ring->groups[ring->count - 1].start >= head && head > 0)
        ring->count--;
    ring->head = head;
}

uint32_t net_log_ring_find(const net_log_ring* ring) {
    uint32_t found = ring->count;
    if (ring->data_end == 0) return ring->count;
    for (uint32_t i = 0; i < ring->count; i++) {
        const net_log_ring_group* group = &ring->groups[i];
        bool is_early = found == ring->count || group->tick + ring->ticks_min <= ring->last_tick;
        if (is_early && group->start < ring->data_end) found = i;
    }
    return found;
}

// Bytes at a place, as far as they lie in one piece. @return the piece; *size is at most `size`.
static const uint8_t* net_log_ring_at(const net_log_ring* ring, uint64_t at, size_t* size) {
    BASE_ASSERT(ring->count > 0 && at >= ring->groups[0].start && at + *size <= ring->head);
    uint64_t place = at % ring->capacity;
    if (*size > ring->capacity - place) *size = (size_t)(ring->capacity - place);
    return ring->memory + place;
}

void net_log_ring_read(const net_log_ring* ring, uint64_t at, void* target, size_t size) {
    for (size_t done = 0; done < size;) {
        size_t piece = size - done;
        const uint8_t* data = net_log_ring_at(ring, at + done, &piece);
        memcpy((uint8_t*)target + done, data, piece);
        done += piece;
    }
}

void net_log_ring_validate(const net_log_ring* ring) {
    BASE_ASSERT(ring->count <= NET_LOG_RING_GROUPS_MAX && ring->data_end <= ring->head);
    BASE_ASSERT(ring->count == 0 || ring->head - ring->groups[0].start <= ring->capacity);
    for (uint32_t i = 1; i < ring->count; i++) {
        BASE_ASSERT(ring->groups[i - 1].start < ring->groups[i].start);
        BASE_ASSERT(ring->groups[i - 1].tick < ring->groups[i].tick);
    }
}
