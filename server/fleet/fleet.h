// SPDX-License-Identifier: MIT
/// The parts of a match that is not on one server alone: Agones (agones/agones.h), --standby,
/// --resume, a relay, --stream. Without its option each does nothing.
#pragma once

#include "follow.h"
#include "standby.h"
#include "stream.h"

#include "agones/watch.h"

typedef struct server_agones server_agones; ///< agones/agones.h

/// It waits for an allocation before it makes its match, and gives itself back after it. Outlives a
/// match, with --agones-reuse.
typedef struct server_fleet {
    server_agones* agones;                       ///< NULL: not one of a fleet
    uint64_t pass_us;                            ///< of the newest pass
    bool is_allocated;                           ///< for the match of now
    char standby_at[SERVER_WATCH_STANDBY_BYTES]; ///< as the clients of the match know it
} server_fleet;

extern const server_part server_part_agones, server_part_standby, server_part_resume,
    server_part_follow, server_part_stream;

/// NULL: this program has no such part.
server_fleet* server_fleet_of(const server_program* program);
/// Be ready and wait for an allocation, unless it is there: bound and loaded, or with --standby
/// before all, because the allocation names its match. On a signal `is_over` is set.
/// @return NET_EXIT_CLEAN, or the exit code: reported.
BASE_MUST_USE int server_fleet_wait(server_program* program);
/// The match that the allocation asks a standby to go on with; 0: there is no Agones.
uint64_t server_fleet_standby_of(const server_program* program);
