// SPDX-License-Identifier: MIT
/// Saves of a re-run by rising tick, within a bound of bytes.
///
/// One is wanted every so many ticks. When one more would go beyond the bound every second one is dropped
/// and they are wanted half as often from then on: whatever the length of the log, going back costs
/// about the same part of it.
/// Memory: the copies, at most `bytes_max` together, and the list. Threads: one.
#pragma once

#include "base/bytes.h"
#include "ecs/world.h"

typedef struct net_playback_save {
    ecs_tick tick;
    uint8_t* data;
    size_t size;
} net_playback_save;

typedef struct net_playback_saves {
    const base_allocator* allocator;
    net_playback_save* items; ///< by rising tick
    uint32_t count, capacity;
    ecs_tick every;
    size_t bytes, bytes_max;
} net_playback_saves;

void net_playback_saves_init(net_playback_saves* saves, const base_allocator* allocator,
                             ecs_tick every, size_t bytes_max);
void net_playback_saves_deinit(net_playback_saves* saves);
/// Is this a tick to be saved that is not there yet? Tick 0 is one.
bool net_playback_saves_wants(const net_playback_saves* saves, ecs_tick tick);
/// Keep a copy of what is wanted. Without memory, or when it alone is beyond the bound, nothing is kept:
/// going back then costs more.
void net_playback_saves_put(net_playback_saves* saves, ecs_tick tick, const void* data,
                            size_t size);
/// The newest at or before `tick`; NULL when there is none. Borrowed until the next put.
const net_playback_save* net_playback_saves_find(const net_playback_saves* saves, ecs_tick tick);
