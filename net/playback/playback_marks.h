// SPDX-License-Identifier: MIT
/// What a log says before it is replayed: joins, leaves, reliable events, names of players.
#pragma once

#include "log/log_read.h"
#include "net/playback.h"

/// Names are kept for this many joins; later players have no name.
#define NET_PLAYBACK_NAMES_MAX 16384u

typedef struct net_playback_name {
    uint32_t client;
    char text[NET_PLAYER_NAME_BYTES_MAX];
} net_playback_name;

typedef struct net_playback_marks_list {
    const base_allocator* allocator;
    net_playback_mark* marks; ///< by rising tick, at most NET_PLAYBACK_MARKS_MAX
    uint32_t mark_count, mark_capacity;
    net_playback_name* names; ///< by rising client
    uint32_t name_count, name_capacity;
    net_log_cursor cursor; ///< behind what was read
    bool is_whole;         ///< the log was read to its last whole tick
} net_playback_marks_list;

/// Begin an empty list.
void net_playback_marks_init(net_playback_marks_list* list, const base_allocator* allocator,
                             net_log_reader* reader);
/// Read on, at most so many blocks. `game` says which messages are reliable. Other cursors of the
/// reader have to return (net_log_cursor_return).
/// @return NET_OK; NET_ERR_MEMORY; NET_ERR_DAMAGED (the file changed since it was opened).
BASE_MUST_USE net_result net_playback_marks_read(net_playback_marks_list* list,
                                                 net_log_reader* reader,
                                                 const net_game_module* game, uint64_t blocks);
void net_playback_marks_deinit(net_playback_marks_list* list);
/// @return A player's name; NULL when unknown. Borrowed from the list.
const char* net_playback_marks_name(const net_playback_marks_list* list, uint32_t client);
