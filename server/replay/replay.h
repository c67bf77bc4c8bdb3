// SPDX-License-Identifier: MIT
/// shoal-replay: its options and its commands. Each command returns the program's exit code.
#pragma once

#include "base/options.h"
#include "net/log.h"

enum {
    SERVER_REPLAY_OK = 0,
    SERVER_REPLAY_FAILURE = 1, ///< a damaged log, a file that cannot be read, no memory
    SERVER_REPLAY_USAGE = 2,
    SERVER_REPLAY_SCHEMA = 4,
    SERVER_REPLAY_DIVERGED = 5,
};

typedef struct server_replay {
    const char* command;
    const char* file;
    const char* trace;  ///< second word of check-trace
    const char* game;   ///< NULL: the log's
    const char* entity; ///< "I:G" or "I"
    uint64_t tick;      ///< 0: the last
    base_reporter reporter;
    net_log_reader* reader;
    net_module* module; ///< NULL for info and stats, perhaps for dump
    bool is_damaged;
} server_replay;

int server_replay_info(server_replay* self);
int server_replay_stats(server_replay* self);
int server_replay_dump(server_replay* self);
int server_replay_verify(server_replay* self);
int server_replay_show(server_replay* self);
int server_replay_check_trace(server_replay* self);

/// The exit code of a result that was reported.
int server_replay_code(net_result result);
