// SPDX-License-Identifier: MIT
/// From the run of a playback to its view.
#pragma once

#include "playback/playback_run.h"
#include "present/scene.h"
#include "state/history.h"
#include "state/varsize.h"

typedef struct net_playback_feed {
    const base_allocator* allocator;
    const base_reporter* reporter;
    const net_game_module* game;
    net_rows* rows;       ///< of the run's world
    uint32_t rows_number; ///< of the match that they belong to
    net_history* history;
    net_varsize_source* varsize;      ///< of the run's world
    net_varsize_sender* varsize_view; ///< its one client
    uint32_t event_number;            ///< of the last reliable one
} net_playback_feed;

/// Get the rows of the run's match, which may be another one than before. The view must be closed.
/// @return NET_OK; NET_ERR_SCHEMA (reported: a replicated component cannot be sent);
///         NET_ERR_MEMORY.
BASE_MUST_USE net_result net_playback_feed_open(net_playback_feed* feed, net_playback_run* run);
/// Leave, and forget the match. The feed may be opened again.
void net_playback_feed_close(net_playback_feed* feed);
/// Begin with a new view of so many indices, which has nothing yet. @return NET_OK; NET_ERR_MEMORY.
BASE_MUST_USE net_result net_playback_feed_enter(net_playback_feed* feed, uint32_t indices);
void net_playback_feed_leave(net_playback_feed* feed);
/// Give `scene` what the last tick of the run changed. The first step gives the whole world; events
/// of the ticks before it are over. @return NET_OK; NET_ERR_MEMORY.
BASE_MUST_USE net_result net_playback_feed_step(net_playback_feed* feed, net_match* match,
                                                net_scene* scene);
