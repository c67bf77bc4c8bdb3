// SPDX-License-Identifier: MIT
/// Which sounds of a module's table are heard: a handler in the view's world notes the events.
///
/// Threads: one. Memory: all at create.
#pragma once

#include "net/game.h"
#include "net/limits.h"
#include "net/match.h"

typedef struct net_sounds net_sounds;

/// Find the events of the module's sounds in a world before its seal. When it is drawn, note them
/// from then on. *sounds is NULL where nothing is noted; it is destroyed after the world.
/// @return NET_OK; NET_ERR_MODULE (reported: an unknown event, or a sound that fades in a game
///         without positions); NET_ERR_MEMORY.
BASE_MUST_USE net_result net_sounds_create(const base_allocator* allocator,
                                           const net_game_module* game, ecs_world* world,
                                           bool is_drawn, const base_reporter* reporter,
                                           net_sounds** sounds);
void net_sounds_destroy(net_sounds* sounds, const base_allocator* allocator); ///< may be NULL
/// As net_match_hear.
uint32_t net_sounds_hear(net_sounds* sounds, ecs_entity listener, const net_heard** heard);
