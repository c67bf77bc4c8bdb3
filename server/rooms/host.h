// SPDX-License-Identifier: MIT
/// What the files of shoal-host share: the loop's watches, the processes of matches, the door.
#pragma once

#include "conf.h"

#include "inspect/acceptor.h"
#include "inspect/gate.h"

#include "base/bytes.h"

#define SERVER_HOST_STARTS_MAX 8u ///< processes that start at a time
#define SERVER_HOST_PATH_BYTES 512u

typedef struct server_host server_host;

struct server_host {
    base_owner owner;
    base_reporter reporter;
    server_conf conf;
    const char* conf_file;
    server_rooms* rooms;
    int epoll;
    char program[SERVER_HOST_PATH_BYTES]; ///< shoal-server beside this one
    server_watch reports;                 ///< a socket in the folder: matches tell who is in
    bool is_ending;
    uint64_t joins[SERVER_JOIN_END_COUNT], refused; ///< so far
    uint64_t starts, crashes, hangs;
    // The door.
    server_gate gate;
    net_address bound;
    server_watch listener;
    server_acceptor acceptor;
    struct visit* visits;
    uint32_t visit_count, waiting_count;
    uint64_t look_us; ///< when visits are looked at again
    server_rate rate;
};

// ---- process.c

/// The loop waits on it from now on, or for other events. One without descriptor is left.
void server_host_watch(server_host* host, server_watch* watch, uint32_t events);
/// Close it. One without descriptor is left.
void server_host_unwatch(server_host* host, server_watch* watch);

/// Take reports from now on, and find the matches of the host before in conf->folder.
/// @return false: reported.
BASE_MUST_USE bool server_host_find_matches(server_host* host);
/// Start and stop what the states of the matches demand.
/// @return when it has to be called again.
uint64_t server_host_tend(server_host* host, uint64_t now_us);
/// A signal to the process of a match, if there is one.
void server_room_signal(const server_room* room, int signal);
/// A match told something (tell.h).
void server_host_told(server_host* host, const char* text, size_t size, uint64_t now_us);

// ---- door.c

/// Listen and serve. @return NET_EXIT_CLEAN, or the exit code: reported.
BASE_MUST_USE int server_door_open(server_host* host);
/// Answer joins whose match is ready, close what is too slow.
/// @return when it has to be called again.
uint64_t server_door_pass(server_host* host, uint64_t now_us);
void server_door_close(server_host* host);
struct json_t;
/// Read the body of a join; texts are borrowed from it. @return what is wrong; NULL: nothing.
const char* server_join_read(struct json_t* body, server_join* join);
