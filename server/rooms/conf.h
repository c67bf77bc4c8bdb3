// SPDX-License-Identifier: MIT
/// host.conf: lines "key = value" and blocks "game NAME { ... }" of such lines. A # at the begin of
/// a line or after a blank begins a comment. Values have the forms of shoal-server's options.
#pragma once

#include "rooms.h"

#include "base/options.h"

#define SERVER_CONF_BYTES_MAX 65536u

typedef enum server_conf_stop { SERVER_CONF_DRAIN, SERVER_CONF_LEAVE } server_conf_stop;

typedef struct server_conf {
    const char* http;
    const char* token_file;
    base_option_list hosts;
    const char* listen;      ///< address of the matches, with their ports or without
    const char* public_name; ///< told to players in its place; NULL: that address
    const char* folder;      ///< of logs, keys and state
    const char* store;       ///< of records; NULL: sqlite:FOLDER/players.db
    const char* results;     ///< where those of matches are posted; NULL: they are in a file alone
    const char* fleet;       ///< the broker of several hosts; NULL: this one is alone
    const char* fleet_page;  ///< URL of its HTTP for players of other hosts; NULL: of its address
    uint64_t standbys;       ///< of each match with players, at another host; 0 or 1
    bool is_open;            ///< everyone may join
    uint64_t joins;          ///< of one address in SERVER_RATE_S; 0: no limit
    uint32_t stop;           ///< a server_conf_stop
    uint64_t drain_s, hang_s;
    server_room_game games[SERVER_ROOM_GAMES_MAX];
    uint32_t game_count;
    char text[2 * SERVER_CONF_BYTES_MAX]; ///< options borrow from it
} server_conf;

/// Read the `size` bytes in conf->text (below SERVER_CONF_BYTES_MAX), which are of `file`.
/// @return false: reported, with file and line.
BASE_MUST_USE bool server_conf_parse(server_conf* conf, const char* file, size_t size,
                                     const base_reporter* reporter);
/// Read a file. @return as above.
BASE_MUST_USE bool server_conf_read(server_conf* conf, const char* file,
                                    const base_reporter* reporter);
