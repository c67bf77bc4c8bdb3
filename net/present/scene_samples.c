// SPDX-License-Identifier: MIT
// As row_ring.c, but over lives: an index that was destroyed and used again keeps both in one line of ticks,
// so rows may differ in length and lie in strides of the longest.
#include "present/scene_samples.h"

#include "base/assert.h"

#include <string.h>

enum { SAMPLES_MIN = 4 };

_Static_assert((NET_SCENE_SAMPLES_MAX & (NET_SCENE_SAMPLES_MAX - 1)) == 0, "slots are masked");

static uint32_t slot_of(const net_scene_samples* samples, uint32_t position) {
    return (samples->first + position) & (samples->capacity - 1u);
}

void net_scene_samples_deinit(net_scene_samples* samples, const base_allocator* allocator) {
    size_t capacity = samples->capacity;
    base_release(allocator, samples->heads, capacity * sizeof *samples->heads);
    base_release(allocator, samples->words, capacity * samples->stride * sizeof *samples->words);
    memset(samples, 0, sizeof *samples);
}

static bool grow(net_scene_samples* samples, const base_allocator* allocator, uint32_t capacity,
                 uint32_t stride) {
    net_scene_samples grown = {.capacity = capacity, .stride = stride, .count = samples->count};
    size_t word_bytes = (size_t)capacity * stride * sizeof *grown.words;
    grown.heads = base_allocate(allocator, capacity * sizeof *grown.heads);
    grown.words = base_allocate(allocator, word_bytes);
    if (!grown.heads || !grown.words) {
        base_release(allocator, grown.heads, capacity * sizeof *grown.heads);
        base_release(allocator, grown.words, word_bytes);
        return false;
    }
    for (uint32_t i = 0; i < samples->count; i++) {
        grown.heads[i] = samples->heads[slot_of(samples, i)];
        memcpy(grown.words + (size_t)i * stride, net_scene_samples_row(samples, i),
               samples->stride * sizeof *grown.words);
    }
    net_scene_samples_deinit(samples, allocator);
    *samples = grown;
    return true;
}

static bool reserve(net_scene_samples* samples, const base_allocator* allocator,
                    uint32_t field_count) {
    uint32_t capacity = samples->capacity ? samples->capacity : SAMPLES_MIN;
    if (samples->count == samples->capacity && samples->capacity > 0 &&
        capacity < NET_SCENE_SAMPLES_MAX)
        capacity *= 2;
    // A tag alone has no words; a block of none is no block.
    uint32_t stride = field_count > samples->stride ? field_count : samples->stride;
    if (stride == 0) stride = 1;
    if (capacity == samples->capacity && stride == samples->stride) return true;
    return grow(samples, allocator, capacity, stride);
}

bool net_scene_samples_put(net_scene_samples* samples, const base_allocator* allocator,
                           const net_scene_sample* sample, const uint64_t* row) {
    uint32_t below = net_scene_samples_find(samples, sample->tick);
    if (below != UINT32_MAX && net_scene_samples_get(samples, below)->tick == sample->tick)
        return true;
    uint32_t field_count = sample->entry ? sample->entry->layout.field_count : 0;
    if (!reserve(samples, allocator, field_count)) return false;
    if (samples->count == samples->capacity) {
        if (below == UINT32_MAX) return true; // older than all
        net_scene_samples_drop(samples, 1);
        below--; // wraps to UINT32_MAX when it was the oldest
    }
    uint32_t position = below + 1;
    size_t row_bytes = samples->stride * sizeof *samples->words;
    for (uint32_t i = samples->count; i > position; i--) {
        uint32_t to = slot_of(samples, i), from = slot_of(samples, i - 1);
        samples->heads[to] = samples->heads[from];
        memcpy(samples->words + (size_t)to * samples->stride,
               samples->words + (size_t)from * samples->stride, row_bytes);
    }
    uint32_t slot = slot_of(samples, position);
    samples->heads[slot] = *sample;
    if (field_count)
        memcpy(samples->words + (size_t)slot * samples->stride, row, field_count * sizeof *row);
    samples->count++;
    return true;
}

const net_scene_sample* net_scene_samples_get(const net_scene_samples* samples, uint32_t position) {
    BASE_ASSERT(position < samples->count);
    return &samples->heads[slot_of(samples, position)];
}

const uint64_t* net_scene_samples_row(const net_scene_samples* samples, uint32_t position) {
    BASE_ASSERT(position < samples->count);
    return samples->words + (size_t)slot_of(samples, position) * samples->stride;
}

uint32_t net_scene_samples_find(const net_scene_samples* samples, ecs_tick tick) {
    for (uint32_t i = samples->count; i > 0; i--) {
        if (samples->heads[slot_of(samples, i - 1)].tick <= tick) return i - 1;
    }
    return UINT32_MAX;
}

void net_scene_samples_drop(net_scene_samples* samples, uint32_t position) {
    BASE_ASSERT(position <= samples->count);
    if (position == 0) return;
    samples->first = slot_of(samples, position);
    samples->count -= position;
}
