// SPDX-License-Identifier: MIT
/// The server as one of a fleet (agones/agones.h): it waits for an allocation before it makes its
/// match, and gives itself back behind it. Without --agones all functions do nothing.
#pragma once

#include "agones/watch.h"
#include "net/token.h"

#include "base/macros.h"

typedef struct server_agones server_agones;   ///< agones/agones.h
typedef struct server_program server_program; ///< program.h

/// Outlives a match, with --agones-reuse.
typedef struct server_fleet {
    server_agones* agones;                       ///< NULL: not one of a fleet
    uint64_t pass_us;                            ///< of the newest pass
    bool is_terminated;                          ///< SIGTERM or SIGINT came
    bool is_allocated;                           ///< for the match of now
    bool is_reused;                              ///< another match follows
    char standby_at[SERVER_WATCH_STANDBY_BYTES]; ///< as the clients of the match know it
    net_key_ring keys; ///< with --agones-reuse: those of SHOAL_KEYS, which is gone
} server_fleet;

/// Begin to speak to the SDK server where --agones says so.
/// @return NET_EXIT_CLEAN, or the exit code: reported.
BASE_MUST_USE int server_fleet_open(server_program* program);
/// Be ready and wait for an allocation, unless it is there: bound and loaded, or with --standby
/// before all, because the allocation names its match. On a signal it ends with is_allocated false
/// and NET_EXIT_CLEAN: there is no match.
/// @return NET_EXIT_CLEAN, or the exit code: reported.
BASE_MUST_USE int server_fleet_wait(server_program* program);
/// The match that the allocation asks a standby to go on with; 0: there is no Agones.
uint64_t server_fleet_standby_of(const server_program* program);
/// Once it is allocated: check its settings, and take its key.
/// @return NET_EXIT_CLEAN, or the exit code: reported.
BASE_MUST_USE int server_fleet_accept(server_program* program);
/// In place of server_fleet_pass while there is no server yet.
void server_fleet_keep(server_program* program);
/// The match has its identity: say it.
void server_fleet_begin(server_program* program);
/// In each pass of the loop, between ticks.
void server_fleet_pass(server_program* program, uint64_t now_us);
/// SIGTERM or SIGINT came.
void server_fleet_terminate(server_program* program);
/// The match is over, with this exit code: be used again, or be shut down and wait for the signal
/// that Agones sends then.
void server_fleet_end(server_program* program, int code);
void server_fleet_close(server_fleet* fleet);
