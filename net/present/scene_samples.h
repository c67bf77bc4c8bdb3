// SPDX-License-Identifier: MIT
/// What is known of one replicated index, by rising tick: rows of its lives and that it was empty. Grows
/// 4, 8, ... NET_SCENE_SAMPLES_MAX, then forgets the oldest. Zeroed is empty.
#pragma once

#include "present/scene.h"

typedef struct net_scene_sample {
    ecs_tick tick;
    ecs_entity handle;             ///< NONE: empty
    const net_row_template* entry; ///< of the view's table; NULL: empty
} net_scene_sample;

typedef struct net_scene_samples {
    net_scene_sample* heads;
    uint64_t* words;   ///< `stride` words per sample
    uint32_t stride;   ///< the longest row so far
    uint32_t capacity; ///< a power of two
    uint32_t first, count;
} net_scene_samples;

void net_scene_samples_deinit(net_scene_samples* samples, const base_allocator* allocator);
/// Put one where its tick belongs. A tick that is there already is left as it is.
/// @return false when memory ran out; nothing changed then.
BASE_MUST_USE bool net_scene_samples_put(net_scene_samples* samples,
                                         const base_allocator* allocator,
                                         const net_scene_sample* sample, const uint64_t* row);
const net_scene_sample* net_scene_samples_get(const net_scene_samples* samples, uint32_t position);
const uint64_t* net_scene_samples_row(const net_scene_samples* samples, uint32_t position);
/// Position of the newest with a tick <= `tick`; UINT32_MAX when there is none.
uint32_t net_scene_samples_find(const net_scene_samples* samples, ecs_tick tick);
/// Forget those before a position.
void net_scene_samples_drop(net_scene_samples* samples, uint32_t position);
