// SPDX-License-Identifier: MIT
/// What is under a path. Pure.
#pragma once

#include "verbs.h"

typedef enum server_route_kind {
    SERVER_ROUTE_NONE,   ///< 404
    SERVER_ROUTE_PAGE,   ///< a file of the page
    SERVER_ROUTE_GAME,   ///< the game's code for the page
    SERVER_ROUTE_HEALTH, ///< does the loop go round?
    SERVER_ROUTE_READY,  ///< may a player join?
    SERVER_ROUTE_VERB,
    SERVER_ROUTE_LOG_INFO, ///< the match's log: for operators
    SERVER_ROUTE_LOG_BYTES,
    SERVER_ROUTE_WATCH_INFO, ///< what a spectator may have of it
    SERVER_ROUTE_WATCH_BYTES,
    SERVER_ROUTE_PLAY,   ///< what a page needs to play: the game
    SERVER_ROUTE_SOCKET, ///< of a player in a browser
} server_route_kind;

typedef struct server_route {
    server_route_kind kind;
    bool is_open;      ///< needs no token
    bool is_anywhere;  ///< asked under any Host: by probes, which know an address only
    const char* name;  ///< of a page's file, a game, a verb: borrowed from the path or the table
    size_t name_bytes; ///< of `name`
    const char* id;    ///< the verb's argument "id"; NULL: none
    size_t id_bytes;
} server_route;

/// Find what is under `path`, without its query.
server_route server_route_find(const char* path);

/// A file of the page, in the program.
typedef struct server_page_file {
    const char* path; ///< "/app.js"
    const char* type;
    const char* tag; ///< of its content
    const uint8_t* bytes;
    size_t size;
    const uint8_t* packed; ///< by gzip; NULL: the build had none
    size_t packed_size;
} server_page_file;

/// @return the file; NULL: the page has none of this name.
const server_page_file* server_page_find(const char* path);
