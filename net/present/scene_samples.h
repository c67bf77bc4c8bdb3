// SPDX-License-Identifier: MIT
/// What is known of one replicated index, by rising tick: its rows, and ticks at which it was
/// empty. The rows are of any incarnation, so they differ in length: entries are as long as the
/// longest. A tick_ring.h of at most NET_SCENE_SAMPLES_MAX entries; a zeroed one is empty.
#pragma once

#include "present/scene.h"
#include "state/tick_ring.h"

/// An entry; the words of its row follow.
typedef struct net_scene_sample {
    ecs_entity handle;             ///< NONE: the index was empty
    const net_row_template* entry; ///< of the view's table; NULL: empty
} net_scene_sample;

/// Put a sample where its tick belongs. A tick that is there already stays as it is; a full ring
/// loses its oldest. @return false when memory ran out.
BASE_MUST_USE bool net_scene_samples_put(net_tick_ring* samples, const base_allocator* allocator,
                                         ecs_tick tick, const net_scene_sample* sample,
                                         const uint64_t* row);
/// The sample at a position, 0 the oldest, and its row. Borrowed until the ring changes.
static inline const net_scene_sample* net_scene_samples_get(const net_tick_ring* samples,
                                                            uint32_t position) {
    return net_tick_ring_entry(samples, position);
}
static inline const uint64_t* net_scene_sample_row(const net_scene_sample* sample) {
    return (const uint64_t*)(const void*)(sample + 1);
}
