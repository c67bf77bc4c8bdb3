// SPDX-License-Identifier: MIT
/// One run of a profile: guests come on a line that is only long, it becomes the profile's, then
/// the world stands still and the line becomes good again. Then all must hold the server's world.
#pragma once

#include "profiles.h"

typedef struct run_config {
    const profile* profile;
    uint64_t seed;
    uint32_t guests;
    double seconds;   ///< on the profile's line; a third of it in a crowded world
    uint32_t threads; ///< of all worlds, eager (base/workers.h); 0: the calling thread alone
} run_config;

typedef struct run_result {
    char failure[256];           ///< "" when all held
    bool is_guarded;             ///< datagrams were authenticated
    uint32_t lost, resumes;      ///< sessions; connections regained
    double state_p50, state_p99; ///< ms
    double event_p50, event_p99, event_max;
    double settle_ms;      ///< until all worlds were equal after the faults
    double join_ms;        ///< until the last of eight new clients plays, on the line
    uint32_t join_retries; ///< attempts of theirs that failed
    double free_ms;        ///< from 30 s of silence until the places are free; blackouts
    double return_ms;      ///< until new clients play in these places; blackouts
    uint64_t rows, mismatches, events, event_faults;
    uint64_t datagrams, bytes;
    uint64_t dropped; ///< datagrams that the lines lost
    uint64_t wire_hash, world_hash;
    double cpu_s;
} run_result;

/// Run and check.
run_result run_profile(const run_config* config);
