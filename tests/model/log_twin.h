// SPDX-License-Identifier: MIT
/// A match of breakout, its log on a disk that is full at times, and a naive list of its ticks.
///
/// The list knows nothing of how a log is written. Of each tick it knows what entered it, the hash
/// after it, and what the writer's counters and lines say: it is kept, or it is lost. A tick that
/// is kept must be in every log that is read from now on, whatever happens to the disk or to the
/// process; a lost one must be missed by name.
#pragma once

#include "breakout_table.h"

#include "net/log.h"

enum { TWIN_TICKS_MAX = 2048, TWIN_CLIENTS = 3, TWIN_NAME_BYTES = 512 };

typedef struct twin_tick {
    uint64_t state_hash;
    uint32_t inputs;
    bool is_kept;
} twin_tick;

/// The disk of the log. Its calls are the system's until `room` is used up.
typedef struct twin_disk {
    uint64_t room;    ///< bytes that it takes; UINT64_MAX: as many as come
    bool is_locked;   ///< the folder takes no file and no name
    bool has_deleted; ///< segments
    uint32_t refusals;
    /// Called before each of them: what a kill at this moment leaves is there. NULL: nothing.
    void (*before)(void* context);
    void* context;
} twin_disk;

typedef struct log_twin {
    table table;
    const char* file; ///< in the working folder
    net_log_options options;
    net_log_writer* writer; ///< NULL after log_twin_end
    net_log_counters counters;
    twin_disk disk;
    twin_tick ticks[TWIN_TICKS_MAX + 1];
    ecs_tick tick;                  ///< the newest that ended
    uint32_t clients[TWIN_CLIENTS]; ///< that play; 0: none
    uint32_t client_last;
    uint32_t input_number;
    bool has_failed;            ///< logging stopped
    bool is_closed;             ///< the log has an end record
    uint32_t waits, waits_over; ///< lines for the operator: the disk takes nothing, and again
    uint32_t gaps, gaps_over;   ///< ticks are left out, and not any more
    char newest_line[256];
} log_twin;

/// Begin a match and its log. The disk is that of twin->disk; file, options, disk are set.
void log_twin_begin(log_twin* twin, uint64_t seed, uint32_t tick_rate_hz);
/// Run a tick with chance, and take down whether the log has it.
void log_twin_step(log_twin* twin, base_rng* rng);
/// Take down what the writer says by now.
void log_twin_look(log_twin* twin);
/// Let the log's thread work once, and look.
void log_twin_pump(log_twin* twin);
/// End the log; `has_close`: as a server does that ends in good order. @return as
/// net_log_writer_finish.
net_result log_twin_end(log_twin* twin, bool has_close);
void log_twin_destroy(log_twin* twin);
/// Count the ticks first..last that the log has.
uint64_t log_twin_kept(const log_twin* twin, ecs_tick first, ecs_tick last);
/// The newest tick up to `last` that the log has; 0: none.
ecs_tick log_twin_newest(const log_twin* twin, ecs_tick last);

/// What a log must say.
typedef struct twin_log {
    const char* file;
    ecs_tick first_max; ///< it begins with this tick at the latest
    ecs_tick last;      ///< the newest tick that it may have
    bool is_closed;
    bool is_harmed; ///< its bytes were changed: it may have less, and must say so
} twin_log;
/// The log as it is now, of a process that may have been killed.
twin_log log_twin_log(const log_twin* twin);
/// Open the log and compare all that it says with the list: its verdict, what a run of it and each
/// command gives. `rng` chooses ticks and the command.
void log_twin_check(const log_twin* twin, const twin_log* log, base_rng* rng);
