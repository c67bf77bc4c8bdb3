// SPDX-License-Identifier: MIT
/// Saves of a replay by rising tick, within a limit of bytes.
///
/// One save is taken every so many ticks. When the next one would exceed the limit, every second
/// save is dropped and the distance doubles: going back costs about the same part of any log. Of a
/// log with keyframes the saves that are farthest from the new one are dropped instead.
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
    bool is_near; ///< those around the newest place are kept
    size_t bytes, bytes_max;
} net_playback_saves;

void net_playback_saves_init(net_playback_saves* saves, const base_allocator* allocator,
                             ecs_tick every, size_t bytes_max, bool is_near);
void net_playback_saves_deinit(net_playback_saves* saves);
/// Is this a tick to save, and not saved yet? Tick 0 is one.
bool net_playback_saves_wants(const net_playback_saves* saves, ecs_tick tick);
/// Keep a copy of a wanted save (asserted). Without memory, or when it alone exceeds the limit,
/// nothing is kept: going back then costs more.
void net_playback_saves_put(net_playback_saves* saves, ecs_tick tick, const void* data,
                            size_t size);
/// @return The newest save at or before `tick`; NULL when there is none. Borrowed until the next
///          put.
const net_playback_save* net_playback_saves_find(const net_playback_saves* saves, ecs_tick tick);
